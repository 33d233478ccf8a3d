"""What was decided last is remembered for each owner that lives, and by nobody else."""

from __future__ import annotations

import gc
from typing import Any, cast

from assembler.pipeline.decisions import Decided, Decisions
from assembler.pipeline.settings import Session

CROWDED, LIVING = 16, 40
"""Entries that are kept without looking for those that are gone, and more than that."""
REMEMBERED = ("replayed", "held", "restored", "sealed", "sent", "standing", "spelled")


def test_an_owner_that_decided_nothing_yet_remembers_nothing() -> None:
    decided = Decided(owner := Session())
    assert decided.owner() is owner
    assert [getattr(decided, name) for name in (*REMEMBERED, "remembered")] == [None] * 8


def test_a_copy_knows_all_that_was_decided_and_looks_for_its_session_itself() -> None:
    decided, owner = Decided(first := Session()), Session()
    for name in REMEMBERED:
        setattr(decided, name, cast(Any, object()))
    decided.remembered = Decided(first)
    copy = decided.copy(owner)
    assert copy.owner() is owner
    assert [getattr(copy, name) is getattr(decided, name) for name in REMEMBERED] == [True] * 7
    assert copy.copiers is decided.copiers
    assert copy.remembered is None
    copy.standing = None
    assert decided.standing is not None


def test_each_owner_has_its_own_decisions_however_many_there_are() -> None:
    decisions, owners = Decisions(), [Session() for _ in range(LIVING)]
    assert decisions.known(owners[0]) is None
    found = [decisions.of(owner) for owner in owners]
    assert [decisions.of(owner) for owner in owners] == [decisions.known(owner) for owner in owners] == found
    assert len(set(map(id, found))) == len(decisions._entries) == LIVING  # pyright: ignore[reportPrivateUsage]
    assert [one.owner() for one in found] == owners


def test_what_owners_decided_that_are_gone_is_forgotten_by_the_next_that_come() -> None:
    decisions, living = Decisions(), Session()
    mine = decisions.of(living)
    most = 0
    for _ in range(1_000):
        decisions.of(Session())
        gc.collect(0)
        most = max(most, len(decisions._entries))  # pyright: ignore[reportPrivateUsage]
    assert most == CROWDED
    assert decisions.of(living) is mine


def test_a_copy_for_another_history_decides_apart_for_all_who_live() -> None:
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
