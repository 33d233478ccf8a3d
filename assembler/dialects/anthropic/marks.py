"""Anthropic's cache marks: the key `cache_control` of the last block to cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from assembler.dialects.blocks.writer import Block, Raw
from assembler.dialects.caching import mark_places as places
from assembler.text.fields import fields_in, fields_of, items_of


class AnthropicMarks(places.Marks):
    """Marks of the Messages API, for every model.

    Reasoning, sub-blocks and empty texts cannot be marked (Claude docs, Prompt caching, "What cannot be cached", read
    2026-11).
    """

    _taking = ("text", "image", "document", "tool_use", "tool_result")

    def tools(self, request: Raw) -> Sequence[object]:
        """The request's `tools`."""
        return items_of(request.get("tools"))

    def marks(self, request: Raw) -> list[tuple[places.Place, str | None]]:
        """The marks with their places: a result's place for a mark inside it, the end for the request's own."""
        found = [
            ((region, index, at), mark)
            for region, index, blocks in self.runs(request)
            for at, block in enumerate(blocks)
            for mark in _list_lifetimes(block)
        ]
        if request.get("cache_control") is not None:
            found.append(((places.END, 0, 0), places.ttl_of(request["cache_control"])))
        return found

    def takes_mark(self, region: int, block: object, model: str | None) -> bool:
        """Whether it is a tool, or a block of a type that the API lists, other than an empty text."""
        fields = fields_of(block)
        if fields is None:
            return False
        if region == places.TOOLS:
            return True
        return fields.get("type") in self._taking and (fields["type"] != "text" or places.says_something(fields))

    def is_users_own(self, block: object) -> bool:
        """Whether the block is anything but a result."""
        return fields_in(block).get("type") != "tool_result"

    def put(self, request: Raw, wanted: Mapping[places.Place, str]) -> dict[str, Any]:
        """The request with `cache_control` on each wanted block. A plain text becomes a list of one block."""
        copy = dict(request)
        for region, index, blocks in places.with_marks(self.runs(request), wanted, _add_control):
            places.replace(copy, ("tools", "system")[region] if region < places.MESSAGES else index, blocks)
        return copy


def _add_control(block: object, ttl: str) -> list[object]:
    control = {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
    return [{**cast(Block, block), "cache_control": control}]


def _list_lifetimes(block: object) -> list[str | None]:
    """The lifetimes of the marks on a block and on the blocks in its content, at any depth. O(blocks)."""
    found: list[str | None] = []
    left = [block]
    while left:
        fields = fields_in(left.pop())
        if (mark := fields.get("cache_control")) is not None:
            found.append(places.ttl_of(mark))
        left += items_of(fields.get("content"))
    return found
