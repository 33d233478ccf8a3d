"""What goes into one request, in the order of the regions: the input of `emit`, the output of `parse`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assembler.messages import Message
from assembler.tools import Tool


@attrs.frozen(eq=False)
class Layout:
    """One request before it is spelled, or after it was read. `messages` are the turns; `head` stands before them."""

    system: str | None = attrs.field(default=None, repr=False)
    head: Sequence[Message] = ()
    messages: Sequence[Message] = ()
    tools: Sequence[Tool] = ()
    options: Mapping[str, Any] = attrs.field(factory=dict[str, Any], repr=False)
    """The keys of a parsed request that carry no region: kept so that they can be priced, never emitted by a build."""
