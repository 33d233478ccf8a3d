"""context-assembler: lays out the context window of a language-model request.

    from assembler import Assembler, TrimOldest
    from budgets import Budget

Importing this loads nothing else: each name comes with its module when it is first used, and with it no tokenizer, no
template engine and no numpy before one of them has work to do.
"""

import typing

from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from assembler.assembler import Assembler
    from assembler.context import Context
    from assembler.conversation.repair import Repair, repair
    from assembler.conversation.wanted import Wanted
    from assembler.count_request import count_request
    from assembler.errors import (
        ConversationError,
        MarkupError,
        MessageTypeError,
        PlanError,
        PromptError,
        SummaryError,
        ToolError,
        UnsupportedContentError,
    )
    from assembler.fit_request import fit_request
    from assembler.pipeline.planned import Dropped
    from assembler.plan import Plan
    from assembler.policies import (
        Change,
        ClearReasoning,
        ClearToolResults,
        Cut,
        OverflowPolicy,
        Passage,
        Policy,
        Refuse,
        RewritingPolicy,
        Summarize,
        TrimOldest,
        TrimSteps,
        Truncate,
        first_user,
    )
    from assembler.pricing.calibration import CalibratedCounter, calibrate
    from assembler.report.cache import CacheMarks
    from assembler.report.manifest import Difference, ManifestError, ReplayError
    from assembler.report.report import Report, Row
    from assembler.strategies import REMINDER, ChatRegions, CitedSources, Placement, QuestionChunks, Strategy
    from assembler.text.invisible import Invisible, without_invisible
    from assembler.verify import Violation, verify
    from budgets import (
        AssemblyError,
        BudgetError,
        ContextLengthError,
        MissingExtraError,
        TokenCountError,
        UnknownModelError,
    )

_load_later(
    __name__,
    {
        "Assembler": "assembler.assembler",
        "AssemblyError": "budgets",
        "BudgetError": "budgets",
        "CacheMarks": "assembler.report.cache",
        "CalibratedCounter": "assembler.pricing.calibration",
        "Change": "assembler.policies",
        "ChatRegions": "assembler.strategies",
        "CitedSources": "assembler.strategies",
        "ClearReasoning": "assembler.policies",
        "ClearToolResults": "assembler.policies",
        "Context": "assembler.context",
        "ContextLengthError": "budgets",
        "ConversationError": "assembler.errors",
        "Cut": "assembler.policies",
        "Difference": "assembler.report.manifest",
        "Dropped": "assembler.pipeline.planned",
        "Invisible": "assembler.text.invisible",
        "ManifestError": "assembler.report.manifest",
        "MarkupError": "assembler.errors",
        "MessageTypeError": "assembler.errors",
        "MissingExtraError": "budgets",
        "OverflowPolicy": "assembler.policies",
        "Passage": "assembler.policies",
        "Placement": "assembler.strategies",
        "Plan": "assembler.plan",
        "PlanError": "assembler.errors",
        "Policy": "assembler.policies",
        "PromptError": "assembler.errors",
        "QuestionChunks": "assembler.strategies",
        "REMINDER": "assembler.strategies",
        "Refuse": "assembler.policies",
        "Repair": "assembler.conversation.repair",
        "ReplayError": "assembler.report.manifest",
        "Report": "assembler.report.report",
        "RewritingPolicy": "assembler.policies",
        "Row": "assembler.report.report",
        "Strategy": "assembler.strategies",
        "Summarize": "assembler.policies",
        "SummaryError": "assembler.errors",
        "TokenCountError": "budgets",
        "ToolError": "assembler.errors",
        "TrimOldest": "assembler.policies",
        "TrimSteps": "assembler.policies",
        "Truncate": "assembler.policies",
        "UnknownModelError": "budgets",
        "UnsupportedContentError": "assembler.errors",
        "Violation": "assembler.verify",
        "Wanted": "assembler.conversation.wanted",
        "calibrate": "assembler.pricing.calibration",
        "count_request": "assembler.count_request",
        "first_user": "assembler.policies",
        "fit_request": "assembler.fit_request",
        "repair": "assembler.conversation.repair",
        "verify": "assembler.verify",
        "without_invisible": "assembler.text.invisible",
    },
    elsewhere={
        "Budget": "budgets",
        "Count": "budgets",
        "Grade": "budgets",
        "Limit": "budgets",
        "RegionCosts": "budgets",
        "TokenCounter": "budgets",
        "approximate_counter": "budgets",
        "claude_counter": "budgets",
        "fastest_counter": "budgets",
        "gemini_counter": "budgets",
        "provider_counter": "budgets",
        "tiktoken_counter": "budgets",
        "toktok_counter": "budgets",
        "transformers_counter": "budgets",
        "DIALECTS": "assembler.dialects",
        "Dialect": "assembler.dialects",
        "anthropic": "assembler.dialects",
        "bedrock": "assembler.dialects",
        "chat_template": "assembler.dialects",
        "gemini": "assembler.dialects",
        "mistral": "assembler.dialects",
        "openai_chat": "assembler.dialects",
        "openai_responses": "assembler.dialects",
        "plain": "assembler.dialects",
        "Order": "assembler.rag",
        "RetrievalResult": "assembler.rag",
        "citation_report": "assembler.rag",
        "assemble_batch": "assembler.batch",
        "assert_fits": "assembler.testing",
        "assert_valid": "assembler.testing",
        "check_fitter": "assembler.testing",
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
    "SummaryError",
    "TokenCountError",
    "ToolError",
    "TrimOldest",
    "TrimSteps",
    "Truncate",
    "UnknownModelError",
    "UnsupportedContentError",
    "Violation",
    "Wanted",
    "calibrate",
    "count_request",
    "first_user",
    "fit_request",
    "repair",
    "verify",
    "without_invisible",
]
