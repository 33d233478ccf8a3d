"""A rendered prompt."""

from __future__ import annotations

from typing import NoReturn, SupportsIndex, cast

from assembler.errors import PromptError
from assembler.prompts.traced_text import Spans
from assembler.validation import must_be, wrong


class Prompt(str):
    """A prompt's text that knows its name, its source and which of its parts were values.

    It is a `str`, with the same equality and hash as its text; `str(prompt)` returns the plain text. `values` are
    half-open offsets (characters) of the text from values, in which `PromptFormatter` reads no tags. `+`, slices of
    step 1, the three `strip`s, pickle and copy keep this knowledge. Every other operation (an f-string, `join`, …)
    returns a plain `str`, which is parsed as a whole. Frozen. Its repr holds no text.
    """

    __slots__ = ("name", "source", "values")
    name: str | None
    source: str | None
    values: Spans

    def __new__(cls, text: str, *, name: str | None = None, source: str | None = None, values: Spans = ()) -> Prompt:
        """Make a prompt. Raises PromptError unless `values` are ascending, disjoint and inside `text`."""
        must_be("prompt", text, (str,), "a text (str)", PromptError)
        prompt = super().__new__(cls, str.__str__(text))
        edge = 0
        must_be("values", values, (tuple, list), "pairs of offsets, such as ((0, 4),)", PromptError)
        for span in values:
            match cast(object, span):
                case (int() as start, int() as stop):
                    pass
                case _:
                    raise PromptError(wrong("values", "pairs of offsets, such as ((0, 4),)", span))
            if not edge <= start <= stop <= len(prompt):
                raise PromptError(f"span {start}:{stop} of values is not ascending, or not in {len(prompt)} characters")
            edge = stop
        object.__setattr__(prompt, "name", name)
        object.__setattr__(prompt, "source", source)
        object.__setattr__(prompt, "values", tuple((int(start), int(stop)) for start, stop in values))
        return prompt

    @property
    def text(self) -> str:
        """The plain text."""
        return str.__str__(self)

    def __repr__(self) -> str:
        return f"Prompt(name={self.name!r}, source={self.source!r}, {len(self)} characters)"

    def __setattr__(self, attribute: str, value: object) -> NoReturn:
        raise AttributeError(f"a Prompt is frozen: {attribute} cannot be set")

    def __delattr__(self, attribute: str) -> NoReturn:
        raise AttributeError(f"a Prompt is frozen: {attribute} cannot be deleted")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.text, self.name, self.source, self.values)

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        if isinstance(key, slice) and key.step in (None, 1):
            start, stop, _ = key.indices(len(self))
            return self._cut(start, max(start, stop))
        return self.text[key]

    def __add__(self, other: str) -> str:
        if not isinstance(other, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # the language asks for it
            return NotImplemented
        tail = other.values if isinstance(other, Prompt) else ()
        moved = tuple((start + len(self), stop + len(self)) for start, stop in tail)
        return Prompt(self.text + str.__str__(other), name=self.name, source=self.source, values=self.values + moved)

    def __radd__(self, other: str) -> str:
        if not isinstance(other, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            return NotImplemented
        moved = tuple((start + len(other), stop + len(other)) for start, stop in self.values)
        return Prompt(other + self.text, name=self.name, source=self.source, values=moved)

    def lstrip(self, chars: str | None = None, /) -> str:
        """The prompt without leading whitespace, or `chars`."""
        return self._cut(len(self) - len(self.text.lstrip(chars)), len(self))

    def rstrip(self, chars: str | None = None, /) -> str:
        """The prompt without trailing whitespace, or `chars`."""
        return self._cut(0, len(self.text.rstrip(chars)))

    def strip(self, chars: str | None = None, /) -> str:
        """The prompt without whitespace, or `chars`, at both ends."""
        return self.lstrip(chars).rstrip(chars)

    def _cut(self, start: int, stop: int) -> Prompt:
        spans = tuple((max(a, start) - start, min(b, stop) - start) for a, b in self.values if a <= stop and b >= start)
        return Prompt(self.text[start:stop], name=self.name, source=self.source, values=spans)


def _rebuild(text: str, name: str | None, source: str | None, values: Spans) -> Prompt:
    return Prompt(text, name=name, source=source, values=values)
