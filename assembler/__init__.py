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
        "assembler.assembler": "Assembler",
        "assembler.context": "Context",
        "assembler.conversation.messages.registered": "register_reader",
        "assembler.conversation.repair": "Repair repair",
        "assembler.conversation.wanted": "Wanted",
        "assembler.count_request": "count_request",
        "assembler.errors": (
            "ConversationError MarkupError MessageTypeError PlanError PromptError StateError SummaryError ToolError "
            "UnsupportedContentError"
        ),
        "assembler.fit_request": "fit_request",
        "assembler.money": "Bill bill fits Offer UnpricedModelError",
        "assembler.pipeline.planned": "Dropped",
        "assembler.plan": "Plan",
        "assembler.policies": (
            "BM25 Change ClearReasoning ClearToolResults Cosine Cut first_user KeepRelevant Offload OverflowPolicy "
            "Passage Policy PricedTurns Refuse RewritingPolicy Summarize TrimOldest TrimSteps Truncate"
        ),
        "assembler.pricing.calibration": "calibrate CalibratedCounter",
        "assembler.pricing.overflow": "Overflow overflow_of",
        "assembler.regions.tools": "Defer ToolSearch",
        "assembler.report.cache": "CacheMarks",
        "assembler.report.manifest": "Difference ManifestError ReplayError",
        "assembler.report.report": "Report Row",
        "assembler.strategies": "ChatRegions CitedSources Placement QuestionChunks REMINDER Strategy",
        "assembler.text.invisible": "Invisible without_invisible",
        "assembler.verify": "verify Violation",
        "budgets": "AssemblyError BudgetError ContextLengthError MissingExtraError TokenCountError UnknownModelError",
    },
    elsewhere={
        "assembler.batch": "assemble_batch",
        "assembler.dialects": (
            "anthropic bedrock chat_template Dialect DIALECTS gemini mistral openai_chat openai_responses plain"
        ),
        "assembler.rag": "citation_report Order RetrievalResult",
        "assembler.testing": "assert_fits assert_valid check_fitter",
        "budgets": (
            "approximate_counter Budget claude_counter Count fastest_counter gemini_counter Grade Limit "
            "open_model_counter provider_counter RegionCosts tiktoken_counter TokenCounter toktok_counter "
            "transformers_counter"
        ),
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
