"""The contract of a dialect, which parses, prices and emits the requests of one API without its SDK."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import attrs

from assembler.conversation.messages import Message, Thinking
from assembler.dialects.api import Api
from assembler.dialects.writing.notes import Notes
from assembler.pricing.pricer import Pricer
from assembler.regions.layout import Layout
from budgets import TokenCounter


class Opening(enum.Enum):
    """What a conversation may begin with."""

    ANY = "any role"
    USER = "a user message"


@attrs.frozen(eq=False)
class Emission:
    """A request as an API takes it, and one note for each kind of thing that was folded or left out."""

    request: dict[str, Any] = attrs.field(repr=False)
    notes: tuple[str, ...] = ()
    call_ids: frozenset[str] = attrs.field(default=frozenset(), repr=False)
    """The call ids in the request, if the API needs them to be unique: `emit_after` continues from them."""
    noted: Sequence[object] = attrs.field(default=(), repr=False)
    """What was left out with a note of its own, such as surplus cache marks: it is not noted once more as lost."""
    of_library: Mapping[str, int] = attrs.field(factory=dict[str, int], repr=False)
    """The last of the notes, which the library added. `emit_after` gets a request without them."""
    id_repeats: Mapping[str, int] = attrs.field(factory=dict[str, int], repr=False)
    """How often each id came that more than one call has: the next such call gets the next id made from it."""

    def with_notes_of_library(self, notes: Notes) -> Emission:
        """The request with these notes at the end."""
        lines = notes.lines()
        return attrs.evolve(self, notes=(*self.notes, *lines), of_library=notes) if lines else self

    def without_notes_of_library(self) -> Emission:
        """The request with the dialect's own notes."""
        added = sum(map(bool, self.of_library.values()))
        return attrs.evolve(self, notes=self.notes[: len(self.notes) - added], of_library={}) if added else self


class Dialect(Protocol):
    """Reads, prices and writes the requests of one API. A value: compare by name.

    `emit` returns plain dicts and lists that JSON can carry, shares none of them with the caller's objects, and changes
    no argument. The request costs what the pricer says. `emit` raises `UnsupportedContentError` for content that the
    API cannot express.
    """

    @property
    def name(self) -> str:
        """The name that `Assembler(dialect=…)`, errors and docs use."""
        ...

    @property
    def api(self) -> Api:
        """The facts of the API that other packages need; `Api()` for an ordinary one."""
        ...

    @property
    def opening(self) -> Opening:
        """Who may speak first. If it must be the user, an assistant's greeting is left out."""
        ...

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a provider's request. Raises `ConversationError` or `ToolError` naming the place."""
        ...

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """The price list for a model, or for the newest family if it is None."""
        ...

    def options(self, layout: Layout) -> dict[str, Any]:
        """The request's keys for the output schema and the tool choice, as the pricer's `options` reads them.

        Called only for a layout that has one of the two. `emit` notes one that the API has no key for.
        """
        ...

    def emit(self, layout: Layout) -> Emission:
        """The keyword arguments of the API's call that carry the regions, with notes for the report.

        Every build calls it once, O(messages that stay), and hands out copies. The result may share the layout's
        objects. Raises `ConversationError` for a conversation that cannot be sent yet.
        """
        ...


@runtime_checkable
class GrowingDialect(Protocol):
    """A dialect that can append to the last request, so that a build need not write the whole session again."""

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission | None:
        """What `emit` would return for the layout of `before` with the messages `added` at its end. O(added).

        None if the new messages change how earlier ones are written: then `emit` writes the whole request. `before`
        is not changed.
        """
        ...


@runtime_checkable
class ReasoningDialect(Protocol):
    """A dialect of an API that does not take every model's reasoning."""

    def sends_reasoning(self, thought: Thinking, message: Message) -> bool:
        """Whether this part of reasoning is sent with its message. `context.dropped` lists the others."""
        ...
