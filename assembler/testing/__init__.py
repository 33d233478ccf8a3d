"""For test suites: Hypothesis strategies, a check for any history trimmer, assertions. Never imported by the library.

    from assembler.testing import conversations, check_fitter, assert_fits

The strategies and the check need Hypothesis (`pip install 'context-assembler[testing]'`); the assertions do not. Each
name is loaded at its first use.
"""

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.drawn.texts import texts
    from assembler.testing.assertions import assert_fits, assert_valid
    from assembler.testing.conformance import ContractError, check_counter, check_dialect, check_policy, check_strategy
    from assembler.testing.conversations import conversations, messages, requests, tools
    from assembler.testing.faults import Broken, broken_conversations
    from assembler.testing.fitters.checking import check_fitter
    from assembler.testing.fitters.invariants import ESSENTIAL, MAXIMAL, MONOTONE, NEWEST_TURN_STAYS, SUFFIX, Invariant
    from assembler.testing.fitters.trial import Trial
    from assembler.testing.fitters.verdict import FitterError, Verdict
    from assembler.testing.regions import assemblers, budgets, documents
    from assembler.testing.survival import Fact, Planted, Share, Survival, planted, survival, survival_table

_load_later(
    __name__,
    {
        "assembler.drawn.texts": "texts",
        "assembler.testing.assertions": "assert_fits assert_valid",
        "assembler.testing.conformance": "check_counter check_dialect check_policy check_strategy ContractError",
        "assembler.testing.conversations": "conversations messages requests tools",
        "assembler.testing.faults": "Broken broken_conversations",
        "assembler.testing.fitters.checking": "check_fitter",
        "assembler.testing.fitters.invariants": "ESSENTIAL Invariant MAXIMAL MONOTONE NEWEST_TURN_STAYS SUFFIX",
        "assembler.testing.fitters.trial": "Trial",
        "assembler.testing.fitters.verdict": "FitterError Verdict",
        "assembler.testing.regions": "assemblers budgets documents",
        "assembler.testing.survival": "Fact Planted planted Share Survival survival survival_table",
    },
)

__all__ = [
    "ESSENTIAL",
    "MAXIMAL",
    "MONOTONE",
    "NEWEST_TURN_STAYS",
    "SUFFIX",
    "Broken",
    "ContractError",
    "Fact",
    "FitterError",
    "Invariant",
    "Planted",
    "Share",
    "Survival",
    "Trial",
    "Verdict",
    "assemblers",
    "assert_fits",
    "assert_valid",
    "broken_conversations",
    "budgets",
    "check_counter",
    "check_dialect",
    "check_fitter",
    "check_policy",
    "check_strategy",
    "conversations",
    "documents",
    "messages",
    "planted",
    "requests",
    "survival",
    "survival_table",
    "texts",
    "tools",
]
