"""Limits leave each region what dealing out one token after another leaves, at every window where that changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError, TrimOldest
from assembler.dialects import plain
from budgets import Budget, BudgetError, Limit
from budgets.allotment import allotments
from tests.scaled import scaled

REGIONS = ("instruction", "capability", "knowledge", "conversation")
TOOL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
TOOL_COST = len(json.dumps(TOOL, separators=(",", ":")))
BETWEEN = 2
"""A blank line between two pieces of the system text, one token a character."""

Amount: TypeAlias = int | float


@attrs.frozen
class Wish:
    """A limit as its owner writes it."""

    cap: Amount | None = None
    floor: Amount = 0
    share: float | None = None
    priority: int = 0

    def limit(self) -> Limit:
        return Limit(self.cap, self.floor, self.share, self.priority)


Wishes: TypeAlias = Mapping[str, Wish]


def tokens(amount: Amount, window: int) -> int:
    """A share is of eighths, which a double holds to the last bit."""
    return int(amount * 8) * window // 8 if isinstance(amount, float) else amount


def dealt(window: int, asked: Mapping[str, int], wishes: Wishes) -> dict[str, int]:
    """Limits by hand: floors, then shares, then caps; each round gives the regions one token at a time by priority."""
    has, left = dict.fromkeys(REGIONS, 0), window
    every = {region: wishes.get(region, Wish()) for region in REGIONS}
    caps = {region: window if one.cap is None else tokens(one.cap, window) for region, one in every.items()}
    rounds: list[Callable[[str], int]] = [
        lambda region: tokens(every[region].floor, window),
        lambda region: min(tokens(every[region].share or 0, window), caps[region]),
        lambda region: caps[region],
    ]
    for most in rounds:
        for priority in (1, 0, -1):
            for region in REGIONS:
                while every[region].priority == priority and left and has[region] < min(asked[region], most(region)):
                    has[region] += 1
                    left -= 1
    return has


def refused(window: int, wishes: Wishes) -> bool:
    """Whether no budget of this window can have these limits."""
    floors = sum(tokens(one.floor, window) for one in wishes.values())
    above = (one.cap is not None and tokens(one.floor, window) > tokens(one.cap, window) for one in wishes.values())
    return floors > window or any(above)


@attrs.frozen
class Case:
    """What goes in: the letters of an instruction, of documents with their scores, and of turns; and the limits."""

    instruction: int
    tools: int
    documents: tuple[tuple[int, float | None], ...]
    turns: tuple[int, ...]
    wishes: Wishes

    def assembler(self, window: int) -> Assembler[Any]:
        limits = {region: wish.limit() for region, wish in self.wishes.items()}
        made = Assembler(Budget(window, counter=len, limits=limits), dialect=plain, on_overflow=TrimOldest())
        made.add_instruction("i" * self.instruction).add_capability([TOOL] * self.tools)
        for place, (letters, score) in enumerate(self.documents):
            made.add_knowledge("k" * letters, type="t", source=f"{place}", score=score)
        return made.add_messages([{"role": "user", "content": "u" * letters} for letters in self.turns])

    def document(self, place: int) -> int:
        return len(f'<context type="t" source="{place}" trusted="false">\n\n</context>') + self.documents[place][0]

    def fixed(self, documents: Iterable[int]) -> int:
        pieces = [self.instruction] * bool(self.instruction) + [*map(self.document, documents)]
        return sum(pieces) + BETWEEN * max(0, len(pieces) - 1) + TOOL_COST * self.tools

    def by_score(self, left: int) -> list[int]:
        """The highest scores that fit, one after the other, then documents without one; in the given order."""
        every, kept = range(len(self.documents)), list[int]()
        for place in sorted(every, key=lambda place: (-(self.documents[place][1] or -1.0), place)):
            cost = self.document(place) + BETWEEN * (place != every[-1])
            if cost <= left:
                kept.append(place)
                left -= cost
        return sorted(kept)

    def keeps(self, window: int) -> tuple[list[int], int] | str:
        """The kept documents and the number of kept turns; or the name of what does not fit."""
        kept = self._keeps(window, 0)
        if kept == "turns" and self.documents:
            kept = self._keeps(window, self.turns[-1])
        return kept

    def _keeps(self, window: int, reserved: int) -> tuple[list[int], int] | str:
        documents, turns = [*range(len(self.documents))], sum(self.turns)
        system = self.fixed(documents) - TOOL_COST * self.tools
        knowledge = sum(map(self.document, documents)) + BETWEEN * max(0, len(documents) - 1)
        asked = {"instruction": system - knowledge, "capability": TOOL_COST * self.tools, "knowledge": knowledge}
        has = dealt(window, {**asked, "conversation": turns if turns <= window else window + 1}, self.wishes)
        own = tokens(self.wishes.get("knowledge", Wish()).floor, window)
        while has["conversation"] < min(reserved, turns) and has["knowledge"] > own:
            has["conversation"] += 1
            has["knowledge"] -= 1
        for region in ("instruction", "capability"):
            if asked[region] > has[region]:
                return region
        if knowledge > has["knowledge"]:
            documents = self.by_score(has["knowledge"])
        left, cap = window - self.fixed(documents), self.wishes.get("conversation", Wish()).cap
        most = left if cap is None else min(left, tokens(cap, window))
        if self.turns[-1] > most:
            return "turns" if most == left else "conversation"
        fits = [number for number in range(1, len(self.turns) + 1) if sum(self.turns[-number:]) <= most]
        return documents, fits[-1]


AMOUNT = st.one_of(st.integers(0, 250), st.sampled_from([0.125, 0.25, 0.375, 0.5, 0.75, 1.0]))


@st.composite
def wishes(draw: st.DrawFn) -> Wishes:
    made: dict[str, Wish] = {}
    for region in draw(st.sets(st.sampled_from(REGIONS), min_size=1)):
        cap = draw(st.none() | AMOUNT)
        floor = draw(st.just(0) | AMOUNT)
        if cap is not None and isinstance(cap, float) == isinstance(floor, float):
            cap, floor = max(cap, floor), min(cap, floor)
        share = draw(st.none() | st.sampled_from([0.125, 0.5, 1.0]))
        made[region] = Wish(cap, floor, share, draw(st.integers(-1, 1)))
    return made


CASES = st.builds(
    Case,
    instruction=st.sampled_from([0, 1, 30]),
    tools=st.integers(0, 1),
    documents=st.lists(st.tuples(st.integers(1, 60), st.sampled_from([None, 0.25, 0.5, 0.75])), max_size=4).map(tuple),
    turns=st.lists(st.integers(1, 60), min_size=1, max_size=5).map(tuple),
    wishes=wishes(),
)


def edges(case: Case) -> list[int]:
    """Two windows on each side of those at which something else stays; the last holds everything twice over."""
    most = 2 * (case.fixed(range(len(case.documents))) + sum(case.turns) + 250)
    found = [None if refused(window, case.wishes) else case.keeps(window) for window in range(1, most)]
    changes = [window for window in range(2, most) if found[window - 1] != found[window - 2]]
    spread = changes[:: len(changes) // 6 + 1]
    return sorted({1, most, *(edge + more for edge in spread for more in range(-2, 3) if edge + more > 0)})


@scaled(0.5)
@given(CASES)
def test_limits_leave_what_dealing_out_each_token_leaves(case: Case) -> None:
    for window in edges(case):
        if refused(window, case.wishes):
            with pytest.raises(BudgetError, match="floor"):
                case.assembler(window)
            continue
        kept = case.keeps(window)
        if isinstance(kept, str):
            with pytest.raises(ContextLengthError) as error:
                case.assembler(window).build()
            named = [word for word in REGIONS if f"The {word} needs" in str(error.value)]
            assert named == ([] if kept == "turns" else [kept]), (window, str(error.value))
            continue
        documents, turns = kept
        context = case.assembler(window).build()
        assert [int(document.source or -1) for document in context.sources] == documents, window
        assert [len(message["content"]) for message in context.messages] == [*case.turns[-turns:]], window
        assert context.costs.total == case.fixed(documents) + sum(case.turns[-turns:])


ASKED = st.fixed_dictionaries({region: st.integers(0, 150) for region in REGIONS})


@given(st.integers(0, 300), ASKED, wishes())
def test_each_region_gets_what_dealing_out_each_token_gives_it(
    window: int, asked: dict[str, int], drawn: Wishes
) -> None:
    if not refused(window, drawn):
        limits = {region: wish.limit() for region, wish in drawn.items()}
        assert allotments(window, window, asked, limits) == dealt(window, asked, drawn)


CAP = {"knowledge": Wish(cap=0.5)}
FLOOR = {"conversation": Wish(floor=20, priority=-1)}
SHARE = {"knowledge": Wish(share=0.5, priority=-1)}


@pytest.mark.parametrize(
    ("wish", "turn", "window", "documents", "turns"),
    [
        # Documents of 59 and 69 tokens and a blank line between them: 130. Half of 259 is 129.
        (CAP, 10, 260, [0, 1], 3),
        (CAP, 10, 259, [1], 3),
        (CAP, 10, 138, [1], 3),
        (CAP, 10, 137, [0], 3),
        # 130 and the floor of two turns are 150.
        (FLOOR, 10, 160, [0, 1], 3),
        (FLOOR, 10, 159, [0, 1], 2),
        (FLOOR, 10, 150, [0, 1], 2),
        (FLOOR, 10, 149, [1], 3),
        # A share is served before the turns are, and what it leaves of 130 goes to them first.
        (SHARE, 100, 260, [0, 1], 1),
        (SHARE, 100, 259, [1], 1),
        # The newest turn goes before documents that no floor holds.
        (SHARE, 100, 169, [1], 1),
        (SHARE, 100, 168, [0], 1),
        (SHARE, 100, 158, [], 1),
    ],
)
def test_a_cap_a_floor_and_a_share_at_the_token_where_they_bind(
    wish: Wishes, turn: int, window: int, documents: list[int], turns: int
) -> None:
    case = Case(0, 0, ((2, 0.25), (12, 0.75)), (turn,) * 3, wish)
    context = case.assembler(window).build()
    kept = [int(document.source or -1) for document in context.sources], len(context.messages)
    assert kept == case.keeps(window) == (documents, turns)
