"""The regions that do not grow with the conversation, frozen. Each add makes the next value."""

from __future__ import annotations

from typing import Any

import attrs

from assembler.regions.knowledge import Document
from assembler.regions.output_schema import OutputSchema
from assembler.regions.tools import Tool


@attrs.frozen
class Regions:
    """The regions that do not grow with the conversation: instruction, capability, knowledge."""

    instruction: str | None = attrs.field(default=None, repr=False)
    tools: tuple[Tool, ...] = ()
    documents: tuple[Document, ...] = ()
    output: OutputSchema | None = attrs.field(default=None, kw_only=True)
    """The structured answer that is asked for."""
    choice: str | None = attrs.field(default=None, kw_only=True)
    """Which tool the model must call; None leaves it to the API."""
    provenance: str | None = attrs.field(default=None, eq=False, kw_only=True)
    """Where the instruction was rendered from, for the report."""
    priced: dict[Any, Any] = attrs.field(factory=dict[Any, Any], init=False, repr=False, eq=False)
    """What these regions cost, by pricer: lives and dies with them, so that nothing is priced twice."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _regions, (self.instruction, self.tools, self.documents, self.output, self.choice, self.provenance)

    @property
    def opening(self) -> str:
        """What reports call the instruction."""
        return "instruction" if self.provenance is None else f"instruction ({self.provenance})"


def _regions(
    instruction: str | None,
    tools: tuple[Tool, ...],
    documents: tuple[Document, ...],
    output: OutputSchema | None,
    choice: str | None,
    provenance: str | None,
) -> Regions:
    return Regions(instruction, tools, documents, output=output, choice=choice, provenance=provenance)
