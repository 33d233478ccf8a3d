"""The rows of a page: every item of a plan, each turn a row of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from assembler.conversation.history import Span
from assembler.conversation.pins import pinned_messages
from assembler.pipeline.planned import Planned, why_before
from assembler.pricing.ledger import Ledger
from assembler.report.items import Item, fixed_items
from assembler.report.report import Report
from assembler.report.rows import REGIONS, Row, span_name
from budgets import AssemblyError, Count, Grade

_NEWEST, _PINNED = "newest turn", "pinned"


def items_of(plan: Planned) -> tuple[Item, ...]:
    """The rows of a plan, region by region. Prices every turn; O(items)."""
    return in_order([*fixed_items(plan.measured), *_stand_in(plan), *_conversation(plan)])


def in_order(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items region by region, in the order in which they came."""
    return tuple(sorted(items, key=lambda item: REGIONS.index(item.region)))


def rows_as_items(report: Report) -> tuple[Item, ...]:
    """The rows of a report whose plan is gone, as it says them."""
    return tuple(_stored_item(row) for row in report.rows)


def _stored_item(row: Row) -> Item:
    dropped = row.outcome == "dropped"
    return Item(row.region, row.name, row.before, note=row.reason, omitted=row.reason * dropped, messages=row.messages)


def _stand_in(plan: Planned) -> Iterator[Item]:
    summary = plan.trimmed.cut.summary
    if summary is None and not any(rung.traits.note for rung in plan.settings.rungs):
        return
    content = None if summary is None else (summary,)
    name = "in place of dropped turns"
    yield Item("conversation", name, 0, Grade.EXACT, "summary", stable=True, stands_in=True, content=content)


def _conversation(plan: Planned) -> Iterator[Item]:
    pins = pinned_messages(plan.sight, plan.settings.pins)
    pinned = dict(attrs.evolve(plan.ledger, pins=pins).pinned_turns()) if pins else {}
    turns, readable = _turns(plan)
    newest = turns[-1][0] if turns else plan.sight.length
    for start, stop in turns:
        count = _count(plan.ledger, start, stop) if start >= readable or start in pinned else None
        notes = [_NEWEST] * (start == newest) + [_PINNED] * (start in pinned)
        yield _turn(plan, (start, stop), count, notes)


def _turn(plan: Planned, span: Span, count: Count | None, notes: Sequence[str]) -> Item:
    start, stop = span
    return Item(
        "conversation",
        span_name(start, stop),
        None if count is None else count.tokens,
        None if count is None else count.grade,
        note=", ".join(notes),
        messages=stop - start,
        span=span,
        pinned=_PINNED in notes,
        stable=_NEWEST not in notes,
        omitted="" if start >= plan.ledger.first else why_before(plan),
        content=None if count is None else tuple(plan.sight.messages(start, stop)),
    )


def _count(ledger: Ledger, start: int, stop: int) -> Count | None:
    try:
        return ledger.turn(start, stop)
    except AssemblyError:
        return None


def _turns(plan: Planned) -> tuple[list[Span], int]:
    """The turns, oldest first, and the message from which all can be read; older ones are whole stretches."""
    newest_first: list[Span] = []
    try:
        newest_first.extend(plan.sight.turns_newest_first())
    except AssemblyError:
        readable = plan.first
        newest_first = [span for span in newest_first if span[0] >= readable]
        return [*_unread(plan, readable), *reversed(newest_first)], readable
    return newest_first[::-1], plan.sight.head


def _unread(plan: Planned, stop: int) -> Iterator[Span]:
    at = plan.sight.head
    for start, end in plan.stretches[:-1]:
        if at < start:
            yield at, start
        yield start, end
        at = end
    if at < stop:
        yield at, stop
