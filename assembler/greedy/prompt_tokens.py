"""How long an encoder's input is, as its own tokenizer makes it. Knows call shapes; imports no tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any, cast

import attrs

from budgets import BudgetError, TokenCounter


@attrs.frozen
class EncoderInput:
    """Counts what `tokenizer(text)` gives, the tokens that it adds by itself included."""

    tokenizer: Any

    @property
    def name(self) -> str:
        """The tokenizer's own name."""
        return str(getattr(self.tokenizer, "name_or_path", "") or type(self.tokenizer).__name__)

    def __call__(self, text: str, /) -> Any:
        """Tokens of the encoder's input for `text`; what a counter answers, as it is."""
        if not callable(self.tokenizer):  # tokenizers.Tokenizer
            return len(cast(Sized, self.tokenizer.encode(text).ids))
        answer: object = self.tokenizer(text)
        if isinstance(answer, Mapping):
            return len(cast("Mapping[str, Sized]", answer)["input_ids"])
        return answer


def counter_of(tokenizer: object) -> TokenCounter:
    """A counter for a Hugging Face tokenizer, fast or slow, a `tokenizers.Tokenizer`, or a counter.

    Whatever answers `{"input_ids": […]}` to a text is a tokenizer. Raises BudgetError for what cannot be asked.
    """
    if isinstance(tokenizer, str | type) or not (callable(tokenizer) or hasattr(tokenizer, "encode")):
        raise BudgetError(f"tokenizer is a {type(tokenizer).__name__}: pass a Hugging Face tokenizer or a counter")
    return EncoderInput(tokenizer)
