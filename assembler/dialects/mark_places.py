"""Where a request can carry cache marks, in Anthropic's spelling and in Bedrock's.

A place is named by the block that ends there: `(0, 0, i)` is tool `i`, `(1, 0, i)` block `i` of the system text,
`(2, m, i)` block `i` of message `m`; `(3, 0, 0)` is the end of the request. Places compare in the order of the prefix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

from assembler.dialects.blocks.blocks import Block, Raw, fields_of

Place: TypeAlias = tuple[int, int, int]
Run: TypeAlias = tuple[int, int, Sequence[object]]
"""A list of blocks in the request, by the first two numbers of its places."""

TOOLS, SYSTEM, MESSAGES, END = range(4)


class Spelling(Protocol):
    """How one API writes cache marks."""

    def runs(self, request: Raw) -> Iterator[Run]:
        """The lists of blocks, in the order of the prefix. A text alone is one block."""
        ...

    def marks(self, request: Raw) -> list[tuple[Place, str | None]]:
        """The marks that the request carries, each with its lifetime where it names one."""
        ...

    def takes_mark(self, region: int, block: object) -> bool:
        """Whether the API takes a mark right after this block."""
        ...

    def put(self, request: Raw, wanted: Mapping[Place, str]) -> dict[str, Any]:
        """A copy of the request with a mark after each of these blocks, of that lifetime. Shares what has no mark."""
        ...


class AnthropicMarks:
    """A mark is a key of the block that it ends: `cache_control`.

    Reasoning, sub-blocks and empty texts take none: Claude docs, Prompt caching, "What cannot be cached", read 2026-11.
    """

    _taking = ("text", "image", "document", "tool_use", "tool_result")

    def runs(self, request: Raw) -> Iterator[Run]:
        """Tools, system, messages."""
        yield TOOLS, 0, _listed(request.get("tools"))
        yield SYSTEM, 0, _blocks(request.get("system"))
        for index, message in enumerate(_listed(request.get("messages"))):
            yield MESSAGES, index, _blocks((fields_of(message) or {}).get("content"))

    def marks(self, request: Raw) -> list[tuple[Place, str | None]]:
        """Those inside a tool's result stand where the result does; one on the request itself at its end."""
        found = [
            ((region, index, at), mark)
            for region, index, blocks in self.runs(request)
            for at, block in enumerate(blocks)
            for mark in _controls(block)
        ]
        if request.get("cache_control") is not None:
            found.append(((END, 0, 0), _ttl(request["cache_control"])))
        return found

    def takes_mark(self, region: int, block: object) -> bool:
        """Every tool; of the blocks those that the API lists, none of them an empty text."""
        fields = fields_of(block)
        if fields is None:
            return False
        if region == TOOLS:
            return True
        return fields.get("type") in self._taking and (fields["type"] != "text" or _says_something(fields))

    def put(self, request: Raw, wanted: Mapping[Place, str]) -> dict[str, Any]:
        """The key on each block; a text alone becomes a list of one."""

        def marked(region: int, index: int, blocks: Sequence[object]) -> list[object]:
            listed = list(blocks)
            for at, block in enumerate(listed):
                if (ttl := wanted.get((region, index, at))) is not None:
                    control = {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
                    listed[at] = {**cast(Block, block), "cache_control": control}
            return listed

        copy = dict(request)
        touched = {place[:2] for place in wanted}
        for region, index, blocks in self.runs(request):
            if (region, index) in touched:
                _replace(
                    copy, ("tools", "system")[region] if region < MESSAGES else index, marked(region, index, blocks)
                )
        return copy


class BedrockMarks:
    """A mark is a block of its own after the one that it ends: `{"cachePoint": {"type": "default"}}`."""

    _taking = ("text", "image", "document", "toolUse", "toolResult", "toolSpec")

    def runs(self, request: Raw) -> Iterator[Run]:
        """Tools, system, messages."""
        yield TOOLS, 0, _listed((fields_of(request.get("toolConfig")) or {}).get("tools"))
        yield SYSTEM, 0, _listed(request.get("system"))
        for index, message in enumerate(_listed(request.get("messages"))):
            yield MESSAGES, index, _listed((fields_of(message) or {}).get("content"))

    def marks(self, request: Raw) -> list[tuple[Place, str | None]]:
        """A point stands where the block before it ends."""
        return [
            ((region, index, at - 1), _ttl(point))
            for region, index, blocks in self.runs(request)
            for at, block in enumerate(blocks)
            if (point := (fields_of(block) or {}).get("cachePoint")) is not None
        ]

    def takes_mark(self, region: int, block: object) -> bool:
        """What a point may end: no reasoning, no other point, no blank text."""
        fields = fields_of(block) or {}
        return any(key in fields for key in self._taking) and ("text" not in fields or _says_something(fields))

    def put(self, request: Raw, wanted: Mapping[Place, str]) -> dict[str, Any]:
        """A point after each block."""

        def marked(region: int, index: int, blocks: Sequence[object]) -> list[object]:
            listed: list[object] = []
            for at, block in enumerate(blocks):
                listed.append(block)
                if (ttl := wanted.get((region, index, at))) is not None:
                    listed.append({"cachePoint": {"type": "default", **({} if ttl == "5m" else {"ttl": ttl})}})
            return listed

        copy = dict(request)
        touched = {place[:2] for place in wanted}
        for region, index, blocks in self.runs(request):
            if (region, index) not in touched:
                continue
            if region == TOOLS:
                copy["toolConfig"] = {**copy["toolConfig"], "tools": marked(region, index, blocks)}
            else:
                _replace(copy, "system" if region == SYSTEM else index, marked(region, index, blocks))
        return copy


SPELLINGS: Mapping[str, Spelling] = {"anthropic": AnthropicMarks(), "bedrock": BedrockMarks()}
"""The dialects that take cache marks. The others find prefixes by themselves, or cache nothing."""


def opens_newest_turn(request: Raw) -> int:
    """The message with which the newest turn begins: the last of the user's that says more than results; 0 without.

    Holds for both spellings: results and marks are all that a user message of one step may hold.
    """
    messages = _listed(request.get("messages"))
    for index in range(len(messages) - 1, 0, -1):
        message = fields_of(messages[index]) or {}
        if message.get("role") == "user" and any(map(_is_said, _blocks(message.get("content")))):
            return index
    return 0


def _is_said(block: object) -> bool:
    fields = fields_of(block) or {}
    return fields.get("type") != "tool_result" and "toolResult" not in fields and "cachePoint" not in fields


def _replace(copy: dict[str, Any], where: str | int, blocks: list[object]) -> None:
    """Set a region's blocks, or those of the message `where`, without touching what `copy` was made from."""
    if isinstance(where, str):
        copy[where] = blocks
        return
    messages = list(cast("list[object]", copy["messages"]))
    messages[where] = {**cast(Block, messages[where]), "content": blocks}
    copy["messages"] = messages


def _listed(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()


def _blocks(content: object) -> Sequence[object]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else _listed(content)


def _says_something(fields: Raw) -> bool:
    return isinstance(fields.get("text"), str) and bool(fields["text"].strip())


def _controls(block: object) -> list[str | None]:
    """The lifetimes of the marks on a block and, one level down, inside it."""
    fields = fields_of(block) or {}
    holders = [fields, *(fields_of(item) or {} for item in _listed(fields.get("content")))]
    return [_ttl(mark) for holder in holders if (mark := holder.get("cache_control")) is not None]


def _ttl(mark: object) -> str | None:
    ttl: object = (fields_of(mark) or {}).get("ttl")
    return ttl if isinstance(ttl, str) else None
