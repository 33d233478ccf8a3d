"""The regions besides the conversation, frozen. Each `set_*` and `add_*` makes a new value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from assembler.regions.knowledge import Document
from budgets.value import Value

if TYPE_CHECKING:
    from assembler.pipeline.measure import Measured
    from assembler.pricing.pricer import Pricer
    from assembler.regions.output_schema import OutputSchema
    from assembler.regions.tools import Tool
    from budgets import Count


class RegionsMemory:
    """A memory of how regions were laid out and priced, and of what limits left of them.

    Threads share it without a lock, because both tuples are replaced as a whole and all threads compute the same. Each
    holds at most `MOST` entries.
    """

    __slots__ = ("alone", "measured", "smaller")

    MOST: ClassVar = 4

    def __init__(self) -> None:
        self.measured: tuple[tuple[Pricer, Measured], ...] = ()
        """The regions as text and as tokens, by pricer."""
        self.smaller: tuple[Regions, ...] = ()
        """What the limits of a budget left of the regions. Each has its own memory."""
        self.alone: Regions | None = None
        """The regions without this memory."""

    def measured_by(self, pricer: Pricer) -> Measured | None:
        """The last layout and prices under a pricer, or None."""
        return next((measured for known, measured in self.measured if known is pricer), None)

    def remember_measured(self, pricer: Pricer, measured: Measured) -> None:
        """Store the layout and prices under a pricer, in place of the last ones."""
        others = [entry for entry in self.measured if entry[0] is not pricer]
        self.measured = (*others[1 - self.MOST :], (pricer, measured))

    def once(self, smaller: Regions) -> Regions:
        """The stored regions equal to these, with their memory; these if there are none."""
        known = next((regions for regions in self.smaller if regions == smaller), None)
        if known is None:
            known = smaller
            self.smaller = (*self.smaller[1 - self.MOST :], known)
        return known


@attrs.frozen(eq=False, repr=False)
class Regions(Value):
    """The regions besides the conversation: instruction, capability, knowledge."""

    instruction: str | None = attrs.field(default=None, repr=False)
    tools: tuple[Tool, ...] = ()
    documents: tuple[Document, ...] = ()
    output: OutputSchema | None = attrs.field(default=None, kw_only=True)
    """The schema of the answer."""
    choice: str | None = attrs.field(default=None, kw_only=True)
    """Which tool the model must call; None leaves it to the API."""
    options: tuple[tuple[str, Any], ...] = attrs.field(default=(), kw_only=True)
    """Other keys of the call, which an adapter's framework sends. They are only priced, as a cost of the tools."""
    held: Count | None = attrs.field(default=None, kw_only=True)
    """The tokens of the next request that the server already holds."""
    provenance: str | None = attrs.field(default=None, eq=False, kw_only=True)
    """The prompt from which the instruction was rendered, for the report."""
    memory: RegionsMemory = attrs.field(factory=lambda: RegionsMemory(), init=False, repr=False, eq=False)
    """Keeps these regions from being laid out or priced twice."""
    identity: object = attrs.field(factory=object, init=False, repr=False, eq=False)
    """The same object in these regions and in their `without_memory()`, and in no others."""

    def without_memory(self) -> Regions:
        """The same regions with an empty memory, for values that the memory holds.

        Such a value would hold the memory that holds it, and both would live until Python's collector runs.
        """
        twin = self.memory.alone
        if twin is None:
            twin = attrs.evolve(self)
            object.__setattr__(twin, "identity", self.identity)
            self.memory.alone = twin
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        # By position. With field names, the pickle would depend on whether equal texts are one object.
        return _rebuild, tuple(getattr(self, field.name) for field in attrs.fields(Regions) if field.init)

    @property
    def opening(self) -> str:
        """The name of the instruction in reports."""
        return "instruction" if self.provenance is None else f"instruction ({self.provenance})"


def _rebuild(*values: Any) -> Regions:
    names = (field.name for field in attrs.fields(Regions) if field.init)
    return Regions(**dict(zip(names, values, strict=True)))
