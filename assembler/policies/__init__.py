"""What gives way when it does not fit: one file a policy. Adding one is a file beside these and a line here.

Each is loaded when it is first named: most programs use one.
"""

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.conversation.pins import first_user
    from assembler.policies.clear_reasoning import ClearReasoning
    from assembler.policies.clear_tool_results import ClearToolResults
    from assembler.policies.fetch import Fetch
    from assembler.policies.keep_relevant import KeepRelevant
    from assembler.policies.offload import Offload
    from assembler.policies.passage import Change
    from assembler.policies.policy import OverflowPolicy, Policy, RewritingPolicy
    from assembler.policies.refuse import Refuse
    from assembler.policies.relevance import BM25, Cosine, Score
    from assembler.policies.shown import Passage, PricedTurns
    from assembler.policies.summarize import Summarize
    from assembler.policies.traits import KeepsAll, KeepsChosen, KeepsNewest, Traits
    from assembler.policies.trim_oldest import TrimOldest
    from assembler.policies.trim_steps import TrimSteps
    from assembler.policies.truncate import Truncate
    from assembler.pricing.ledger import Cut

_load_later(
    __name__,
    {
        "assembler.conversation.pins": "first_user",
        "assembler.policies.clear_reasoning": "ClearReasoning",
        "assembler.policies.clear_tool_results": "ClearToolResults",
        "assembler.policies.fetch": "Fetch",
        "assembler.policies.keep_relevant": "KeepRelevant",
        "assembler.policies.offload": "Offload",
        "assembler.policies.passage": "Change",
        "assembler.policies.policy": "OverflowPolicy Policy RewritingPolicy",
        "assembler.policies.refuse": "Refuse",
        "assembler.policies.relevance": "BM25 Cosine Score",
        "assembler.policies.shown": "Passage PricedTurns",
        "assembler.policies.summarize": "Summarize",
        "assembler.policies.traits": "KeepsAll KeepsChosen KeepsNewest Traits",
        "assembler.policies.trim_oldest": "TrimOldest",
        "assembler.policies.trim_steps": "TrimSteps",
        "assembler.policies.truncate": "Truncate",
        "assembler.pricing.ledger": "Cut",
    },
)

__all__ = [
    "BM25",
    "Change",
    "ClearReasoning",
    "ClearToolResults",
    "Cosine",
    "Cut",
    "Fetch",
    "KeepRelevant",
    "KeepsAll",
    "KeepsChosen",
    "KeepsNewest",
    "Offload",
    "OverflowPolicy",
    "Passage",
    "Policy",
    "PricedTurns",
    "Refuse",
    "RewritingPolicy",
    "Score",
    "Summarize",
    "Traits",
    "TrimOldest",
    "TrimSteps",
    "Truncate",
    "first_user",
]
