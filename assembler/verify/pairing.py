"""Calls and their answers, in any dialect: who is answered, who is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, TypeAlias

import attrs

from assembler.verify.place import Place
from assembler.verify.violation import Rule, Violation, counted, listed, shown

N2 = Rule("N2", "each call is answered exactly once, before the next user or assistant turn; no answer without a call")
N3 = Rule("N3", "call ids are unique in the conversation")
RULES = (N2, N3)


@attrs.frozen(slots=True)
class Ref:
    """A call or an answer: its id (None where none is readable), and the place of that id."""

    id: str | None
    place: Place


@attrs.frozen(slots=True)
class Turn:
    """What pairing needs of a message, or of several that the API reads as one."""

    place: Place
    role: str
    calls: tuple[Ref, ...] = ()
    answers: tuple[Ref, ...] = ()


@attrs.frozen(slots=True)
class Unanswered:
    """Calls of one turn that lack their answer in the turns directly after it; `of` counts all its calls."""

    turn: Turn
    ids: tuple[str, ...]
    of: int

    def violates(self, rule: Rule, where: str) -> Violation:
        """As a violation of the dialect's rule for it."""
        missing = f"{len(self.ids)} of {counted(self.of, 'call')}"
        return rule.broken(where, f"{missing} without an answer directly after: {listed(self.ids)}")


@attrs.frozen(slots=True)
class _Stray:
    """An answer that nobody waits for."""

    ref: Ref
    id: str
    problem: ClassVar[str]

    def violates(self, rule: Rule) -> Violation:
        """As a violation of the dialect's rule for it."""
        return rule.broken(self.ref.place.path, f"answers {shown(self.id)}{self.problem}")


class Orphan(_Stray):
    """An answer to no call that is open at its place."""

    __slots__ = ()
    problem = ", which no call directly before it has"


class Again(_Stray):
    """A second answer to the same call."""

    __slots__ = ()
    problem = " a second time"


Mismatch: TypeAlias = Unanswered | Orphan | Again


def mismatches(turns: Iterable[Turn]) -> Iterator[Mismatch]:
    """What does not pair. A turn's calls stay open until the next turn that brings no answer. Linear."""
    caller: Turn | None = None
    opened: set[str] = set()
    done: set[str] = set()
    for turn in turns:
        for ref in turn.answers:
            if ref.id is None:
                continue
            if ref.id in done:
                yield Again(ref, ref.id)
            elif ref.id not in opened:
                yield Orphan(ref, ref.id)
            else:
                done.add(ref.id)
        if turn.calls or not turn.answers:
            yield from _unanswered(caller, done)
            caller, done = turn, set()
            opened = {ref.id for ref in turn.calls if ref.id is not None}
    yield from _unanswered(caller, done)


def _unanswered(turn: Turn | None, done: set[str]) -> Iterator[Unanswered]:
    if turn is not None:
        ids = tuple(dict.fromkeys(ref.id for ref in turn.calls if ref.id is not None and ref.id not in done))
        if ids:
            yield Unanswered(turn, ids, len(turn.calls))


def repeated(refs: Iterable[Ref], rule: Rule) -> Iterator[Violation]:
    """The rule's violation for each call whose id an earlier one already has."""
    seen: dict[str, str] = {}
    for ref in refs:
        if ref.id is None:
            continue
        if ref.id in seen:
            yield rule.broken(ref.place.path, f"call id {shown(ref.id)} is already taken at {seen[ref.id]}")
        else:
            seen[ref.id] = ref.place.path
