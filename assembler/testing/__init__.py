"""For test suites: Hypothesis strategies, a check for any history trimmer, assertions. Never imported by the library.

    from assembler.testing import conversations, check_fitter, assert_fits

The strategies and the check need Hypothesis (`pip install 'context-assembler[testing]'`); the assertions do not. Each
name is loaded at its first use.
"""

from budgets.later import load_later as _load_later

_load_later(__name__)
