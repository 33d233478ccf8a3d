"""Whether a counter was chosen by the caller for a model, or is one that this library brings for OpenAI's."""

from __future__ import annotations

import attrs

from budgets import Count, Grade, TokenCounter
from budgets.counters.by_model import shared_vocabulary
from budgets.counters.guard import name_of
from budgets.counters.tiktoken import BUNDLED, OPEN_MODELS
from budgets.models.families import open_vocabulary_of

_FOR_OPEN_MODELS = frozenset(f"tiktoken:{vocabulary}" for vocabulary in OPEN_MODELS)
_FOR_OPENAI = frozenset(f"{engine}:{encoding}" for engine in ("tiktoken", "toktok") for encoding in BUNDLED)


def counts_for_openai(count: TokenCounter) -> bool:
    """True of the bundled counters over OpenAI's vocabularies: what counts by default where no model was named."""
    return name_of(count) in _FOR_OPENAI


def counts_for_open_model(count: TokenCounter) -> bool:
    """True of the bundled counters over the vocabularies of open models: what counts by default for those."""
    return name_of(count) in _FOR_OPEN_MODELS


def counts_for_claude(count: TokenCounter) -> bool:
    """True of the reconstruction of Claude's vocabularies: what counts by default for a Claude."""
    return name_of(count).startswith("reconstructed:")


def estimated_for(model: str | None, vocabulary: str, price: Count) -> Count:
    """A price of every request, an estimate where the vocabulary of the named model is another, or unpublished."""
    known = model is None or not model.strip() or open_vocabulary_of(model) == vocabulary
    return price if known else attrs.evolve(price, grade=Grade.ESTIMATED)


def own_counter(vocabulary: str, count: TokenCounter) -> TokenCounter:
    """A model's own vocabulary in the place of OpenAI's; any other counter was chosen for the model, and stays."""
    return shared_vocabulary(vocabulary) if counts_for_openai(count) else count
