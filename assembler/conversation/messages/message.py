"""One message, as every stage reads it.

A message is a role and parts. A part is plain text (`str`) or one of the small values below, and every consumer
matches them to the end:

    match part:
        case str(): ...
        case Call(): ...
        case Result(): ...
        case Thinking(): ...
        case Media(): ...
        case Opaque(): ...
        case _: assert_never(part)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import attrs

from budgets.value import Value

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]


@attrs.define(eq=False, repr=False)
class Call(Value):
    """A call of a tool. `arguments` is the JSON text as the model wrote it, byte for byte. Never changed.

    If the provider sends an object instead of a text, `arguments` is its compact JSON and `given` the object. `id` is
    None if the provider gives none (Gemini).
    """

    id: str | None
    name: str
    arguments: str = attrs.field(repr=False)
    given: Mapping[str, Any] | None = attrs.field(default=None, repr=False, eq=False)
    signature: str | bytes | None = attrs.field(default=None, repr=False)


@attrs.define(eq=False, repr=False)
class Result(Value):
    """The result of a call. `parts` hold text and media only; `given` is its JSON object if it came as one. Never
    changed.
    """

    call_id: str | None
    parts: tuple[str | Media | Opaque, ...] = attrs.field(repr=False)
    name: str | None = None
    error: bool = False
    given: Mapping[str, Any] | None = attrs.field(default=None, repr=False, eq=False)
    function: str | None = attrs.field(default=None, repr=False, eq=False)
    """The name under which Chat is sent it, if it answers Chat's older `function_call` and does not go as it came."""


@attrs.frozen(eq=False, repr=False)
class Thinking(Value):
    """The model's own reasoning: signed, and sent back unchanged. `text` is its readable part."""

    text: str = attrs.field(repr=False)
    raw: Mapping[str, Any] = attrs.field(repr=False, eq=False)


@attrs.frozen(eq=False, repr=False)
class Media(Value):
    """A medium. `kind` is "image", "document", "audio" or "video".

    `raw` is the provider's own part. Its base64 is never counted as text.
    """

    kind: str
    raw: Mapping[str, Any] = attrs.field(repr=False, eq=False)


@attrs.frozen(eq=False, repr=False)
class Opaque(Value):
    """A part of a kind that this library does not read. `kind` is the provider's word for it.

    It is sent byte for byte to its own API. `api` is the shape of that API, "neutral" if it is unknown.
    """

    kind: str
    raw: Mapping[str, Any] = attrs.field(repr=False, eq=False)
    api: str = attrs.field(default="neutral", eq=False)


Part: TypeAlias = str | Call | Result | Thinking | Media | Opaque


def text_of_result(result: Part | None) -> str:
    """The texts of a result in one, by lines."""
    return "\n".join(text for text in cast(Result, result).parts if isinstance(text, str))


def content_of_result(result: Part | None) -> str | list[Mapping[str, Any]]:
    """The content of a result: its texts in one, by lines, or a list of blocks if it holds any other part."""
    parts = cast(Result, result).parts
    if all(isinstance(part, str) for part in parts):
        return text_of_result(result)
    return as_blocks([part if isinstance(part, str) else part.raw for part in parts])


def as_blocks(parts: Sequence[str | Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The parts as blocks of one API: a text has a type if the others do (Anthropic), else its kind is its key."""
    kind = {"type": "text"} if any("type" in part for part in parts if not isinstance(part, str)) else {}
    return [{**kind, "text": part} if isinstance(part, str) else part for part in parts]


@attrs.define(eq=False, init=False)
class Message:
    """A role, its parts, and the caller's own object (`raw`) with a private copy of what was read from it (`seen`).

    Never changed, except for `sent`, `side_fields` and `fully_read`. Not frozen, because there are many, and a frozen
    value takes twice as long to make. `shape` names the spelling of `seen`: a dialect with that spelling may emit it
    unchanged.
    """

    role: Role
    parts: tuple[Part, ...] = attrs.field(repr=False)
    raw: object = attrs.field(repr=False)
    shape: str
    seen: Any = attrs.field(repr=False)
    name: str | None = None
    pinned: bool = False
    shallow: bool = False
    """Whether `seen` is a dict of texts alone, so that a shallow copy shares nothing mutable. The parts and
    `extra_fields` hold all of them."""
    extra_fields: tuple[str, ...] = ()
    """The fields of a Chat message that are not read here. They are sent only to APIs of that spelling."""
    sent: Mapping[str, Any] | None = attrs.field(default=None, init=False, repr=False)
    """The Chat Completions message for it, once known, if that is a single message. All threads compute the same."""
    side_fields: Sequence[Any] | None = attrs.field(default=None, init=False, repr=False)
    """The fields beside what its parts hold, once a dialect has asked for them. All threads compute the same."""
    fully_read: bool = attrs.field(init=False, repr=False)
    """Whether it is known to hold no field beside its parts and `extra_fields`, so that no one looks for any."""
    text: str | None = attrs.field(init=False, repr=False)
    """Its text, if that is its only part, as of most messages."""

    # Written by hand, since `text` follows from the parts: the method of attrs would make another call for that.
    def __init__(
        self,
        role: Role,
        parts: tuple[Part, ...],
        raw: object,
        shape: str,
        seen: Any,
        name: str | None = None,
        pinned: bool = False,
        shallow: bool = False,
        extra_fields: tuple[str, ...] = (),
    ) -> None:
        self.role = role
        self.parts = parts
        self.raw = raw
        self.shape = shape
        self.seen = seen
        self.name = name
        self.pinned = pinned
        self.shallow = shallow
        self.extra_fields = extra_fields
        self.sent = None
        self.side_fields = () if shallow and not extra_fields else None
        self.fully_read = shallow
        self.text = parts[0] if len(parts) == 1 and type(parts[0]) is str else None

    def with_parts(self, parts: tuple[Part, ...]) -> Message:
        """The message with other parts, for pricing only."""
        return Message(
            self.role,
            parts,
            self.raw,
            self.shape,
            self.seen,
            self.name,
            self.pinned,
            self.shallow,
            self.extra_fields,
        )

    @property
    def call_ids(self) -> frozenset[str | None]:
        """The ids of the calls in this message."""
        return frozenset(part.id for part in self.parts if isinstance(part, Call))

    @property
    def result_ids(self) -> frozenset[str | None]:
        """The ids of the calls whose results are in this message."""
        return frozenset(part.call_id for part in self.parts if isinstance(part, Result))

    @property
    def has_results(self) -> bool:
        """Whether it holds results, in whatever role. O(parts)."""
        return Result in map(type, self.parts)

    @property
    def is_blank(self) -> bool:
        """Whether it holds only blank texts, or nothing. O(characters)."""
        return all(isinstance(part, str) and not part.strip() for part in self.parts)

    @property
    def has_only_results(self) -> bool:
        """Whether it holds only results. O(parts)."""
        return set(map(type, self.parts)) == {Result}
