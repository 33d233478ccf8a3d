"""Finds cache marks that are keys of a message, a part, a call or a definition, where the API has no such key.

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

_NO_KEYS = frozenset[str]()
_OF_PARTS: Mapping[str, frozenset[str]] = {
    "anthropic": frozenset([CONTROL]),
    "openai": frozenset([CONTROL, BREAKPOINT]),
    "responses": frozenset([BREAKPOINT]),
}
"""The marks that an API has as keys of a part."""
_OF_CALLS: Mapping[str, frozenset[str]] = {"openai": frozenset([CONTROL])}
"""Those that it has as keys of a message or a call."""
_OF_TOOLS: Mapping[str, frozenset[str]] = {"anthropic": frozenset([CONTROL]), "openai": frozenset([CONTROL])}
"""Those that it has as keys of a tool's definition."""

_PARTS = ("content", "output", "parts")
_ANSWERS = ("toolResult", "functionResponse", "function_response")
"""The keys of parts whose value is an answer, with parts of its own."""
_INNER = ("function", "toolSpec")
"""The keys of a definition that hold its name."""

Found = Iterator[tuple[Mapping[str, Any], str]]


def stray_marks(message: Mapping[str, Any], target: str) -> Found:
    """Yield each mark in a message that the API `target` does not have there, with the dict that holds it.

    It looks at the message, its calls, its parts, and the parts of answers. A part that is only a mark, as Bedrock has
    it, is not yielded. O(parts).
    """
    for held in (message, *_dicts(message.get("tool_calls"))):
        yield from _strays(held, _OF_CALLS.get(target, _NO_KEYS))
    for part in _parts_in(message):
        yield from stray_marks_of(part, target)


def stray_marks_of(part: Mapping[str, Any], target: str) -> Found:
    """`stray_marks` of a part or a block, and of the answer in it."""
    kept = _OF_PARTS.get(target, _NO_KEYS)
    inner = [answer for key in _ANSWERS if (answer := fields_of(part.get(key))) is not None]
    held = [part, *inner, *(deep for holder in (part, *inner) for deep in _parts_in(holder))]
    for fields in held:
        if len(fields) > 1:
            yield from _strays(fields, kept)


def drop_marks(message: dict[str, Any], target: str) -> None:
    """Remove the stray marks from a message."""
    _drop(stray_marks(message, target))


def drop_marks_of(part: Mapping[str, Any], target: str) -> None:
    """Remove the stray marks from a part."""
    _drop(stray_marks_of(part, target))


def drop_marks_of_tool(definition: Mapping[str, Any], target: str) -> None:
    """Remove the marks from a tool's definition that the API `target` does not have there."""
    held = (definition, *(inner for key in _INNER if (inner := fields_of(definition.get(key))) is not None))
    _drop(found for fields in held for found in _strays(fields, _OF_TOOLS.get(target, _NO_KEYS)))


def _drop(found: Iterable[tuple[Mapping[str, Any], str]]) -> None:
    for held, key in [*found]:
        del cast("dict[str, Any]", held)[key]


def _strays(fields: Mapping[str, Any], kept: frozenset[str]) -> Found:
    if not MARK_KEYS.isdisjoint(fields):
        yield from ((fields, key) for key in MARK_KEYS - kept if key in fields)


def _parts_in(holder: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in _PARTS:
        yield from _dicts(holder.get(key))


def _dicts(listed: object) -> Iterator[Mapping[str, Any]]:
    for item in items_of(listed):
        if (fields := fields_of(item)) is not None:
            yield fields
