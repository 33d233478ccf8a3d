"""Checks that calls and answers pair, in any dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from assembler.verify.place import Place
from assembler.verify.violation import Rule, Violation, count_noun, quote_ids, shown

N2 = Rule("N2", "each call is answered exactly once, before the next user or assistant turn; no answer without a call")
N3 = Rule("N3", "call ids are unique in the conversation")
RULES = (N2, N3)


@attrs.frozen(slots=True)
class Ref:
    """A call or an answer: its id (None if it is not readable), and the place of that id."""

    id: str | None
    place: Place


def refs(places: Iterable[Place]) -> tuple[Ref, ...]:
    """The calls or the answers with their ids at these places."""
    return tuple(Ref(place.text, place) for place in places)


@attrs.frozen(slots=True)
class Turn:
    """The calls and answers of a message, or of several that the API reads as one."""

    place: Place
    role: str
    calls: tuple[Ref, ...] = ()
    answers: tuple[Ref, ...] = ()
    asked: Place = attrs.field(default=attrs.Factory(lambda self: self.place, takes_self=True))
    """The place of its calls."""


@attrs.frozen(kw_only=True)
class Pairing:
    """A dialect's rules for pairing."""

    unanswered: Rule = N2
    """A call that lacks its answer in the turns directly after it."""
    orphan: Rule = N2
    """An answer to no call that is open at its place."""
    again: Rule = N2
    """A second answer to the same call."""


NEUTRAL = Pairing()


def find_unpaired(turns: Iterable[Turn], rules: Pairing = NEUTRAL) -> Iterator[Violation]:
    """Violations of pairing. A turn's calls stay open until the next turn without an answer. Linear."""
    caller: Turn | None = None
    opened: set[str] = set()
    done: set[str] = set()
    for turn in turns:
        for ref in turn.answers:
            if ref.id is None:
                continue
            if ref.id in done:
                yield rules.again.broken(ref.place.path, f"answers {shown(ref.id)} a second time")
            elif ref.id not in opened:
                problem = f"answers {shown(ref.id)}, which no call directly before it has"
                yield rules.orphan.broken(ref.place.path, problem)
            else:
                done.add(ref.id)
        if turn.calls or not turn.answers:
            yield from _wrong_unanswered(caller, done, rules)
            caller, done = turn, set()
            opened = {ref.id for ref in turn.calls if ref.id is not None}
    yield from _wrong_unanswered(caller, done, rules)


def _wrong_unanswered(turn: Turn | None, done: set[str], rules: Pairing) -> Iterator[Violation]:
    if turn is not None:
        ids = tuple(dict.fromkeys(ref.id for ref in turn.calls if ref.id is not None and ref.id not in done))
        if ids:
            missing = f"{len(ids)} of {count_noun(len(turn.calls), 'call')}"
            yield rules.unanswered.broken(
                turn.asked.path, f"{missing} without an answer directly after: {quote_ids(ids)}"
            )


def find_repeated(refs: Iterable[Ref], rule: Rule) -> Iterator[Violation]:
    """A violation for each call with the id of an earlier one."""
    seen: dict[str, str] = {}
    for ref in refs:
        if ref.id is None:
            continue
        if ref.id in seen:
            yield rule.broken(ref.place.path, f"call id {shown(ref.id)} is already taken at {seen[ref.id]}")
        else:
            seen[ref.id] = ref.place.path
