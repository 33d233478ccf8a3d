"""The kinds of tools: a line each in `kinds.pyi`, in the order in which they are tried.

To add one, add a file beside these, with a function from an object to its readings, or to None if the object is of
another kind, and a line in the table.
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
