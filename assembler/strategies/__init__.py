"""Strategies choose knowledge and lay it out. To add one, add a file here and a line in `built_in.pyi`.

The names of `__init__.pyi` are loaded when they are first used.
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
