"""context-assembler: lays out the context window of a language-model request.

    from assembler import Assembler, TrimOldest
    from budgets import Budget

Importing this loads nothing else: each name comes with its module when it is first used, and with it no tokenizer, no
template engine and no numpy before one of them has work to do.
"""

import typing

try:
    from budgets.later import load_later as _load_later
except ModuleNotFoundError as _missing:
    import budgets as _theirs

    raise ImportError(
        f"assembler needs its own package budgets, and another one comes first on the path: {_theirs.__file__}; "
        "rename that one, or start Python elsewhere",
        name="budgets",
    ) from _missing

if typing.TYPE_CHECKING:
    from assembler.assembler import Assembler
    from assembler.context import Context
    from assembler.conversation.messages.registered import register_reader
    from assembler.conversation.repair import Repair, repair
    from assembler.conversation.wanted import Wanted
    from assembler.count_request import count_request
    from assembler.errors import (
        ConversationError,
        MarkupError,
        MessageTypeError,
        PlanError,
        PromptError,
        StateError,
        SummaryError,
        ToolError,
        UnsupportedContentError,
    )
    from assembler.fit_request import fit_request
    from assembler.money import Bill, Offer, UnpricedModelError, bill, fits
    from assembler.pipeline.planned import Dropped
    from assembler.plan import Plan
    from assembler.policies import (
        BM25,
        Change,
        ClearReasoning,
        ClearToolResults,
        Cosine,
        Cut,
        KeepRelevant,
        Offload,
        OverflowPolicy,
        Passage,
        Policy,
        PricedTurns,
        Refuse,
        RewritingPolicy,
        Summarize,
        TrimOldest,
        TrimSteps,
        Truncate,
        first_user,
    )
    from assembler.pricing.calibration import CalibratedCounter, calibrate
    from assembler.pricing.overflow import Overflow, overflow_of
    from assembler.regions.tools import Defer, ToolSearch
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
        "BM25": "assembler.policies",
        "Bill": "assembler.money",
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
        "Cosine": "assembler.policies",
        "Cut": "assembler.policies",
        "Defer": "assembler.regions.tools",
        "Difference": "assembler.report.manifest",
        "Dropped": "assembler.pipeline.planned",
        "Invisible": "assembler.text.invisible",
        "KeepRelevant": "assembler.policies",
        "ManifestError": "assembler.report.manifest",
        "MarkupError": "assembler.errors",
        "MessageTypeError": "assembler.errors",
        "MissingExtraError": "budgets",
        "Offer": "assembler.money",
        "Offload": "assembler.policies",
        "Overflow": "assembler.pricing.overflow",
        "OverflowPolicy": "assembler.policies",
        "Passage": "assembler.policies",
        "Placement": "assembler.strategies",
        "Plan": "assembler.plan",
        "PlanError": "assembler.errors",
        "Policy": "assembler.policies",
        "PricedTurns": "assembler.policies",
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
        "StateError": "assembler.errors",
        "SummaryError": "assembler.errors",
        "TokenCountError": "budgets",
        "ToolError": "assembler.errors",
        "ToolSearch": "assembler.regions.tools",
        "TrimOldest": "assembler.policies",
        "TrimSteps": "assembler.policies",
        "Truncate": "assembler.policies",
        "UnknownModelError": "budgets",
        "UnpricedModelError": "assembler.money",
        "UnsupportedContentError": "assembler.errors",
        "Violation": "assembler.verify",
        "Wanted": "assembler.conversation.wanted",
        "bill": "assembler.money",
        "calibrate": "assembler.pricing.calibration",
        "count_request": "assembler.count_request",
        "first_user": "assembler.policies",
        "fit_request": "assembler.fit_request",
        "fits": "assembler.money",
        "overflow_of": "assembler.pricing.overflow",
        "register_reader": "assembler.conversation.messages.registered",
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
        "open_model_counter": "budgets",
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
    "BM25",
    "REMINDER",
    "Assembler",
    "AssemblyError",
    "Bill",
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
    "Cosine",
    "Cut",
    "Defer",
    "Difference",
    "Dropped",
    "Invisible",
    "KeepRelevant",
    "ManifestError",
    "MarkupError",
    "MessageTypeError",
    "MissingExtraError",
    "Offer",
    "Offload",
    "Overflow",
    "OverflowPolicy",
    "Passage",
    "Placement",
    "Plan",
    "PlanError",
    "Policy",
    "PricedTurns",
    "PromptError",
    "QuestionChunks",
    "Refuse",
    "Repair",
    "ReplayError",
    "Report",
    "RewritingPolicy",
    "Row",
    "StateError",
    "Strategy",
    "Summarize",
    "SummaryError",
    "TokenCountError",
    "ToolError",
    "ToolSearch",
    "TrimOldest",
    "TrimSteps",
    "Truncate",
    "UnknownModelError",
    "UnpricedModelError",
    "UnsupportedContentError",
    "Violation",
    "Wanted",
    "bill",
    "calibrate",
    "count_request",
    "first_user",
    "fit_request",
    "fits",
    "overflow_of",
    "register_reader",
    "repair",
    "verify",
    "without_invisible",
]
