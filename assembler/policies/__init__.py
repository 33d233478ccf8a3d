"""Policies decide what to leave out when a conversation does not fit. To add one, add a file here and a line in
`built_in.pyi`.

The names of `__init__.pyi` are loaded when they are first used: most programs use one.
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
