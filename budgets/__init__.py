"""Budgets and counters: how many tokens a text costs, and how many there are.

Importing this loads nothing else. Each name of `__init__.pyi` is loaded when it is first used, and a counter loads its
tokenizer at its first count.
"""

from budgets.forking import guard_forks as _guard_forks
from budgets.lazy_names import load_later as _load_later

_guard_forks()
_load_later(__name__)
