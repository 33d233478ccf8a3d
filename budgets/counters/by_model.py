"""Chooses the bundled counter for a model, with one memory for each in a process."""

from __future__ import annotations

import functools

from budgets.counters.guard import Guarded
from budgets.counters.memo import Memoised, memoised
from budgets.counters.tiktoken import BUNDLED, tiktoken_counter

STAND_IN = "o200k_base"
"""The vocabulary for models whose own is unknown."""


def counter_for(model: str | None) -> Guarded:
    """A counter for a model: its vocabulary if bundled, Claude's reconstruction, or `STAND_IN`. Loads nothing."""
    if model is None:
        return tiktoken_counter(STAND_IN)
    from budgets.models.families import claude_version, encoding_of, open_vocabulary_of

    if claude_version(model) is not None:
        from budgets.counters.claude import claude_counter

        return claude_counter(model)
    if open_vocabulary_of(model) is not None:
        from budgets.counters.open_models import open_model_counter

        return open_model_counter(model)
    return tiktoken_counter(encoding_of(model) or STAND_IN)


def shared_counter_for(model: str | None) -> Memoised:
    """The counter of a model with one memory, shared by all callers."""
    return _memoise(counter_for(model))


def shared_vocabulary(name: str) -> Memoised:
    """The counter of a bundled vocabulary, of an open model or of OpenAI's, with a memory shared by all callers."""
    if name in BUNDLED:
        return _memoise(tiktoken_counter(name))
    from budgets.counters.open_models import open_model_counter

    return _memoise(open_model_counter(name))


@functools.cache
def _memoise(counter: Guarded) -> Memoised:
    return memoised(counter)
