"""Whoever shortens what an error names under limits, by as much as it says, gets a request; by one token less, none."""

from __future__ import annotations

import re
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, calibrate
from assembler.dialects import plain
from assembler.policies import Policy, Refuse, TrimOldest
from budgets import Budget, BudgetError, ContextLengthError, Limit
from tests.scaled import scaled

ADVICE = re.compile(r"The (\w+) needs \d+ tokens? and its limits leave it \d+: shorten it by (\d+) tokens?")
ALSO = re.compile(r", and the ([a-z ]+) by (\d+) tokens?")
TURNS = "turns that stay"


@attrs.frozen
class Sized:
    """A request of texts of so many characters, each of which costs a token."""

    window: int
    limits: dict[str, Limit]
    instruction: int = 0
    capability: int = 0
    turns: tuple[int, ...] = (10,)
    policy: Policy = attrs.field(factory=TrimOldest)

    def fails(self) -> ContextLengthError | None:
        made = Assembler(Budget(self.window, counter=len, limits=self.limits), on_overflow=self.policy)
        if self.instruction:
            made.set_instruction("i" * self.instruction)
        if self.capability:
            tool: dict[str, Any] = {"name": "f", "description": "d" * self.capability, "parameters": {}}
            made.set_tools([tool])
        try:
            made.add_messages([{"role": "user", "content": "m" * size} for size in self.turns]).build()
        except ContextLengthError as error:
            return error
        return None

    def shorter(self, less: dict[str, int]) -> Sized | None:
        """The request with so many characters less in each; None if something has not so many."""
        *older, newest = self.turns
        sizes = {"instruction": self.instruction, "capability": self.capability, TURNS: newest}
        if any(less[name] >= sizes[name] for name in less):
            return None
        sizes = {name: size - less.get(name, 0) for name, size in sizes.items()}
        return attrs.evolve(
            self,
            instruction=sizes["instruction"],
            capability=sizes["capability"],
            turns=(*older, sizes[TURNS]),
        )


def advised(error: ContextLengthError) -> dict[str, int]:
    """What the error says to shorten, by how many tokens."""
    found = ADVICE.search(error.advice)
    if found is None:
        return {}
    also = {name: int(less) for name, less in ALSO.findall(error.advice)}
    return {TURNS if found[1] == "conversation" else found[1]: int(found[2]), **also}


def check(request: Sized) -> None:
    error = request.fails()
    less = {} if error is None else advised(error)
    shorter = request.shorter(less)
    if not less or shorter is None:
        return
    assert shorter.fails() is None
    for name, tokens in less.items():
        nearly = request.shorter({**less, name: tokens - 1})
        assert nearly is not None
        assert nearly.fails() is not None


@pytest.mark.parametrize(
    "request_",
    [
        Sized(500, {"instruction": Limit(cap=40), "capability": Limit(cap=100)}, 50, 90),
        Sized(100, {"instruction": Limit(cap=40), "conversation": Limit(cap=5)}, 50),
        Sized(100, {"conversation": Limit(cap=60, floor=50)}, 70, turns=(20, 80)),
        Sized(150, {"capability": Limit(floor=100)}, 90, 90),
    ],
)
def test_all_regions_over_their_limits_are_named_and_the_turns_if_they_lack_tokens(request_: Sized) -> None:
    """The first of them was named alone, and whoever shortened it met the next error."""
    error = request_.fails()
    assert error is not None
    assert len(advised(error)) == 2 or request_.window == 100
    check(request_)


amounts = st.sampled_from([0, 10, 40, 0.1, 0.3, 0.6])


@st.composite
def limit(draw: st.DrawFn) -> Limit:
    share, priority = draw(st.sampled_from([None, None, 0.2, 0.5])), draw(st.integers(0, 1))
    try:
        return Limit(cap=draw(st.none() | amounts), floor=draw(amounts), share=share, priority=priority)
    except BudgetError:
        return Limit(share=share, priority=priority)


@scaled(0.5)
@given(
    window=st.integers(20, 400),
    limits=st.dictionaries(st.sampled_from(["instruction", "capability", "conversation"]), limit(), min_size=1),
    instruction=st.integers(0, 150),
    capability=st.integers(0, 150),
    turns=st.lists(st.integers(1, 90), min_size=1, max_size=3).map(tuple),
    policy=st.sampled_from(
        [Refuse(), TrimOldest(), TrimOldest(low_water=0.5), TrimOldest(note="gone"), TrimOldest(keep_turns=2)]
    ),
)
def test_who_shortens_by_what_the_limits_lack_gets_a_request_and_by_one_less_none(window: int, **drawn: Any) -> None:
    try:
        check(Sized(window, **drawn))
    except BudgetError:  # floors that this window does not hold
        return


def test_documents_that_a_selection_keeps_are_not_counted_as_left_out() -> None:
    def fails(instruction: int) -> ContextLengthError | None:
        limits = {"instruction": Limit(cap=200), "knowledge": Limit(select=lambda _items, _tokens, _left: [0])}
        made = Assembler(Budget(300, counter=len, limits=limits)).set_instruction("i" * instruction)
        made.add_knowledge("d" * 60, type="t").add_message(("user", "m" * 90))
        try:
            made.build()
        except ContextLengthError as error:
            return error
        return None

    error = fails(210)
    assert error is not None
    assert fails(210 - advised(error)["instruction"]) is None
    assert fails(211 - advised(error)["instruction"]) is not None


def test_tools_that_a_selection_leaves_out_are_not_counted_as_sent() -> None:
    """The turns were to be shortened by what those tools cost."""

    def fails(instruction: int) -> ContextLengthError | None:
        limits = {"instruction": Limit(cap=200), "capability": Limit(cap=50, select=lambda _items, _tokens, _left: [])}
        made = Assembler(Budget(300, counter=len, limits=limits)).set_instruction("i" * instruction)
        tool: dict[str, Any] = {"name": "f", "description": "d" * 900, "parameters": {}}
        try:
            made.set_tools([tool]).add_message(("user", "m" * 90)).build()
        except ContextLengthError as error:
            return error
        return None

    error = fails(230)
    assert error is not None
    assert advised(error) == {"instruction": 30}
    assert (error.required, error.available) == (320, 290)
    assert fails(200) is None
    assert fails(201) is not None


def test_no_region_is_to_be_shortened_by_more_than_it_holds() -> None:
    """Under a bill that was far above the count, an instruction of 13 tokens was to be shortened by 182."""
    budget = Budget(120, counter=len, limits={"conversation": Limit(share=0.2)})
    assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_instruction("i" * 13)
    assembler.add_message({"role": "user", "content": "q"})
    billed = assembler.anchor(calibrate(assembler.build(), 214))
    with pytest.raises(ContextLengthError) as raised:
        billed.add_message({"role": "assistant", "content": "a"}).add_message(
            {"role": "user", "content": "x" * 40}
        ).build()
    assert "by 1" not in raised.value.advice.partition("Counted by rule")[0]
    assert raised.value.advice.startswith("The instruction needs 13 tokens and its limits leave it 0. ")


@pytest.mark.parametrize("more", [-3, 7, 60, 150])
@pytest.mark.parametrize(("cap", "turns"), [(138, (125,)), (26, (59,)), (None, (90, 10, 64))])
def test_limits_demand_the_same_of_each_region_whatever_a_bill_adds(
    more: int, cap: int | None, turns: tuple[int, ...]
) -> None:
    """Limits are checked by our own prices. What a bill added was counted as the turns'."""
    limits = {"instruction": Limit(cap=20), "conversation": Limit(cap=cap)}

    def made(window: int, limits: dict[str, Limit]) -> Assembler:
        made = Assembler(Budget(window, counter=len, limits=limits), dialect=plain, on_overflow=TrimOldest())
        said = [{"role": ("user", "assistant")[place % 2], "content": "m" * size} for place, size in enumerate(turns)]
        return made.set_instruction("i" * 60).add_messages(said)

    def advised(assembler: Assembler) -> list[tuple[str, str]]:
        with pytest.raises(ContextLengthError) as raised:
            assembler.build()
        return [*ADVICE.findall(raised.value.advice), *ALSO.findall(raised.value.advice)]

    whole = made(10_000, {}).build()
    bill = calibrate(whole, {"input_tokens": whole.count.tokens + more})
    found = advised(made(600, limits))
    assert found[0] == ("instruction", "40")
    assert advised(made(600, limits).anchor(bill)) == found
