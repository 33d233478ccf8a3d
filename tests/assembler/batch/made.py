"""Assemblers that other processes import by name, and tasks that kill a worker. Imports as little as possible."""

from __future__ import annotations

import os
from typing import Any

from assembler import Assembler, TrimOldest
from assembler.dialects import plain
from budgets import Budget, MissingExtraError


def base(window: int = 200, counter: Any = len) -> Assembler:
    budget = Budget(window, counter=counter)
    return Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_instruction("Be kind.")


def for_a_model() -> Assembler:
    return Assembler(Budget.for_model("gpt-4o", max_output_tokens=100), on_overflow=TrimOldest())


def priced_by_a_tokenizer() -> Assembler:
    from budgets import transformers_counter
    from tests.budgets.toy_tokenizers import byte_level

    return Assembler(Budget(200, counter=transformers_counter(byte_level())), on_overflow=TrimOldest())


def deadly(text: str) -> int:
    """Counts characters, and ends its process at the 13th row."""
    if "and 13?" in text:
        os._exit(9)
    return len(text)


class Lacking:
    """A policy whose package is not installed."""

    def cut(self, ledger: object, room: int, /) -> Any:
        raise MissingExtraError("toktok", needed_for="this policy")


def lacking() -> Assembler:
    return Assembler(Budget(100, counter=len), dialect=plain, on_overflow=Lacking())
