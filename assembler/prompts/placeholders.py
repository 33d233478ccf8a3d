"""Templates in f-string style.

They have no attributes, indexes, conversions or format specifications: with these `str.format` could reach into values
(GHSA-6qv9-48xg-fc7f, read 2026-11), and a width of a billion is a billion blanks. `str.format` is never called.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from assembler.errors import PromptError
from assembler.prompts.history import Turns, is_message
from assembler.prompts.traced_text import Traced, foreign, join_traced, owned
from assembler.prompts.values import PlainValue
from assembler.prompts.variables import HISTORIES
from assembler.prompts.work_limit import PromptTooLongError

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*+)\}|[{}]")


@attrs.frozen
class Placeholders:
    """A parsed template: the texts between the placeholders, and their names; one text more than names."""

    texts: tuple[str, ...] = attrs.field(repr=False)
    names: tuple[str, ...]

    @property
    def required(self) -> frozenset[str]:
        """The variables that need a value."""
        return frozenset(self.names)

    @property
    def optional(self) -> frozenset[str]:
        """Empty: a placeholder has no default."""
        return frozenset()

    def render(self, values: Mapping[str, PlainValue], *, template: str, max_characters: int) -> Traced:
        """Insert the values between the texts, in one pass. O(characters)."""
        pieces = [owned(self.texts[0])]
        for name, text in zip(self.names, self.texts[1:], strict=True):
            value = values[name]
            printed = value.transcript() if isinstance(value, Turns) else foreign(_print_value(value, name, template))
            pieces += (printed, owned(text))
        characters = sum(map(len, pieces))
        if characters > max_characters:
            raise PromptTooLongError(
                f"template {template!r} renders to {characters} characters but max_characters is {max_characters}: "
                "shorten the values or raise max_characters",
                name=template,
            )
        return join_traced(pieces)


def placeholders(source: str, *, template: str) -> Placeholders:
    """Parse a template. O(characters). Raises PromptError with the line of the first wrong brace."""
    texts: list[str] = []
    names: list[str] = []
    text: list[str] = []
    position = 0
    for brace in _BRACES.finditer(source):
        text.append(source[position : brace.start()])
        position = brace.end()
        if brace.group() in ("{{", "}}"):
            text.append(brace.group()[0])
            continue
        name = brace.group(1)
        if name is None or not name.isidentifier():
            line = source.count("\n", 0, brace.start()) + 1
            raise PromptError(
                f"template {template!r}, line {line}: a placeholder is {{name}}, without blanks, attributes, indexes, "
                "conversions or formats; write a literal brace twice",
                name=template,
                line=line,
            )
        texts.append("".join(text))
        names.append(name)
        text.clear()
    return Placeholders((*texts, "".join(text) + source[position:]), tuple(names))


def _print_value(value: PlainValue, name: str, template: str) -> str:
    if name in HISTORIES and isinstance(value, list | tuple) and any(map(is_message, value)):
        raise PromptError(
            f"template {template!r}: {name!r} has a message without a text: pass the messages that have one, or write "
            "them yourself in a Jinja template",
            name=template,
        )
    try:
        return str(value)
    except ValueError:  # an int of more than sys.get_int_max_str_digits() digits
        pass
    raise PromptError(f"template {template!r}: value of {name!r} has too many digits to print", name=template)
