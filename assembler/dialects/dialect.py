"""What a dialect is: how one API spells a request. Parse, price, emit; nothing else, and no SDK."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Protocol

from assembler.pricing.pricer import Pricer
from assembler.regions.layout import Layout
from budgets import TokenCounter


class Opening(enum.Enum):
    """What a conversation may begin with."""

    ANY = "any role"
    USER = "a user message"


class Dialect(Protocol):
    """One API's spelling. A value: compare by name.

    Contract: `emit` returns plain dicts and lists that JSON can carry and that share no list or dict with the caller's
    objects; what it emits costs what its pricer says; what it cannot express raises `UnsupportedContentError`.
    """

    @property
    def name(self) -> str:
        """The name that `Assembler(dialect=…)`, errors and docs use."""
        ...

    @property
    def opening(self) -> Opening:
        """What the first message may be: a greeting of the assistant is left out where it must be the user's."""
        ...

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a provider's own request. Raises `ConversationError` or `ToolError` naming the place."""
        ...

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """The price list for a model; None means the dialect's newest family."""
        ...

    def notes(self, layout: Layout) -> tuple[str, ...]:
        """What the spelling of this layout folds or leaves out, a line each, for the report. Most often `()`.

        Called by every build, O(messages that stay): raises here, not only in `emit`, what cannot be expressed.
        """
        ...

    def options(self, layout: Layout) -> dict[str, Any]:
        """The request's keys that ask for the output schema and the tool choice, as the pricer's `options` reads them.

        Asked only of a layout that has one of the two. What the API has no key for is left out here, and noted.
        """
        ...

    def emit(self, layout: Layout) -> dict[str, Any]:
        """The keyword arguments of the API's call that carry the regions."""
        ...
