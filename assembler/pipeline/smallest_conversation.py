"""Plans the smallest conversation, to find what it costs as an API sends it that merges messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from assembler.conversation.messages import Message
from assembler.conversation.pins import find_undroppable
from assembler.errors import ConversationError
from assembler.pipeline.build_memory import memory_of
from assembler.pipeline.choose import floor_of, naming_part, price_fixed
from assembler.pipeline.ladder import Trimmed
from assembler.pipeline.measure import Measured, measured_with
from assembler.pipeline.planned import Planned
from assembler.pricing.ledger import Cut, Ledger
from assembler.pricing.pricer import FixedPrices
from assembler.strategies.strategy import Rendered
from budgets import Count

if TYPE_CHECKING:
    from assembler.pipeline.choose import Choice
    from assembler.pipeline.gather import Gathered


def plan_smallest(gathered: Gathered, ledger: Ledger, cut: Cut) -> Planned:
    """The plan of what a cut keeps, without knowledge. It continues from the last such plan, apart from all others."""
    view, settings, draft = gathered.view, gathered.settings.by_rule.with_own_session, gathered.draft
    head, known = tuple(view.messages(0, view.head)), memory_of(settings.session, ledger)
    bare = known.bare
    if bare is None or bare.regions.identity is not draft.regions.identity or bare.head != head:
        regions = draft.regions
        prices = naming_part(
            regions, head, settings, lambda pricer: price_fixed(pricer, settings.dialect, (), head, regions)
        )
        bare = known.bare = Measured(regions.without_memory(), Rendered(), head, prices)
    return _count_whole(Planned(draft, settings, view, bare, ledger, Trimmed(cut)))


def smallest_as_sent(
    gathered: Gathered, head: tuple[Message, ...], choice: Choice, rendered: Rendered, prices: FixedPrices
) -> Count:
    """What a request costs as it is sent that has this layout and the smallest conversation. O(messages that stay)."""
    assert choice.cut is not None
    settings, view = gathered.settings.by_rule.with_own_session, gathered.view
    pins = find_undroppable(view, settings.pins, settings.dialect.api.shape)
    ledger = Ledger.of(view, settings.pricer, floor_of(view, settings)[0], pins)
    measured = measured_with(gathered, head, choice, rendered, prices)
    return _count_whole(Planned(gathered.draft, settings, view, measured, ledger, Trimmed(choice.cut))).by_rule


def _count_whole(plan: Planned) -> Planned:
    """The plan with the count of its whole, if only that decides; by its parts if it cannot be written yet."""
    pricer = plan.settings.whole_pricer
    if pricer is None:
        return plan
    try:
        return attrs.evolve(plan, sealed=pricer.count_whole(plan.layout))
    except ConversationError:
        return plan
