"""How long an encoder's input is, as its own tokenizer makes it."""

from __future__ import annotations

import copy
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

    Whatever answers `{"input_ids": […]}` to a text is a tokenizer. Of a fast one, or a `tokenizers.Tokenizer`, a copy
    counts, without truncation and padding: they are states of the object, which calls change. Raises BudgetError for
    what cannot be asked or copied.
    """
    if isinstance(tokenizer, str | type) or not (callable(tokenizer) or hasattr(tokenizer, "encode")):
        raise BudgetError(f"tokenizer is a {type(tokenizer).__name__}: pass a Hugging Face tokenizer or a counter")
    return EncoderInput(_own(tokenizer) if hasattr(_engine(tokenizer), "no_truncation") else tokenizer)


def _engine(tokenizer: Any) -> Any:
    """The `tokenizers.Tokenizer` inside a fast tokenizer, or the object itself."""
    return getattr(tokenizer, "backend_tokenizer", tokenizer)


def _own(tokenizer: object) -> object:
    try:
        own = copy.deepcopy(tokenizer)
    except Exception as failure:
        raise BudgetError(f"tokenizer cannot be copied ({type(failure).__name__}): pass a counter") from failure
    engine = _engine(own)
    engine.no_truncation()
    engine.no_padding()
    return own
