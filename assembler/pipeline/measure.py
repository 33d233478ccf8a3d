"""The fixed part of a request, rendered and priced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from assembler.conversation.messages import Message
from assembler.pipeline.choose import Choice, FilledHost, host_as_sent, lay_out_regions
from assembler.pricing.pricer import FixedPrices
from assembler.regions.regions import Regions
from assembler.strategies.strategy import Rendered
from budgets import Count, RegionCosts
from budgets.count import total
from budgets.value import are_the_same

if TYPE_CHECKING:
    from assembler.pipeline.gather import Gathered
    from assembler.report.memory import FixedFacts


@attrs.define(eq=False)
class Measured:
    """The regions as text and as tokens: all of a request but its turns."""

    regions: Regions
    rendered: Rendered
    head: tuple[Message, ...]
    prices: FixedPrices
    choice: Choice | None = None
    host: FilledHost | None = None
    """The newest question's message, where knowledge was put around it."""
    facts: FixedFacts | None = attrs.field(default=None, init=False, repr=False)
    """What reports say of them: `report` makes and reads it."""
    system: str | None = attrs.field(init=False, repr=False)
    """The system text."""
    instruction: Count = attrs.field(init=False, repr=False)
    """What the instruction costs with the system messages at the head of the history."""
    knowledge: Count = attrs.field(init=False, repr=False)
    """What the documents cost, tags included."""
    capability: Count = attrs.field(init=False, repr=False)
    """What the tools cost, with what the provider wraps around them, and the output schema."""
    fixed: Count = attrs.field(init=False)
    """What all of it costs."""

    def __attrs_post_init__(self) -> None:
        self.system = self.rendered.system
        self.instruction = total([*self._pieces("instruction"), *self.prices.head])
        self.knowledge = total(self._pieces("knowledge"))
        self.capability = total(self.prices.tools) + self.prices.tooling + self.prices.output
        self.fixed = self.instruction + self.capability + self.knowledge + self.prices.framing

    def costs(self, conversation: Count) -> RegionCosts:
        """The region table, the turns costing `conversation`."""
        return RegionCosts(
            instruction=self.instruction.tokens,
            capability=self.capability.tokens,
            knowledge=self.knowledge.tokens,
            conversation=conversation.tokens,
            framing=self.prices.framing.tokens,
        )

    def _pieces(self, region: str) -> Iterable[Count]:
        pairs = zip(self.rendered.every_piece, self.prices.pieces, strict=True)
        return [price for piece, price in pairs if piece.region == region]


def measure(gathered: Gathered, choice: Choice | None) -> Measured:
    """The fixed part of a draft. Found once for these regions, this pricer and this head."""
    if choice is None and gathered.last is not None:
        return gathered.last.before_limits
    sight, settings, regions = gathered.sight, gathered.settings.by_rule, gathered.draft.regions
    head = tuple(sight.messages(0, sight.head)) if sight.length else ()
    found = regions.memory.measured_by(settings.pricer)
    if found is not None and are_the_same(found.head, head) and found.choice == choice:
        return found
    rendered, prices = lay_out_regions(regions, head, settings, choice)
    measured = Measured(regions, rendered, head, prices, choice, host_as_sent(rendered, choice))
    regions.memory.remember_measured(settings.pricer, measured)
    return measured
