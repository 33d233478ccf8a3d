"""The places in a request that can carry cache marks, and how an API reads and writes marks.

A mark follows a block, so its place is the block's: `(0, 0, i)` is tool `i`, `(1, 0, i)` block `i` of the system text,
`(2, m, i)` block `i` of message `m`; `(3, 0, 0)` is the end of the request. Places sort in the order of the prefix.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

from assembler.dialects.blocks.writer import Block, Raw
from assembler.text.fields import fields_in, items_of

Place: TypeAlias = tuple[int, int, int]
Run: TypeAlias = tuple[int, int, Sequence[object]]
"""A list of blocks in the request, by the first two numbers of its places."""
Lifetime: TypeAlias = Literal["5m", "1h"]

TOOLS, SYSTEM, MESSAGES, END = range(4)


class Marks(abc.ABC):
    """Reads and writes one API's cache marks. The conversation is under `messages`, the system text under `system`."""

    def refusal(self, model: str | None) -> str | None:
        """Why a request for this model gets no marks, for the report; None if it gets them."""
        return None

    def lifetime(self, asked: Lifetime, model: str | None) -> Lifetime:
        """The lifetime that the model supports in place of the one asked for."""
        return asked

    def runs(self, request: Raw) -> Iterator[Run]:
        """The lists of blocks, in the order of the prefix. A plain text is one block."""
        yield TOOLS, 0, self.tools(request)
        yield SYSTEM, 0, blocks_of(request.get("system"))
        for index, message in enumerate(items_of(request.get("messages"))):
            yield MESSAGES, index, blocks_of(fields_in(message).get("content"))

    @abc.abstractmethod
    def tools(self, request: Raw) -> Sequence[object]:
        """The tools of the request."""

    @abc.abstractmethod
    def marks(self, request: Raw) -> list[tuple[Place, str | None]]:
        """The places of the request's marks, each with its lifetime, or None if it names none."""

    @abc.abstractmethod
    def takes_mark(self, region: int, block: object, model: str | None) -> bool:
        """Whether the API accepts a mark right after this block."""

    @abc.abstractmethod
    def is_users_own(self, block: object) -> bool:
        """Whether a block of a user message is the user's own content: not a tool result, and not a mark."""

    @abc.abstractmethod
    def put(self, request: Raw, wanted: Mapping[Place, str]) -> dict[str, Any]:
        """A copy of the request with marks of these lifetimes after the blocks. It shares unmarked parts."""


def opens_newest_turn(request: Raw, marks: Marks) -> int:
    """The index of the message that begins the newest turn: the last user message not of results only. Or 0."""
    messages = items_of(request.get("messages"))
    for index in range(len(messages) - 1, 0, -1):
        message = fields_in(messages[index])
        if message.get("role") == "user" and any(map(marks.is_users_own, blocks_of(message.get("content")))):
            return index
    return 0


def with_marks(
    runs: Iterable[Run], wanted: Mapping[Place, str], marked: Callable[[object, str], Sequence[object]]
) -> Iterator[tuple[int, int, list[object]]]:
    """Each list that gets a mark, with the mark. `marked` returns a block's replacement for a lifetime."""
    touched = {place[:2] for place in wanted}
    for region, index, blocks in runs:
        if (region, index) in touched:
            ttls = [wanted.get((region, index, at)) for at in range(len(blocks))]
            pairs = zip(blocks, ttls, strict=True)
            yield region, index, [new for old, ttl in pairs for new in ((old,) if ttl is None else marked(old, ttl))]


def replace(copy: dict[str, Any], where: str | int, blocks: list[object]) -> None:
    """Set a region's blocks, or those of the message `where`, without changing the object that `copy` was made from."""
    if isinstance(where, str):
        copy[where] = blocks
        return
    messages = list(cast("list[object]", copy["messages"]))
    messages[where] = {**cast(Block, messages[where]), "content": blocks}
    copy["messages"] = messages


def blocks_of(content: object) -> Sequence[object]:
    """The blocks of a message's content. A plain text is one block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else items_of(content)


def says_something(fields: Raw) -> bool:
    """Whether the block has a text that is not blank."""
    return isinstance(fields.get("text"), str) and bool(fields["text"].strip())


def ttl_of(mark: object) -> str | None:
    """The lifetime that a mark names, or None."""
    ttl: object = fields_in(mark).get("ttl")
    return ttl if isinstance(ttl, str) else None
