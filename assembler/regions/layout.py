"""The content of one request, by region: the input of `emit` and the output of `parse`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from assembler.conversation.messages import Message

if TYPE_CHECKING:
    from assembler.regions.output_schema import OutputSchema
    from assembler.regions.tools import Tool

_NO_OPTIONS: Mapping[str, Any] = {}


@attrs.frozen(eq=False)
class Layout:
    """One request before it is spelled, or after it was read. `messages` are the turns; `head` comes before them."""

    system: str | None = attrs.field(default=None, repr=False)
    head: Sequence[Message] = ()
    messages: Sequence[Message] = ()
    tools: Sequence[Tool] = ()
    output: OutputSchema | None = None
    """The schema of the answer. Each API has its own keys for it."""
    choice: str | None = None
    """Which tool the model must call: `auto`, `required`, `none`, or one by its name."""
    options: Mapping[str, Any] = attrs.field(default=_NO_OPTIONS, repr=False)
    """The other keys of a request: those of a parsed request, or those for the output schema and the tool choice. They
    are only priced; `emit` writes its own."""
