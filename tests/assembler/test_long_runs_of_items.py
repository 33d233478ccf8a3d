"""Many items of Responses in one turn are priced as that turn, with work in proportion to their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assembler import Assembler, ClearReasoning, ClearToolResults, ContextLengthError, TrimSteps
from assembler.pricing.ledger import Ledger
from budgets import Budget
from tests.assembler.one_price import (
    LADDERS,
    SHARES,
    TRIM,
    Api,
    assembled,
    costs_its_request,
    costs_its_request_whole_and_cut,
)
from tests.assembler.test_items_side_by_side import BETWEEN, ITEMS
from tests.calls import IN_C_TOO, calls_of
from tests.scaled import in_turns, scaled

ASKED: dict[str, Any] = {"role": "user", "content": "Is it late?"}


def item(kind: str, number: int, thought: str = "Hm.") -> dict[str, Any]:
    match kind:
        case "call":
            return {"type": "function_call", "call_id": f"c{number}", "name": "look", "arguments": '{"q": 1}'}
        case "thought":
            summary = [{"type": "summary_text", "text": thought}]
            return {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
        case _:
            action = {"type": "search", "query": "late trains"}
            return {"type": "web_search_call", "id": f"ws_{number}", "status": "completed", "action": action}


def turn_of(kinds: list[str], thoughts: Sequence[str] = ("Hm.",)) -> list[dict[str, Any]]:
    items = [item(kind, number, thoughts[number % len(thoughts)]) for number, kind in enumerate(kinds)]
    called = [one["call_id"] for one in items if "call_id" in one]
    outputs = [{"type": "function_call_output", "call_id": call_id, "output": "yes"} for call_id in called]
    return [ASKED, *items, *outputs]


FAR_APART = [*["search"] * 10, "call", *["search"] * 10, "call", *["search"] * 2]
KINDS = st.sampled_from(["call", "thought", "search"])


@pytest.mark.parametrize("api", BETWEEN, ids=str)
@scaled(0.1)
@given(kinds=st.lists(KINDS, min_size=8, max_size=30), ends=st.booleans(), ladder=LADDERS, share=SHARES)
@example(FAR_APART, True, TRIM, 1.0)  # a call whose nearest items are no calls
@example(["call"] * 20, False, TRIM, 1.0)
def test_a_long_run_of_items_costs_what_it_is_sent_as(
    api: Api, kinds: list[str], ends: bool, ladder: Any, share: float
) -> None:
    history = [*turn_of(["call"]), *turn_of(kinds), *([ASKED] if ends else [])]
    costs_its_request_whole_and_cut(api, history, ladder, share)


CLEARING = st.sampled_from(
    [
        (ClearReasoning(),),
        (ClearReasoning(), ClearToolResults()),
        (ClearToolResults(keep=1), ClearReasoning(), TrimSteps()),
    ]
)
THOUGHTS = st.lists(st.text("ab ü日\n1{", min_size=1, max_size=12), min_size=1, max_size=5)


@pytest.mark.parametrize("api", BETWEEN, ids=str)
@scaled(0.1)
@given(
    kinds=st.lists(st.sampled_from(["call", "thought"]), min_size=12, max_size=40),
    thoughts=THOUGHTS,
    ladder=CLEARING,
    share=SHARES,
)
def test_a_long_run_costs_what_it_is_sent_as_after_some_of_it_was_cleared(
    api: Api, kinds: list[str], thoughts: list[str], ladder: Any, share: float
) -> None:
    history = [*turn_of(kinds, thoughts), *turn_of(["call"])]
    costs_its_request_whole_and_cut(api, history, ladder, share)


@pytest.mark.parametrize("api", ITEMS, ids=str)
@pytest.mark.parametrize("kinds", [FAR_APART, ["call"] * 12, ["thought", "call"] * 7], ids=["apart", "calls", "both"])
def test_a_run_that_grows_by_an_item_costs_at_every_length_what_it_is_sent_as(api: Api, kinds: list[str]) -> None:
    growing = assembled(api, [])
    history = [*turn_of(kinds), ASKED]
    for stop, message in enumerate(history, 1):
        assert growing.add_message(message).plan().count == assembled(api, history[:stop]).plan().count
    costs_its_request(growing.build(), api)


@pytest.mark.parametrize("far", [True, False])
def test_only_a_run_whose_prices_do_not_add_up_is_counted_as_a_whole(far: bool) -> None:
    history = turn_of(FAR_APART if far else ["thought", "call"] * 10)
    made = Assembler(Budget(1_000_000, model="gpt-4o"), dialect="openai_chat").add_messages([*history, ASKED])
    assert made.plan().inside.ledger.overpriced is far


def test_a_ledger_is_overpriced_from_the_item_on_that_does_not_add_up_and_up_to_the_run_of_it() -> None:
    history = [*turn_of(["call"] * 12), *turn_of(FAR_APART), ASKED, ASKED]
    made = Assembler(Budget(1_000_000, model="gpt-4o"), dialect="openai_chat").add_messages(history)
    ledger = Ledger.of(made.inside[0].history.view(), made.inside[1].pricer)
    assert ledger.since(0).upper == sum(turn.tokens for turn in ledger.newest_first())
    begun, second_call = history.index(ASKED, 1) + 1, 1 + 24 + 1 + 21
    assert [ledger.until(length).overpriced for length in (25, 26, 27, second_call, second_call + 1, len(history))] == [
        *[False] * 4,
        *[True] * 2,
    ]
    assert [attrs.evolve(ledger, first=first).overpriced for first in (0, begun - 1, begun, begun + 1)] == [
        *[True] * 3,
        False,
    ]
    # A turn that may cost less as it is sent counts as nothing, and so does the last message, which another may join.
    asked, later = ledger.since(len(history) - 1).upper, attrs.evolve(ledger, first=begun - 1)
    assert [later.may_fit(tokens) for tokens in (asked, asked - 1, asked)] == [True, False, True]


def test_whether_the_prices_of_a_run_add_up_is_found_once() -> None:
    history = turn_of(["thought", "call"] * 10)
    made = Assembler(Budget(1_000_000, model="gpt-4o"), dialect="openai_chat").add_messages([*history, ASKED])
    ledger = made.plan().inside.ledger
    assert not ledger.overpriced
    assert calls_of(lambda: ledger.overpriced) < 20


def more_for_the_same(work: Callable[[int], int], few: int) -> float:
    """How many times as much the same number of items costs among twice as many, of which half that number is added.

    What a build costs without any item is in none of it, so a few items show what a square of them adds.
    """
    work(few)  # what is loaded once in a process
    least, more, most = work(few), work(few + few // 2), work(2 * few)
    return (most - more) / (more - least)


WORKED = [
    api for api in BETWEEN if api.model in ("gpt-5", "a-model-of-nobody", "claude-sonnet-4-5", "gemini-2.5-flash")
]


@pytest.mark.parametrize(("kinds", "api"), in_turns(2, [["call"], ["thought", "call"], ["search"]], WORKED), ids=str)
def test_twice_the_items_side_by_side_take_twice_the_work(kinds: list[str], api: Api) -> None:
    def work(times: int) -> int:
        return calls_of(assembled(api, [*turn_of(kinds * times), ASKED]).build, IN_C_TOO)

    assert more_for_the_same(work, 24) <= 1.07


@pytest.mark.parametrize("api", in_turns(2, WORKED), ids=str)
def test_clearing_twice_the_reasoning_of_one_turn_takes_twice_the_work(api: Api) -> None:
    def work(times: int) -> int:
        history = [*turn_of(["thought", "call"] * times), ASKED]
        cleared = assembled(api, history, 150, [ClearReasoning()])
        return calls_of(lambda: refused(cleared), IN_C_TOO)

    # Under a model of nobody the whole is priced once more from 16 items on, however many more they are.
    assert more_for_the_same(work, 20) <= 1.04


def refused(cleared: Assembler) -> None:
    with pytest.raises(ContextLengthError):
        cleared.plan()
