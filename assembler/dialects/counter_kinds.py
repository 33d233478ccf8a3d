"""Tells a counter that the caller chose from this library's own counters."""

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
    """True for the library's counters of OpenAI's vocabularies, the default without a model."""
    return name_of(count) in _FOR_OPENAI


def counts_for_open_model(count: TokenCounter) -> bool:
    """True for the library's counters of open models' vocabularies, the default for those models."""
    return name_of(count) in _FOR_OPEN_MODELS


def counts_for_claude(count: TokenCounter) -> bool:
    """True for the library's reconstruction of Claude's vocabularies, the default for Claude."""
    return name_of(count).startswith("reconstructed:")


def estimated_for(model: str | None, vocabulary: str, price: Count) -> Count:
    """Return the price, graded as an estimate if the named model has another vocabulary, or an unpublished one."""
    known = model is None or not model.strip() or open_vocabulary_of(model) == vocabulary
    return price if known else attrs.evolve(price, grade=Grade.ESTIMATED)


def own_counter(vocabulary: str, count: TokenCounter) -> TokenCounter:
    """Return a counter of the vocabulary in place of OpenAI's. Keep any other counter: the caller chose it."""
    return shared_vocabulary(vocabulary) if counts_for_openai(count) else count
