"""The contract of a dialect: it parses, prices and emits the requests of one API, without its SDK."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import attrs

from assembler.conversation.messages import Message, Thinking
from assembler.dialects.api import Api
from assembler.pricing.pricer import Pricer
from assembler.regions.layout import Layout
from budgets import TokenCounter


class Opening(enum.Enum):
    """What a conversation may begin with."""

    ANY = "any role"
    USER = "a user message"


@attrs.frozen(eq=False)
class Emission:
    """A request as an API takes it, and what was folded or left out to get there, one line each."""

    request: dict[str, Any] = attrs.field(repr=False)
    notes: tuple[str, ...] = ()
    call_ids: frozenset[str] = attrs.field(default=frozenset(), repr=False)
    """The ids of the calls in it, where an API needs them to differ: for whoever goes on from it."""


class Dialect(Protocol):
    """One API's spelling. A value: compare by name.

    Contract: `emit` returns plain dicts and lists that JSON can carry, shares none of them with the caller's objects,
    and changes nothing that it is given. What it emits costs what its pricer says. What it cannot express raises
    `UnsupportedContentError`.
    """

    @property
    def name(self) -> str:
        """The name that `Assembler(dialect=…)`, errors and docs use."""
        ...

    @property
    def api(self) -> Api:
        """What other packages ask about the API: `Api()` where it does nothing special."""
        ...

    @property
    def opening(self) -> Opening:
        """Who may speak first. Where it must be the user, a greeting of the assistant is left out."""
        ...

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a provider's own request. Raises `ConversationError` or `ToolError` naming the place."""
        ...

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """The price list for a model; None means the dialect's newest family."""
        ...

    def options(self, layout: Layout) -> dict[str, Any]:
        """The request's keys that ask for the output schema and the tool choice, as the pricer's `options` reads them.

        Asked only of a layout that has one of the two. What the API has no key for is left out here, and noted.
        """
        ...

    def emit(self, layout: Layout) -> Emission:
        """The keyword arguments of the API's call that carry the regions, with notes for the report.

        Every build calls it once, O(messages that stay), and hands out copies. It may share what the layout holds.
        Raises `ConversationError` where nothing can be sent yet.
        """
        ...


@runtime_checkable
class GrowingDialect(Protocol):
    """A dialect that can continue the last request, so that a session is not spelled anew at every build."""

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission | None:
        """What `emit` would return for the layout of `before` with the messages `added` at its end. O(added).

        None if the new messages change how earlier ones are spelled: then `emit` writes the whole. It changes nothing
        that `before` holds.
        """
        ...


@runtime_checkable
class ReasoningDialect(Protocol):
    """A dialect of an API that does not take every model's reasoning."""

    def hears(self, thought: Thinking, message: Message) -> bool:
        """Whether a part of reasoning goes out, where its message does. What does not is in `context.dropped`."""
        ...
