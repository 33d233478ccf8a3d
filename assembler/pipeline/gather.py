"""Gathers the input of a build: the draft, and the last decision about it if that still holds."""

from __future__ import annotations

import attrs

from assembler.conversation.history import HistoryView
from assembler.pipeline.build_memory import BuildMemory
from assembler.pipeline.draft import Draft
from assembler.pipeline.last_decision import LastDecision, still_holds
from assembler.pipeline.settings import Settings
from assembler.pricing.prices import Prices


@attrs.define(eq=False)
class Gathered:
    """A draft and its messages as they were at one moment. Never changed."""

    draft: Draft
    settings: Settings
    view: HistoryView
    last: LastDecision | None = None
    """The last decision, if no message that it depends on has changed."""
    prices: Prices | None = None
    """The known prices of the history."""
    memory: BuildMemory | None = None
    """What builds with these settings remember of the history."""

    def without(self, changed: int) -> Gathered:
        """The same draft, with the message at `changed` and all that follow to be read again."""
        return Gathered(self.draft, self.settings, self.draft.history.forget(changed))


def gather(draft: Draft, settings: Settings) -> Gathered:
    """The draft, and the last decision about it if that still holds. O(messages that stay)."""
    if draft.regions.output is not None:
        settings = settings.priced_for(draft.regions)
    view = draft.history.view()
    prices = Prices.known(view.readings.prices, settings.pricer)
    if prices is None or prices.memories is None:
        return Gathered(draft, settings, view)
    memory = prices.memories.known(settings)
    last = None if memory is None else memory.last_decision
    if last is None or last.before_limits.regions.identity is not draft.regions.identity or not still_holds(last, view):
        return Gathered(draft, settings, view)
    prices.stretch(view.length)
    return Gathered(draft, settings, view, last, prices, memory)
