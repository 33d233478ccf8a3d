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
        "ESSENTIAL": "assembler.testing.fitters.invariants",
        "MAXIMAL": "assembler.testing.fitters.invariants",
        "MONOTONE": "assembler.testing.fitters.invariants",
        "NEWEST_TURN_STAYS": "assembler.testing.fitters.invariants",
        "SUFFIX": "assembler.testing.fitters.invariants",
        "Broken": "assembler.testing.faults",
        "ContractError": "assembler.testing.conformance",
        "Fact": "assembler.testing.survival",
        "FitterError": "assembler.testing.fitters.verdict",
        "Invariant": "assembler.testing.fitters.invariants",
        "Planted": "assembler.testing.survival",
        "Share": "assembler.testing.survival",
        "Survival": "assembler.testing.survival",
        "Trial": "assembler.testing.fitters.trial",
        "Verdict": "assembler.testing.fitters.verdict",
        "assemblers": "assembler.testing.regions",
        "assert_fits": "assembler.testing.assertions",
        "assert_valid": "assembler.testing.assertions",
        "broken_conversations": "assembler.testing.faults",
        "budgets": "assembler.testing.regions",
        "check_counter": "assembler.testing.conformance",
        "check_dialect": "assembler.testing.conformance",
        "check_fitter": "assembler.testing.fitters.checking",
        "check_policy": "assembler.testing.conformance",
        "check_strategy": "assembler.testing.conformance",
        "conversations": "assembler.testing.conversations",
        "documents": "assembler.testing.regions",
        "messages": "assembler.testing.conversations",
        "planted": "assembler.testing.survival",
        "requests": "assembler.testing.conversations",
        "survival": "assembler.testing.survival",
        "survival_table": "assembler.testing.survival",
        "texts": "assembler.drawn.texts",
        "tools": "assembler.testing.conversations",
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
