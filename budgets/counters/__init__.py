"""Counters: text in, tokens out. One file per engine, and only these files import a tokenizer, when it first counts.

An engine's file is loaded when its counter is first named: most programs count with one.
"""

from __future__ import annotations

import typing

from budgets.counters.guard import total_counter
from budgets.counters.memo import memoised
from budgets.counters.tiktoken import tiktoken_counter
from budgets.later import load_later as _load_later

if typing.TYPE_CHECKING:
    from budgets.counters.approximate import approximate_counter
    from budgets.counters.claude import claude_counter
    from budgets.counters.fastest import fastest_counter
    from budgets.counters.gemini import gemini_counter
    from budgets.counters.open_models import open_model_counter
    from budgets.counters.provider import CountEndpointError, provider_counter
    from budgets.counters.toktok import toktok_counter
    from budgets.counters.transformers import transformers_counter

_load_later(
    __name__,
    {
        "CountEndpointError": "budgets.counters.provider",
        "approximate_counter": "budgets.counters.approximate",
        "claude_counter": "budgets.counters.claude",
        "fastest_counter": "budgets.counters.fastest",
        "gemini_counter": "budgets.counters.gemini",
        "open_model_counter": "budgets.counters.open_models",
        "provider_counter": "budgets.counters.provider",
        "toktok_counter": "budgets.counters.toktok",
        "transformers_counter": "budgets.counters.transformers",
    },
)

__all__ = [
    "CountEndpointError",
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
