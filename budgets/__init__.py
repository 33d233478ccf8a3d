"""Budgets and counters: how many tokens a text costs, and how many there are.

Importing this loads nothing else: each name comes with its module when it is first used, and a tokenizer is loaded by
the counter that uses it, at its first count. The names are listed in `__init__.pyi`.
"""

from budgets.forking import guard_forks as _guard_forks
from budgets.later import load_later as _load_later

_guard_forks()
_load_later(__name__)
