"""Finds texts that a tokenizer would read as its control tokens, or puts blanks into them.

A fast tokenizer searches its added tokens in the text, and some of them in the normalised text
(`added_vocabulary.rs` of tokenizers 0.23, read 2026-11). Both are checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import attrs

from assembler.errors import PromptError
from assembler.prompts.control_tokens import Normalise, control_tokens, read_normaliser

_ROUNDS = 8
"""How often a text is searched again after a change."""


@attrs.frozen
class ControlTexts:
    """The control tokens of one tokenizer at the time of creation."""

    tokens: frozenset[str]
    _uncovered: frozenset[str] = frozenset()
    _normalise: Normalise | None = attrs.field(default=None, eq=False, repr=False)

    @classmethod
    def of(cls, tokenizer: object, *, also: tuple[str, ...] = ()) -> ControlTexts:
        """The control tokens of this tokenizer, and those in `also`, which a format uses in the same way."""
        tokens = control_tokens(tokenizer).union(also)
        found = read_normaliser(tokenizer)
        return cls(tokens) if found is None else cls(tokens, found[1], found[0])

    def spelled(self, text: str) -> Iterator[re.Match[str]]:
        """The control tokens that the text contains literally, in order."""
        return _compile_pattern(self.tokens).finditer(text) if self.tokens else iter(())

    def uncovers(self, text: str) -> bool:
        """Whether the text contains a control token after normalisation."""
        if self._normalise is None:
            return False
        return _compile_pattern(self._uncovered).search(self._normalise(text)) is not None

    def broken(self, text: str) -> str:
        """Put a blank inside every control token, so that it stays text. A text without one is unchanged.

        If normalisation uncovers a control token, the text is normalised first. Raises PromptError if that does not
        help, for a tokenizer with tokens that differ only by blanks.
        """
        for _ in range(_ROUNDS):
            if next(self.spelled(text), None) is None:
                if self._normalise is None or not self.uncovers(text):
                    return text
                text = self._normalise(text)
            text = _compile_pattern(self.tokens | self._uncovered).sub(
                lambda found: f"{found[0][0]} {found[0][1:]}", text
            )
        raise PromptError("a text contains control tokens of the tokenizer that blanks do not break up: remove them")


@lru_cache(maxsize=16)
def _compile_pattern(tokens: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(tokens, key=lambda token: (-len(token), token)))))
