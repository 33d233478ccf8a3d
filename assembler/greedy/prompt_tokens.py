"""How long an encoder's input is, as its own tokenizer makes it. Knows call shapes; imports no tokenizer."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sized
from typing import Any, cast

import attrs

from budgets import BudgetError, TokenCounter, Tokens


@attrs.frozen
class EncoderInput:
    """Counts what `tokenizer(text)` gives, the tokens that it adds by itself included."""

    tokenizer: Any

    @property
    def name(self) -> str:
        """The tokenizer's own name."""
        return str(getattr(self.tokenizer, "name_or_path", "") or type(self.tokenizer).__name__)

    def __call__(self, text: str, /) -> Tokens:
        """Tokens of the encoder's input for `text`."""
        return len(self._ids(text))

    def _ids(self, text: str) -> Sized:
        if not callable(self.tokenizer):  # tokenizers.Tokenizer
            return cast(Sized, self.tokenizer.encode(text).ids)
        # A tokenizer warns above the model's length; that length is what the limit is for.
        encoded: object = self.tokenizer(text, verbose=False)
        return cast(Sized, cast("Mapping[str, object]", encoded)["input_ids"])


def counter_of(tokenizer: object) -> TokenCounter:
    """A counter for a Hugging Face tokenizer, fast or slow, a `tokenizers.Tokenizer`, or a counter as it is.

    A tokenizer is one that has `encode`; any other callable is a counter. Raises BudgetError for anything else.
    """
    if hasattr(tokenizer, "encode"):
        return EncoderInput(tokenizer)
    if callable(tokenizer) and not inspect.isclass(tokenizer):
        return cast(TokenCounter, tokenizer)
    raise BudgetError(f"tokenizer is a {type(tokenizer).__name__}: pass a Hugging Face tokenizer or a counter")
