"""Reads functions, classes, models and definitions into `Tool` values.

The readers are loaded when a tool is first read.
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
