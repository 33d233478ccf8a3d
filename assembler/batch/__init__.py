"""Assembles many requests with one assembler, from columns or from a file of rows. Its names are in `__init__.pyi`."""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
