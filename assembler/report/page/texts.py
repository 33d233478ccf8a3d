"""Returns the clipped text of an item, for pages that show texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

import attrs

from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.parts import compact_json
from assembler.dialects.plain.dialect import definition
from assembler.regions.tools import Tool
from assembler.validation import as_int, at_least_one

Content: TypeAlias = str | Tool | tuple[Message, ...]
"""The content of an item: a piece of the system text, a tool, or messages."""

_LONGEST = 2_000
"""Characters: about half a screen of a desktop, so that a page of a hundred items stays below half a megabyte."""


@attrs.frozen
class Texts:
    """Show the items' texts on a page, each up to `longest` characters. By default a page holds no such text."""

    longest: int = attrs.field(default=_LONGEST, converter=as_int, validator=at_least_one)


def text_of(content: Content | None, texts: Texts) -> str | None:
    """The clipped text of an item; None if it has none, such as framing."""
    if content is None:
        return None
    match content:
        case str():
            whole = content
        case Tool():
            whole = compact_json(definition(content))
        case tuple():
            whole = "\n\n".join("\n".join([f"[{message.role}]", *_write_lines(message.parts)]) for message in content)
        case _ as never:
            assert_never(never)
    over = len(whole) - texts.longest
    return whole if over <= 0 else f"{whole[: texts.longest]}…\n({over:,} characters more)"


def _write_lines(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        match part:
            case str():
                yield part
            case Call():
                yield f"calls {part.name}({part.arguments})"
            case Result():
                yield from _write_lines(part.parts)
            case Thinking():
                yield f"(thinking) {part.text}"
            case Media() | Opaque():
                yield f"({part.kind})"
            case _ as never:
                assert_never(never)
