"""Finds pinned messages: by a mark on the message, a predicate, an index, or because it is the first question."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, TypeAlias, cast

from assembler.conversation.history import HistoryView
from assembler.conversation.readings import Matched
from assembler.conversation.turns import opens_turn
from assembler.errors import ConversationError
from assembler.validation import iterates
from budgets import BudgetError
from budgets.numbers import index_of


class FirstUser(enum.Enum):
    """The type of `first_user`."""

    FIRST_USER = "the first user message"


first_user: Final = FirstUser.FIRST_USER
"""Pins the first user message, which usually states the task."""

Pins: TypeAlias = Callable[[Any], object] | frozenset[int] | FirstUser
"""A predicate on the caller's message, indexes in the history, or `first_user`. A predicate must be pure: it is called
once for each message, and again for one that its owner changed."""

NO_PINS: Pins = frozenset()


def checked_pins(pins: Callable[[Any], object] | Collection[int] | FirstUser) -> Pins:
    """Pins of one of the three kinds. Raises `BudgetError` for anything else, and for an async predicate."""
    if isinstance(pins, FirstUser):
        return pins
    if callable(pins):
        from budgets.counters.awaited import refuse_async  # for the few that pin by a function

        refuse_async(pins, "pins")
        return pins
    if iterates(pins) and not isinstance(pins, str | bytes):
        indexes = list(map(index_of, cast("Iterable[object]", pins)))
        if all(index is not None and index >= 0 for index in indexes):
            return frozenset(cast("list[int]", indexes))
    raise BudgetError(f"pins: expected a predicate, a set of message indexes, or first_user, got {type(pins).__name__}")


def pinned_messages(view: HistoryView, pins_of_rungs: Iterable[Pins], already_checked: int = 0) -> tuple[int, ...]:
    """The pinned messages, oldest first. Marks of the first `already_checked` messages are not checked again.

    A predicate is called once for each message.
    """
    found = set(view.marked(already_checked))
    for pins in pins_of_rungs:
        if pins is first_user:
            found.update(_find_first_question(view))
        elif callable(pins):
            found.update(_find_matches(view, pins))
        elif pins:
            found.update(index for index in pins if index < view.length)
    return tuple(sorted(index for index in found if index >= view.head)) if found else ()


def find_undroppable(
    view: HistoryView, pins_of_rungs: Iterable[Pins], shape: str, already_checked: int = 0
) -> tuple[int, ...]:
    """The messages whose turns no policy may drop, oldest first: pinned ones, the newest summary of the API's server,
    and results for calls that the server holds.
    """
    pins = pinned_messages(view, pins_of_rungs, already_checked)
    if (summary := view.compacted(shape)) is not None:
        pins = tuple(sorted({*pins, summary}))
    if answers := view.answering_the_server():
        pins = tuple(sorted({*pins, *answers}))
    return pins


def _find_first_question(view: HistoryView) -> Iterable[int]:
    _, start = view.greeting()
    return (start,) if start < view.length and opens_turn(view.message(start)) else ()


def _find_matches(view: HistoryView, pins: Callable[[Any], object]) -> Iterable[int]:
    found = view.readings.matched_by(pins)
    if found.length < view.length:
        raws = view.raws(found.length, view.length)
        indexes = (*found.indexes, *(index for index, raw in enumerate(raws, found.length) if pins(raw)))
        for index in range(found.length, view.length):
            with contextlib.suppress(ConversationError):  # dropped objects need not be valid messages
                view.message(index)  # read it, so that a later change is noticed
        found = Matched(pins, view.length, indexes)
        view.readings.remember_match(found)
    return (index for index in found.indexes if index < view.length)
