"""A region keeps within its cap and gets its floor, and the report says what was dropped."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    ChatRegions,
    CitedSources,
    Context,
    ContextLengthError,
    ConversationError,
    Placement,
    TrimOldest,
)
from assembler.dialects import openai_chat, openai_responses, plain
from assembler.pipeline.choose import Limits
from assembler.pricing.pricer import Piece
from assembler.strategies import Needs, Rendered
from budgets import Budget, BudgetError, Limit
from tests.assembler.by_hand import step

TOOLS = [{"name": f"tool_{n}", "description": "x" * 20} for n in range(3)]


def assembler(limits: dict[str, Limit], window: int = 1000) -> Assembler:
    made = Assembler(Budget(window, counter=len, limits=limits), dialect=plain, on_overflow=TrimOldest())
    for number in range(5):
        made.add_knowledge("k" * 100, type="rag", score=number / 10, source=f"d{number}")
    return made.add_messages([{"role": "user", "content": "x" * 100} for _ in range(8)])


@given(st.floats(0.05, 1.0), st.integers(0, 600))
def test_knowledge_keeps_within_its_cap_and_the_conversation_has_its_floor(cap: float, floor: int) -> None:
    limits = {"knowledge": Limit(cap=cap), "conversation": Limit(floor=floor)}
    context = assembler(limits).build()
    assert context.costs.knowledge <= int(cap * 1000)
    assert context.costs.total <= 1000
    assert len(context.messages) == 8 or 1000 - context.costs.total < 100 or context.costs.knowledge == 0
    assert len(context.messages) * 100 >= min(800, floor - 99)


def test_the_highest_scores_stay_in_the_order_given_and_the_rest_is_reported() -> None:
    context = assembler({"knowledge": Limit(cap=330)}).build()
    assert context.system is not None
    assert [name in context.system for name in ("d0", "d1", "d2", "d3", "d4")] == [False, False, False, True, True]
    assert context.system.index("d3") < context.system.index("d4")
    gone = [row.name for row in context.report.rows if row.region == "knowledge" and row.outcome == "dropped"]
    assert gone == ["d0", "d1", "d2"]


def test_an_own_selection_decides_for_knowledge_and_for_tools() -> None:
    def first(items: Sequence[Any], tokens: Sequence[int], room: int) -> Iterable[int]:
        assert len(items) == len(tokens)
        return [0] if tokens[0] <= room else []

    made = assembler({"knowledge": Limit(cap=330, select=first), "capability": Limit(cap=60, select=first)})
    context = made.add_capability(TOOLS).build()
    assert context.tool_classes == TOOLS[:1]
    assert context.system is not None
    assert "d0" in context.system
    assert "d1" not in context.system
    assert len(context.request()["tools"]) == 1


@pytest.mark.parametrize("region", ["capability", "knowledge"])
def test_the_report_says_by_how_much_a_selection_keeps_more_than_the_cap(region: str) -> None:
    def everything(items: Sequence[Any], _tokens: Sequence[int], _left: int) -> Iterable[int]:
        return range(len(items))

    context = assembler({region: Limit(cap=60, select=everything)}, 2_000).add_capability(TOOLS).build()
    over = getattr(context.costs, region) - 60
    (note,) = (note for note in context.report.notes if "above their cap" in note)
    assert f"{over} above their cap of 60: the selection" in note
    assert over > 0


@pytest.mark.parametrize("region", ["capability", "instruction"])
def test_the_error_names_the_region_that_cannot_be_left_out(region: str) -> None:
    made = assembler({region: Limit(cap=10)}).add_capability(TOOLS).add_instruction("i" * 50)
    with pytest.raises(ContextLengthError, match=f"The {region} needs"):
        made.build()


def test_a_conversation_keeps_within_its_cap_even_if_tokens_are_left() -> None:
    context = assembler({"conversation": Limit(cap=250)}, window=5000).build()
    assert len(context.messages) == 2


def test_a_build_after_an_append_prices_nothing_of_the_fixed_regions_again() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    budget = Budget(1000, counter=count, limits={"knowledge": Limit(cap=330)})
    made = Assembler(budget, dialect=plain, on_overflow=TrimOldest())
    for number in range(5):
        made.add_knowledge("k" * 100, type="rag", score=number / 10, source=f"d{number}")
    made.add_message({"role": "user", "content": "one"}).build()
    counted.clear()
    made.add_message({"role": "assistant", "content": "two"}).build()
    assert counted == ["two"]


def test_a_larger_window_brings_back_what_a_share_of_the_smaller_one_left_out() -> None:
    limits = {"knowledge": Limit(cap=0.3)}
    plan = assembler(limits).plan()
    assert plan.what_if(context_window=3000).costs == assembler(limits, window=3000).plan().costs != plan.costs


def test_a_document_keeps_its_name_in_the_report_when_another_is_left_out() -> None:
    budget = Budget(1_000, counter=len, limits={"knowledge": Limit(cap=200)})
    assembler = Assembler(budget, dialect=plain)
    for score in (0.1, 0.9, 0.5):
        assembler.add_knowledge("x" * 60, type="rag", score=score)
    rows = [row for row in assembler.add_messages([("user", "hi")]).build().report.rows if row.region == "knowledge"]
    assert sorted((row.name, row.outcome) for row in rows) == [
        ("rag 0", "dropped"),
        ("rag 1", "kept"),
        ("rag 2", "dropped"),
    ]


@pytest.mark.parametrize("answer", [None, 5, ["a"], [1.0], [True], "0"], ids=repr)
def test_the_error_names_a_selection_that_returns_no_places(answer: Any) -> None:
    made = assembler({"knowledge": Limit(cap=330, select=lambda *_: answer)})
    with pytest.raises(BudgetError, match="select"):
        made.build()


@pytest.mark.parametrize(("less", "stay"), [(0, 3), (1, 2)])
def test_selected_tools_leave_tokens_for_the_answer_format_of_their_region(less: int, stay: int) -> None:
    def first(items: Sequence[Any], tokens: Sequence[int], room: int) -> Iterable[int]:
        return [place for place, used in enumerate(itertools.accumulate(tokens)) if used <= room]

    def built(cap: int | None) -> Context:
        budget = Budget(5000, counter=len, limits={"capability": Limit(cap=cap, select=first)})
        made = Assembler(budget, dialect=openai_chat).add_capability(TOOLS).add_messages([("user", "hi")])
        return made.add_output_schema({"title": "t", "type": "object", "properties": {}}).build()

    context = built(built(None).inside.measured.capability.upper - less)
    assert len(context.request()["tools"]) == stay


def test_documents_of_one_source_are_distinguished_when_their_limit_shrinks() -> None:
    def made(messages: int) -> Assembler:
        limits = {"conversation": Limit(floor=0.6), "knowledge": Limit(cap=300)}
        assembler = Assembler(Budget(400, counter=len, limits=limits), dialect=plain, on_overflow=TrimOldest())
        for size, score in ((60, 0.9), (40, 0.8), (20, 0.7)):
            assembler.add_knowledge("k" * size, type="t", source="one.md", score=score)
        return assembler.add_messages([{"role": "user", "content": "u" * 20}] * messages)

    living, seen = made(0), set[int]()
    for messages in range(1, 14):
        living.add_message({"role": "user", "content": "u" * 20})
        assert living.build().request() == made(messages).build().request()
        seen.add(len(living.build().sources))
    assert seen == {1, 2}


class Choosing:
    """Records the requests that it gets."""

    needs = Needs.QUESTION

    def render(self, regions: Any) -> Rendered:
        return Rendered((Piece("knowledge", "k", "rendered"),))

    def choose(self, regions: Any, space: Any) -> Rendered:
        return Rendered((Piece("knowledge", "k", f"chosen with {len(regions.tools)}"),))


def test_knowledge_is_chosen_again_beside_the_tools_that_their_limit_leaves() -> None:
    limits = {"capability": Limit(cap=60, select=lambda *_: [0])}
    made = Assembler(Budget(1_000, counter=len, limits=limits), dialect=plain, strategy=Choosing())
    context = made.add_capability(TOOLS).add_messages([("user", "q")]).build()
    assert (context.system, context.tool_classes) == ("chosen with 1", TOOLS[:1])


def test_if_the_server_holds_more_than_the_window_no_region_gets_a_token() -> None:
    budget = Budget(40, counter=len, limits={"instruction": Limit(cap=0.5)})
    made = Assembler(budget, dialect=openai_responses).set_instruction("i").add_messages([("user", "q")])
    with pytest.raises(
        ContextLengthError, match=r"The instruction needs . tokens? and its limits leave it 0\. Or choose"
    ):
        made.hold(60).build()


@pytest.mark.parametrize("held", [0, 1_500, 2_900])
def test_a_share_is_of_the_input_limit_whatever_the_format_of_the_request_takes(held: int) -> None:
    """Knowledge once got a share of what the format and the server left, and the conversation one of all."""
    budget = Budget(6_100, max_output_tokens=100, model="gpt-4o", limits={"knowledge": Limit(cap=0.5)})
    made = Assembler(budget, dialect=openai_responses).hold(held).add_message(("user", "q"))
    for number in range(400):
        made.add_knowledge(f"Fact {number}. " + "word " * 20, type="rag", score=number / 1_000)
    assert 3_000 - 60 < made.build().costs.knowledge <= 3_000


@pytest.mark.parametrize("placement", Placement)
@pytest.mark.parametrize("model", ["gpt-4o", "some/unknown"])
def test_a_document_gives_way_in_windows_in_which_the_rest_fits(model: str, placement: Placement) -> None:
    """By what the conversation may cost at most: by what it is expected to cost, too few gave way to an estimate."""
    facts = [f"This is the fact of number {place}." for place in range(5)]

    def built(window: int, given_facts: list[str]) -> Context:
        budget = Budget(window, model=model, limits={"instruction": Limit(cap=0.9)})
        made = Assembler(budget, dialect=openai_chat, strategy=ChatRegions(placement=placement))
        for fact in given_facts:
            made.add_knowledge(fact, type="rag")
        return made.add_messages([("user", "And why is that so?")]).build()

    edges = [built(100_000, facts[:fitting]).count.upper for fitting in range(1, 6)]
    least, most = edges[0], edges[-1]
    beside = {edge + more for edge in edges for more in range(-2, 3)}
    for window in sorted({*range(least, most, 5), *beside} & {*range(least, most)}):
        assert 0 < sum(fact in str(built(window, facts).request()) for fact in facts) < 5


@pytest.mark.parametrize("limits", [{"knowledge": Limit(cap=0.9)}, {"instruction": Limit(cap=48)}])
def test_a_region_over_its_limit_is_to_be_shortened_until_the_newest_turn_fits_beside_it(
    limits: dict[str, Limit],
) -> None:
    """It was told to shrink to its limit, which leaves the turn too little; and more was free than the window holds."""

    def made(instruction: int) -> Assembler:
        assembler = Assembler(Budget(50, counter=len, limits=limits), dialect=plain)
        return assembler.set_instruction("i" * instruction).add_messages([("user", "qqq")])

    with pytest.raises(ContextLengthError, match="shorten it by 15 tokens") as caught:
        made(62).build()
    assert (caught.value.required, caught.value.available, caught.value.excess) == (65, 50, 15)
    made(62 - 15).build()


def test_the_error_for_a_limit_that_selects_no_tool_beside_calls_says_to_keep_one() -> None:
    """The tools were passed, and the error said to pass them."""
    tool = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
    budget = Budget(300, model="claude-sonnet-4-5", limits={"capability": Limit(select=lambda *_: [])})
    made = Assembler(budget).add_capability([tool]).add_message({"role": "user", "content": "q"})
    for message in step("c0", "r " * 50):
        made.add_message(message)
    with pytest.raises(ConversationError, match="keep one where a limit selects"):
        made.build()


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        ({}, 100 - 10 - 20 - 30),
        ({"capability": Limit(floor=50)}, 100 - 10 - 20 - 30),
        ({"conversation": Limit(floor=25)}, 100 - 10 - 20 - 30 - 5),
        ({"conversation": Limit(floor=3)}, 100 - 10 - 20 - 30 - 3),
        ({"knowledge": Limit(cap=7)}, 7),
    ],
)
def test_knowledge_may_cost_what_the_other_regions_need_no_more(limit: dict[str, Limit], left: int) -> None:
    assert Limits(100, limit, demand=5).of_knowledge(20, 30, 10) == left


def test_selected_tools_make_way_for_the_smallest_conversation() -> None:
    def fitting(items: Sequence[Any], tokens: Sequence[int], room: int) -> Iterable[int]:
        return [place for place, end in enumerate(itertools.accumulate(tokens)) if end <= room]

    def built(window: int, **limit: Any) -> list[Any]:
        budget = Budget(window, counter=len, limits={"capability": Limit(**limit)})
        made = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_capability(TOOLS)
        return made.add_messages([("user", "x" * 100)]).build().tool_classes

    each = Assembler(Budget(1_000, counter=len), dialect=plain).add_capability(TOOLS[:1]).costs().capability
    assert built(100 + 3 * each, select=fitting) == TOOLS
    assert built(100 + 3 * each - 1, select=fitting) == TOOLS[:2]
    assert built(100 + each, select=fitting) == TOOLS[:1]
    with pytest.raises(ContextLengthError):
        built(100 + 3 * each - 1, floor=1)


@pytest.mark.parametrize("limit", [Limit(share=0.5), Limit(floor=300), Limit(floor=0.5)], ids=str)
@pytest.mark.parametrize("placement", [Placement.SYSTEM, Placement.QUESTION])
def test_sources_are_chosen_beside_what_the_conversation_is_promised(placement: Placement, limit: Limit) -> None:
    def built(limits: dict[str, Limit]) -> Any:
        strategy = CitedSources(placement=placement)
        made = Assembler(
            Budget(600, counter=len, limits=limits), dialect=plain, strategy=strategy, on_overflow=TrimOldest()
        )
        for number in range(8):
            made.add_knowledge(f"{number} fact " * 5, type="rag", source=f"d{number}", score=number)
        return made.add_messages([("user", "x" * 50)] * 9).build()

    free, promised = built({}), built({"conversation": limit})
    assert promised.costs.knowledge < free.costs.knowledge
    assert len(promised.messages) >= 6 > len(free.messages)
    assert promised.sources
