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

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import attrs

from budgets.value import Value

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]


@attrs.frozen(eq=False, repr=False)
class Call(Value):
    """The model asks for a tool: `arguments` is the JSON text as the model wrote it, byte for byte.

    Where a provider carries an object instead of a text, `arguments` is its compact JSON and `given` the object.
    `id` is None where the provider gives none (Gemini).
    """

    id: str | None
    name: str
    arguments: str = attrs.field(repr=False)
    given: Mapping[str, Any] | None = attrs.field(default=None, repr=False, eq=False)
    signature: str | bytes | None = attrs.field(default=None, repr=False)


@attrs.frozen(eq=False, repr=False)
class Result(Value):
    """The answer to one call: `parts` hold text and media only; `given` is its JSON object, where it came as one."""

    call_id: str | None
    parts: tuple[str | Media | Opaque, ...] = attrs.field(repr=False)
    name: str | None = None
    error: bool = False
    given: Mapping[str, Any] | None = attrs.field(default=None, repr=False, eq=False)


@attrs.frozen(eq=False, repr=False)
class Thinking(Value):
    """The model's own reasoning: opaque, signed, carried through untouched. `text` is what of it can be read."""

    text: str = attrs.field(repr=False)
    raw: Mapping[str, Any] = attrs.field(repr=False, eq=False)


@attrs.frozen(eq=False, repr=False)
class Media(Value):
    """An image, a document, a sound: `kind` is "image", "document", "audio" or "video".

    `raw` is the provider's own part. Its base64 is never counted as text.
    """

    kind: str
    raw: Mapping[str, Any] = attrs.field(repr=False, eq=False)


@attrs.frozen(eq=False, repr=False)
class Opaque(Value):
    """A part of a kind that this library does not read; `kind` is the provider's word for it.

    It goes out byte for byte to the API whose part it is. `api` is the shape that only that API has, "neutral" where
    nobody knows whose it is.
    """

    kind: str
    raw: Mapping[str, Any] = attrs.field(repr=False, eq=False)
    api: str = attrs.field(default="neutral", eq=False)


Part: TypeAlias = str | Call | Result | Thinking | Media | Opaque


@attrs.define(eq=False)
class Message:
    """A role, its parts, and the caller's own object (`raw`) with a private copy of what was read from it (`seen`).

    Never changed but for `sent`: it is not frozen since each message is one, and a frozen value takes twice as long to
    make. `shape` names the spelling that `seen` is in: a dialect that speaks it may emit `seen` as it stands.
    """

    role: Role
    parts: tuple[Part, ...] = attrs.field(repr=False)
    raw: object = attrs.field(repr=False)
    shape: str
    seen: Any = attrs.field(repr=False)
    name: str | None = None
    pinned: bool = False
    shallow: bool = False
    """Whether `seen` is a dict of texts alone: then a shallow copy of it shares nothing that can change."""
    beside: tuple[str, ...] = ()
    """The fields of a Chat message that are not read here; they go out to the APIs of that spelling alone."""
    sent: Mapping[str, Any] | None = attrs.field(default=None, init=False, repr=False)
    """What Chat Completions is sent for it, where that is one message by itself, once it is known. Threads that look at
    once find the same."""

    def with_parts(self, parts: tuple[Part, ...]) -> Message:
        """The message with other parts: what is priced, and never sent."""
        return Message(
            self.role,
            parts,
            self.raw,
            self.shape,
            self.seen,
            self.name,
            self.pinned,
            self.shallow,
            self.beside,
        )

    @property
    def call_ids(self) -> frozenset[str | None]:
        """The ids of the calls that this message makes."""
        return frozenset(part.id for part in self.parts if isinstance(part, Call))

    @property
    def answer_ids(self) -> frozenset[str | None]:
        """The ids of the calls that this message answers."""
        return frozenset(part.call_id for part in self.parts if isinstance(part, Result))

    @property
    def answers(self) -> bool:
        """Whether results are in it, whichever role its spelling gives them. O(parts)."""
        return Result in map(type, self.parts)

    @property
    def answers_only(self) -> bool:
        """Whether it is results and nothing else. O(parts)."""
        return bool(self.parts) and all(type(part) is Result for part in self.parts)
