"""Regions that share a budget and decisions that are kept, at the point where the answer changes."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from assembler import Assembler, CacheMarks, ClearToolResults, Defer, Refuse, TrimOldest, TrimSteps, calibrate
from assembler.conversation.messages import user_message
from assembler.dialects import anthropic, bedrock, gemini, openai_chat, openai_responses, plain
from assembler.errors import ConversationError
from assembler.pipeline.build_memory import BuildMemories, BuildMemory, memory_of
from assembler.pipeline.last_decision import GLANCE, newest_dropped_turn
from assembler.pipeline.share_budget import (
    _select_highest_scores,  # pyright: ignore[reportPrivateUsage]
    _select_places,  # pyright: ignore[reportPrivateUsage]
    asks_for_all,
    conversation_cap,
    sends_used_tools,
)
from assembler.pricing.ledger import Cut
from budgets import Budget, BudgetError, ContextLengthError, Limit

from .by_hand import step, talk


class Scored:
    def __init__(self, score: float | None) -> None:
        self.score = score


@pytest.mark.parametrize(
    ("scores", "tokens", "left", "kept"),
    [
        ([1, 3, 2], [5, 5, 5], 15, [0, 1, 2]),
        ([1, 3, 2], [5, 5, 5], 14, [1, 2]),
        ([1, 3, 2], [5, 5, 5], 10, [1, 2]),
        ([1, 3, 2], [5, 5, 5], 9, [1]),
        ([1, 3, 2], [5, 9, 5], 8, [2]),
        ([1, 3, 2], [3, 9, 5], 8, [0, 2]),
        ([None, 0, None], [5, 5, 5], 10, [0, 1]),
        ([None, -1.0, None], [5, 5, 5], 5, [1]),
        ([2, 2, 2], [5, 5, 5], 10, [0, 1]),
        ([1, 2], [0, 1], 0, [0]),
    ],
)
def test_the_highest_scores_stay_those_without_one_last_and_one_too_large_is_passed_over(
    scores: list[Any], tokens: list[int], left: int, kept: list[int]
) -> None:
    assert _select_places(_select_highest_scores, [Scored(score) for score in scores], tokens, left) == kept


def test_a_selection_keeps_each_real_place_once_and_in_the_order_given() -> None:
    def places(*answer: Any) -> list[int]:
        return _select_places(lambda *_: answer, ["a", "b", "c"], [1, 1, 1], 9)

    assert places(2, 0, 2, 3, -1) == [0, 2]
    assert places() == []
    with pytest.raises(BudgetError, match="a place that select returned"):
        places("0")
    with pytest.raises(BudgetError, match="select returned an int: return the places of the items that stay"):
        _select_places(lambda *_: 7, ["a"], [1], 9)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("limit", "most"), [(None, 90), (Limit(), 90), (Limit(cap=40), 40), (Limit(cap=0.5), 45), (Limit(cap=200), 200)]
)
def test_the_cap_of_a_conversation_is_tokens_or_a_share_of_the_input(limit: Limit | None, most: int) -> None:
    limits = {} if limit is None else {"conversation": limit}
    assert conversation_cap(Budget(100, counter=len, overhead=10, limits=limits)) == most
    assert not sends_used_tools(Budget(100, counter=len, limits=limits))
    assert not sends_used_tools(Budget(100, counter=len, limits={"capability": Limit(cap=9)}))
    assert sends_used_tools(Budget(100, counter=len, limits={"capability": Limit(select=Defer(9))}))


@pytest.mark.parametrize(
    ("sizes", "cap", "all_of_it"),
    [((50, 49), None, False), ((50, 50), None, True), ((30, 9), 40, False), ((30, 10), 40, True)],
)
def test_a_conversation_asks_for_all_that_it_may_ever_get_from_its_cap_on(
    sizes: tuple[int, ...], cap: int | None, all_of_it: bool
) -> None:
    budget = Budget(100, counter=len, limits={"conversation": Limit(cap=cap)})
    history = [{"role": "user", "content": "x" * size} for size in sizes]
    plan = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_messages(history).plan().inside
    assert asks_for_all(plan.measured, plan.ledger, budget) is all_of_it


def test_each_owner_finds_its_own_decision_and_those_that_are_gone_are_forgotten() -> None:
    class Owner:
        pass

    memories, owners = BuildMemories(), [Owner() for _ in range(16)]
    found = [memories.of(owner) for owner in owners]
    assert [memories.of(owner) for owner in owners] == found
    assert memories.known(Owner()) is None
    del owners[1:]
    last = Owner()
    assert memories.of(last) is memories.known(last)
    assert (memories.known(owners[0]), len(memories._entries)) == (found[0], 2)  # pyright: ignore[reportPrivateUsage]


def test_a_copy_of_decisions_is_independent_from_then_on() -> None:
    class Owner:
        pass

    owner, memories = Owner(), BuildMemories()
    mine = memories.of(owner)
    copied = [name for name in BuildMemory.__slots__ if name not in ("owner", "session_memory")]
    for name in copied:
        setattr(mine, name, object())
    theirs = memories.copy().of(owner)
    assert theirs is not mine
    assert theirs.session_memory is None
    for name in copied:
        assert getattr(theirs, name) is getattr(mine, name), name
    mine.held = None
    assert theirs.held is not None


def plan_of(sizes: list[int], window: int, policy: Any) -> Any:
    history = [{"role": "user", "content": "x" * size} for size in sizes]
    return Assembler(Budget(window, counter=len), dialect=plain, on_overflow=policy).add_messages(history).plan()


def test_a_decision_depends_on_what_stays_and_one_turn_more() -> None:
    cut = plan_of([10] * 9, 35, TrimOldest()).inside
    assert (cut.first, newest_dropped_turn(cut)) == (6, 5)
    pinned = plan_of([10] * 9, 35, TrimOldest(pins={5, 4})).inside
    assert (pinned.first, newest_dropped_turn(pinned)) == (8, 7)
    beside = attrs.evolve(cut, ledger=attrs.evolve(cut.ledger, pins=(4, 5)))
    assert newest_dropped_turn(beside) == 3
    everything = plan_of([10] * 3, 35, TrimOldest()).inside
    assert (everything.first, newest_dropped_turn(everything)) == (0, 0)


@pytest.mark.parametrize(
    ("policy", "stands"), [(TrimOldest(), True), (Refuse(), True), ([TrimOldest(), TrimSteps()], False)]
)
def test_a_cut_stays_in_force_if_only_an_overflow_may_change_it(policy: Any, stands: bool) -> None:
    settings_plan = plan_of([10] * 3, 35, policy).inside
    assert memory_of(settings_plan.settings, settings_plan.ledger).last_decision is not None  # everything fits
    if not isinstance(policy, Refuse):
        cut = plan_of([10] * 9, 35, policy).inside
        assert (memory_of(cut.settings, cut.ledger).last_decision is not None) is stands


def test_a_decision_stands_with_the_tokens_that_the_turns_may_cost() -> None:
    for limits, left in (({}, 95), ({"conversation": Limit(cap=40)}, 40), ({"instruction": Limit(cap=50)}, 95)):
        budget = Budget(100, counter=len, limits=limits)
        assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_instruction("i" * 5)
        plan = assembler.add_messages([{"role": "user", "content": "x" * 9}] * 3).plan().inside
        standing = memory_of(plan.settings, plan.ledger).last_decision
        assert standing is not None
        assert (standing.tokens_left, standing.length, standing.first, standing.head) == (left, 3, 0, 0)
        assert (standing.front, standing.checked_from, standing.glance, standing.conversation.upper) == (1, 1, 1, 27)


def test_each_build_checks_the_next_of_the_dropped_messages() -> None:
    sizes = [10] * (3 * GLANCE)
    history = [{"role": "user", "content": "x" * size} for size in sizes]
    assembler = Assembler(Budget(45, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    plan = assembler.build().inside
    looked = []
    for _ in range(5):
        standing = memory_of(plan.settings, plan.ledger).last_decision
        assert standing is not None
        looked.append(standing.glance)
        assert standing.checked_until() == (looked[-1] + GLANCE if looked[-1] + GLANCE < standing.checked_from else 1)
        plan = assembler.build().inside
    assert looked == [1, 1 + GLANCE, 1 + 2 * GLANCE, 1, 1 + GLANCE]


@pytest.mark.parametrize("changed", [0, 1, 40, 70, 91, 92, 95])
def test_a_message_that_is_shortened_in_place_is_seen_after_as_many_builds_as_it_takes(changed: int) -> None:
    history = [{"role": "user", "content": "x" * 10} for _ in range(96)]
    assembler = Assembler(Budget(45, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    assert assembler.build().inside.first == 92
    history[changed]["content"] = ""
    for _ in range(4):
        found = assembler.build().inside
    fresh = Assembler(Budget(45, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    assert found.first == fresh.build().inside.first


ROLES = ["assistant", "user", "assistant"]


@pytest.mark.parametrize(("dialect", "floor"), [(anthropic, 1), (plain, 0), (openai_chat, 0), (openai_responses, 0)])
def test_a_greeting_is_dropped_if_the_user_must_open(dialect: Any, floor: int) -> None:
    history = [{"role": role, "content": "x"} for role in ROLES]
    plan = Assembler(Budget(1_000, counter=len), dialect=dialect).add_messages(history).plan()
    assert (plan.inside.ledger.first, plan.inside.first) == (floor, floor)
    assert [item.index for item in plan.dropped] == list(range(floor))


def test_a_conversation_of_a_greeting_alone_is_refused_at_the_greeting() -> None:
    greeting = {"role": "assistant", "content": "Hello"}
    for head in ([], [{"role": "system", "content": "s"}]):
        assembler = Assembler(Budget(10_000, counter=len), dialect=gemini).add_messages([*head, greeting])
        with pytest.raises(ConversationError, match="gemini needs a user message; add one") as caught:
            assembler.build()
        assert caught.value.index == len(head)


def test_a_request_is_remembered_with_the_decision_that_it_was_spelled_for() -> None:
    assembler = Assembler(Budget(1_000, counter=len), dialect=openai_chat, on_overflow=TrimOldest())
    for length in (1, 3, 5):
        plan = assembler.add_message({"role": "user", "content": "x"}).build().inside
        spelled = memory_of(plan.settings.session, plan.ledger).emitted
        assert spelled is not None
        assert (spelled.trimmed, spelled.measured, spelled.length) == (plan.trimmed, plan.measured, length)
        assert spelled.emission.request == {**plan.emission.request}
        assembler.add_message({"role": "assistant", "content": "y"})


def test_a_message_pinned_later_stays_when_the_ones_before_it_are_dropped() -> None:
    assembler = Assembler(
        Budget(45, counter=len), dialect=plain, on_overflow=TrimOldest(pins=lambda message: "!" in message["content"])
    ).add_messages([{"role": "user", "content": "x" * 10} for _ in range(6)])
    assert assembler.build().inside.first == 2
    assert assembler.add_message({"role": "user", "content": "!"}).build().inside.ledger.pins == (6,)
    for _ in range(5):
        plan = assembler.add_message({"role": "user", "content": "x" * 10}).build().inside
    assert (plan.ledger.pins, plan.kept) == ((6,), [6, 8, 9, 10, 11])


@pytest.mark.parametrize("before", [[], [ClearToolResults()]])
def test_under_a_bill_a_mark_is_held_from_the_billed_request_on(before: list[Any]) -> None:
    """Eleven turns of ten are cut to five, billed as 60: eight turns fit then, and of nine the next cut leaves four."""
    turn = {"role": "user", "content": "x" * 10}
    ladder = [*before, TrimOldest(low_water=0.5)]
    assembler = Assembler(Budget(100, counter=len), dialect=plain, on_overflow=ladder)
    context = assembler.add_messages([turn] * 11).build()
    assert context.inside.first == 6
    assembler.anchor(calibrate(context, 60))
    found = [assembler.add_message(turn).build().inside.first for _ in range(4)]
    assert found == [6, 6, 6, 11]


def test_under_a_bill_of_everything_nothing_is_reported_as_dropped_while_it_fits() -> None:
    turn = {"role": "user", "content": "x" * 10}
    assembler = Assembler(Budget(50, counter=len), dialect=plain, on_overflow=TrimOldest())
    assembler.anchor(calibrate(assembler.add_messages([turn] * 3).build(), 32))
    for turns, gone in ((4, 0), (5, 1)):
        plan = assembler.add_message(turn).build().inside
        assert (not plan.trimmed.decisions, plan.first, len(plan.dropped)) == (not gone, gone, gone), turns


def test_a_message_added_with_a_pin_is_pinned_while_the_decision_holds() -> None:
    assembler = Assembler(Budget(45, counter=len), dialect=plain, on_overflow=TrimOldest())
    assembler.add_messages([{"role": "user", "content": "x" * 10} for _ in range(6)]).build()
    plan = assembler.add_message({"role": "user", "content": "x", "pinned": True}).build().inside
    assert (plan.first, plan.ledger.pins) == (2, (6,))
    plans = [assembler.add_message({"role": "user", "content": "y"}).build().inside for _ in range(2)]
    assert [(plan.first, plan.ledger.pins) for plan in plans] == [(2, (6,))] * 2


def test_an_unread_dropped_message_that_is_pinned_later_is_seen() -> None:
    history: list[dict[str, Any]] = [{"role": "user", "content": "x" * 10} for _ in range(20)]
    assembler = Assembler(Budget(45, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    assert assembler.build().inside.kept == [16, 17, 18, 19]
    history[3]["pinned"] = True
    assert assembler.build().inside.kept == [3, 17, 18, 19]


def test_a_turn_that_is_pinned_stays_while_the_decision_stands() -> None:
    history = [{"role": "user", "content": "x" * 10, "pinned": place == 1} for place in range(6)]
    assembler = Assembler(Budget(45, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    assert assembler.build().inside.kept == [1, 3, 4, 5]
    for length in (7, 8, 9):
        assert assembler.add_message({"role": "user", "content": "y"}).build().inside.kept == [1, *range(3, length)]


def test_a_document_that_a_limit_leaves_out_is_reported_with_its_price_and_the_limit() -> None:
    tools = [{"name": name, "description": "d", "parameters": {"type": "object"}} for name in "fg"]
    limits = {"knowledge": Limit(cap=90), "capability": Limit(cap=100, select=lambda *_: [0])}
    assembler = Assembler(Budget(1_000, counter=len, limits=limits), dialect=plain).add_message(("user", "q"))
    assembler.add_knowledge("x" * 20, type="t", source="a.md", score=1)
    assembler.add_knowledge("y" * 20, type="t", source="b.md", score=2)
    measured = assembler.add_capability(tools).plan().inside.measured
    (tool,), document = measured.prices.tools, measured.knowledge.upper
    assert [(one.name, one.tokens, one.reason) for one in measured.rendered.omitted] == [
        ("g", tool.upper, "over the limit of capability"),
        ("a.md", document + len("\n\n"), "over the limit of knowledge"),  # as it stood before the other
    ]


def test_a_ladder_with_a_mark_drops_at_an_overflow_and_not_for_a_message_of_no_tokens() -> None:
    """Two turns are left at the mark, two more fill the window, and an empty one changes nothing."""
    ladder = [ClearToolResults(), TrimOldest(0.5)]
    history = [{"role": "user", "content": "x" * size} for size in (10,) * 7 + (0,)]
    assembler = Assembler(Budget(40, counter=len), dialect=plain, on_overflow=ladder).add_messages(history)
    assert assembler.build().inside.kept == [3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("model", "marks"), [("anthropic.claude-sonnet-4-5", 3), ("amazon.nova-pro-v1:0", 2), ("meta.llama3-3-70b", 0)]
)
def test_a_request_gets_the_marks_that_its_model_takes(model: str, marks: int) -> None:
    tool = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    assembler = Assembler(Budget(9_000, counter=len, model=model), dialect=bedrock, cache_marks=CacheMarks())
    context = assembler.add_instruction("i").add_capability([tool]).add_message(("user", "q")).build()
    assert str(context.request()).count("cachePoint") == marks
    assert str(context.request(anthropic, cache_marks=CacheMarks())).count("cache_control") == 3


def test_a_policy_after_a_summary_gets_what_the_summary_leaves() -> None:
    asked: list[int] = []

    class Summed:
        def cut(self, ledger: Any, tokens_left: int) -> Cut:
            return Cut(ledger.newest_turns(2), "summed", user_message("s" * 30))

    class Telling:
        def cut(self, ledger: Any, tokens_left: int) -> Cut:
            asked.append(tokens_left)
            return Cut(ledger.newest_turns(1), "told")

    for window in (45, 30, 29, 20):
        history = [{"role": "user", "content": "x" * 20} for _ in range(5)]
        with pytest.raises(ContextLengthError):
            Assembler(Budget(window, counter=len), dialect=plain, on_overflow=[Summed(), Telling()]).add_messages(
                history
            ).build()
        assert asked[0] == max(window - 30, 0)
        asked.clear()


def test_a_pinned_turn_without_its_answer_is_refused_at_the_next_message() -> None:
    history = [{"role": "user", "content": "q", "pinned": True}, *step("a", "r" * 9), *talk("x" * 30, "y" * 9, "z" * 9)]
    assembler = Assembler(Budget(40, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    assert assembler.build().inside.kept == [0, 1, 2, 5]
    history[2]["tool_call_id"] = "b"
    with pytest.raises(ConversationError):
        assembler.build()
    history[2]["tool_call_id"] = "a"
    history[1]["tool_calls"].append({**history[1]["tool_calls"][0], "id": "b"})
    with pytest.raises(ConversationError):
        assembler.build()


@pytest.mark.parametrize(("dialect", "costs"), [(anthropic, True), (openai_chat, False), (gemini, False)])
def test_a_provider_s_own_tool_costs_something_in_its_own_api_alone(dialect: Any, costs: bool) -> None:
    own = {"type": "web_search_20250305", "name": "web_search"}
    function = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
    alone, both = (
        Assembler(dialect=dialect).add_message(("user", "q")).add_capability(tools).build().costs.capability
        for tools in ([function], [function, own])
    )
    assert (both - alone > 500) if costs else both == alone
