"""Finds the rows of a page that have the request's cache marks."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assembler.dialects.caching.mark_places import END, SYSTEM, TOOLS, Place, opens_newest_turn
from assembler.errors import ConversationError
from assembler.pipeline.emit import make_request
from assembler.pipeline.planned import Planned
from assembler.report.items import Item


@attrs.frozen
class Mark:
    """A cache mark: what it ends, its lifetime, and the row that it follows, if there is one."""

    after: str
    lifetime: str
    item: int | None


def marks_of(plan: Planned, items: Sequence[Item]) -> tuple[Mark, ...]:
    """The request's marks, including the caller's own, in order; none if there is no request yet."""
    spelling = plan.settings.dialect.api.marks
    if spelling is None:
        return ()
    try:
        request = make_request(plan)
    except ConversationError:  # no request can be made yet: the report says why
        return ()
    newest = opens_newest_turn(request, spelling)
    return tuple(
        _describe_mark(place, lifetime or "5m", newest, items, plan) for place, lifetime in spelling.marks(request)
    )


def _describe_mark(place: Place, lifetime: str, newest: int, items: Sequence[Item], plan: Planned) -> Mark:
    region, message, _ = place
    if region == TOOLS:
        return Mark("the tools", lifetime, _find_last(items, [item.region == "capability" for item in items]))
    if region == SYSTEM:
        fixed = [item.stable and item.region in ("instruction", "knowledge") for item in items]
        return Mark("the system text", lifetime, _find_last(items, fixed))
    if region == END or message >= newest:
        return Mark("the newest turn", lifetime, _find_last(items, [item.span is not None for item in items]))
    if message == newest - 1:
        older = [item.span is not None and item.stable and _is_kept(item, plan) for item in items]
        return Mark("the turn before the newest", lifetime, _find_last(items, older))
    return Mark(f"message {message} of the request", lifetime, None)


def _is_kept(item: Item, plan: Planned) -> bool:
    return item.span is not None and not item.omitted and (item.pinned or item.span[0] >= plan.first)


def _find_last(items: Sequence[Item], fitting: Sequence[bool]) -> int | None:
    return max((place for place in range(len(items)) if fitting[place]), default=None)
