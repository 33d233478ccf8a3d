"""Plans the smallest conversation by itself, to find what it costs as an API sends it that merges messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assembler.pipeline.choose import naming_part, price_fixed
from assembler.pipeline.decisions import decisions_of
from assembler.pipeline.ladder import Trimmed
from assembler.pipeline.measure import Measured
from assembler.pipeline.planned import Planned
from assembler.pricing.ledger import Cut, Ledger
from assembler.strategies.strategy import Rendered

if TYPE_CHECKING:
    from assembler.pipeline.gather import Gathered


def plan_smallest(gathered: Gathered, ledger: Ledger, cut: Cut) -> Planned:
    """The plan of what a cut keeps, without knowledge. It continues from the last such plan, apart from all others."""
    view, settings, draft = gathered.view, gathered.settings.by_rule.with_own_session, gathered.draft
    head, known = tuple(view.messages(0, view.head)), decisions_of(settings.session, ledger)
    bare = known.bare
    if bare is None or bare.regions is not draft.regions or bare.head != head:
        regions = draft.regions
        prices = naming_part(
            regions, head, settings, lambda pricer: price_fixed(pricer, settings.dialect, (), head, regions)
        )
        bare = known.bare = Measured(draft.regions, Rendered(), head, prices)
    return Planned(draft, settings, view, bare, ledger, Trimmed(cut))
