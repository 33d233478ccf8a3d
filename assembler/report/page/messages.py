"""The rows of one build among many: a row for each message, so that what two builds share has the same rows."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from assembler.conversation.messages import Message
from assembler.pipeline.planned import Planned, why_before
from assembler.report.items import Item, fixed_items
from assembler.report.page.rows import State
from assembler.report.rows import REGIONS
from budgets import AssemblyError


def message_states(plan: Planned) -> list[State]:
    """Every item with what became of it, region by region, each message a row of its own. O(messages)."""
    found = [*map(_fixed_state, fixed_items(plan.measured)), *_summary(plan), *_messages(plan)]
    return sorted(found, key=lambda state: REGIONS.index(state[0].region))


def _fixed_state(item: Item) -> State:
    return (item, 0, "dropped") if item.omitted else (item, item.before or 0, "kept")


def _summary(plan: Planned) -> Iterator[State]:
    summary = plan.trimmed.cut.summary
    if summary is not None:
        count = plan.ledger.price(summary)
        said = Item("conversation", "in place of dropped turns", 0, count.grade, "summary", stands_in=True)
        yield attrs.evolve(said, content=(summary,)), count.tokens, "kept"


def _messages(plan: Planned) -> Iterator[State]:
    standing, sent = dict(plan.standing), dict(plan.sent)
    changed, first = plan.trimmed.changed, plan.ledger.first
    for index in range(plan.sight.head, plan.sight.length):
        if index not in standing:
            omitted = "" if index >= first else why_before(plan)
            yield _message(plan, index, None, omitted), 0, "dropped"
            continue
        item = _message(plan, index, sent[index])
        if index in changed:
            yield item, plan.ledger.price(standing[index]).tokens, "shortened"
        else:
            yield item, item.before or 0, "kept"


def _message(plan: Planned, index: int, sent: Message | None, omitted: str = "") -> Item:
    place = (index, index + 1)
    try:
        read, count = plan.sight.message(index), plan.ledger.message(index)
    except AssemblyError:  # a policy may drop a message that was never read
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
