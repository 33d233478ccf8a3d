"""Budgets and counters: how many tokens a text costs, and how many there are.

Importing this loads nothing else: each name comes with its module when it is first used, and a tokenizer is loaded by
the counter that uses it, at its first count.
"""

from __future__ import annotations

import typing

from budgets.forking import guard_forks as _guard_forks
from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from budgets.budget import Budget as Budget
    from budgets.context_length import ContextLengthError as ContextLengthError
    from budgets.costs import RegionCosts as RegionCosts
    from budgets.count import Count as Count
    from budgets.count import Grade as Grade
    from budgets.count import TokenCounter as TokenCounter
    from budgets.count import Tokens as Tokens
    from budgets.counters.approximate import approximate_counter as approximate_counter
    from budgets.counters.claude import claude_counter as claude_counter
    from budgets.counters.guard import total_counter as total_counter
    from budgets.counters.memo import memoised as memoised
    from budgets.counters.open_models import open_model_counter as open_model_counter
    from budgets.counters.provider import CountEndpointError as CountEndpointError
    from budgets.counters.provider import provider_counter as provider_counter
    from budgets.counters.tiktoken import tiktoken_counter as tiktoken_counter
    from budgets.counters.toktok import fastest_counter as fastest_counter
    from budgets.counters.toktok import toktok_counter as toktok_counter
    from budgets.counters.transformers import gemini_counter as gemini_counter
    from budgets.counters.transformers import transformers_counter as transformers_counter
    from budgets.errors import AssemblyError as AssemblyError
    from budgets.errors import BudgetError as BudgetError
    from budgets.errors import MissingExtraError as MissingExtraError
    from budgets.errors import TokenCountError as TokenCountError
    from budgets.errors import UnknownModelError as UnknownModelError
    from budgets.limit import Limit as Limit

_guard_forks()
_load_later(
    __name__,
    {
        "budgets.budget": "Budget",
        "budgets.context_length": "ContextLengthError",
        "budgets.costs": "RegionCosts",
        "budgets.count": "Count Grade TokenCounter Tokens",
        "budgets.counters.approximate": "approximate_counter",
        "budgets.counters.claude": "claude_counter",
        "budgets.counters.guard": "total_counter",
        "budgets.counters.memo": "memoised",
        "budgets.counters.open_models": "open_model_counter",
        "budgets.counters.provider": "CountEndpointError provider_counter",
        "budgets.counters.tiktoken": "tiktoken_counter",
        "budgets.counters.toktok": "fastest_counter toktok_counter",
        "budgets.counters.transformers": "gemini_counter transformers_counter",
        "budgets.errors": "AssemblyError BudgetError MissingExtraError TokenCountError UnknownModelError",
        "budgets.limit": "Limit",
    },
)
