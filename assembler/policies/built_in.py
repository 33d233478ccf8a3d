"""The policies that come with the library: a line each in `built_in.pyi`, the table that all else follows from.

A policy is a public name of `assembler` and `assembler.policies`. A request file names it as its module is named, and
gives the options of its class that are data (`assembler/cli/request_file/options.py`).
"""

from budgets.later import load_later as _load_later

_load_later(__name__)
