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
    from assembler.assembler import Assembler as Assembler
    from assembler.context import Context as Context
    from assembler.conversation.messages.registered import register_reader as register_reader
    from assembler.conversation.repair import Repair as Repair
    from assembler.conversation.repair import repair as repair
    from assembler.conversation.wanted import Wanted as Wanted
    from assembler.count_request import count_request as count_request
    from assembler.errors import ConversationError as ConversationError
    from assembler.errors import MarkupError as MarkupError
    from assembler.errors import MessageTypeError as MessageTypeError
    from assembler.errors import PlanError as PlanError
    from assembler.errors import PromptError as PromptError
    from assembler.errors import StateError as StateError
    from assembler.errors import SummaryError as SummaryError
    from assembler.errors import ToolError as ToolError
    from assembler.errors import UnsupportedContentError as UnsupportedContentError
    from assembler.fit_request import fit_request as fit_request
    from assembler.money import Bill as Bill
    from assembler.money import Offer as Offer
    from assembler.money import UnpricedModelError as UnpricedModelError
    from assembler.money import bill as bill
    from assembler.money import fits as fits
    from assembler.pipeline.planned import Dropped as Dropped
    from assembler.plan import Plan as Plan
    from assembler.policies import BM25 as BM25
    from assembler.policies import Change as Change
    from assembler.policies import ClearReasoning as ClearReasoning
    from assembler.policies import ClearToolResults as ClearToolResults
    from assembler.policies import Cosine as Cosine
    from assembler.policies import Cut as Cut
    from assembler.policies import KeepRelevant as KeepRelevant
    from assembler.policies import Offload as Offload
    from assembler.policies import OverflowPolicy as OverflowPolicy
    from assembler.policies import Passage as Passage
    from assembler.policies import Policy as Policy
    from assembler.policies import PricedTurns as PricedTurns
    from assembler.policies import Refuse as Refuse
    from assembler.policies import RewritingPolicy as RewritingPolicy
    from assembler.policies import Summarize as Summarize
    from assembler.policies import TrimOldest as TrimOldest
    from assembler.policies import TrimSteps as TrimSteps
    from assembler.policies import Truncate as Truncate
    from assembler.policies import first_user as first_user
    from assembler.pricing.calibration import CalibratedCounter as CalibratedCounter
    from assembler.pricing.calibration import calibrate as calibrate
    from assembler.pricing.overflow import Overflow as Overflow
    from assembler.pricing.overflow import overflow_of as overflow_of
    from assembler.regions.tools import Defer as Defer
    from assembler.regions.tools import ToolSearch as ToolSearch
    from assembler.report.cache import CacheMarks as CacheMarks
    from assembler.report.manifest import Difference as Difference
    from assembler.report.manifest import ManifestError as ManifestError
    from assembler.report.manifest import ReplayError as ReplayError
    from assembler.report.report import Report as Report
    from assembler.report.report import Row as Row
    from assembler.strategies import REMINDER as REMINDER
    from assembler.strategies import ChatRegions as ChatRegions
    from assembler.strategies import CitedSources as CitedSources
    from assembler.strategies import Placement as Placement
    from assembler.strategies import QuestionChunks as QuestionChunks
    from assembler.strategies import Strategy as Strategy
    from assembler.text.invisible import Invisible as Invisible
    from assembler.text.invisible import without_invisible as without_invisible
    from assembler.verify import Violation as Violation
    from assembler.verify import verify as verify
    from budgets import AssemblyError as AssemblyError
    from budgets import BudgetError as BudgetError
    from budgets import ContextLengthError as ContextLengthError
    from budgets import MissingExtraError as MissingExtraError
    from budgets import TokenCountError as TokenCountError
    from budgets import UnknownModelError as UnknownModelError

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
