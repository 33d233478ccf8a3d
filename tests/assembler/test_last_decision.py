"""Which messages a decision depends on, and what the next build knows of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import attrs
import pytest

from assembler import Assembler, Refuse, TrimOldest
from assembler.conversation.history import History
from assembler.dialects import plain
from assembler.errors import ConversationError
from assembler.pipeline.build import measure_now
from assembler.pipeline.build_memory import memory_of
from assembler.pipeline.draft import Draft
from assembler.pipeline.gather import gather
from assembler.pipeline.ladder import Trimmed
from assembler.pipeline.last_decision import (
    GLANCE,
    LastDecision,
    first_changed,
    last_decision_of,
    newest_dropped_turn,
    still_holds,
)
from assembler.policies import Summarize, Truncate
from assembler.pricing.ledger import Cut, Ledger
from budgets import Budget, Count, Limit

LENGTH = 60
FIRST, CHECKED_FROM = 1, LENGTH - 3
"""Behind the first message and before the newest dropped turn, where the two newest turns of 8 tokens fit into 20."""


def trimmed(
    kind: Any = dict, builds: int = 1, policy: Any = None, length: int = LENGTH
) -> tuple[Assembler[Any], list[Any]]:
    messages = [kind(role="user", content=f"{place:08}") for place in range(length)]
    assembler = Assembler(Budget(20, counter=len), dialect=plain, on_overflow=policy or TrimOldest())
    assembler.add_messages(messages)
    assembler.inside[0].history.view().messages(0, length)  # as if an earlier build had read them all
    for _ in range(builds):
        assembler.build()
    return assembler, messages


def last_decision(assembler: Assembler[Any]) -> LastDecision:
    draft, settings = assembler.inside
    found = memory_of(settings, Ledger.of(draft.history.view(), settings.pricer)).last_decision
    assert found is not None
    return found


def holds(known: LastDecision, assembler: Assembler[Any]) -> bool:
    return still_holds(known, assembler.inside[0].history.view())


@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
@pytest.mark.parametrize(
    ("builds", "glance"),
    [(1, range(FIRST, FIRST + GLANCE)), (2, range(FIRST + GLANCE, CHECKED_FROM)), (3, range(FIRST, FIRST + GLANCE))],
)
def test_a_change_is_seen_in_every_message_that_a_decision_depends_on(kind: Any, builds: int, glance: range) -> None:
    assembler, messages = trimmed(kind, builds)
    known = last_decision(assembler)
    assert holds(known, assembler)
    for place, message in enumerate(messages):
        fields = message if kind is dict else vars(message)
        before, fields["content"] = fields["content"], "edited"
        seen = place < FIRST or place in glance or place >= CHECKED_FROM
        assert holds(known, assembler) is not seen, place
        fields["content"] = before
    assert holds(known, assembler)


@pytest.mark.parametrize("builds", [1, 2])
def test_a_pin_is_seen_where_this_build_looks_even_on_an_unread_message(builds: int) -> None:
    messages = [{"role": "user", "content": f"{place:08}"} for place in range(LENGTH)]
    settings = Assembler(Budget(20, counter=len), dialect=plain, on_overflow=TrimOldest()).inside[1]
    assembler = Assembler.around(Draft(history=History.of(messages)), settings)  # nobody has read them
    for _ in range(builds):
        assembler.build()
    known, begin = last_decision(assembler), FIRST + (builds - 1) * GLANCE
    for place in range(FIRST, CHECKED_FROM):
        messages[place]["pinned"] = True
        assert holds(known, assembler) is not (begin <= place < begin + GLANCE), place
        assert holds(attrs.evolve(known, pins=(place,)), assembler)  # it was pinned before
        del messages[place]["pinned"]


def test_a_decision_holds_for_the_history_that_it_was_made_for_and_for_what_grew_from_it() -> None:
    assembler, _ = trimmed()
    shorter = assembler.fork()
    known = last_decision(assembler)
    assert holds(known, assembler)
    assembler.add_message(("user", "more"))
    assert holds(known, assembler)
    shorter.add_messages(shorter.inside[0].history.raws(0, LENGTH - 1))
    assert not holds(known, shorter)


@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
@pytest.mark.parametrize(
    ("policy", "depends"),
    [
        (TrimOldest(), {*range(FIRST), *range(CHECKED_FROM, LENGTH)}),  # and one turn more, which did not fit
        (TrimOldest(pins={5}), {*range(LENGTH)}),  # a predicate or a mark may pin any
        ([TrimOldest(), Truncate(5)], {*range(LENGTH)}),  # a policy may have read any
    ],
)
def test_a_new_decision_depends_on_what_its_policies_may_have_read(kind: Any, policy: Any, depends: set[int]) -> None:
    assembler, messages = trimmed(kind, policy=policy)
    plan = assembler.plan().inside
    assert first_changed(plan, None) is None
    for place, message in enumerate(messages):
        fields = message if kind is dict else vars(message)
        before, fields["content"] = fields["content"], "edited"
        assert first_changed(plan, None) == (place if place in depends else None)
        fields["content"] = before


@pytest.mark.parametrize("between", [GLANCE - 1, GLANCE, GLANCE + 1])
def test_dropped_messages_are_compared_as_long_as_they_are_no_more_than_a_glance(between: int) -> None:
    assembler, messages = trimmed(length=FIRST + between + 3)
    plan = assembler.plan().inside
    for place in range(FIRST, FIRST + between):
        before, messages[place]["content"] = messages[place]["content"], "edited"
        assert first_changed(plan, None) == (place if between <= GLANCE else None)
        messages[place]["content"] = before


def test_a_decision_after_an_outgrown_one_depends_on_what_that_one_depended_on() -> None:
    assembler, messages = trimmed()
    plan, known = assembler.plan().inside, last_decision(assembler)
    outgrown = attrs.evolve(known, front=3, apart=((7, 9),), checked_from=LENGTH - 10)
    for place, message in enumerate(messages):
        before, message["content"] = message["content"], "edited"
        seen = place in {0, 1, 2, 7, 8, *range(LENGTH - 10, LENGTH)}
        assert first_changed(plan, outgrown) == (place if seen else None)
        message["content"] = before
    messages[0]["content"] = messages[8]["content"] = "edited"
    assert first_changed(plan, outgrown) == 0
    earlier = attrs.evolve(
        plan, trimmed=Trimmed(Cut(known.trimmed.cut.first_kept - 1, ""), decisions=plan.trimmed.decisions)
    )
    messages[0]["content"] = f"{0:08}"
    assert first_changed(plan, outgrown) == 8
    assert first_changed(earlier, outgrown) is None  # more stays than stayed then: it was decided without that one


def test_a_new_plan_says_how_many_messages_the_last_decision_covered() -> None:
    assembler, _ = trimmed()
    fresh = Assembler(Budget(20, counter=len), dialect=plain, on_overflow=TrimOldest())
    assert fresh.add_messages([("user", "x" * 8)] * LENGTH).plan().inside.last_length == 0
    assembler.add_message(("user", "y" * 19))  # with it the two turns that stayed no longer fit
    plan = assembler.plan().inside
    assert (plan.first, plan.last_length) == (LENGTH, LENGTH)


def test_a_decision_stands_with_what_the_next_build_needs() -> None:
    assembler, _ = trimmed()
    plan = assembler.set_instruction("abc").plan().inside
    known = last_decision_of(plan, plan.measured, None)
    assert known is not None
    assert (known.head, known.first, known.pins, known.apart) == (0, 0, (), ())
    assert (known.tokens_left, known.conversation.tokens, known.length) == (17, 16, LENGTH)
    assert (known.front, known.checked_from, known.glance) == (FIRST, CHECKED_FROM, FIRST)
    assert (known.trimmed, known.measured, known.before_limits) == (plan.trimmed, plan.measured, plan.measured)
    assert (known.checked_until(), attrs.evolve(known, glance=known.checked_until()).checked_until()) == (1 + GLANCE, 1)
    assert attrs.evolve(known, checked_from=1 + GLANCE).checked_until() == 1
    later = last_decision_of(plan, plan.measured, attrs.evolve(known, glance=3))
    assert later is not None
    assert later.glance == 3 + GLANCE  # it goes on looking where the last one stopped


def test_a_decision_for_a_grown_history_differs_in_what_has_grown_alone() -> None:
    known = attrs.evolve(last_decision(trimmed()[0]), first=1, apart=((2, 3),))
    grown: dict[str, Any] = {
        "length": LENGTH + 2,
        "trimmed": Trimmed(Cut(LENGTH, "")),
        "conversation": Count(7),
        "open_calls": object(),
        "pins": (LENGTH + 1,),
    }
    found, wanted = known.later(**grown), attrs.evolve(known, **grown, glance=known.checked_until())
    for field in attrs.fields(LastDecision):
        assert getattr(found, field.name) == getattr(wanted, field.name), field.name


def test_every_build_checks_the_pinned_turns_before_the_cut() -> None:
    plan = trimmed(policy=TrimOldest(pins={4, LENGTH - 1}))[0].plan().inside
    known = last_decision_of(plan, plan.measured, None)
    assert known is not None
    assert (known.pins, known.apart) == ((4, LENGTH - 1), ((4, 5),))


@pytest.mark.parametrize(
    ("policy", "window", "stands"),
    [
        (TrimOldest(), 20, True),
        (TrimOldest(low_water=0.5), 20, True),
        ([TrimOldest(), Truncate(5)], 20, False),
        (Truncate(19), 9_999, True),  # everything fits, and nobody was asked
        (Refuse(), 9_999, True),
    ],
)
def test_a_decision_stands_where_all_fits_and_for_policies_that_keep_the_newest(
    policy: Any, window: int, stands: bool
) -> None:
    messages = [("user", f"{place:08}") for place in range(LENGTH)]
    made = Assembler(Budget(window, counter=len), dialect=plain, on_overflow=policy).add_messages(messages)
    plan = made.plan().inside
    assert (last_decision_of(plan, plan.measured, None) is not None) is stands
    hosted = attrs.evolve(plan.measured, host=cast(Any, object()))  # knowledge stands around the question
    for why in ({"unsettled": True}, {"refused": ConversationError("it needs a question")}, {"measured": hosted}):
        assert last_decision_of(attrs.evolve(plan, **why), plan.measured, None) is None


@pytest.mark.parametrize(
    ("limits", "instruction", "turns", "most"),
    [
        ({"conversation": Limit(cap=16)}, "abc", 9, 16),  # the cap
        ({"conversation": Limit(cap=16)}, "abcdef", 9, 14),  # what the instruction leaves
        ({"conversation": Limit(cap=16)}, "abc", 1, 16),  # everything fits
        ({"conversation": Limit(share=0.5)}, "abc", 9, 17),  # it asks for all that it may get
        ({"knowledge": Limit(cap=5)}, "abc", 9, 17),
        ({"knowledge": Limit(cap=5)}, "abc", 1, 17),
    ],
)
def test_under_limits_a_decision_is_for_what_the_cap_and_the_regions_leave(
    limits: dict[str, Limit], instruction: str, turns: int, most: int
) -> None:
    made = Assembler(Budget(20, counter=len, limits=limits), dialect=plain, on_overflow=TrimOldest())
    plan = made.set_instruction(instruction).set_messages([("user", "x" * 7)] * turns).plan().inside
    known = last_decision_of(plan, plan.measured, None)
    assert known is not None
    assert known.tokens_left == most


def test_no_decision_is_kept_if_limits_give_the_conversation_more_once_it_asks_for_more() -> None:
    """A document was dropped for a floor that the conversation does not use yet."""
    limits = {"knowledge": Limit(cap=0.1), "conversation": Limit(floor=50)}
    made = Assembler(Budget(200, counter=len, limits=limits), dialect=plain, on_overflow=TrimOldest())
    gathered = made.add_knowledge("d" * 30, type="t").set_messages([("user", "q")])
    plan, whole = gathered.plan().inside, measure_now(*gathered.inside)[1]
    assert (plan.costs.knowledge, whole.knowledge.tokens > 0) == (0, True)
    assert last_decision_of(plan, whole, None) is None


@pytest.mark.parametrize(("size", "goes_on"), [(0, True), (4, True), (5, False)])
def test_a_decision_is_kept_while_its_messages_fit_to_the_token(size: int, goes_on: bool) -> None:
    assembler, _ = trimmed()
    known = last_decision(assembler)
    plan = assembler.add_message(("assistant", "y" * size)).plan().inside
    assert (plan.trimmed is known.trimmed) is goes_on
    assert (plan.first, plan.conversation.tokens) == (
        (known.trimmed.cut.first_kept, 16 + size) if goes_on else (59, 13)
    )
    assert last_decision(assembler).length == LENGTH + 1


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (TrimOldest(), {"content": "no", "pinned": True}),
        (TrimOldest(pins=lambda message: message["content"] == "keep"), {"content": "keep"}),
        (TrimOldest(pins={LENGTH}), {"content": "no"}),
    ],
)
def test_a_kept_decision_sees_a_pin_among_the_new_messages(policy: Any, message: Any) -> None:
    assembler, _ = trimmed(policy=policy)
    known = last_decision(assembler)
    plan = assembler.add_message({"role": "assistant", **message}).plan().inside
    assert plan.trimmed is known.trimmed
    assert plan.ledger.pins == last_decision(assembler).pins == (LENGTH,)


def test_prices_of_a_longer_fork_do_not_enter_a_shorter_forks_conversation() -> None:
    assembler, _ = trimmed()
    assembler.add_message(("assistant", "y"))
    longer = assembler.fork().anchor(None)  # it decides apart, and shares the prices
    assert longer.inside[1] is not assembler.inside[1]
    assert longer.add_message(("assistant", "zz")).build().inside.conversation.tokens == 19
    assert assembler.build().inside.conversation.tokens == 17


def test_an_unanswered_call_is_still_open_at_the_next_look() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    made = Assembler(Budget(200, counter=len), dialect=plain, on_overflow=TrimOldest())
    made.add_messages([("user", "q"), {"role": "assistant", "content": None, "tool_calls": [call]}])
    assert [made.plan().inside.open_calls.left for _ in range(3)] == [1, 1, 1]
    assert last_decision(made).open_calls.left == 1
    made.add_message({"role": "tool", "tool_call_id": "c", "content": "a"})
    assert [made.plan().inside.open_calls.left for _ in range(2)] == [0, 0]


def test_the_repr_of_a_plan_shows_costs_and_no_messages() -> None:
    assert repr(trimmed()[0].plan().inside) == f"Planned(kept=2, of={LENGTH}, tokens=16)"


def test_a_decision_made_before_any_turn_is_not_kept() -> None:
    made = Assembler(Budget(20, counter=len), dialect=plain, on_overflow=TrimOldest())
    for messages, stands in (([], False), ([("system", "s")], False), ([("system", "s"), ("user", "q")], True)):
        plan = made.set_messages(messages).plan().inside
        assert (last_decision_of(plan, plan.measured, None) is not None) is stands


def test_the_next_turn_to_keep_is_the_newest_dropped_one_that_is_not_pinned() -> None:
    plan = trimmed()[0].plan().inside
    assert (plan.first, newest_dropped_turn(plan)) == (LENGTH - 2, CHECKED_FROM)
    for pins, found in [
        ((CHECKED_FROM,), CHECKED_FROM - 1),
        ((CHECKED_FROM, CHECKED_FROM - 1), CHECKED_FROM - 2),
        ((0,), CHECKED_FROM),
    ]:
        pinned = attrs.evolve(plan.ledger, pins=tuple(sorted(pins)))
        assert newest_dropped_turn(attrs.evolve(plan, ledger=pinned)) == found
    every = attrs.evolve(plan.ledger, pins=tuple(range(LENGTH)))
    assert newest_dropped_turn(attrs.evolve(plan, ledger=every)) == 0
    assert newest_dropped_turn(attrs.evolve(plan, trimmed=Trimmed(Cut(0, "")))) == 0


def test_a_plan_with_another_decision_knows_the_messages_seen_and_no_counts() -> None:
    plan = trimmed()[0].plan().inside
    refused = ConversationError("it needs a user message")
    counted = attrs.evolve(plan, refused=refused, last_length=7, sealed=Count(9), corrected=Count(8), unsettled=True)
    kept, ledger = Trimmed(Cut(LENGTH - 1, "")), attrs.evolve(plan.ledger, pins=(3,))
    found = counted.leaving(kept, ledger)
    assert (found.trimmed, found.ledger, found.refused, found.last_length) == (kept, ledger, refused, 7)
    assert (found.sealed, found.corrected, found.unsettled) == (None, None, False)
    assert (found.draft, found.settings, found.view, found.measured) == (
        plan.draft,
        plan.settings,
        plan.view,
        plan.measured,
    )
    assert found.count.tokens == 8 + 8


def test_a_forks_state_holds_the_summary_of_the_messages_that_it_has() -> None:
    """The summary covers the first six of eight messages: all of a fork of six, and more than a fork of five has."""
    lengths: list[Any] = []

    def summarizer(dropped: Any, *_: Any) -> str:
        lengths.append(len(dropped))
        return "told"

    budget = Budget(119, counter=len)
    messages = [{"role": "user", "content": "x" * 20} for _ in range(8)]
    assembler = Assembler(budget, dialect=plain, on_overflow=Summarize(summarizer, 2)).add_messages(messages[:5])
    five = assembler.fork()
    six = assembler.add_message(messages[5]).fork()
    assembler.add_message(messages[6]).add_message(messages[7]).build()
    assert lengths == [6]
    assert [len(one.build().state()["policies"]) for one in (five, six, assembler)] == [0, 1, 1]


def test_a_decision_is_gathered_again_while_the_regions_are_the_same() -> None:
    assembler, _ = trimmed()
    assert gather(*assembler.inside).last is last_decision(assembler)
    assert gather(*assembler.set_instruction("another").inside).last is None


def test_what_a_kept_decision_costs_is_carried_and_not_added_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assembler, _ = trimmed()
    before = assembler.build().count
    monkeypatch.setattr(Ledger, "kept", None)  # it adds up what stays
    assert assembler.build().count == before
    assert assembler.add_message(("user", "1234")).build().count == before + Count(4)
