"""Reports on a request: in the terminal, as a page, as a manifest, as logs; and what a prefix cache can serve."""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
