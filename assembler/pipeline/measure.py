"""Renders and prices the fixed part of a request: everything but the turns."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import attrs

from assembler.conversation.messages import Message
from assembler.pipeline.choose import Choice, lay_out_regions
from assembler.pricing.pricer import FixedPrices
from assembler.regions.regions import Regions
from assembler.strategies.strategy import Rendered
from budgets import Count, RegionCosts
from budgets.count import Difference, total
from budgets.value import are_the_same

if TYPE_CHECKING:
    from assembler.pipeline.gather import Gathered
    from assembler.pipeline.space import FilledHost
    from assembler.report.region_facts import FixedFacts


@attrs.define(eq=False)
class Measured:
    """The fixed regions of a request, as text and as tokens."""

    regions: Regions
    rendered: Rendered
    head: tuple[Message, ...]
    prices: FixedPrices
    choice: Choice | None = None
    host: FilledHost | None = None
    """The message that hosts knowledge, if one does."""
    saved: Difference | None = None
    """What the host costs less with words around its text than without them; None if it costs no less."""
    facts: FixedFacts | None = attrs.field(default=None, init=False, repr=False)
    """A cache of `report`."""
    system: str | None = attrs.field(init=False, repr=False)
    """The system text."""
    tool_classes: Sequence[object] = attrs.field(init=False, repr=False)
    """The tools as the caller passed them, each once."""
    instruction: Count = attrs.field(init=False, repr=False)
    """The cost of the instruction and of the system messages at the head of the history."""
    knowledge: Count = attrs.field(init=False, repr=False)
    """The cost of the documents, tags included."""
    capability: Count = attrs.field(init=False, repr=False)
    """The cost of the tools with the provider's wrapping, and of the output schema."""
    fixed: Count = attrs.field(init=False)
    """The cost of all fixed regions and the framing."""

    def __attrs_post_init__(self) -> None:
        self.system = self.rendered.system
        self.tool_classes = [*{id(tool.raw): tool.raw for tool in self.regions.tools}.values()]
        self.instruction = total([*self.prices_of("instruction"), *self.prices.head])
        self.knowledge = total(self.prices_of("knowledge"))
        self.capability = total(self.prices.tools) + self.prices.tooling + self.prices.output
        self.fixed = self.instruction + self.capability + self.knowledge + self.prices.framing

    def costs(self, conversation: Count) -> RegionCosts:
        """The costs by region, if the turns cost `conversation`."""
        return RegionCosts(
            instruction=self.instruction.tokens,
            capability=self.capability.tokens,
            knowledge=self.knowledge.tokens,
            conversation=conversation.tokens,
            framing=self.prices.framing.tokens,
        )

    def prices_of(self, region: str) -> list[Count]:
        """The price of each piece of a region."""
        pairs = zip(self.rendered.every_piece, self.prices.pieces, strict=True)
        return [price for piece, price in pairs if piece.region == region]


def measure(gathered: Gathered, choice: Choice | None) -> Measured:
    """The fixed part of a draft. Computed once for the same regions, pricer and head."""
    if choice is None and gathered.last is not None:
        return gathered.last.before_limits
    view, settings, regions = gathered.view, gathered.settings.by_rule, gathered.draft.regions
    head = tuple(view.messages(0, view.head))
    found = regions.memory.measured_by(settings.pricer)
    if found is not None and are_the_same(found.head, head) and found.choice == choice:
        return found
    rendered, prices = lay_out_regions(gathered, head, choice)
    measured = measured_with(gathered, head, choice, rendered, prices)
    regions.memory.remember_measured(settings.pricer, measured)
    return measured


def measured_with(
    gathered: Gathered, head: tuple[Message, ...], choice: Choice | None, rendered: Rendered, prices: FixedPrices
) -> Measured:
    """The fixed part of a draft that is laid out like this."""
    host: FilledHost | None = None
    saved: Difference | None = None
    if rendered.around is not None and choice is not None and choice.host is not None:
        from assembler.pipeline.space import host_as_sent, saved_around  # for documents around a question alone

        settings = gathered.settings.by_rule
        host = host_as_sent(choice.host, rendered.around, settings.dialect)
        around = prices.pieces[len(rendered.pieces) :]
        # A merged request is counted as it is sent, and what costs something saves nothing.
        if settings.merging_pricer is None and not any(map(attrgetter("tokens"), around)):
            saved = saved_around(choice.host, host, around, settings.pricer)
    return Measured(gathered.draft.regions.without_memory(), rendered, head, prices, choice, host, saved)
