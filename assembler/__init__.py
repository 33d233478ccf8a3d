"""context-assembler: lays out the context window of a language-model request.

    from assembler import Assembler, TrimOldest
    from budgets import Budget

Importing this loads no tokenizer, no template engine, no numpy: each comes when it is first used.
"""

import typing

from assembler import strategies
from assembler.assembler import Assembler
from assembler.context import Context
from assembler.count_request import count_request
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
from assembler.policies import Cut, OverflowPolicy, Refuse, TrimOldest
from assembler.repair import Change, repair
from assembler.report import Report, Row
from assembler.strategies import REMINDER, ChatRegions, Strategy
from budgets import (
    AssemblyError,
    BudgetError,
    ContextLengthError,
    MissingExtraError,
    TokenCountError,
    UnknownModelError,
)

if typing.TYPE_CHECKING:
    from assembler.strategies import CitedSources, Placement, QuestionChunks

__all__ = [
    "REMINDER",
    "Assembler",
    "AssemblyError",
    "BudgetError",
    "Change",
    "ChatRegions",
    "CitedSources",
    "Context",
    "ContextLengthError",
    "ConversationError",
    "Cut",
    "Dropped",
    "MarkupError",
    "MessageTypeError",
    "MissingExtraError",
    "OverflowPolicy",
    "Placement",
    "Plan",
    "PlanError",
    "PromptError",
    "QuestionChunks",
    "Refuse",
    "Report",
    "Row",
    "Strategy",
    "TokenCountError",
    "ToolError",
    "TrimOldest",
    "UnknownModelError",
    "UnsupportedContentError",
    "count_request",
    "repair",
]

_LATER = ("CitedSources", "Placement", "QuestionChunks")


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(strategies, name)
    return found
