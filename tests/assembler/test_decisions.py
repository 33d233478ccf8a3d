"""The last decision is remembered for each owner that is alive, and for no other."""

from __future__ import annotations

import gc
from typing import Any, cast

from assembler import Assembler, TrimOldest
from assembler.conversation.history import History
from assembler.dialects import plain
from assembler.pipeline.decisions import Decided, Decisions, decisions_of
from assembler.pipeline.settings import Session
from assembler.pricing.prices import Prices
from budgets import Budget

CROWDED, LIVING = 16, 40
"""Entries that are kept without looking for those that are gone, and more than that."""
REMEMBERED = ("replayed", "held", "restored", "sealed", "sent", "last_decision", "emitted", "turn_rows")


def test_an_owner_without_a_decision_remembers_nothing() -> None:
    decided = Decided(owner := Session())
    assert decided.owner() is owner
    assert [getattr(decided, name) for name in (*REMEMBERED, "decided_by_session")] == [None] * 9


def test_a_copy_has_all_decisions_and_finds_its_session_itself() -> None:
    decided, owner = Decided(first := Session()), Session()
    for name in REMEMBERED:
        setattr(decided, name, cast(Any, object()))
    decided.decided_by_session = Decided(first)
    copy = decided.copy(owner)
    assert copy.owner() is owner
    assert [getattr(copy, name) is getattr(decided, name) for name in REMEMBERED] == [True] * 8
    assert copy.copiers is decided.copiers
    assert copy.decided_by_session is None
    copy.last_decision = None
    assert decided.last_decision is not None


def test_each_owner_has_its_own_decisions_however_many_there_are() -> None:
    decisions, owners = Decisions(), [Session() for _ in range(LIVING)]
    assert decisions.known(owners[0]) is None
    found = [decisions.of(owner) for owner in owners]
    assert [decisions.of(owner) for owner in owners] == [decisions.known(owner) for owner in owners] == found
    assert len(set(map(id, found))) == len(decisions._entries) == LIVING  # pyright: ignore[reportPrivateUsage]
    assert [one.owner() for one in found] == owners


class Late(list[Any]):
    """A list to which another thread adds `theirs` right before anything else is added."""

    def __init__(self, theirs: Any) -> None:
        super().__init__()
        self.theirs = theirs

    def append(self, one: Any) -> None:
        self.extend((self.theirs, one))


def test_two_threads_that_come_at_once_share_what_the_first_of_them_made() -> None:
    decisions, owner = Decisions(), Session()
    decisions._entries = Late(theirs := Decided(owner))  # pyright: ignore[reportPrivateUsage]
    assert decisions.of(owner) is decisions.of(owner) is theirs
    view, pricer = History.of([("user", "x")]).view(), plain.pricer(None, Budget(10, counter=len).token_counter)
    view.readings.prices = Late(prices := Prices(pricer))
    assert Prices.of(view, pricer) is Prices.of(view, pricer) is prices


def test_decisions_about_a_history_are_kept_with_its_prices() -> None:
    made = Assembler(Budget(10, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages([("user", "x")])
    ledger, owner = made.plan().inside.ledger, Session()
    ledger.prices.decisions = None
    found = decisions_of(owner, ledger)
    assert found.owner() is owner
    assert decisions_of(owner, ledger) is found
    assert cast(Any, ledger.prices.decisions).known(owner) is found


def test_decisions_of_owners_that_are_gone_are_forgotten_when_new_ones_arrive() -> None:
    decisions, living = Decisions(), Session()
    mine = decisions.of(living)
    most = 0
    for _ in range(1_000):
        decisions.of(Session())
        gc.collect(0)
        most = max(most, len(decisions._entries))  # pyright: ignore[reportPrivateUsage]
    assert most == CROWDED
    assert decisions.of(living) is mine


def test_a_copy_for_another_history_keeps_the_decisions_of_living_owners() -> None:
    decisions, owners = Decisions(), [Session() for _ in range(3)]
    for owner in owners:
        decisions.of(owner).held = cast(Any, id(owner))
    gone = owners.pop()
    del owner, gone
    gc.collect()
    copy = decisions.copy()
    assert len(copy._entries) == 2  # pyright: ignore[reportPrivateUsage]
    for owner in owners:
        assert copy.of(owner).held == decisions.of(owner).held == id(owner)
        assert copy.of(owner) is not decisions.of(owner)
    assert copy.known(Session()) is None
