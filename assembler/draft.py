"""What was gathered: the four regions, frozen. Each add makes the next draft; nothing here is ever changed."""

from __future__ import annotations

from typing import Any

import attrs

from assembler.history import History
from assembler.knowledge import Document
from assembler.tools import Tool


@attrs.frozen
class Regions:
    """The regions that do not grow with the conversation: instruction, capability, knowledge."""

    instruction: str | None = attrs.field(default=None, repr=False)
    tools: tuple[Tool, ...] = ()
    documents: tuple[Document, ...] = ()
    priced: dict[Any, Any] = attrs.field(factory=dict[Any, Any], init=False, repr=False, eq=False)
    """What these regions cost, by pricer: lives and dies with them, so that nothing is priced twice."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Regions, (self.instruction, self.tools, self.documents)


@attrs.frozen
class Draft:
    """Everything that goes into one request, before anything is chosen, priced or cut."""

    regions: Regions = attrs.field(factory=Regions)
    history: History = attrs.field(factory=lambda: History.of(()), repr=False)
