"""One build under a window of so many characters, and what must hold whatever its policies are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assembler import Assembler, Context
from assembler.dialects import Dialect, plain
from assembler.policies import Policy
from budgets import Budget, ContextLengthError
from tests.assembler import by_hand
from tests.assembler.by_hand import History


def assembler_of(
    history: History, limit: int, policies: Policy | Iterable[Policy], dialect: Dialect = plain
) -> Assembler:
    budget = Budget(limit, counter=len)
    return Assembler(budget, dialect=dialect, on_overflow=policies).add_messages(history)


def built(history: History, limit: int, policies: Policy | Iterable[Policy]) -> Context | None:
    """The context, or None if the policies cannot make it fit."""
    try:
        return assembler_of(history, limit, policies).build()
    except ContextLengthError as error:
        assert error.required > error.available == limit
        return None


def sent(context: Context) -> History:
    messages: History = context.request()["messages"]
    return messages


def left(history: History, limit: int, policies: Policy | Iterable[Policy]) -> History | None:
    """The messages that are sent, or None if the policies cannot make it fit."""
    context = built(history, limit, policies)
    return None if context is None else sent(context)


def wanted(kept: History | None) -> History | None:
    """What an oracle keeps, as it is sent."""
    return None if kept is None else by_hand.public(kept)


def check(context: Context, history: History, limit: int) -> None:
    """Checks the promises of every policy: the request fits, is valid, and is reported as it is."""
    messages, plan = sent(context), context.inside
    assert by_hand.cost(messages) == context.costs.total == context.count.tokens <= limit
    assert by_hand.pairs_hold(messages)
    assert by_hand.opens_turn(messages[0])
    gone = [item.index for item in context.dropped if item.outcome == "dropped"]
    assert sorted([*gone, *plan.kept]) == list(range(len(history)))
    assert by_hand.starts(history)[-1] in plan.kept
    for item in context.dropped:
        assert item.message is history[item.index]
        assert item.id == f"message-{item.index}"
    rows: list[Any] = [row for row in context.report.rows if row.region == "conversation"]
    assert sum(row.after for row in rows) == context.count.tokens
    assert sum(row.before for row in rows) == by_hand.cost(history)
    assert all(row.reason for row in rows if row.outcome != "kept")
