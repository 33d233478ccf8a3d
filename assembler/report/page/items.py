"""The rows of a page: every item of a plan, with a row for each turn.

On a page of many builds each message is a row, so that two builds share the rows of their common messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from assembler.conversation.history import Span
from assembler.conversation.messages import Message
from assembler.conversation.pins import pinned_messages
from assembler.pipeline.planned import Planned
from assembler.pricing.ledger import Ledger
from assembler.report.items import Item, fixed_items
from assembler.report.page.rows import State
from assembler.report.report import Report
from assembler.report.rows import REGIONS, Row, span_name
from assembler.report.turns import why_before
from budgets import AssemblyError, Count, Grade, Tokens

_NEWEST, _PINNED = "newest turn", "pinned"


def items_of(plan: Planned) -> tuple[Item, ...]:
    """The rows of a plan, region by region. Prices every turn; O(items)."""
    return in_order([*fixed_items(plan.measured), *_make_stand_in(plan), *_list_turn_items(plan)])


def in_order(items: Iterable[Item]) -> tuple[Item, ...]:
    """Sort the items by region, and keep their order within each."""
    return tuple(sorted(items, key=lambda item: REGIONS.index(item.region)))


def rows_as_items(report: Report) -> tuple[Item, ...]:
    """The rows of a report that has no plan."""
    return tuple(_read_stored_item(row) for row in report.rows)


def _read_stored_item(row: Row) -> Item:
    dropped = row.outcome == "dropped"
    return Item(row.region, row.name, row.before, note=row.reason, omitted=row.reason * dropped, messages=row.messages)


def _make_stand_in(plan: Planned) -> Iterator[Item]:
    summary = plan.trimmed.cut.summary
    if summary is None and not any(rung.traits.note for rung in plan.settings.rungs):
        return
    content = None if summary is None else (summary,)
    name = "in place of dropped turns"
    yield Item("conversation", name, 0, Grade.EXACT, "summary", stable=True, stands_in=True, content=content)


def _list_turn_items(plan: Planned) -> Iterator[Item]:
    pins = pinned_messages(plan.view, plan.settings.pins)
    pinned = dict(attrs.evolve(plan.ledger, pins=pins).pinned_turns()) if pins else {}
    turns, readable = _find_turns(plan)
    newest = turns[-1][0] if turns else plan.view.length
    for start, stop in turns:
        count = _price_turn(plan.ledger, start, stop) if start >= readable or start in pinned else None
        notes = [_NEWEST] * (start == newest) + [_PINNED] * (start in pinned)
        yield _make_turn_item(plan, (start, stop), count, notes)


def _make_turn_item(plan: Planned, span: Span, count: Count | None, notes: Sequence[str]) -> Item:
    start, stop = span
    messages = None if count is None else tuple(plan.view.messages(start, stop))
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
        content=messages,
        largest=None if messages is None or len(messages) < 2 else _find_largest(plan.ledger, start, messages),
    )


def _find_largest(ledger: Ledger, start: int, messages: Sequence[Message]) -> tuple[int, str, Tokens]:
    sizes = [ledger.message(start + at).tokens for at in range(len(messages))]
    at = sizes.index(max(sizes))
    return start + at, messages[at].role, sizes[at]


def _price_turn(ledger: Ledger, start: int, stop: int) -> Count | None:
    try:
        return ledger.turn(start, stop)
    except AssemblyError:
        return None


def _find_turns(plan: Planned) -> tuple[list[Span], int]:
    """The turns, oldest first, and the first message from which all are readable. Older ones are joined."""
    newest_first: list[Span] = []
    try:
        newest_first.extend(plan.view.turns_newest_first())
    except AssemblyError:
        readable = plan.first
        newest_first = [span for span in newest_first if span[0] >= readable]
        return [*_find_unread_turns(plan, readable), *reversed(newest_first)], readable
    return newest_first[::-1], plan.view.head


def _find_unread_turns(plan: Planned, stop: int) -> Iterator[Span]:
    at = plan.view.head
    for start, end in plan.stretches[:-1]:
        if at < start:
            yield at, start
        yield start, end
        at = end
    if at < stop:
        yield at, stop


def message_states(plan: Planned) -> list[State]:
    """Every item with its outcome, region by region, with a row for each message. O(messages)."""
    found = [
        *map(_make_fixed_state, fixed_items(plan.measured)),
        *_make_summary_state(plan),
        *_list_message_states(plan),
    ]
    return sorted(found, key=lambda state: REGIONS.index(state[0].region))


def _make_fixed_state(item: Item) -> State:
    return (item, 0, "dropped") if item.omitted else (item, item.before or 0, "kept")


def _make_summary_state(plan: Planned) -> Iterator[State]:
    summary = plan.trimmed.cut.summary
    if summary is not None:
        count = plan.ledger.price(summary)
        item = Item("conversation", "in place of dropped turns", 0, count.grade, "summary", stands_in=True)
        yield attrs.evolve(item, content=(summary,)), count.tokens, "kept"


def _list_message_states(plan: Planned) -> Iterator[State]:
    kept_messages, sent = dict(plan.kept_messages), dict(plan.sent)
    changed, first = plan.trimmed.changed, plan.ledger.first
    for index in range(plan.view.head, plan.view.length):
        if index not in kept_messages:
            omitted = "" if index >= first else why_before(plan)
            yield _make_message_item(plan, index, None, omitted), 0, "dropped"
            continue
        item = _make_message_item(plan, index, sent[index])
        if index in changed:
            yield item, plan.ledger.price(kept_messages[index]).tokens, "shortened"
        else:
            yield item, item.before or 0, "kept"


def _make_message_item(plan: Planned, index: int, sent: Message | None, omitted: str = "") -> Item:
    place = (index, index + 1)
    try:
        read, count = plan.view.message(index), plan.ledger.message(index)
    except AssemblyError:  # an unreadable message that a policy dropped
        return Item("conversation", f"message {index}", None, omitted=omitted, messages=1, span=place)
    return Item(
        "conversation",
        f"message {index}, {read.role}",
        count.tokens,
        count.grade,
        omitted=omitted,
        messages=1,
        span=place,
        pinned=read.pinned,
        content=(read if sent is None else sent,),
    )
