"""The policies that come with the library. Each has one line in `built_in.pyi`; every other list is made from that.

A policy is a public name of `assembler` and `assembler.policies`. A request file names it by its module, and sets those
options of its class that are data (`assembler/cli/request_file/options.py`).
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
