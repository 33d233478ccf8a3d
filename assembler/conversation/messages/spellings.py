"""The spellings of message dicts: a line each in `spellings.pyi`, in the order in which they are tried.

To add one, add a file beside these with a `DictSpelling`, and a line in the table.
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
