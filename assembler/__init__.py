"""context-assembler: lays out the context window of a language-model request.

    from assembler import Assembler, TrimOldest
    from budgets import Budget

Importing this loads no tokenizer, no template engine, no numpy: each comes when it is first used, and so do the names
that a simple chat does without.
"""

import typing

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.errors import (
    ConversationError,
    MarkupError,
    MessageTypeError,
    PlanError,
    PromptError,
    ToolError,
    UnsupportedContentError,
)
from assembler.plan import Dropped, Plan
from assembler.policies import (
    Change,
    Cut,
    OverflowPolicy,
    Passage,
    Policy,
    Refuse,
    RewritingPolicy,
    TrimOldest,
    first_user,
)
from assembler.strategies import REMINDER, ChatRegions, Strategy
from budgets import (
    AssemblyError,
    BudgetError,
    ContextLengthError,
    MissingExtraError,
    TokenCountError,
    UnknownModelError,
)
from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.cache import CacheMarks
    from assembler.calibration import CalibratedCounter, calibrate
    from assembler.count_request import count_request
    from assembler.invisible import Invisible, without_invisible
    from assembler.manifest import Difference, ManifestError, ReplayError
    from assembler.policies import ClearReasoning, ClearToolResults, Summarize, TrimSteps, Truncate
    from assembler.repair import Repair, repair
    from assembler.report import Report, Row
    from assembler.strategies import CitedSources, Placement, QuestionChunks
    from assembler.verify import Violation, verify

_load_later(
    __name__,
    {
        "CacheMarks": "assembler.cache",
        "CalibratedCounter": "assembler.calibration",
        "CitedSources": "assembler.strategies",
        "ClearReasoning": "assembler.policies",
        "ClearToolResults": "assembler.policies",
        "Difference": "assembler.manifest",
        "Invisible": "assembler.invisible",
        "ManifestError": "assembler.manifest",
        "Placement": "assembler.strategies",
        "QuestionChunks": "assembler.strategies",
        "Repair": "assembler.repair",
        "ReplayError": "assembler.manifest",
        "Report": "assembler.report",
        "Row": "assembler.report",
        "Summarize": "assembler.policies",
        "TrimSteps": "assembler.policies",
        "Truncate": "assembler.policies",
        "Violation": "assembler.verify",
        "calibrate": "assembler.calibration",
        "count_request": "assembler.count_request",
        "repair": "assembler.repair",
        "verify": "assembler.verify",
        "without_invisible": "assembler.invisible",
    },
)

__all__ = [
    "REMINDER",
    "Assembler",
    "AssemblyError",
    "BudgetError",
    "CacheMarks",
    "CalibratedCounter",
    "Change",
    "ChatRegions",
    "CitedSources",
    "ClearReasoning",
    "ClearToolResults",
    "Context",
    "ContextLengthError",
    "ConversationError",
    "Cut",
    "Difference",
    "Dropped",
    "Invisible",
    "ManifestError",
    "MarkupError",
    "MessageTypeError",
    "MissingExtraError",
    "OverflowPolicy",
    "Passage",
    "Placement",
    "Plan",
    "PlanError",
    "Policy",
    "PromptError",
    "QuestionChunks",
    "Refuse",
    "Repair",
    "ReplayError",
    "Report",
    "RewritingPolicy",
    "Row",
    "Strategy",
    "Summarize",
    "TokenCountError",
    "ToolError",
    "TrimOldest",
    "TrimSteps",
    "Truncate",
    "UnknownModelError",
    "UnsupportedContentError",
    "Violation",
    "calibrate",
    "count_request",
    "first_user",
    "repair",
    "verify",
    "without_invisible",
]
