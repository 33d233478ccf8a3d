"""Counters: text in, tokens out. One file per engine, and only these files import a tokenizer, when it first counts."""

from __future__ import annotations

from budgets.counters.approximate import approximate_counter
from budgets.counters.fastest import fastest_counter
from budgets.counters.guard import total_counter
from budgets.counters.memo import memoised
from budgets.counters.provider import CountEndpointError, provider_counter
from budgets.counters.tiktoken import tiktoken_counter
from budgets.counters.toktok import toktok_counter
from budgets.counters.transformers import transformers_counter

__all__ = [
    "CountEndpointError",
    "approximate_counter",
    "fastest_counter",
    "memoised",
    "provider_counter",
    "tiktoken_counter",
    "toktok_counter",
    "total_counter",
    "transformers_counter",
]
