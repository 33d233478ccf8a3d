"""Counters: text in, tokens out. One file per engine. Only these files import a tokenizer, at their first count.

To add one, add a file here and a line in `__init__.pyi`. Each is loaded when it is first used.
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
