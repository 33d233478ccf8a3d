"""The last decision is remembered for each owner that is alive, and for no other."""

from __future__ import annotations

import gc
from typing import Any, cast

from assembler import Assembler, TrimOldest
from assembler.conversation.history import History
from assembler.dialects import plain
from assembler.pipeline.build_memory import BuildMemories, BuildMemory, memory_of
from assembler.pipeline.settings import Session
from assembler.pricing.prices import Prices
from budgets import Budget

CROWDED, LIVING = 16, 40
"""Entries that are kept without looking for those that are gone, and more than that."""
REMEMBERED = ("replayed", "held", "restored", "sealed", "sent", "last_decision", "emitted", "turn_rows")


def test_an_owner_without_a_decision_remembers_nothing() -> None:
    memory = BuildMemory(owner := Session())
    assert memory.owner() is owner
    assert [getattr(memory, name) for name in (*REMEMBERED, "session_memory")] == [None] * 9


def test_a_copy_has_all_decisions_and_finds_its_session_itself() -> None:
    memory, owner = BuildMemory(first := Session()), Session()
    for name in REMEMBERED:
        setattr(memory, name, cast(Any, object()))
    memory.session_memory = BuildMemory(first)
    copy = memory.copy(owner)
    assert copy.owner() is owner
    assert [getattr(copy, name) is getattr(memory, name) for name in REMEMBERED] == [True] * 8
    assert copy.copiers is memory.copiers
    assert copy.session_memory is None
    copy.last_decision = None
    assert memory.last_decision is not None


def test_each_owner_has_its_own_decisions_however_many_there_are() -> None:
    memories, owners = BuildMemories(), [Session() for _ in range(LIVING)]
    assert memories.known(owners[0]) is None
    found = [memories.of(owner) for owner in owners]
    assert [memories.of(owner) for owner in owners] == [memories.known(owner) for owner in owners] == found
    assert len(set(map(id, found))) == len(memories._entries) == LIVING  # pyright: ignore[reportPrivateUsage]
    assert [one.owner() for one in found] == owners


class Late(list[Any]):
    """A list to which another thread adds `theirs` right before anything else is added."""

    def __init__(self, theirs: Any) -> None:
        super().__init__()
        self.theirs = theirs

    def append(self, one: Any) -> None:
        self.extend((self.theirs, one))


def test_two_threads_that_come_at_once_share_what_the_first_of_them_made() -> None:
    memories, owner = BuildMemories(), Session()
    memories._entries = Late(theirs := BuildMemory(owner))  # pyright: ignore[reportPrivateUsage]
    assert memories.of(owner) is memories.of(owner) is theirs
    view, pricer = History.of([("user", "x")]).view(), plain.pricer(None, Budget(10, counter=len).token_counter)
    view.readings.prices = Late(prices := Prices(pricer))
    assert Prices.of(view, pricer) is Prices.of(view, pricer) is prices


def test_decisions_about_a_history_are_kept_with_its_prices() -> None:
    made = Assembler(Budget(10, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages([("user", "x")])
    ledger, owner = made.plan().inside.ledger, Session()
    ledger.prices.memories = None
    found = memory_of(owner, ledger)
    assert found.owner() is owner
    assert memory_of(owner, ledger) is found
    assert cast(Any, ledger.prices.memories).known(owner) is found


def test_decisions_of_owners_that_are_gone_are_forgotten_when_new_ones_arrive() -> None:
    memories, living = BuildMemories(), Session()
    mine = memories.of(living)
    most = 0
    for _ in range(1_000):
        memories.of(Session())
        gc.collect(0)
        most = max(most, len(memories._entries))  # pyright: ignore[reportPrivateUsage]
    assert most == CROWDED
    assert memories.of(living) is mine


def test_a_copy_for_another_history_keeps_the_decisions_of_living_owners() -> None:
    memories, owners = BuildMemories(), [Session() for _ in range(3)]
    for owner in owners:
        memories.of(owner).held = cast(Any, id(owner))
    gone = owners.pop()
    del owner, gone
    gc.collect()
    copy = memories.copy()
    assert len(copy._entries) == 2  # pyright: ignore[reportPrivateUsage]
    for owner in owners:
        assert copy.of(owner).held == memories.of(owner).held == id(owner)
        assert copy.of(owner) is not memories.of(owner)
    assert copy.known(Session()) is None
