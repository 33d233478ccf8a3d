"""Reports as HTML pages, and charts."""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
