"""Finds cache marks that a caller wrote as a key of a message, a part or a call that no API reads there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from assembler.text.fields import fields_of, items_of

POINT = "cachePoint"
"""Bedrock's mark. There it is a block of its own; as a key beside other fields no API accepts it."""
MARK_KEYS = frozenset(["cache_control", POINT])
"""The keys of cache marks: Anthropic's, which gateways with Chat Completions take as well, and Bedrock's."""

_HOLDS_DICTS = ("content", "output", "parts", "tool_calls")


def keys_of_marks(fields: Mapping[str, Any], keys: Collection[str]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each of `keys` in a message, its parts and its calls, with the dict that holds it.

    A part that is only a mark, as Bedrock has it, is not yielded.
    """
    for key in keys:
        if key in fields:
            yield fields, key
    for list_key in _HOLDS_DICTS:
        for item in items_of(fields.get(list_key)):
            held = fields_of(item)
            if held is not None and len(held) > 1:
                yield from ((held, key) for key in keys if key in held)


def drop_marks(fields: dict[str, Any], keys: Collection[str]) -> int:
    """Remove these keys from the dict of a message, its parts and its calls. Returns how many there were."""
    found: list[tuple[Any, str]] = [*keys_of_marks(fields, keys)]
    for held, key in found:
        del held[key]
    return len(found)
