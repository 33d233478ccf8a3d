"""Counters: text in, tokens out. One file per engine, and only these files import a tokenizer, when it first counts."""

from __future__ import annotations

from budgets.counters.approximate import approximate_counter
from budgets.counters.fastest import fastest_counter
from budgets.counters.guard import total_counter
from budgets.counters.memo import memoised
from budgets.counters.tiktoken import tiktoken_counter
from budgets.counters.toktok import toktok_counter
from budgets.counters.transformers import transformers_counter

__all__ = [
    "approximate_counter",
    "fastest_counter",
    "memoised",
    "tiktoken_counter",
    "toktok_counter",
    "total_counter",
    "transformers_counter",
]
