"""Budgets and counters: how many tokens a text costs, and how many there are. Knows integers; knows no message.

Importing this loads no tokenizer: each is loaded by the counter that uses it, at its first count.
"""

from __future__ import annotations

import typing

from budgets.budget import Budget
from budgets.costs import RegionCosts
from budgets.count import Count, Grade, TokenCounter, Tokens
from budgets.counters import memoised, tiktoken_counter, total_counter
from budgets.errors import (
    AssemblyError,
    BudgetError,
    ContextLengthError,
    MissingExtraError,
    TokenCountError,
    UnknownModelError,
)
from budgets.later import load_later as _load_later
from budgets.limit import Limit

if typing.TYPE_CHECKING:
    from budgets.counters import (
        CountEndpointError,
        approximate_counter,
        fastest_counter,
        provider_counter,
        toktok_counter,
        transformers_counter,
    )

_load_later(
    __name__,
    {
        "CountEndpointError": "budgets.counters.provider",
        "approximate_counter": "budgets.counters.approximate",
        "fastest_counter": "budgets.counters.fastest",
        "provider_counter": "budgets.counters.provider",
        "toktok_counter": "budgets.counters.toktok",
        "transformers_counter": "budgets.counters.transformers",
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
    "fastest_counter",
    "memoised",
    "provider_counter",
    "tiktoken_counter",
    "toktok_counter",
    "total_counter",
    "transformers_counter",
]
