"""The order of what is sent: the turns that stay, with a summary of those that were dropped among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from assembler.pipeline.planned import Planned

Sent = TypeVar("Sent")


def summary_place(plan: Planned) -> int:
    """The index in the history before which a summary is sent. O(pinned turns).

    It comes first, or after the turn with a summary of the API's server, which reads nothing before its own.
    """
    of_server = plan.view.compacted(plan.settings.dialect.api.shape)
    if of_server is None or of_server >= plan.first:
        return plan.view.head
    return next(stop for start, stop in plan.stretches if start <= of_server < stop)


def with_summary(plan: Planned, sent: Sequence[Sent], summary: Sent) -> list[Sent]:
    """What is sent for each message that stays, and for a summary of those that were dropped. O(messages that stay)."""
    before = summary_place(plan)
    place = 0 if before == plan.view.head else sum(index < before for index, _ in plan.kept_messages)
    return [*sent[:place], summary, *sent[place:]]
