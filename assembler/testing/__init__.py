"""Tools for test suites: Hypothesis strategies, checks for trimmers and contracts, assertions.

    from assembler.testing import conversations, check_fitter, assert_fits

The strategies and the checks need Hypothesis (`pip install 'context-assembler[testing]'`); the assertions do not. Each
name is loaded at its first use. The library itself never imports this package.
"""

from budgets.lazy_names import load_later as _load_later

_load_later(__name__)
