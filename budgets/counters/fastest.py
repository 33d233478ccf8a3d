"""The fastest exact counter that is installed."""

from __future__ import annotations

from budgets.counters.guard import Guarded
from budgets.counters.tiktoken import tiktoken_counter
from budgets.counters.toktok import ENCODINGS, toktok_counter
from budgets.errors import MissingExtraError


def fastest_counter(encoding: str = "o200k_base") -> Guarded:
    """The faster of two exact counters: toktok if it is installed and has the encoding, else tiktoken.

    Raises TokenCountError for an encoding that neither holds.
    """
    if encoding not in ENCODINGS:
        return tiktoken_counter(encoding)
    try:
        return toktok_counter(encoding)
    except MissingExtraError:
        return tiktoken_counter(encoding)
