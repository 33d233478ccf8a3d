"""Texts that a tokenizer would read as its control tokens: found, or broken up. Asks the tokenizer where it keeps them.

A fast tokenizer looks for its added tokens in the text itself, and for those that are marked so in what its normaliser
makes of it (`added_vocabulary.rs` of tokenizers 0.23, read 2026-11). Both are looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import attrs

from assembler.errors import PromptError
from assembler.prompts.detection import Normalise, control_tokens, read_normaliser

_ROUNDS = 8
"""How often a text is searched again after control tokens in it were broken."""


@attrs.frozen
class ControlTexts:
    """The control tokens of one tokenizer, as they are when this is made."""

    tokens: frozenset[str]
    _uncovered: frozenset[str] = frozenset()
    _normalise: Normalise | None = attrs.field(default=None, eq=False, repr=False)

    @classmethod
    def of(cls, tokenizer: object, *, also: tuple[str, ...] = ()) -> ControlTexts:
        """The control tokens of this tokenizer, and those in `also`, which a format gives the same meaning."""
        tokens = control_tokens(tokenizer).union(also)
        found = read_normaliser(tokenizer)
        return cls(tokens) if found is None else cls(tokens, found[1], found[0])

    def spelled(self, text: str) -> Iterator[re.Match[str]]:
        """The control tokens that the text spells letter by letter, in order."""
        return _pattern(self.tokens).finditer(text) if self.tokens else iter(())

    def uncovers(self, text: str) -> bool:
        """Whether the tokenizer's normaliser makes a control token of the text: its spelling may be another there."""
        return self._normalise is not None and _pattern(self._uncovered).search(self._normalise(text)) is not None

    def broken(self, text: str) -> str:
        """The text with a blank inside every control token, so that it stays text; unchanged where there is none.

        A text of which the normaliser makes one is normalised, as the tokenizer would. Raises PromptError where all
        that does not help: a tokenizer with tokens that differ by blanks alone.
        """
        for _ in range(_ROUNDS):
            if next(self.spelled(text), None) is None:
                if self._normalise is None or not self.uncovers(text):
                    return text
                text = self._normalise(text)
            text = _pattern(self.tokens | self._uncovered).sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)
        raise PromptError("a text spells control tokens of the tokenizer whatever is put between: remove them from it")


@lru_cache(maxsize=16)
def _pattern(tokens: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(tokens, key=lambda token: (-len(token), token)))))
