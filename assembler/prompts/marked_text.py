"""Texts with a mark on every character: the template's, or a value's."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assembler.prompts.prompt import Prompt

TEMPLATE, VALUE, SEAM = 0, 1, 2
"""The marks: a character of the template; of a value; of the template, right after an empty value."""


@attrs.frozen
class Marked:
    """A text and one mark per character. A plain `str` belongs entirely to the template."""

    text: str = attrs.field(repr=False)
    mask: bytes = attrs.field(repr=False)

    @classmethod
    def of(cls, prompt: str) -> Marked:
        """A `Prompt` with its marks, or a plain `str` as the template's."""
        mask = bytearray(len(prompt))
        for start, stop in prompt.values if isinstance(prompt, Prompt) else ():
            mask[start:stop] = bytes((VALUE,)) * (stop - start)
            if start == stop < len(mask) and mask[start] == TEMPLATE:
                mask[start] = SEAM
        return cls(str.__str__(prompt), bytes(mask))

    def is_owned(self, start: int, stop: int) -> bool:
        """Whether the template wrote all of it, with no value inside, not even an empty one."""
        return self.mask[start] != VALUE and self.mask.count(TEMPLATE, start + 1, stop) == stop - start - 1

    def cut(self, start: int, stop: int) -> Marked:
        """The characters from start up to stop."""
        return Marked(self.text[start:stop], self.mask[start:stop])

    def strip(self) -> Marked:
        """The text without whitespace at both ends, with its marks."""
        start = len(self.text) - len(self.text.lstrip())
        return self.cut(start, max(start, len(self.text.rstrip())))

    def keep(self, ranges: Iterable[tuple[int, int]]) -> Marked:
        """These ranges, joined. O(characters)."""
        kept = list(ranges)
        return Marked(
            "".join([self.text[start:stop] for start, stop in kept]),
            b"".join([self.mask[start:stop] for start, stop in kept]),
        )
