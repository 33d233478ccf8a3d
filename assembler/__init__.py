"""context-assembler: lays out the context window of a language-model request.

    from assembler import Assembler, TrimOldest
    from budgets import Budget

Importing this loads no tokenizer, no template engine, no numpy: each comes when it is first used.
"""

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

__all__ = [
    "REMINDER",
    "Assembler",
    "AssemblyError",
    "BudgetError",
    "Change",
    "ChatRegions",
    "Context",
    "ContextLengthError",
    "ConversationError",
    "Cut",
    "Dropped",
    "MarkupError",
    "MessageTypeError",
    "MissingExtraError",
    "OverflowPolicy",
    "Plan",
    "PlanError",
    "PromptError",
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
