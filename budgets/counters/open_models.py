"""Which bundled vocabulary is an open model's own, and its counter."""

from __future__ import annotations

from typing import TypeAlias

from budgets.counters.gemma import VOCABULARY as GEMMA
from budgets.counters.gemma import GemmaCounter
from budgets.counters.tiktoken import OPEN_MODELS, TiktokenCounter
from budgets.errors import TokenCountError
from budgets.models.families import open_vocabulary_of

OpenModelCounter: TypeAlias = TiktokenCounter | GemmaCounter


def open_model_counter(model: str) -> OpenModelCounter:
    """An offline counter for a model by name, or a vocabulary: deepseek, gemma, qwen or tekken.

    `deepseek-v3`, `gemini-2.5-pro`, `qwen3-32b` and `mistral-large-latest` are such models: Gemini bills by Gemma's.
    Loads nothing until its first count (0.3 s, once per process and vocabulary). Raises TokenCountError for another.
    """
    name = model if model in OPEN_MODELS else open_vocabulary_of(model)
    if name is None:
        raise TokenCountError(
            "open_model_counter", f"has no such vocabulary: name a model of theirs, or {', '.join(OPEN_MODELS)}"
        )
    return GemmaCounter() if name == GEMMA else TiktokenCounter(name)
