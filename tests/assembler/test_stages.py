"""Each stage of a build by itself, at the point where its answer changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, cast

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ChatRegions, first_user
from assembler.conversation.messages import user_message
from assembler.dialects import anthropic, plain
from assembler.errors import ConversationError, SummaryError
from assembler.pipeline.choose import demand_of, price_fixed
from assembler.pipeline.failing_part import _may_forget, _note_counted_texts  # pyright: ignore[reportPrivateUsage]
from assembler.pipeline.fit_by_whole import _ask_for_less, _find_next_answer  # pyright: ignore[reportPrivateUsage]
from assembler.pipeline.ladder import RungChanges, RungDecision, Trimmed, cut_to_mark, keep_all, trim_by_rungs
from assembler.pipeline.newest_turns import Weighing, keep_most_turns
from assembler.pipeline.overflow import TooLarge, Trial, find_smallest_window
from assembler.pipeline.recipe import Recipe
from assembler.pipeline.settings import Settings
from assembler.pipeline.share_budget import _take_from_others, asks_for_all  # pyright: ignore[reportPrivateUsage]
from assembler.pipeline.space import additive_in, join_rows
from assembler.pipeline.state import _read_anchor, _read_recipe, _write_anchor, _write_held  # pyright: ignore[reportPrivateUsage]
from assembler.pipeline.trimming import held_decision, repeat_recipe
from assembler.pipeline.what_if import plan_least
from assembler.pipeline.window_steps import MOST_TURNS_ASKED, WindowStep, settled_by_turns, steps_of
from assembler.policies import ClearToolResults, KeepRelevant, Policy, Refuse, TrimOldest, TrimSteps, Truncate
from assembler.policies.summarize import HEADING, Summarize
from assembler.policies.traits import CuttingRung, KeepsNewest, Traits, rung_of
from assembler.pricing.calibration import CalibratedCounter, Fingerprint
from assembler.pricing.ledger import Cut, Ledger
from assembler.pricing.pricer import FixedPrices, Piece
from assembler.regions.layout import Layout
from assembler.strategies.strategy import Around, Continued, Rendered
from budgets import Budget, BudgetError, ContextLengthError, Count, Grade, Limit, TokenCountError
from budgets.count import NOTHING as NO_COUNT
from budgets.count import Difference
from budgets.counters.memo import memoised


def plan_of(*sizes: int, policy: Any = None, **budget: Any) -> Any:
    """Turns of one message each, of so many tokens."""
    history = [{"role": "user", "content": "x" * size} for size in sizes]
    assembler = Assembler(Budget(100_000, counter=len, **budget), dialect=plain, on_overflow=policy or TrimOldest())
    return assembler.add_messages(history).plan().inside


def ledger_of(*sizes: int) -> Ledger:
    return cast(Ledger, plan_of(*sizes).ledger)


TOOL = {"name": "g", "description": "d", "parameters": {"type": "object", "properties": {}}}
SHORTENED = RungDecision("R", 5, (("shortened", 2),))
DROPPED = RungDecision("T", 7, (("old", 0),))
BOTH = RungDecision("B", 3, (("shortened", 2), ("cleared", 1)))
IDLE = RungDecision("I", 0, (("could not", 0),))
NOTHING = RungDecision("N", 0)


def test_a_decision_says_what_it_did_and_how_often_if_that_means_something() -> None:
    every = (SHORTENED, DROPPED, BOTH, IDLE, NOTHING)
    assert [one.reason for one in every] == [
        "2 × shortened",
        "old",
        "2 × shortened, 1 × cleared",
        "could not",
        "nothing left to drop or shorten",
    ]
    assert [str(one) for one in every] == [f"{one.policy}: {one.reason}" for one in every]
    assert [one.in_words for one in every] == [
        "R: shortened",
        "T: old",
        "B: shortened, cleared",
        "I: could not",
        "N: nothing left to drop or shorten",
    ]
    assert [one.cut for one in every] == [False, True, False, False, False]
    assert [one.in_turn(3) for one in every] == [
        "R: 3 × shortened",
        "T: 3 × old",
        "B: 3 × shortened or cleared",
        "I: 3 × could not",
        "N",
    ]


def test_a_decision_names_at_most_three_of_the_things_that_it_did_in_a_turn() -> None:
    acts = [(f"{size} results moved", 1) for size in range(2, 6)]
    assert RungDecision("M", 3, tuple(acts)).in_turn(2) == (
        "M: 2 × 2 results moved or 3 results moved or 4 results moved or other changes"
    )
    assert RungDecision("M", 3, tuple(acts[:3])).in_turn(2).endswith("or 4 results moved")


def test_two_decisions_of_one_policy_add_their_numbers_and_take_the_newer_words() -> None:
    again = RungDecision("B", 3, (("cleared", 2), ("new", 4), ("as far", 0)))
    assert RungDecision("B", 5, (("old words", 0), ("cleared", 1))).again(again) == RungDecision(
        "B", 8, (("cleared", 3), ("new", 4), ("as far", 0))
    )


def test_the_reason_for_dropped_messages_names_policies_that_dropped_turns_first() -> None:
    kept = Trimmed(Cut(0, ""), decisions=(IDLE, SHORTENED, DROPPED))
    assert (kept.why_gone, kept.why_shortened(), kept.idle, not kept.decisions) == (
        "T: old; R: shortened",
        "R: shortened",
        (IDLE,),
        False,
    )
    assert kept.why_shortened({("R", 0): 1, ("T", 0): 1, ("I", 0): 1}) == "R: 1 × shortened"
    assert kept.why_shortened({("T", 0): 1}) == ""
    assert Trimmed(Cut(0, ""), decisions=(IDLE,)).why_gone == "I: could not"
    assert not Trimmed(Cut(0, "")).decisions


def test_a_ladder_asks_the_next_policy_only_while_too_much_is_left() -> None:
    ledger, rungs = ledger_of(10, 10, 30, 10), tuple(map(rung_of, (Truncate(29), TrimOldest())))
    decided = [[one.policy for one in trim_by_rungs(ledger, rungs, left).decisions] for left in (60, 59, 58, 20, 1)]
    assert decided == [
        [],
        ["Truncate"],
        ["Truncate", "TrimOldest"],
        ["Truncate", "TrimOldest"],
        ["Truncate", "TrimOldest"],
    ]
    kept = trim_by_rungs(ledger, rungs, 40)
    assert (kept.cut.first_kept, kept.decisions[0].saved, kept.decisions[1].saved) == (2, 1, 20)
    assert kept.made == (RungChanges(4, 0, 0, ((2,),)),)
    assert kept.count(ledger).upper == 39


def test_a_cut_that_saves_nothing_is_reported_and_not_made() -> None:
    kept = trim_by_rungs(ledger_of(10, 10), (rung_of(TrimOldest(keep_turns=2)),), 19)
    assert (kept.cut.first_kept, kept.decisions[0].saved) == (0, 0)
    assert kept.decisions[0].reason == "older turns do not fit"


def test_a_continued_ladder_begins_with_what_stayed_and_forgets_old_failures() -> None:
    ledger = ledger_of(10, 10, 10, 10)
    start = Trimmed(Cut(1, "as it was"), failures=(SummaryError("s"),))
    kept = trim_by_rungs(ledger, (rung_of(TrimOldest()),), 30, start)
    assert (kept.cut.first_kept, kept.failures, kept.decisions) == (1, (), ())
    kept = trim_by_rungs(ledger, (rung_of(TrimOldest()),), 20, start)
    assert (kept.cut.first_kept, kept.decisions[0].saved) == (2, 10)


@pytest.mark.parametrize(("summary", "first"), [("nnnnn", 2), ("sssss", 3)])
def test_a_note_that_is_there_already_gets_its_tokens_once(summary: str, first: int) -> None:
    """25 tokens hold two turns of 10 and the policy's own note of 5, or one turn if another summary stands too."""
    ledger, standing = ledger_of(10, 10, 10, 10), user_message(summary)
    rungs = (rung_of(TrimOldest(note="nnnnn")),)
    kept = trim_by_rungs(ledger, rungs, 25, Trimmed(Cut(1, "as it was", standing)))
    assert kept.cut.first_kept == first
    assert kept.cut.summary is not None
    assert kept.cut.summary.parts == (summary,)


@pytest.mark.parametrize(("policy", "first"), [(TrimOldest(), 1), (KeepRelevant(keep_turns=1), 0)])
def test_at_a_mark_dropped_turns_stay_dropped_unless_the_policy_chooses_again(policy: Any, first: int) -> None:
    kept = cut_to_mark(ledger_of(10, 10, 10), (rung_of(policy),), 30, Trimmed(Cut(1, "as it was")))
    assert kept.cut.first_kept == first


def kept_at(first: int) -> Trimmed:
    return Trimmed(Cut(first, ""))


@pytest.mark.parametrize("begins", [0, 1, 2, 3, 7, 50, 98, 99])
def test_the_next_different_answer_is_found_at_its_largest_number_of_tokens(begins: int) -> None:
    asked: list[int] = []

    def relieve(tokens: int) -> Trimmed:
        asked.append(tokens)
        return kept_at(2 if tokens > begins else 5)

    assert _find_next_answer(kept_at(0), 99, relieve) == (99, kept_at_of(99, relieve))
    asked.clear()
    tokens, answer = _find_next_answer(kept_at(2), 99, relieve) or (-1, kept_at(-1))
    assert (tokens, answer.cut.first_kept) == (begins, 5)
    assert len(asked) <= 16
    assert _find_next_answer(kept_at(5), begins, relieve) is None


def kept_at_of(tokens: int, relieve: Callable[[int], Trimmed]) -> Any:
    """Whatever is equal to what is relieved: two values of a `Trimmed` are never equal, two cuts are."""

    class Same:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Trimmed) and other.cut == relieve(tokens).cut

        __hash__ = None  # type: ignore[assignment]

    return Same()


@pytest.mark.parametrize(
    ("beside", "limit", "first"),
    [(0, 40, 0), (0, 39, 1), (5, 45, 0), (5, 44, 1), (5, 25, 2), (5, 14, 3)],
)
def test_a_whole_that_weighs_more_than_its_parts_is_tightened_only_as_far_as_needed(
    beside: int, limit: int, first: int
) -> None:
    ledger, weighed = ledger_of(10, 10, 10, 10), list[int]()

    def weigh(kept: Trimmed) -> Count:
        weighed.append(kept.cut.first_kept)
        return kept.count(ledger) + Count(beside)

    first_try = keep_all(ledger)
    kept, count = _ask_for_less(
        ledger,
        limit,
        limit,
        weigh,
        lambda tokens: kept_at(TrimOldest().cut(ledger, tokens).first_kept),
        (first_try, weigh(first_try)),
    )
    assert (kept.cut.first_kept, count.upper) == (first, (4 - first) * 10 + beside)
    assert len(weighed) == len(set(weighed))


@pytest.mark.parametrize(
    ("left", "limit", "weight", "asked"),
    [
        *((-5, 40, 41, [0]), (-1, 40, 41, [0]), (0, 40, 41, [0]), (1, 40, 41, [1]), (1, 0, 41, [1, 0])),
        *((20, 20, 20, []), (-5, 40, 40, []), (-5, 40, None, [0])),
    ],
)
def test_policies_are_asked_for_at_least_nothing_and_not_at_all_if_all_fits(
    left: int, limit: int, weight: int | None, asked: list[int]
) -> None:
    ledger, heard = ledger_of(10, 10), list[int]()

    def relieve(tokens: int) -> Trimmed:
        heard.append(tokens)
        return kept_at(1)

    first_try = None if weight is None else (keep_all(ledger), Count(weight))
    _ask_for_less(ledger, left, limit, lambda kept: kept.count(ledger), relieve, first_try)
    assert heard == asked


def test_a_memory_surely_holds_half_of_its_limit() -> None:
    memory = memoised(len, max_entries=8, max_characters=20)
    texts = [["a", "b", "c", "d"], ["a", "b", "c", "d", "e"], ["a" * 5, "b" * 5], ["a" * 5, "b" * 6]]
    assert [_may_forget(memory, each) for each in texts] == [False, True, False, True]


@pytest.mark.parametrize("adds", [True, False])
def test_if_counts_add_each_piece_is_counted_alone_and_else_the_whole_too(adds: bool) -> None:
    class Promising:
        additive_at_tag_seams = adds

        def __call__(self, text: str) -> int:
            return len(text)

    settings = Assembler(Budget(100, counter=Promising()), dialect=plain).inside[1]
    memory = cast(Budget, settings.budget).token_counter
    pieces = [Piece("knowledge", text, f"{text}\n") for text in "ab"]
    texts = _note_counted_texts(memory, settings, lambda pricer: pricer.fixed(pieces, (), ()))
    assert texts == ({"a", "b"} if adds else {"a", "b", "a\nb"})


def test_a_weight_predicts_another_by_its_own_error_within_half_and_twice() -> None:
    predicted = [Weighing(100, found).predicts(120) for found in (100, 150, 500, 80, 10)]
    assert predicted == [120, 180, 540, 96, 20]
    assert (Weighing().predicts(50), Weighing(100, 0).predicts(110), Weighing(0, 40).predicts(50)) == (50, 10, 90)


class Scales:
    """Prices the kept messages as `factor` times their tokens and a constant, and counts its calls."""

    def __init__(self, ledger: Ledger, factor: float, more: int, promises: bool) -> None:
        self.ledger, self.factor, self.more, self.promises, self.times = ledger, factor, more, promises, 0

    def weigh(self, kept: Trimmed) -> Count:
        self.times += 1
        return self.weight(kept.cut.first_kept)

    def weight(self, first: int) -> Count:
        return Count(self.more + int(self.ledger.since(first).upper * self.factor), Grade.EXACT)

    def at_least(self, message: object, price: Count) -> int:
        return int(price.upper * self.factor) if self.promises else 0


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=12),
    st.sampled_from([0.3, 0.9, 1.0, 1.1, 3.0]),
    st.integers(0, 20),
    st.integers(1, 3),
    st.integers(0, 500),
    st.booleans(),
)
def test_of_weighed_turns_as_many_stay_as_the_limit_holds(
    sizes: list[int], factor: float, more: int, keep: int, limit: int, promises: bool
) -> None:
    ledger = ledger_of(*sizes)
    scales = Scales(ledger, factor, more, promises)
    rung, keeps = rung_of(TrimOldest(keep_turns=keep)), KeepsNewest(keep)
    pricer: Any = scales
    kept, count, seen = keep_most_turns(
        ledger, cast(CuttingRung, rung), keeps, limit, 0, pricer, scales.weigh, Weighing()
    )
    length = len(sizes)
    fitting = [first for first in range(length) if scales.weight(first).upper <= limit]
    wanted = min([*fitting, max(length - keep, 0)])
    assert (kept.cut.first_kept, count) == (wanted, scales.weight(wanted))
    assert (seen.start, seen.stop, seen.found) == (wanted, length, count.upper)
    assert (not kept.decisions) == (wanted == 0)
    assert scales.times <= 8


def test_before_any_turn_begins_the_whole_is_weighed_once() -> None:
    scales: Any = Scales(ledger_of(), 1.0, 7, promises=True)
    rung, before = cast(CuttingRung, rung_of(TrimOldest())), Weighing(3, 4, 5, 6)
    kept, count, seen = keep_most_turns(scales.ledger, rung, KeepsNewest(), 5, 0, scales, scales.weigh, before)
    assert (not kept.decisions, kept.cut.first_kept, count, seen, scales.times) == (True, 0, Count(7), before, 1)


def test_if_every_estimate_is_far_too_high_doubling_and_halving_bound_the_weighings() -> None:
    ledger = ledger_of(*[10] * 4_000)
    scales: Any = Scales(ledger, 0.01, 0, promises=False)
    rung = cast(CuttingRung, rung_of(TrimOldest()))
    kept, count, _ = keep_most_turns(ledger, rung, KeepsNewest(), 200, 0, scales, scales.weigh, Weighing())
    assert (ledger.length - kept.cut.first_kept, count.upper) == (2_009, 200)  # 20,099 hundredths are 200
    assert scales.times <= 3 + 10 + 10  # where the estimates point to, then doubling, then halving


@pytest.mark.parametrize(
    ("short", "knowledge", "capability"),
    [(-3, 10, 20), (0, 10, 20), (1, 9, 20), (7, 3, 20), (8, 3, 19), (15, 3, 12), (22, 3, 5), (23, 3, 5), (99, 3, 5)],
)
def test_documents_shrink_before_selected_tools_each_down_to_its_floor(
    short: int, knowledge: int, capability: int
) -> None:
    given_out = {"instruction": 9, "capability": 20, "knowledge": 10, "conversation": 1}
    limits = {"knowledge": Limit(floor=3), "capability": Limit(floor=0.5, select=lambda *_: [])}
    _take_from_others(given_out, short, Budget(10, counter=len, limits=limits))
    assert given_out == {"instruction": 9, "capability": capability, "knowledge": knowledge, "conversation": 1}


def test_tools_without_a_selection_are_not_reduced() -> None:
    given_out = {"capability": 20, "knowledge": 10}
    _take_from_others(given_out, 15, Budget(1_000, counter=len, limits={"capability": Limit(cap=30)}))
    assert given_out == {"capability": 20, "knowledge": 0}


def test_one_weighing_and_a_promise_prove_that_no_further_turn_fits() -> None:
    ledger = ledger_of(*[10] * 50)
    pricer: Any = Scales(ledger, 1.0, 0, promises=True)
    rung = cast(CuttingRung, rung_of(TrimOldest()))
    kept, _, seen = keep_most_turns(ledger, rung, KeepsNewest(), 105, 0, pricer, pricer.weigh, Weighing())
    assert (kept.cut.first_kept, pricer.times) == (40, 1)
    grown: Any = Scales(ledger_of(*[10] * 51), 1.0, 0, promises=True)
    kept, _, _ = keep_most_turns(grown.ledger, rung, KeepsNewest(), 105, 0, grown, grown.weigh, seen)
    assert (kept.cut.first_kept, grown.times) == (41, 1)
    noted = cast(CuttingRung, rung_of(TrimOldest(note="n")))
    both: Any = Scales(ledger_of(10, 10), 1.0, 0, promises=True)
    kept, _, _ = keep_most_turns(both.ledger, noted, KeepsNewest(), 20, 0, both, both.weigh, Weighing())
    assert not kept.decisions  # a note that nobody needs is not weighed against the turn that it would stand for


def test_a_turn_that_may_have_become_lighter_is_weighed_again() -> None:
    """The newest of ten turns held a thought of 20 tokens, which costs nothing after the next turn."""
    ledger = ledger_of(*[10] * 11)

    class Forgetting(Scales):
        def at_least(self, message: Any, price: Count) -> int:
            return 0 if message is ledger.reading(9) else price.upper

    scales: Any = Forgetting(ledger, 1.0, 0, promises=True)
    rung = cast(CuttingRung, rung_of(TrimOldest()))
    before = Weighing(expected=80, found=100, start=2, stop=10)
    kept, count, _ = keep_most_turns(ledger, rung, KeepsNewest(), 105, 0, scales, scales.weigh, before)
    assert (kept.cut.first_kept, count.upper) == (1, 100)


@pytest.mark.parametrize("limit", [0, 4, 5, 9, 12, 13, 14, 100])
def test_a_conversation_asks_for_its_tokens_up_to_one_above_the_limit(limit: int) -> None:
    assert demand_of(ledger_of(4, 5, 1, 3), limit) == min(13, limit + 1)


@pytest.mark.parametrize(
    ("sizes", "cap", "all_of_it"),
    [((9, 8), None, True), ((9, 7), None, False), ((9, 1), 10, True), ((9,), 10, False), ((9, 9), 100, True)],
)
def test_a_conversation_asks_for_all_once_it_would_fill_its_cap(
    sizes: tuple[int, ...], cap: int | None, all_of_it: bool
) -> None:
    plan = plan_of(*sizes)
    measured = attrs.evolve(plan.measured, prices=attrs.evolve(plan.measured.prices, framing=Count(3)))
    budget = Budget(20, counter=len, limits={} if cap is None else {"conversation": Limit(cap=cap)})
    assert asks_for_all(measured, plan.ledger, budget) is all_of_it


@pytest.mark.parametrize(
    ("needed", "least", "asked"),
    [
        ({20: 50}, 50, [20, 50, 49]),  # each window that is tried is what the last one said it needs
        ({20: 50, 50: 51}, 51, [20, 50, 51]),
        ({20: None}, 40, [20, 40, 39]),  # and twice as large where it said nothing, or nothing new
        ({20: None, 40: 60}, 60, [20, 40, 60, 59]),
        ({20: 20}, 33, [20, 40, 39, 29, 34, 31, 32, 33]),
        ({20: 21, 21: 22, 22: 23}, 23, [20, 21, 22, 44]),  # a fourth window is no longer taken at its word
    ],
)
def test_a_larger_window_is_what_is_needed_at_the_last_one_or_twice_that(
    needed: dict[int, int | None], least: int, asked: list[int]
) -> None:
    plan, tried = plan_of(1), list[int]()

    def too_large(required: int) -> TooLarge:
        return TooLarge(plan, plan.settings.budget, required=required, available=0, costs=plan.costs)

    def decide(settings: Any) -> Any:
        tried.append(settings.budget.context_window)
        if tried[-1] >= least:
            return plan
        required = needed.get(tried[-1], least)
        raise ValueError if required is None else too_large(required)

    found = find_smallest_window(too_large(20), Trial(plan.settings, decide, Budget(10, counter=len)))
    assert found is not None
    assert (found.window, tried[: len(asked)]) == (least, asked)


def steps(plan: Any) -> list[tuple[int, int, int, int]]:
    return [(one.context_window, one.first_kept, one.left_out, one.tokens) for one in steps_of(plan)]


def test_steps_list_the_window_the_first_turn_the_number_left_out_and_the_price() -> None:
    assert steps(plan_of(5, 4, 3)) == [(3, 2, 2, 3), (7, 1, 1, 7), (12, 0, 0, 12)]
    assert steps(plan_of(5, 4, 3, overhead=2, safety_margin=1)) == [(6, 2, 2, 3), (10, 1, 1, 7), (15, 0, 0, 12)]
    assert steps(plan_of(5, 4, 3, policy=TrimOldest(keep_turns=2))) == [(7, 1, 1, 7), (12, 0, 0, 12)]
    assert steps(plan_of(5, 4, 3, policy=TrimOldest(pins=first_user))) == [(8, 2, 1, 8), (12, 0, 0, 12)]
    assert steps(plan_of(5, 4, 3, policy=Refuse())) == [(12, 0, 0, 12)]
    assert steps(plan_of(5, 4, 3, policy=[Refuse(), TrimSteps()])) == [(12, 0, 0, 12)]
    assert steps(plan_of(2, 4, 3, policy=TrimOldest(note="n" * 3))) == [(6, 2, 2, 6), (9, 0, 0, 9)]
    assert steps(plan_of()) == [(0, 0, 0, 0)]


@pytest.mark.parametrize(("cap", "most"), [(6, 3), (7, 3), (9, 3), (10, 7), (14, 7), (15, 12)])
def test_steps_end_at_the_providers_limit(cap: int, most: int) -> None:
    plan = plan_of(5, 4, 3)
    budget = attrs.evolve(plan.settings.budget, max_input_tokens=cap, overhead=2, safety_margin=1)
    capped = attrs.evolve(plan, settings=attrs.evolve(plan.settings, budget=budget))
    assert steps_of(capped)[-1].tokens == most


class Asked:
    """A user's policy, which must be called to find what it keeps: the newest turns that fit."""

    def __init__(self) -> None:
        self.times = 0

    def cut(self, ledger: Any, tokens_left: int) -> Cut:
        self.times += 1
        return Cut(ledger.newest_that_fit(tokens_left, 1), "")


def test_steps_of_an_asked_policy_equal_those_computed_from_prices() -> None:
    policy = Asked()
    assert steps(plan_of(5, 4, 3, 8, policy=policy)) == steps(plan_of(5, 4, 3, 8))
    assert steps(plan_of(1, 0, policy=Asked())) == steps(plan_of(1, 0)) == [(0, 1, 1, 0), (1, 0, 0, 1)]
    assert policy.times <= 3 * 4
    assert len(steps(plan_of(*[1] * MOST_TURNS_ASKED, policy=Asked()))) == MOST_TURNS_ASKED
    assert len(steps(plan_of(*[1] * (MOST_TURNS_ASKED + 1), policy=Asked()))) == 1


def test_a_policy_that_rewrites_or_cuts_to_a_mark_has_a_step_only_where_nothing_is_dropped() -> None:
    class Marked(Asked):
        traits = Traits(low_water=0.5, unmarked=Asked())

    ladders: list[Any] = [TrimOldest(0.5), [TrimOldest(0.5), TrimSteps()], ClearToolResults(), Truncate(5), Marked()]
    for policy in [*ladders, [Asked(), Truncate(5)], [Truncate(5), Asked()]]:
        assert steps(plan_of(5, 4, 3, policy=policy)) == [(12, 0, 0, 12)]


def test_a_step_of_a_policy_that_keeps_less_than_fits_begins_where_its_answer_changes() -> None:
    class Careful(Asked):
        def cut(self, ledger: Any, tokens_left: int) -> Cut:
            return super().cut(ledger, tokens_left - 2)

    found = steps_of(plan_of(5, 4, 3, 8, policy=Careful()))
    assert found == (
        WindowStep(8, 3, 3, 8),
        WindowStep(13, 2, 2, 11),
        WindowStep(17, 1, 1, 15),
        WindowStep(20, 0, 0, 20),
    )


@pytest.mark.parametrize("policy", [TrimOldest(), Asked(), Refuse()])
def test_without_a_budget_nothing_is_kept_free_beside_a_request_at_any_step(policy: Any) -> None:
    history = [("user", "one two"), ("user", "three"), ("user", "four five six")]
    found = steps_of(Assembler(dialect=plain, on_overflow=policy).add_messages(history).plan().inside)
    assert [one.context_window for one in found] == [one.tokens for one in found]
    assert [one.first_kept for one in found] == ([0] if isinstance(policy, Refuse) else [2, 1, 0])


def test_without_a_budget_a_pinned_turn_is_in_every_step() -> None:
    history = [("user", "one two"), ("user", "three"), ("user", "four five six")]
    made = Assembler(dialect=plain, on_overflow=TrimOldest(pins=first_user)).add_messages(history)
    plan = made.plan().inside
    newest, all_of_it = steps_of(plan)
    assert (newest.first_kept, newest.left_out, all_of_it.first_kept, all_of_it.left_out) == (2, 1, 0, 0)
    assert all_of_it.tokens - newest.tokens == plan.ledger.turn_upper(1, 2)


@pytest.mark.parametrize(
    ("policy", "settled"),
    [
        (Refuse(), True),
        ([Refuse(), Refuse()], True),  # the same
        (TrimOldest(), True),
        (TrimOldest(low_water=0.5), False),
        (TrimSteps(), False),
        ([TrimOldest(), TrimSteps()], False),
        (Asked(), False),
    ],
)
def test_windows_are_settled_by_the_prices_of_turns_where_only_the_newest_that_fit_stay(
    policy: Any, settled: bool
) -> None:
    assert settled_by_turns(plan_of(5, 4, 3, policy=policy)) is settled


@pytest.mark.parametrize("pin", [0, 1])
def test_a_pinned_turn_is_left_out_of_no_step_of_a_policy_that_must_be_asked(pin: int) -> None:
    class Pinning(Asked):
        traits = Traits(pins=frozenset([pin]))

    assert steps(plan_of(5, 4, 3, 8, policy=Pinning())) == steps(plan_of(5, 4, 3, 8, policy=TrimOldest(pins={pin})))


def test_a_pinned_turn_costs_a_search_nothing_more() -> None:
    ledger = attrs.evolve(ledger_of(*[10] * 6), pins=(2,))
    pricer: Any = Scales(ledger, 1.0, 0, promises=True)
    rung = cast(CuttingRung, rung_of(TrimOldest()))

    def weigh(kept: Trimmed) -> Count:
        return ledger.kept(kept.cut)

    for limit, first in ((29, 5), (30, 4), (45, 2), (50, 1)):
        kept, count, _ = keep_most_turns(ledger, rung, KeepsNewest(), limit, 0, pricer, weigh, Weighing())
        assert (kept.cut.first_kept, count.tokens) == (first, ledger.kept(Cut(first, "")).tokens), limit


def test_a_rewritten_message_is_as_uncertain_as_what_it_still_holds() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
    long = [{"type": "text", "text": "word " * 200}, image]
    history = [{"role": "user", "content": long}, {"role": "assistant", "content": "so"}, ("user", "and?")]
    whole = Assembler(Budget(100_000, model="gpt-4o")).add_messages(history).build()
    assert whole.inside.conversation.grade is Grade.ESTIMATED
    budget = Budget(whole.count.upper - 100, model="gpt-4o")
    shorter = Assembler(budget, on_overflow=Truncate(50)).add_messages(history).build()
    assert (list(shorter.inside.trimmed.changed), shorter.inside.conversation.grade) == ([0], Grade.ESTIMATED)
    exact = [{"role": "user", "content": long[:1]}, *history[1:]]
    plain_text = Assembler(Budget(150, model="gpt-4o"), on_overflow=Truncate(50)).add_messages(exact).build()
    assert (list(plain_text.inside.trimmed.changed), plain_text.inside.conversation.grade) == ([0], Grade.EXACT)


def test_a_change_that_saves_one_token_is_made() -> None:
    history = [*talk_of_a_step("r" * 10), {"role": "user", "content": "n"}]
    ladder = [ClearToolResults(0, placeholder="p" * 9)]
    whole = Assembler(Budget(999, counter=len), dialect=plain).add_messages(history).build().count.tokens
    context = Assembler(Budget(whole - 1, counter=len), dialect=plain, on_overflow=ladder).add_messages(history).build()
    assert context.inside.trimmed.decisions[0].saved == 1


def talk_of_a_step(result: str) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def test_a_bill_goes_into_a_state_and_back_whole() -> None:
    ours = Count(7, Grade.BOUNDED, upper=9)
    kept = Recipe(3, 1, "why", "said", (RungChanges(3, 0, 1, ((2,),)),), (SHORTENED,))
    for bill in (
        CalibratedCounter(Fingerprint("d", 4, "anthropic", "m"), ours, 8, kept, 100, 90),
        CalibratedCounter(Fingerprint("d", 4, "plain", None), ours, 8),
    ):
        assert _read_anchor(_write_anchor(bill)) == bill


def test_a_step_is_a_value_that_is_shown_and_compared() -> None:
    assert steps_of(plan_of(3)) == (WindowStep(3, 0, 0, 3),)


def recipe(first: int, length: int = 3, made: tuple[RungChanges, ...] = ()) -> Recipe:
    return Recipe(length, first, "held", None, made)


@pytest.mark.parametrize(
    ("first", "length", "made"),
    [(0, 3, True), (1, 3, True), (2, 3, True), (3, 3, False), (-1, 3, False), (0, 4, False), (1, 2, True)],
)
def test_a_held_request_is_made_again_if_the_history_has_its_messages(first: int, length: int, made: bool) -> None:
    found = recipe(first, length).made_again(ledger_of(10, 10, 10), (rung_of(TrimOldest()),))
    assert (found is not None) is made
    if found is not None:
        assert (found[0], found[1].cut.first_kept, found[1].cut.reason, found[1].cut.summary) == (
            length,
            first,
            "held",
            None,
        )


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (RungChanges(3, 0, 0, ((2,), (0,))), True),
        (RungChanges(3, 0, 0, ((2,), (1,))), False),
        (RungChanges(3, 1, 0, ((2,),)), False),
        (RungChanges(3, 2, 0, ((2,),)), False),
        (RungChanges(0, 0, 0, ((2,),)), False),
        (RungChanges(4, 0, 0, ((2,),)), False),
        (RungChanges(1, 0, 0, ((0,),)), True),
        (RungChanges(3, 0, 1, ((2,),)), False),
        (RungChanges(3, 0, -1, ((2,),)), False),
        (RungChanges(3, -1, 0, ((2,),)), False),
        (RungChanges(3, -3, 0, ((2,),)), False),
        (RungChanges(3, 0, 0, ()), False),
    ],
)
def test_a_changed_message_is_changed_again_by_the_policy_that_changed_it(change: RungChanges, again: bool) -> None:
    ledger, rungs = ledger_of(30, 10, 40), tuple(map(rung_of, (Truncate(20), TrimOldest())))
    found = recipe(0, 3, (change,)).made_again(ledger, rungs)
    assert (found is not None) is again
    if found is not None:
        assert sorted(found[1].changed) == sorted(index for one in change.indexes for index in one)
        assert found[1].count(ledger).upper < 80


def test_a_remade_request_keeps_its_reasons_and_its_summary() -> None:
    ledger, made = ledger_of(30, 10, 40), (RungChanges(3, 0, 0, ((2,),)),)
    held = Recipe(3, 1, "why", "said", made, (SHORTENED, DROPPED), (SummaryError("s"),))
    length, kept = held.made_again(ledger, (rung_of(Truncate(20)),)) or (0, keep_all(ledger))
    assert (length, kept.cut.first_kept, kept.cut.reason, kept.decisions) == (3, 1, "why", (SHORTENED, DROPPED))
    assert (kept.made, [*kept.changed], kept.failures) == (made, [2], held.failures)
    assert kept.cut.summary is not None
    assert kept.cut.summary.parts == ("said",)
    assert Recipe.of(length, kept, ledger) == held


def test_the_recipe_holds_no_change_of_a_dropped_message() -> None:
    ledger = attrs.evolve(ledger_of(10, 10, 10, 10), pins=(0,))
    made = (RungChanges(4, 0, 0, ((0,), (1,), (3,))), RungChanges(4, 1, 0, ((1,),)))
    kept = Trimmed(Cut(2, "why"), decisions=(SHORTENED,), failures=(SummaryError("s"),), made=made)
    summarized = attrs.evolve(kept, cut=Cut(2, "why", user_message("").with_parts(("sa", "id"))))
    assert Recipe.of(4, summarized, ledger).summary == "said"
    found = Recipe.of(4, kept, ledger)
    assert (found.length, found.first_kept, found.reason, found.summary) == (4, 2, "why", None)
    assert (found.made, found.decisions, len(found.failures)) == (
        (RungChanges(4, 0, 0, ((0,), (3,))),),
        (SHORTENED,),
        1,
    )


def test_the_error_for_settings_names_a_wrong_budget_and_a_wrong_policy() -> None:
    of: Any = Settings.of
    with pytest.raises(BudgetError, match=r"budget: expected a Budget, got int; pass Budget\(context_window=…\)"):
        of(8_000, plain, Refuse(), ChatRegions())
    with pytest.raises(BudgetError, match=r"expected at least one policy, got an empty ladder; pass Refuse\(\)"):
        of(None, plain, [], ChatRegions())
    with pytest.raises(BudgetError, match="cache_marks"):
        of(None, plain, Refuse(), ChatRegions(), 7)
    with pytest.raises(TypeError, match="anchor: expected what calibrate"):
        of(None, plain, Refuse(), ChatRegions()).anchored(7)
    with pytest.raises(BudgetError, match=r"expected a Budget, got str; pass Budget\.for_model\(name\)$"):
        of("gpt-4o", plain, Refuse(), ChatRegions())
    assert of(None, None, Refuse(), ChatRegions()).dialect is plain
    assert of(Budget(10, model="claude-opus-4-1"), None, Refuse(), ChatRegions()).dialect is anthropic
    assert of(Budget(10, model="nobody-knows"), None, Refuse(), ChatRegions()).dialect is plain


def test_keep_all_keeps_everything_and_a_rung_keeps_its_policy() -> None:
    ledger = ledger_of(1, 2)
    assert (keep_all(ledger).cut, not keep_all(ledger).decisions) == (Cut(0, ""), True)
    policy: Policy = TrimOldest()
    assert rung_of(policy).policy is policy


def test_a_billed_request_is_kept_with_its_changes_its_note_and_what_was_said_of_them() -> None:
    ladder = [Truncate(20), TrimOldest(note="gone")]
    plan = plan_of(30, 10, 90, 10, policy=ladder, safety_margin=100_000 - 45)
    recipe = plan.recipe
    kept = repeat_recipe(plan.ledger, plan.settings, recipe)
    assert kept is not None
    assert (kept.cut.first_kept, kept.cut.reason, list(kept.changed)) == (1, plan.trimmed.cut.reason, [2])
    assert kept.count(plan.ledger) == plan.trimmed.count(plan.ledger)
    assert kept.cut.summary is not None
    assert kept.cut.summary.parts == ("gone",)
    assert kept.decisions == plan.trimmed.decisions


def test_a_request_that_kept_all_is_kept_whole_and_one_of_a_longer_history_is_not() -> None:
    plan = plan_of(10, 10, policy=TrimOldest())
    for length, kept in [(1, True), (2, True), (3, False)]:
        found = repeat_recipe(plan.ledger, plan.settings, Recipe(length, 0, "", None))
        assert (found is not None) is kept
        assert found is None or (found.cut, not found.decisions) == (Cut(0, ""), True)


def test_a_choice_by_the_question_is_not_reused_for_the_next_one_unless_it_has_a_mark() -> None:
    choosing = Recipe(3, 0, "", None, (RungChanges(3, 0, 0, ((0,),)),), (SHORTENED,))
    for policy, kept in [(KeepRelevant(keep_turns=1), False), (KeepRelevant(keep_turns=1, low_water=0.5), True)]:
        plan = plan_of(10, 10, 10, policy=policy)
        assert (repeat_recipe(plan.ledger, plan.settings, choosing) is not None) is kept


def test_the_least_request_names_the_wanted_summary() -> None:
    plan = plan_of(50, 50, 50)
    budget = Budget(120, counter=len)
    settings = attrs.evolve(plan.settings, budget=budget, rungs=(rung_of(Summarize(lambda *_: "s", 1)),))
    found = plan_least(plan.draft, settings)
    wanted = found.trimmed.wanted
    assert wanted is not None
    assert (wanted.max_tokens, len(wanted.dropped), found.first) == (120 - 50 - len(HEADING), 2, 0)
    assert found.settings.rungs == settings.rungs
    assert plan_least(plan.draft, attrs.evolve(settings, rungs=(rung_of(Refuse()),))).first == 0


def test_turns_that_cannot_fit_are_not_priced_if_the_whole_is_weighed() -> None:
    made = Assembler(Budget(9_000, counter=len), dialect=plain).add_messages([("user", "x" * 10)] * 50)
    draft, settings = made.inside
    ledger = Ledger.of(draft.history.view(), settings.pricer)
    assert (ledger.turn_start(49), ledger.turn_span(48)) == (49, (48, 49))  # before any turn was looked for
    pricer: Any = Scales(ledger, 1.0, 0, promises=True)
    rung = cast(CuttingRung, rung_of(TrimOldest()))
    kept, _, _ = keep_most_turns(ledger, rung, KeepsNewest(2), 105, 0, pricer, pricer.weigh, Weighing())
    assert (kept.cut.first_kept, ledger.prices.messages[:38]) == (40, [None] * 38)


def test_a_ladder_that_asks_holds_its_result_to_the_token() -> None:
    ladder = [Summarize(None, 1), TrimOldest(low_water=0.5)]
    assembler = Assembler(Budget(46, counter=len), dialect=plain, on_overflow=ladder).set_instruction("a")
    plan = assembler.add_messages([("user", "x" * 10)] * 6).build().inside
    assert (plan.first, plan.conversation.tokens) == (4, 20)
    for size, first in ((10, 4), (10, 4), (5, 4), (1, 7), (29, 7), (1, 11), (45, 12), (1, 13)):
        assembler.add_message(("user", "y" * size))
        for instruction in "ab":  # with another one the ladder decides anew
            assembler.set_instruction(instruction)
            assert assembler.build().inside.first == first, size


@pytest.mark.parametrize(("window", "held"), [(40, True), (39, True), (9, False)])
def test_a_ladder_that_asks_holds_what_fits_to_the_token_and_nothing_that_does_not(window: int, held: bool) -> None:
    ladder = [Summarize(None, 1), TrimOldest(low_water=1.0)]
    made = Assembler(Budget(window, counter=len), dialect=plain, on_overflow=ladder).add_messages(
        [("user", "x" * 10)] * 6
    )
    if not held:
        with pytest.raises(ContextLengthError):
            made.build()
    else:
        assert made.build().messages == [("user", "x" * 10)] * (window // 10)
    draft, settings = made.inside
    assert (held_decision(draft, settings) is not None) is held


def test_the_result_found_by_weighing_includes_the_note() -> None:
    ledger = ledger_of(10, 10, 10)
    pricer: Any = Scales(ledger, 1.0, 0, promises=False)
    rung = cast(CuttingRung, rung_of(TrimOldest(note="gone")))
    kept, _, _ = keep_most_turns(ledger, rung, KeepsNewest(), 25, 0, pricer, pricer.weigh, Weighing())
    assert (kept.cut.first_kept, kept.cut.reason) == (1, "older turns do not fit")
    assert kept.cut.summary is not None
    assert [str(one) for one in kept.decisions] == ["TrimOldest: older turns do not fit"]


def test_regions_are_laid_out_once_however_often_they_are_asked_for() -> None:
    times: list[Any] = []

    class Telling:
        def render(self, regions: Any) -> Rendered:
            times.append(regions)
            return ChatRegions().render(regions)

    assembler = Assembler(Budget(100, counter=len), dialect=plain, strategy=Telling()).add_instruction("i")
    assembler.add_messages([{"role": "user", "content": "x"}])
    found = [assembler.costs().total, assembler.available_for_messages(), assembler.build().count.tokens]
    found += [assembler.fork().add_messages([{"role": "user", "content": "yz"}]).build().count.tokens]
    assert (found, len(times)) == ([2, 99, 2, 3], 1)
    assembler.add_instruction("j").build()
    assert len(times) == 2


def test_counts_add_at_the_seams_of_a_counter_that_promises_it() -> None:
    assert additive_in(attrs.evolve(plan_of(1).settings, budget=None))
    assert additive_in(attrs.evolve(plan_of(1).settings, budget=Budget(10, model="gpt-4o")))
    assert not additive_in(plan_of(1).settings)


class Formatted:
    """A price list on which an answer format costs, or saves, so many tokens, and a chosen tool 5 more."""

    def __init__(self, costs: int) -> None:
        self.costs = costs

    def fixed(self, *_: object) -> FixedPrices:
        return FixedPrices((), (), (), Count(3), NO_COUNT, Count(20))

    def options(self, layout: Layout) -> Difference:
        tokens = (0 if layout.output is None else self.costs) + (0 if layout.choice is None else 5)
        return Difference(tokens, Grade.EXACT, tokens)


@pytest.mark.parametrize(("costs", "output", "framing"), [(7, 7, 21), (0, 0, 21), (-7, 0, 14)])
def test_an_answer_format_costs_what_it_adds_or_reduces_framing_by_what_it_saves(
    costs: int, output: int, framing: int
) -> None:
    regions = plan_of(1).draft.regions
    schema = Assembler().set_output_schema({"type": "object", "properties": {}}).inside[0].regions.output
    for choice, tooling in ((None, 3), ("g", 8)):
        asked = attrs.evolve(regions, output=schema, choice=choice, held=Count(1))
        found = price_fixed(cast(Any, Formatted(costs)), plain, (), (), asked)
        assert (found.output, found.framing, found.tooling) == (Count(output), Count(framing), Count(tooling))


@pytest.mark.parametrize("around", [False, True])
def test_a_continued_piece_shares_a_row_with_the_one_before_but_not_across_the_question(around: bool) -> None:
    def rows(pieces: Iterable[Piece]) -> list[tuple[str, str, str]]:
        return [(piece.region, piece.name, piece.text) for piece in pieces]

    def run(name: str, texts: str) -> tuple[Piece, ...]:
        first, *later = texts
        return Piece("knowledge", name, first), *(Continued("knowledge", f"{name}{text}", text) for text in later)

    pieces = (Piece("instruction", "i", "I"), *run("a", "xyz"), *run("b", "u"), *run("c", "vw"))
    beside = Around((Continued("knowledge", "d", "D"), *run("e", "EFG")), (Continued("knowledge", "h", "H"),))
    rendered = Rendered(pieces, beside if around else None)
    every = rendered.every_piece
    prices = FixedPrices(tuple(Count(2**place) for place in range(len(every))), (), (), Count(0), Count(0))
    joined, priced = join_rows(rendered, prices)
    system = [("instruction", "i", "I"), *(("knowledge", *row) for row in (("a", "xyz"), ("b", "u"), ("c", "vw")))]
    assert rows(joined.pieces) == system
    assert [count.tokens for count in priced.pieces[:4]] == [1, 2 + 4 + 8, 16, 32 + 64]
    if joined.around is None:
        assert (around, len(priced.pieces)) == (False, 4)
        return
    assert rows(joined.around.before) == [("knowledge", "d", "D"), ("knowledge", "e", "EFG")]
    assert rows(joined.around.after) == [("knowledge", "h", "H")]
    assert [count.tokens for count in priced.pieces[4:]] == [128, 256 + 512 + 1024, 2048]


@pytest.mark.parametrize(("awaits", "threads"), [(True, 2), (False, 3)])
def test_an_awaited_summarizer_takes_no_thread(awaits: bool, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[object] = []
    run = asyncio.BaseEventLoop.run_in_executor

    def run_in_executor(loop: asyncio.BaseEventLoop, pool: Any, work: Callable[..., Any], *given: Any) -> Any:
        taken.append(work)
        return run(loop, pool, work, *given)

    async def later(*_: Any) -> str:
        return "s"

    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", run_in_executor)
    policy = Summarize(later if awaits else lambda *_: "s", 1)
    assembler = Assembler(Budget(120, counter=len), dialect=plain, on_overflow=policy)
    asyncio.run(assembler.add_messages([{"role": "user", "content": "x" * 50}] * 4).abuild())
    assert len(taken) == threads


def test_held_decisions_and_failures_survive_a_round_trip_through_a_state() -> None:
    failures = (SummaryError("a", raised="ValueError"), BudgetError("b"))
    recipe = Recipe(3, 1, "why", "said", (RungChanges(3, 0, 1, ((2,), (1, 2))),), (SHORTENED, BOTH), failures)
    again = _read_recipe(_write_held(recipe, "digest", plan_of(1).settings))
    assert attrs.evolve(again, failures=()) == attrs.evolve(recipe, failures=())
    assert [(str(one), cast(SummaryError, one).raised) for one in again.failures] == [("a", "ValueError"), ("b", None)]
    held = _write_held(recipe, "digest", plan_of(1).settings)
    assert (held.policies, held.stop, held.sha256) == (["TrimOldest"], 3, "digest")


def failing(text: str) -> int:
    if "boom" in text:
        raise ValueError("no text of a message")
    return len(text)


@pytest.mark.parametrize(
    ("part", "added"),
    [
        ("instruction", lambda it: it.add_instruction("boom")),
        ("instruction", lambda it: it.add_instruction(" \n boom \n ")),
        ("instruction", lambda it: it.add_instruction("X boom X")),
        ("knowledge[1]", lambda it: it.add_knowledge("fine", type="t").add_knowledge("boom", type="t")),
        ("tools[1] 'g'", lambda it: it.add_capability([{**TOOL, "name": "f"}, {**TOOL, "description": "boom"}])),
        ("message 1", lambda it: it.add_messages([{"role": "system", "content": text} for text in ("fine", "boom")])),
        ("conversation[0]", lambda it: it.add_messages([{"role": "user", "content": "boom"}])),
    ],
)
def test_the_error_of_a_failing_counter_names_the_item(part: str, added: Callable[[Any], Any]) -> None:
    with pytest.raises(TokenCountError) as caught:
        added(Assembler(Budget(1_000, counter=failing), dialect=plain)).build()
    assert str(caught.value).endswith(f"(at {part})")
    assert "no text" not in str(caught.value)


class Restless:
    """A message whose text grows each time it is read."""

    role = "user"

    def __init__(self) -> None:
        self.times = 0

    @property
    def content(self) -> str:
        self.times += 1
        return "x" * self.times


def test_a_message_that_never_reads_the_same_twice_is_refused_by_its_index() -> None:
    assembler = Assembler(Budget(1_000, counter=len), dialect=plain, on_overflow=TrimOldest())
    with pytest.raises(ConversationError, match="message 1: message never reads the same twice") as caught:
        assembler.add_messages([{"role": "user", "content": "a"}, Restless()]).build()
    assert caught.value.index == 1


def test_if_one_turn_is_expected_to_fit_one_turn_is_weighed() -> None:
    scales: Any = Scales(ledger_of(10, 10, 10), 1.0, 0, promises=True)
    rung = cast(CuttingRung, rung_of(TrimOldest()))
    kept, _, _ = keep_most_turns(scales.ledger, rung, KeepsNewest(), 10, 0, scales, scales.weigh, Weighing())
    assert (kept.cut.first_kept, scales.times) == (2, 1)


def test_a_held_request_is_not_remade_from_within_a_turn() -> None:
    history = [{"role": role, "content": "x"} for role in ("user", "assistant", "user", "assistant")]
    assembler = Assembler(Budget(100, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    ledger, rungs = assembler.plan().inside.ledger, (rung_of(TrimOldest()),)
    assert [recipe(first, 4).made_again(ledger, rungs) is not None for first in range(4)] == [True, False, True, False]


def test_a_search_passes_a_pinned_turn_that_stays_anyway() -> None:
    ledger = attrs.evolve(ledger_of(10, 10, 10, 10), pins=(1,))
    scales: Any = Scales(ledger, 1.0, 0, promises=True)
    rung = cast(CuttingRung, rung_of(TrimOldest()))
    kept, count, _ = keep_most_turns(ledger, rung, KeepsNewest(), 25, 0, scales, scales.weigh, Weighing())
    assert (kept.cut.first_kept, count.upper) == (2, 20)
