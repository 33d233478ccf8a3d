"""How knowledge is chosen and laid out: one file a strategy. Adding one is a file beside these and a line in
`built_in.pyi`.

Each is loaded when it is first named. The names are listed in `__init__.pyi`.
"""

from budgets.later import load_later as _load_later

_load_later(__name__)
