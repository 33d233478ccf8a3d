"""What a dialect is: how one API spells a request. Parse, price, emit; nothing else, and no SDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

from assembler.messages import Message
from assembler.pricing import Pricer
from assembler.tools import Tool
from budgets import TokenCounter


@attrs.frozen(eq=False)
class Layout:
    """What goes into one request, in the order of the regions: the input of `emit`, the output of `parse`."""

    system: str | None = attrs.field(default=None, repr=False)
    head: Sequence[Message] = ()
    messages: Sequence[Message] = ()
    tools: Sequence[Tool] = ()
    options: Mapping[str, Any] = attrs.field(factory=dict[str, Any], repr=False)
    """The keys of a parsed request that carry no region: kept so that they can be priced, never emitted by a build."""


class Dialect(Protocol):
    """One API's spelling. A value: compare by name.

    Contract: `emit` returns plain dicts and lists that JSON can carry and that share no list or dict with the caller's
    objects; what it emits costs what its pricer says; what it cannot express raises `UnsupportedContentError`.
    """

    @property
    def name(self) -> str:
        """The name that `Assembler(dialect=…)`, errors and docs use."""
        ...

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a provider's own request. Raises `ConversationError` or `ToolError` naming the place."""
        ...

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """The price list for a model; None means the dialect's newest family."""
        ...

    def emit(self, layout: Layout) -> dict[str, Any]:
        """The keyword arguments of the API's call that carry the regions."""
        ...
