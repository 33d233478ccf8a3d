"""Budgets and counters: how many tokens a text costs, and how many there are.

Importing this loads nothing else: each name comes with its module when it is first used, and a tokenizer is loaded by
the counter that uses it, at its first count.
"""

from __future__ import annotations

import typing

from budgets.forking import guard_forks as _guard_forks
from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from budgets.budget import Budget
    from budgets.context_length import ContextLengthError
    from budgets.costs import RegionCosts
    from budgets.count import Count, Grade, TokenCounter, Tokens
    from budgets.counters.approximate import approximate_counter
    from budgets.counters.claude import claude_counter
    from budgets.counters.guard import total_counter
    from budgets.counters.memo import memoised
    from budgets.counters.open_models import open_model_counter
    from budgets.counters.provider import CountEndpointError, provider_counter
    from budgets.counters.tiktoken import tiktoken_counter
    from budgets.counters.toktok import fastest_counter, toktok_counter
    from budgets.counters.transformers import gemini_counter, transformers_counter
    from budgets.errors import (
        AssemblyError,
        BudgetError,
        MissingExtraError,
        TokenCountError,
        UnknownModelError,
    )
    from budgets.limit import Limit

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

__all__ = [
    "AssemblyError",
    "Budget",
    "BudgetError",
    "ContextLengthError",
    "Count",
    "CountEndpointError",
    "Grade",
    "Limit",
    "MissingExtraError",
    "RegionCosts",
    "TokenCountError",
    "TokenCounter",
    "Tokens",
    "UnknownModelError",
    "approximate_counter",
    "claude_counter",
    "fastest_counter",
    "gemini_counter",
    "memoised",
    "open_model_counter",
    "provider_counter",
    "tiktoken_counter",
    "toktok_counter",
    "total_counter",
    "transformers_counter",
]
