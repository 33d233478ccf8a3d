"""Finds cache marks that are keys of a message, a part, a call or a definition, where the API has no such key.

An empty mark is one too: no API takes it.

Bedrock's mark is a block of its own, so no API has it as a key beside other fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from assembler.text.fields import fields_of, items_of

POINT = "cachePoint"
"""Bedrock's mark."""
CONTROL = "cache_control"
"""Anthropic's mark, which gateways with Chat Completions take as well."""
BREAKPOINT = "prompt_cache_breakpoint"
"""OpenAI's mark, of a content part (openai 3.54.0, chat and responses, read 2026-11)."""
MARK_KEYS = frozenset([BREAKPOINT, CONTROL, POINT, "cacheControl", "cache_point"])
"""The keys of cache marks. The last two are how libraries of the other case spell Anthropic's and Bedrock's."""


_PARTS = ("content", "output", "parts")
_ANSWERS = ("toolResult", "functionResponse", "function_response")
"""The keys of parts whose value is an answer, with parts of its own."""
_INNER = ("function", "toolSpec")
"""The keys of a definition that hold its name."""

Found = Iterator[tuple[Mapping[str, Any], str]]


class TakenMarks:
    """The cache marks that an API has as keys of parts, of tools, and of messages and calls.

    Each dialect declares its own; all others are stray there. No attrs class: that takes longer to make than to import.
    """

    def __init__(self, *, in_parts: Iterable[str] = (), in_calls: Iterable[str] = (), in_tools: Iterable[str] = ()):
        self.in_parts, self.in_calls, self.in_tools = map(frozenset, (in_parts, in_calls, in_tools))

    def strays(self, message: Mapping[str, Any]) -> Found:
        """Each stray mark of a message, with the dict that holds it.

        It looks at the message, its calls, its parts, and the parts of answers. A part that is only a mark, as Bedrock
        has it, is not yielded. O(parts).
        """
        for held in (message, *_list_dicts(message.get("tool_calls"))):
            yield from _find_strays(held, self.in_calls)
        for part in _list_parts(message):
            yield from self._find_strays_in_part(part)

    def drop(self, message: Mapping[str, Any]) -> None:
        """Remove the stray marks from a message."""
        _drop_marks(self.strays(message))

    def drop_from_part(self, part: Mapping[str, Any]) -> None:
        """Remove the stray marks from a part or a block, and from the answer in it."""
        _drop_marks(self._find_strays_in_part(part))

    def drop_from_tool(self, definition: Mapping[str, Any]) -> None:
        """Remove the stray marks from a tool's definition."""
        held = (definition, *(inner for key in _INNER if (inner := fields_of(definition.get(key))) is not None))
        _drop_marks(found for fields in held for found in _find_strays(fields, self.in_tools))

    def _find_strays_in_part(self, part: Mapping[str, Any]) -> Found:
        inner = [answer for key in _ANSWERS if (answer := fields_of(part.get(key))) is not None]
        for fields in (part, *inner, *(deep for holder in (part, *inner) for deep in _list_parts(holder))):
            if len(fields) > 1:
                yield from _find_strays(fields, self.in_parts)


NONE_TAKEN = TakenMarks()


def _drop_marks(found: Iterable[tuple[Mapping[str, Any], str]]) -> None:
    for held, key in [*found]:
        del cast("dict[str, Any]", held)[key]


def _find_strays(fields: Mapping[str, Any], kept: frozenset[str]) -> Found:
    if not MARK_KEYS.isdisjoint(fields):
        yield from ((fields, key) for key in MARK_KEYS - kept if key in fields)
        if CONTROL in kept and _is_empty(fields.get(CONTROL)):
            yield fields, CONTROL


def _is_empty(mark: object) -> bool:
    """Whether a mark says nothing: Anthropic's API takes null, and no other value without a type."""
    return mark is not None and not mark


def _list_parts(holder: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in _PARTS:
        yield from _list_dicts(holder.get(key))


def _list_dicts(listed: object) -> Iterator[Mapping[str, Any]]:
    for item in items_of(listed):
        if (fields := fields_of(item)) is not None:
            yield fields
