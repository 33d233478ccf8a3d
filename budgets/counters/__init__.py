"""Counters: text in, tokens out. One file per engine, and only these files import a tokenizer, when it first counts.

Adding one is a file beside these and a line in `__init__.pyi`. Each is loaded when it is first named.
"""

from budgets.later import load_later as _load_later

_load_later(__name__)
