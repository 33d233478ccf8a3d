"""Whether a counter is the model's own tokenizer or a bundled one that stands in for it."""

from __future__ import annotations

from budgets import TokenCounter
from budgets.counters.guard import name_of
from budgets.counters.tiktoken import BUNDLED

_STAND_INS = frozenset({"approximate", *(f"{engine}:{e}" for engine in ("tiktoken", "toktok") for e in BUNDLED)})


def stands_in(count: TokenCounter) -> bool:
    """True of the counters that this library bundles; any other was chosen by the caller, for this model."""
    return name_of(count) in _STAND_INS


def counts_for_openai(count: TokenCounter) -> bool:
    """True of the bundled counters over OpenAI's vocabularies: what counts by default where no model was named."""
    return name_of(count) in _STAND_INS - {"approximate"}
