"""Budgets and counters: how many tokens a text costs, and how many there are. Knows integers; knows no message.

Importing this loads no tokenizer: each is loaded by the counter that uses it, at its first count.
"""

from __future__ import annotations

from budgets.budget import Budget
from budgets.costs import RegionCosts
from budgets.count import Count, Grade, TokenCounter, Tokens
from budgets.counters import (
    CountEndpointError,
    approximate_counter,
    fastest_counter,
    memoised,
    provider_counter,
    tiktoken_counter,
    toktok_counter,
    total_counter,
    transformers_counter,
)
from budgets.errors import (
    AssemblyError,
    BudgetError,
    ContextLengthError,
    MissingExtraError,
    TokenCountError,
    UnknownModelError,
)
from budgets.limit import Limit

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
    "fastest_counter",
    "memoised",
    "provider_counter",
    "tiktoken_counter",
    "toktok_counter",
    "total_counter",
    "transformers_counter",
]
