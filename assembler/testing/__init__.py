"""For test suites: Hypothesis strategies, a check for any history trimmer, assertions. Never imported by the library.

    from assembler.testing import conversations, check_fitter, assert_fits

The strategies and the check need Hypothesis (`pip install 'context-assembler[testing]'`); the assertions do not. Each
name is loaded at its first use.
"""

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.drawn.texts import texts as texts
    from assembler.testing.assertions import assert_fits as assert_fits
    from assembler.testing.assertions import assert_valid as assert_valid
    from assembler.testing.conformance import ContractError as ContractError
    from assembler.testing.conformance import check_counter as check_counter
    from assembler.testing.conformance import check_dialect as check_dialect
    from assembler.testing.conformance import check_policy as check_policy
    from assembler.testing.conformance import check_strategy as check_strategy
    from assembler.testing.conversations import conversations as conversations
    from assembler.testing.conversations import messages as messages
    from assembler.testing.conversations import requests as requests
    from assembler.testing.conversations import tools as tools
    from assembler.testing.faults import Broken as Broken
    from assembler.testing.faults import broken_conversations as broken_conversations
    from assembler.testing.fitters.checking import check_fitter as check_fitter
    from assembler.testing.fitters.invariants import ESSENTIAL as ESSENTIAL
    from assembler.testing.fitters.invariants import MAXIMAL as MAXIMAL
    from assembler.testing.fitters.invariants import MONOTONE as MONOTONE
    from assembler.testing.fitters.invariants import NEWEST_TURN_STAYS as NEWEST_TURN_STAYS
    from assembler.testing.fitters.invariants import SUFFIX as SUFFIX
    from assembler.testing.fitters.invariants import Invariant as Invariant
    from assembler.testing.fitters.trial import Trial as Trial
    from assembler.testing.fitters.verdict import FitterError as FitterError
    from assembler.testing.fitters.verdict import Verdict as Verdict
    from assembler.testing.regions import assemblers as assemblers
    from assembler.testing.regions import budgets as budgets
    from assembler.testing.regions import documents as documents
    from assembler.testing.survival import Fact as Fact
    from assembler.testing.survival import Planted as Planted
    from assembler.testing.survival import Share as Share
    from assembler.testing.survival import Survival as Survival
    from assembler.testing.survival import planted as planted
    from assembler.testing.survival import survival as survival
    from assembler.testing.survival import survival_table as survival_table

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
