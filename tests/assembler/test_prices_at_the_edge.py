"""Prices at the exact token, and heads of files at the exact byte, where the answer changes."""

from __future__ import annotations

import base64
import hashlib
import io
import itertools
import struct
import wave
import zlib
from types import SimpleNamespace
from typing import Any, cast

import attrs
import pytest

from assembler import Assembler, TrimOldest, count_request
from assembler.conversation.messages import Media, Opaque, user_message
from assembler.dialects import DIALECTS, anthropic, openai_responses, plain
from assembler.dialects.api import Api
from assembler.dialects.bedrock import nova
from assembler.pipeline.build_memory import memory_of
from assembler.policies.passage import Change, PassageView
from assembler.pricing.calibration import CalibratedCounter, Fingerprint
from assembler.pricing.hosted import TABLE, fixed_with_hosted, price_beside_tools, price_hosted, row_of
from assembler.pricing.ledger import Cut, Ledger, TurnCost
from assembler.pricing.media import claude, openai
from assembler.pricing.media.facts import MediaFacts, Source
from assembler.pricing.media.pdf import (
    _Allowance,  # pyright: ignore[reportPrivateUsage]
    _find_objects_in_stream,  # pyright: ignore[reportPrivateUsage]
    _TooLargeError,  # pyright: ignore[reportPrivateUsage]
    _unpack_stream,  # pyright: ignore[reportPrivateUsage]
)
from assembler.pricing.media.pixels import image_size
from assembler.pricing.media.reading import read_media
from assembler.pricing.media.refusal import a_part
from assembler.pricing.media.seconds import wav_seconds
from assembler.pricing.media.unseen import LARGEST_WINDOW, TYPICAL_PAGES
from assembler.pricing.media.window import Base64Text, PlainBytes
from assembler.pricing.opaque import FRAMING, PAGE, PICTURE, REFERENCED, price_opaque, read_opaque
from assembler.pricing.overflow import Overflow
from assembler.pricing.pricer import FixedPrices, Has, MergingPricer, price_pieces, priced_request
from assembler.pricing.prices import PRICERS, Prices
from assembler.pricing.server_state import held_count
from assembler.pricing.timeline import Replay, Replays, Rewritten
from assembler.pricing.unread_keys import price_fields_of_tool, price_unread_keys
from assembler.regions.layout import Layout
from assembler.regions.output_schema import read_output_schema
from assembler.regions.tools.intake import read_tool
from assembler.regions.tools.tool import tool_for_shape
from budgets import Budget, BudgetError, Count, Grade
from budgets.count import Difference, total


def ledger_of(*sizes: int, window: int = 10_000) -> Ledger:
    history = [{"role": "user", "content": "x" * size} for size in sizes]
    found: Ledger = Assembler(Budget(window, counter=len), dialect=plain).add_messages(history).plan().inside.ledger
    return found


# ── A ledger


def test_a_ledger_lists_each_turn_with_its_cost_and_place_newest_first() -> None:
    ledger = ledger_of(1, 2, 3)
    assert list(ledger.newest_first()) == [TurnCost(2, 3, 3), TurnCost(1, 2, 2), TurnCost(0, 1, 1)]
    assert [ledger.newest_turns(number) for number in range(5)] == [3, 2, 1, 0, 0]
    assert [ledger.since(first).upper for first in range(4)] == [6, 5, 3, 0]
    assert [ledger.since(first).upper for first in (3, 2, 0)] == [0, 3, 6]
    assert list(attrs.evolve(ledger, first=1).turns()) == [(2, 3), (1, 2)]
    assert ledger.turn_span(1) == (1, 2)


@pytest.mark.parametrize("times", [1, 2])
def test_everything_fits_exactly_however_often_it_is_asked(times: int) -> None:
    ledger = ledger_of(1, 2, 3)
    for _ in range(times):
        assert [ledger.fits(tokens) for tokens in (7, 6, 5, 3, 2, 5, 6, 3)] == [
            True,
            True,
            False,
            False,
            False,
            False,
            True,
            False,
        ]
    assert not ledger_of(0, 1).fits(-1)
    nothing = attrs.evolve(ledger_of(5), first=1)
    assert [nothing.fits(tokens) for tokens in (0, -1, 0)] == [True, False, True]


@pytest.mark.parametrize(("first", "needed"), [(0, 10), (1, 5), (2, 3)])
def test_everything_after_a_message_fits_exactly_if_no_token_is_missing(first: int, needed: int) -> None:
    ledger = attrs.evolve(ledger_of(5, 2, 3), first=first)
    assert [ledger.fits(tokens) for tokens in (needed - 1, needed, needed + 1)] == [False, True, True]


@pytest.mark.parametrize("least", [1, 2, 3])
def test_as_many_of_the_newest_turns_fit_as_adding_them_up_says(least: int) -> None:
    sizes = [5, 1, 4, 2, 3]
    for pins in ((), (0,), (3,)):
        ledger = attrs.evolve(ledger_of(*sizes), pins=pins)
        for tokens in (*range(18), *range(17, -1, -1)):
            pinned = sum(sizes[pin] for pin in pins)
            fitting = [
                first
                for first in range(6)
                if pinned + sum(size for at, size in enumerate(sizes) if at >= first and at not in pins) <= tokens
            ]
            wanted = min([*fitting, 5 - least])
            assert ledger.newest_that_fit(tokens, least) == wanted, (pins, tokens)


def test_as_many_turns_fit_after_the_history_has_grown_by_turns_of_any_size() -> None:
    history = [{"role": "user", "content": "x" * 10} for _ in range(8)]
    assembler = Assembler(Budget(45, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(history)
    for size, first in ((1, 4), (15, 6), (30, 9), (14, 10), (1, 10), (46, None)):
        assembler.add_message({"role": "user", "content": "y" * size})
        if first is not None:
            assert assembler.build().inside.first == first


def test_the_cost_of_all_turns_is_remembered_apart_from_that_of_the_newest() -> None:
    ledger = ledger_of(5, 2, 3)
    assert [ledger.since(first) for first in (0, 1, 0, 2)] == [Count(10), Count(5), Count(10), Count(3)]
    assert (ledger.prices.all_turns, ledger.prices.tail) == ((0, 3, Count(10)), (2, 3, Count(3)))


def test_pinned_turns_stay_beside_a_cut_and_are_listed_up_to_a_place() -> None:
    ledger = attrs.evolve(ledger_of(1, 2, 4, 8), pins=(0, 2))
    assert ledger.pinned_turns() == ((0, 1), (2, 3))
    assert [ledger.pinned_turns(before) for before in range(5)] == [
        (),
        ((0, 1),),
        ((0, 1),),
        ((0, 1), (2, 3)),
        ((0, 1), (2, 3)),
    ]
    assert [ledger.kept(Cut(first, "")).upper for first in range(4)] == [15, 15, 13, 13]
    assert ledger.kept(Cut(3, "", user_message("said"))).upper == 17
    assert [len(ledger.objects(start, stop)) for start, stop in ((0, 4), (0, 3), (0, 1), (1, 2))] == [2, 1, 0, 1]
    assert [len(ledger_of(1, 2, 4).objects(start, 3)) for start in range(4)] == [3, 2, 1, 0]
    assert attrs.evolve(ledger, first=1).pinned_turns() == ((2, 3),)
    assert ledger.until(2).pins == (0,)


def test_tokens_saved_in_a_turn_count_only_if_that_turn_stays() -> None:
    ledger = ledger_of(10, 20, 30).with_savings({1: Difference(-5, Grade.EXACT, -3)})
    assert [ledger.since(first).upper for first in range(3)] == [57, 47, 30]
    assert [ledger.turn_upper(at, at + 1) for at in range(3)] == [10, 17, 30]
    assert (ledger.turn(1, 2).tokens, ledger.turn(0, 1).tokens) == (15, 10)


def test_the_price_of_the_kept_messages_continues_from_the_last_one_found() -> None:
    ledger = ledger_of(1, 2, 3, 4)
    ledger.prices.tail = (1, 3, Count(100))  # a price that only memory can know
    assert ledger.since(1) == Count(104)
    assert ledger.prices.tail == (1, 4, Count(104))
    assert ledger.since(2) == Count(102)
    assert ledger.since(1) == Count(9)  # what begins earlier is added up anew


def test_an_items_gain_is_what_its_turn_costs_less() -> None:
    def step(name: str, output: str) -> list[dict[str, Any]]:
        call = {"type": "function_call", "call_id": name, "name": "f", "arguments": "{}"}
        return [call, {"type": "function_call_output", "call_id": name, "output": output}]

    history: list[Any] = [{"role": "user", "content": "q"}]
    history += [*step("a", "r"), {"type": "message", "role": "assistant", "content": "so"}, *step("b", "rr")]
    assembler = Assembler(Budget.for_model("gpt-4o"), dialect=openai_responses).add_messages(history)
    ledger = assembler.plan().inside.ledger
    assert not ledger.prices.overpriced  # each costs more than nothing beside the others
    messages = [ledger.reading(index) for index in range(6)]
    for gone in ([1, 2], [4, 5], [3], [5], [1, 2, 4, 5], [0, 1, 2], [0, 3, 4, 5]):
        passage = PassageView(ledger, {}, None, [(0, 6)], 0)
        found = passage.gains(Change(dict.fromkeys(gone), ""))
        staying = [message for index, message in enumerate(messages) if index not in gone]
        less = ledger.priced_run(messages) - ledger.priced_run(staying)
        assert sum(one.saved for one in found.values()) == less.upper, gone
    for gone in ([3], [1, 2], [4, 5], [1, 2, 3], [3, 4, 5]):
        for more in ([1], [1, 2], [3], [4], [4, 5]):
            if set(gone).isdisjoint(more):
                passage = PassageView(ledger, dict.fromkeys(gone), None, [(0, 6)], 0)
                found = passage.gains(Change(dict.fromkeys(more), ""))
                before = [message for index, message in enumerate(messages) if index not in gone]
                after = [message for index, message in enumerate(messages) if index not in [*gone, *more]]
                less = ledger.priced_run(before) - ledger.priced_run(after)
                assert sum(one.saved for one in found.values()) == less.upper, (gone, more)


@pytest.mark.parametrize("length", [5, 7])
def test_calls_that_become_neighbours_cost_what_they_cost_together(length: int) -> None:
    def call(name: str) -> dict[str, Any]:
        return {"type": "function_call", "call_id": name, "name": "f", "arguments": "{}"}

    def answer(name: str) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": name, "output": "r"}

    history: list[Any] = [{"role": "user", "content": "q"}, call("a"), call("b"), answer("b"), call("c")]
    assembler = Assembler(Budget.for_model("grok-4"), dialect=openai_responses)
    assembler.add_messages([*history, answer("a"), answer("c")][:length])
    ledger = assembler.plan().inside.ledger

    def cost(staying: set[int]) -> int:
        return ledger.priced_run([ledger.reading(index) for index in sorted(staying)]).upper

    for before in itertools.product([True, False], repeat=length):
        standing = {index for index, stands in enumerate(before) if stands}
        gone = dict.fromkeys(set(range(length)) - standing)
        for more in [{3} & standing, {4} & standing, {0, 1} & standing, {2, 3} & standing, {4, 6} & standing]:
            if more:
                passage = PassageView(ledger, gone, None, [(0, length)], 0)
                found = passage.gains(Change(dict.fromkeys(more), ""))
                assert sum(one.saved for one in found.values()) == cost(standing) - cost(standing - more), (gone, more)


def test_a_text_that_goes_is_priced_beside_all_that_follows_a_dropped_one() -> None:
    def call(name: str) -> dict[str, Any]:
        return {"type": "function_call", "call_id": name, "name": "f", "arguments": "{}"}

    def answer(name: str) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": name, "output": "r"}

    text = {"type": "message", "role": "assistant", "content": "so"}
    history = [{"role": "user", "content": "q"}, call("a"), call("b"), text, answer("b"), text, text, answer("a")]
    assembler = Assembler(Budget.for_model("claude-sonnet-4-5"), dialect=openai_responses).add_messages(history)
    ledger = assembler.plan().inside.ledger
    staying = [ledger.reading(index) for index in range(8) if index != 5]
    less = ledger.priced_run(staying) - ledger.priced_run([*staying[:3], *staying[4:]])
    found = PassageView(ledger, {5: None}, None, [(0, 8)], 0).gains(Change({3: None}, ""))
    assert sum(one.saved for one in found.values()) == less.upper


# ── What is remembered


def test_a_history_remembers_the_replays_of_its_last_eight_policies() -> None:
    replays = Replays()
    for policy in range(9):
        replays.keep(Replay(policy, 10, 0, 0))
    assert [replays.find(policy) is not None for policy in range(9)] == [False, *[True] * 8]
    copy = replays.copy()
    copy.keep(Replay(8, 20, 1, 2))
    assert (replays.find(8), copy.find(8)) == (Replay(8, 10, 0, 0), Replay(8, 20, 1, 2))
    assert copy.find(1) is not None


def test_a_history_remembers_what_its_last_eight_policies_wrote_from_the_same_source() -> None:
    sources, made = [object(), object()], list[int]()

    def make() -> int:
        made.append(len(made))
        return made[-1]

    def wrote(of: Rewritten, policy: int, key: str = "a", source: int = 0) -> int:
        return of.once(policy, key, sources[source], make)

    rewritten = Rewritten()
    assert [wrote(rewritten, policy) for policy in range(9)] == [*range(9)]
    copy = rewritten.copy()
    assert [wrote(rewritten, policy) for policy in range(1, 9)] == [*range(1, 9)]
    assert (wrote(rewritten, 0), wrote(rewritten, 1), wrote(copy, 1)) == (9, 10, 1)
    assert (wrote(copy, 8, "b"), wrote(rewritten, 8, "b"), wrote(copy, 8, "b")) == (11, 12, 11)
    assert (wrote(copy, 8), wrote(copy, 8, source=1), wrote(copy, 8, source=1)) == (8, 13, 13)


def test_a_history_remembers_the_prices_of_its_last_pricers() -> None:
    view = ledger_of(1)._view  # pyright: ignore[reportPrivateUsage]
    pricers = [plain.pricer(None, Budget(10, counter=len).token_counter) for _ in range(PRICERS + 1)]
    found = [Prices.of(view, pricer) for pricer in pricers]
    assert [Prices.known(view.readings.prices, pricer) for pricer in pricers] == [None, *found[1:]]
    assert Prices.of(view, pricers[-1]) is found[-1]


def test_prices_of_an_equal_history_are_shared_and_then_grow_apart() -> None:
    ledger, policy = ledger_of(*[10] * 20), TrimOldest(low_water=0.5)
    ledger.fits(50)
    ledger.may_fit(50)
    ledger.since(0)
    ledger.newest_that_fit(50, 1)
    policy.cut(ledger, 100)
    facts = cast(Any, object())
    ledger.prices.rewritten.once(policy, "key", facts, lambda: "made")
    memory = memory_of(policy, ledger)
    known = ledger.prices.known_until(20)
    known.take_over(ledger.prices)
    assert (known.tail, known.beyond, known.fitting) == (
        ledger.prices.tail,
        ledger.prices.beyond,
        ledger.prices.fitting,
    )
    assert known.tail is not None
    assert (known.all_turns, known.hopeless) == (ledger.prices.all_turns, ledger.prices.hopeless)
    assert known.all_turns is not None
    assert known.hopeless is not None
    assert known.beyond is not None
    assert known.fitting == (50, 15, 20)
    assert known.replays.find(policy) == ledger.prices.replays.find(policy) is not None
    assert known.rewritten.once(policy, "key", facts, lambda: "made anew") == "made"
    assert known.rewritten.once(policy, "other", facts, lambda: "made anew") == "made anew"
    assert ledger.prices.rewritten.once(policy, "other", facts, lambda: "made apart") == "made apart"
    assert known.memories is not None
    assert known.memories.known(policy) not in (None, memory)


def test_of_two_threads_that_make_the_prices_of_a_pricer_both_take_those_of_the_first() -> None:
    pricer = plain.pricer(None, len)
    first = Prices(pricer, 3)

    class Raced(list[Prices]):
        def append(self, prices: Prices) -> None:
            self.extend([first, prices])

    assert Prices.of(cast(Any, SimpleNamespace(readings=SimpleNamespace(prices=Raced()), length=3)), pricer) is first


def test_prices_of_a_shorter_history_ignore_later_messages() -> None:
    ledger = ledger_of(1, 2, 3)
    ledger.since(0)
    ledger.timeline()
    list(ledger.newest_first())
    ledger.prices.overpriced.update({1, 2})
    ledger.prices.thoughts.update({1, 2})
    ledger.prices.lost.update({1: 5, 2: 6})
    ledger.prices.long_runs.update({1: 0, 5: 1, 9: 2})
    ledger.prices.adding_up.update({(0, 2): True, (1, 3): False})
    ledger.prices.open_calls.reaching(3, lambda index: index)
    known = ledger.prices.known_until(2)
    assert (known.thoughts, known.lost, known.long_runs) == ({1}, {1: 5}, {1: 0, 2: 1})
    assert (known.adding_up, known.open_calls.values, known.reasoning) == ({(0, 2): True}, [0, 0, 1], [])
    assert [*map(type, ledger.prices.known_until(5).messages)] == [Count, Count, Count, type(None), type(None)]
    assert [None if price is None else price.upper for price in known.messages] == [1, 2]
    assert (known.running, known.sums.values, known.overpriced) == ({0: 1, 1: 2}, [0, 1, 3], {1})
    assert ledger.dropped_tokens(1, 3) == 5
    assert ledger.prices.known_until(2).passed.values == [0, 1, 3]


# ── A bill


def bill(ours: Count, billed: int, **more: Any) -> CalibratedCounter:
    return CalibratedCounter(Fingerprint("d", 1), ours, billed, **more)


@pytest.mark.parametrize("billed", [1, 40, 49, 50, 51, 99, 100, 101, 150, 199, 200, 201, 1_000])
def test_the_tokens_left_under_a_bill_are_the_most_that_keep_to_the_limit(billed: int) -> None:
    counter, elsewhere = bill(Count(100), billed), Fingerprint("e", 1)
    for limit in (0, 1, 60, 100, 137, 301, 400):
        left = counter.tokens_left(limit)
        fitting = [rule for rule in range(limit + 1) if counter.correct(Count(rule), elsewhere).upper <= limit]
        assert left == max(fitting, default=0), limit
        assert [counter.bound(rule) for rule in (0, 50, 120)] == [
            counter.correct(Count(rule), elsewhere).upper for rule in (0, 50, 120)
        ]


def test_a_bill_states_its_margin_its_factor_and_its_grade() -> None:
    same = Fingerprint("d", 1)
    found = [bill(Count(100), billed) for billed in (10, 50, 100, 120, 200, 300)]
    assert [one.factor for one in found] == [0.5, 0.5, 1.0, 1.2, 2.0, 2.0]
    assert [one.margin for one in found] == [-90, -50, 0, 20, 100, 200]
    exact, bounded, estimated = Grade.EXACT, Grade.BOUNDED, Grade.ESTIMATED
    assert [one.correct(Count(100), same).grade for one in found] == [estimated, *[exact] * 5]
    assert [one.correct(Count(101), same).grade for one in found] == [estimated, bounded, exact, *[bounded] * 3]
    assert [one.correct(Count(101, Grade.ESTIMATED), same).grade for one in found] == [estimated] * 6
    assert [one.correct(Count(99), same).grade for one in found] == [estimated] * 6
    assert [one.correct(Count(110), same).tokens for one in found] == [60, 60, 110, 130, 210, 310]
    assert [one.correct(Count(110), same).upper for one in found] == [60, 60, 110, 133, 220, 310]
    slack = bill(Count(100, Grade.BOUNDED, 130), 100)
    assert slack.correct(Count(110, Grade.BOUNDED, 145), same).upper == 116  # of the billed part nothing is open


@pytest.mark.parametrize(
    ("billed", "off", "expected"), [(30, "+10, +50.0 %", 30), (19, "-1, -5.0 %", 19), (20, "+0, +0.0 %", 20)]
)
def test_a_report_says_how_far_the_rule_was_off(billed: int, off: str, expected: int) -> None:
    from assembler import calibrate

    assembler = Assembler(Budget(100, counter=len), dialect=plain).add_message(("user", "u" * 20))
    counter = calibrate(assembler.build(), billed)
    note = counter.note(assembler.build())
    assert note == (
        f"calibrated: {billed} billed where 20 were counted ({off}); 20 counted now, {expected} expected "
        "(its first part as billed)"
    )
    other = Assembler(Budget(100, counter=len), dialect=plain).add_message(("user", "v" * 20)).build()
    assert counter.note(other).endswith("expected (another request, scaled within bounds)")


def test_a_request_is_known_by_the_hash_of_its_compact_json() -> None:
    request = {"system": "é", "messages": [{"role": "user", "content": "a"}, {"role": "user"}], "ids": [1, 2]}
    texts = {
        1: '["plain","m",{"ids":[1,2],"messages":[{"content":"a","role":"user"}],"system":"é"}]',
        2: '["plain","m",{"ids":[1,2],"messages":[{"content":"a","role":"user"},{"role":"user"}],"system":"é"}]',
    }
    for turns, kept in ((0, 0), (1, 1), (2, 2), (3, 2), (None, 2)):
        found = Fingerprint.of(request, dialect="plain", model="m", turns=turns)
        assert (found.turns, found.dialect, found.model) == (kept, "plain", "m")
        if kept:
            assert found.digest == hashlib.sha256(texts[kept].encode()).hexdigest()


def test_without_a_budget_a_refusal_that_says_nothing_is_of_a_tenth_more_than_is_taken() -> None:
    from assembler import calibrate

    context = Assembler(dialect=plain).add_message(("user", "a b c d e f g h i j k")).build()
    counter = calibrate(context, Overflow())
    ours = context.count.tokens
    assert (counter.billed, counter.most, counter.limit) == (ours, int(ours / 1.1), None)
    assert calibrate(context, Overflow(excess=3)).billed == ours + 3


@pytest.mark.parametrize(("no_context", "named"), [(7, "got int"), ("a secret", "got str"), (None, "got None")])
def test_a_value_that_is_not_a_context_has_no_bill_and_the_error_names_its_type(no_context: Any, named: str) -> None:
    from assembler import calibrate

    with pytest.raises(BudgetError, match=rf"^context: expected the Context that build\(\) returned, {named}") as error:
        calibrate(no_context, 5)
    assert "secret" not in str(error.value)


def test_a_bill_is_of_its_dialect_and_model_or_of_any() -> None:
    of = bill(Count(1), 1)
    named = attrs.evolve(of, request=Fingerprint("d", 1, "anthropic", "m"))
    assert [of.is_of("plain", "x"), named.is_of("anthropic", "m")] == [True, True]
    assert [named.is_of("anthropic", None), named.is_of("plain", "m")] == [False, False]
    assert [of.allowed(7), attrs.evolve(of, most=5).allowed(7), attrs.evolve(of, most=9).allowed(7)] == [7, 5, 7]


@pytest.mark.parametrize(
    ("refusal", "billed", "most"),
    [
        (Overflow(used=150, limit=90), 150, 90),
        (Overflow(used=0, limit=90), 1, 90),
        (Overflow(excess=30), 130, None),
        (Overflow(excess=30, limit=90), 120, 90),
        (Overflow(limit=90), 100, 90),
        (Overflow(limit=95), 105, 95),
        (Overflow(), 100, 90),
    ],
)
def test_a_refusal_is_a_bill_of_the_stated_tokens_or_else_of_a_tenth_too_much(
    refusal: Overflow, billed: int, most: int | None
) -> None:
    from assembler import calibrate

    context = Assembler(Budget(200, counter=len), dialect=plain).add_message({"role": "user", "content": "x" * 100})
    counter = calibrate(context.build(), refusal)
    assert (counter.billed, counter.most, counter.limit) == (
        billed if refusal != Overflow(excess=30) else 230,
        most,
        200,
    )


# ── Tools of a provider's own


def test_a_tool_of_the_providers_own_costs_its_row_and_its_words() -> None:
    tool = read_tool({"type": "bash_20250124", "name": "bash", "cache_control": None})
    words = len('{"type":"bash_20250124","name":"bash"}')
    assert price_hosted(tool) == Count(675 + words // 4, Grade.ESTIMATED, upper=1_100 + words)
    apart = read_tool({"google_search": {}})  # billed apart from the prompt
    assert price_hosted(apart) == Count(0, Grade.ESTIMATED, upper=1_000 + len('{"google_search":{}}'))


@pytest.mark.parametrize(
    ("kind", "tokens"),
    [
        ("bash_20250124", 675),
        ("text_editor_20250728", 1_050),
        ("computer_toolset_20251124", 4_590),
        ("memory_20250818", 700),
        ("web_fetch_20260318", 900),
        ("tool_search_tool_regex", 500),
        ("mcp", 1_000),
        ("googleSearch", 0),
        ("codeExecution", 300),
        ("local_shell", 250),
        ("bash", 500),
        ("", 500),
    ],
)
def test_the_first_row_whose_kinds_are_the_tools_own_is_taken(kind: str, tokens: int) -> None:
    assert row_of(kind).tokens == tokens
    assert row_of(kind) in TABLE


def test_a_request_pays_a_row_for_each_provider_tool_outside_its_list() -> None:
    toolset = read_tool({"type": "mcp_toolset", "mcp_server_name": "named"})
    servers = [{"name": "named"}, {"name": "other"}, {}, {}, "no server"]
    search, server = Count(300, Grade.ESTIMATED, upper=3_000), Count(1_000, Grade.ESTIMATED, upper=10_000)
    assert price_beside_tools({}, []) == Count(0)
    assert price_beside_tools({"web_search_options": None, "mcp_servers": 7}, []) == Count(0)
    assert price_beside_tools({"web_search_options": {}}, []) == search
    assert price_beside_tools({"mcp_servers": servers}, []) == server + server + server + server
    assert price_beside_tools({"mcp_servers": servers, "web_search_options": {}}, [toolset]) == total(
        [search] + [server] * 3
    )


def test_text_that_a_host_finds_and_adds_to_the_prompt_is_estimated() -> None:
    search, azure = (
        Count(row.tokens, Grade.ESTIMATED, row.upper) for row in map(row_of, ("web_search", "data_sources"))
    )
    assert price_beside_tools({"plugins": [{"id": "web"}]}, []) == search
    assert price_beside_tools({"search_parameters": {"mode": "auto"}}, []) == search
    assert price_beside_tools({"search_parameters": {"mode": "off"}, "plugins": [], "data_sources": 7}, []) == Count(0)
    assert price_beside_tools({"data_sources": [{"type": "azure_search"}]}, []) == azure


@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses", "anthropic", "mistral"])
def test_text_under_an_unread_key_is_in_the_bound_alone(dialect: str) -> None:
    history = "input" if dialect == "openai_responses" else "messages"
    body: dict[str, Any] = {history: [{"role": "user", "content": "q"}]}
    plain = count_request(body, dialect=dialect, model="gpt-4o")
    for settings in ({"top_k": 40, "route": "fallback"}, {"metadata": {"of": "a long note"}}, {"stop": ["The end"]}):
        assert count_request({**body, **settings}, dialect=dialect, model="gpt-4o") == plain
    found = {"documents": [{"title": "Kites", "text": ["They fly höher.", 7]}]}
    counted = count_request({**body, **found}, dialect=dialect, model="gpt-4o")
    assert counted == Count(plain.tokens, Grade.ESTIMATED, plain.upper + len("They fly höher.".encode()))


class Declaring:
    """`plain`, as a dialect that prices one more key of its requests."""

    api = Api(shape="plain", priced=("persona",))

    def __getattr__(self, name: str) -> Any:
        return getattr(plain, name)


def test_text_under_a_key_that_the_dialect_prices_is_not_bounded_again() -> None:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "q"}], "persona": "A kind clerk."}
    declaring: Any = Declaring()
    spoken, bounded = (count_request(body, dialect=dialect) for dialect in (declaring, plain))
    assert spoken.upper + len("A kind clerk.") == bounded.upper


@pytest.mark.parametrize("name", DIALECTS)
def test_the_schema_that_a_dialect_writes_is_under_a_key_that_it_prices_or_a_note_says_that_it_is_not_sent(
    name: str,
) -> None:
    dialect = DIALECTS[name]
    tool = read_tool({"name": "f", "description": "", "parameters": {}})
    schema = read_output_schema({"type": "object", "description": "some words"}, name="answer")
    layout = Layout(messages=[user_message("q")], tools=[tool], output=schema, choice="f")
    written = dialect.options(layout)
    worded = {key for key, value in written.items() if not isinstance(value, str)}
    assert worded or dialect.emit(layout).notes, dialect.name
    assert worded <= {*dialect.api.priced}


def test_recursive_texts_are_bounded_once() -> None:
    loop: dict[str, Any] = {"text": "round and round"}
    loop["again"] = [loop, loop]
    assert price_unread_keys({"documents": loop}) == Count(0, Grade.ESTIMATED, len("round and round"))


def test_a_cache_mark_is_not_among_a_tools_words() -> None:
    tool = {"type": "bash_20250124", "name": "bash"}
    marked = {**tool, "cache_control": {"type": "ephemeral"}}
    assert price_hosted(read_tool(marked)) == price_hosted(read_tool(tool))


def test_each_tool_has_its_price_in_its_own_place_and_one_of_another_api_has_none() -> None:
    own = read_tool({"type": "bash_20250124", "name": "bash"})
    first, second = (read_tool({"name": name, "description": "", "parameters": {}}) for name in ("f", "longer_name"))
    pricer = plain.pricer(None, Budget(10, counter=len).token_counter)
    functions = pricer.fixed((), (), (first, second)).tools
    assert functions[0] != functions[1]
    tools = (own, first, own, second)
    for shape, price in (("anthropic", price_hosted(own)), (None, price_hosted(own)), ("openai", Count(0))):
        found = fixed_with_hosted(pricer, (), (), tools, shape)
        assert found.tools == (price, functions[0], price, functions[1]), shape
    custom = read_tool({"type": "custom", "name": "sql", "description": "Runs SQL."})
    elsewhere = tool_for_shape(custom, "anthropic")  # a function of one text
    assert fixed_with_hosted(pricer, (), (), (custom,)).tools == (price_hosted(custom),)
    assert fixed_with_hosted(pricer, (), (), (custom,), "responses").tools == (price_hosted(custom),)
    assert fixed_with_hosted(pricer, (), (), (custom,), "anthropic").tools == pricer.fixed((), (), (elsewhere,)).tools


def test_examples_of_a_tool_are_estimated_where_they_are_shown_and_unknown_fields_are_in_the_bound() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    claudes: dict[str, Any] = {"name": "f", "description": "d", "input_schema": schema}
    openais = {"type": "function", "name": "f", "description": "d", "parameters": schema}
    examples, none = {"input_examples": [{"q": "two words"}]}, Count(0)
    shown, nine = Count(19 // 4, Grade.ESTIMATED, 19 + 50), Count(0, Grade.ESTIMATED, 9)
    chats = {"type": "function", "function": {**openais, "returns": "two words"}, "odd": "two words"}
    answering = {"name": "f", "description": "d", "parameters": schema, "response": {"description": "two words"}}
    for raw, own, price in (
        ({**claudes, **examples}, "anthropic", shown),
        ({**claudes, **examples, "odd": "two words"}, "anthropic", shown + nine),
        ({**claudes, **examples, "odd": "two words", "defer_loading": True}, "anthropic", nine),
        ({**claudes, "odd": "two words"}, "anthropic", nine),
        ({**openais, **examples}, "responses", nine),
        (chats, "openai", nine),
        ({"type": "function", "function": openais, "description": "two words"}, "openai", none),  # said again
        ({"function_declarations": [{**answering, "odd": "two words"}]}, "gemini", nine),
        ({"type": "bash_20250124", "name": "bash", "odd": "two words"}, "anthropic", none),
    ):
        tool = read_tool(raw)
        for shape in (None, "anthropic", "openai", "responses", "gemini"):
            assert price_fields_of_tool(tool, shape) == (price if shape in (None, own) else none), (raw, shape)
    pricer = plain.pricer(None, Budget(10, counter=len).token_counter)
    tools = [read_tool(claudes), read_tool({**claudes, **examples})]
    priced = fixed_with_hosted(pricer, (), (), tools, "anthropic").tools
    assert priced[1] == priced[0] + shown


# ── Parts that nobody reads


UNSEEN = Count(PAGE.tokens * TYPICAL_PAGES, Grade.ESTIMATED, upper=LARGEST_WINDOW)
"""A document at an address whose pages nobody declares."""


def test_hidden_content_of_a_part_is_in_its_bound_and_encrypted_content_in_its_price() -> None:
    def beyond(raw: Any) -> Count:
        return read_opaque(Opaque("odd", raw)).beyond

    bare = Count(0, Grade.ESTIMATED, upper=FRAMING)
    assert beyond({"said": "words"}) == bare
    assert beyond({"id": "i" * 7, "status": 3}) == Count(0, Grade.ESTIMATED, upper=FRAMING + 7)
    assert beyond({"signature": "A" * 201}) == Count(0, Grade.ESTIMATED, upper=FRAMING + 100)
    assert beyond({"signature": "A" * 199}) == Count(0, Grade.ESTIMATED, upper=FRAMING + 199)
    sealed = Count(800 * 3 // 4 // 4, Grade.ESTIMATED, upper=FRAMING + 800 * 3 // 4 // 2)
    assert beyond({"encrypted_content": "A" * 800}) == beyond({"said": "A" * 800}) == sealed
    assert beyond({"encrypted_content": "A" * 400, "said": "A" * 400}) == sealed
    assert beyond({"said": b"x" * 600}) == sealed
    assert beyond({"said": "A" * 199}) == bare
    assert beyond({"encrypted_content": ["words"]}) == bare
    page = {"type": "document", "source": {"type": "url", "url": "https://x.test/a.pdf"}}
    assert beyond([page, page]) == bare + UNSEEN + UNSEEN
    assert beyond({**page, "pages": 2}) == bare + PAGE + PAGE
    assert beyond(["data:,", "data:,"]) == bare + PICTURE + PICTURE
    assert read_opaque(Opaque("item_reference", {"id": "i"})).beyond == REFERENCED


def test_only_the_nonempty_words_of_a_part_are_shown() -> None:
    raw = {"type": "odd", "id": "i", "a": ["", None, {}, [], 0, False, "word"], "b": {"c": ""}, "d": None, "e": 0}
    assert read_opaque(Opaque("odd", raw)).text == '{"a":[0,false,"word"],"e":0}'
    assert price_opaque(Opaque("odd", {"a": "b"}), len) == Count(9, Grade.ESTIMATED, upper=11 + FRAMING)


# ── Heads of files


def riff(kind: bytes, *chunks: bytes) -> bytes:
    body = kind + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def chunk(name: bytes, body: bytes, length: int | None = None) -> bytes:
    return name + struct.pack("<I", len(body) if length is None else length) + body


FORMAT = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 8_000, 16_000, 2, 16))


@pytest.mark.parametrize(
    ("content", "seconds"),
    [
        (riff(b"WAVE", FORMAT, chunk(b"data", b"\0" * 8_000)), 0.5),
        (riff(b"WAVE", chunk(b"note", b"odd" + b"\0", 3), FORMAT, chunk(b"data", b"\0" * 8_000)), 0.5),
        (riff(b"WAVE", FORMAT, chunk(b"data", b"\0" * 8_000, 4_000)), 0.25),
        (riff(b"WAVE", FORMAT, chunk(b"data", b"\0" * 8_000, 16_000)), 0.5),
        (riff(b"WAVE", FORMAT, chunk(b"data", b"\0" * 8_000, 0)), 0.5),
        (riff(b"WAVE", FORMAT, chunk(b"data", b"\0" * 8_000, 0xFFFF_FFFF)), 0.5),
        (riff(b"WAVE", chunk(b"data", b"\0" * 8_000)), None),
        (riff(b"WAVE", FORMAT), None),
        (riff(b"WAVE", *[chunk(b"note", b"")] * 62, FORMAT, chunk(b"data", b"\0" * 8_000)), 0.5),
        (riff(b"WAVE", *[chunk(b"note", b"")] * 63, FORMAT, chunk(b"data", b"\0" * 8_000)), None),
        (riff(b"AVI ", FORMAT, chunk(b"data", b"\0" * 8_000)), None),
        (b"RIFX" + riff(b"WAVE", FORMAT, chunk(b"data", b"\0" * 8_000))[4:], None),
    ],
)
def test_a_sound_is_as_long_as_its_data_at_the_rate_that_it_names(content: bytes, seconds: float | None) -> None:
    assert wav_seconds(PlainBytes(content)) == seconds
    whole = io.BytesIO()
    with wave.open(whole, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(8_000)
        written.writeframes(b"\0" * 4_000)
    assert read_media(Media("audio", {"data": whole.getvalue()})).seconds == 0.25


def box(kind: bytes, *inner: bytes) -> bytes:
    body = b"".join(inner)
    return struct.pack(">I", 8 + len(body)) + kind + body


def ispe(width: int, height: int) -> bytes:
    return box(b"ispe", b"\0" * 4, struct.pack(">II", width, height))


def avif(*properties: bytes) -> bytes:
    return box(b"ftyp", b"avif", b"\0" * 4) + box(b"meta", b"\0" * 4, box(b"iprp", box(b"ipco", *properties)))


LARGE = struct.pack(">I4sQ", 1, b"free", 20) + b"\0" * 4
"""A box whose length stands behind its kind, in eight bytes."""
LAST = struct.pack(">I4s", 0, b"ispe") + b"\0" * 4 + struct.pack(">II", 70, 80)
"""A box that runs to the end."""


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 30, 40), (30, 40)),
        (b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IDAT", 30, 40), None),
        (b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 0, 40), None),
        (b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 1, 1), (1, 1)),
        (b"GIF87a" + struct.pack("<HH", 30, 40), (30, 40)),
        (b"BM" + b"\0" * 12 + struct.pack("<IHH", 12, 30, 40), (30, 40)),
        (b"BM" + b"\0" * 12 + struct.pack("<Iii", 40, 30, -40), (30, 40)),
        (riff(b"WEBP", b"VP8X", b"\0" * 8, b"\x1d\0\0", b"\x27\0\0"), (30, 40)),
        (riff(b"WEBP", b"VP8L", b"\0" * 4, b"\x2f", struct.pack("<I", 29 | 39 << 14)), (30, 40)),
        (riff(b"WEBP", b"VP8L", b"\0" * 4, b"\x2e", struct.pack("<I", 29 | 39 << 14)), None),
        (riff(b"WEBP", b"VP8 ", b"\0" * 7, b"\x9d\x01\x2a", struct.pack("<HH", 30 | 0xC000, 40)), (30, 40)),
        (riff(b"WEBP", b"VP8 ", b"\0" * 7, b"\x9d\x01\x2b", struct.pack("<HH", 30, 40)), None),
        (b"\xff\xd8\xff\xe0\0\x02\xff\xc0\0\x11\x08\0\x28\0\x1e", (30, 40)),
        (b"\xff\xd8\xff\xff\xe0\0\x02\xff\xd0\xff\xc2\0\x11\x08\0\x28\0\x1e", (30, 40)),
        (b"\xff\xd8\xff\xc4\0\x02\xff\xcf\0\x11\x08\0\x28\0\x1e", (30, 40)),
        (b"\xff\xd8\xff\xda\0\x02\xff\xc0\0\x11\x08\0\x28\0\x1e", None),
        (b"\xff\xd8\xff\xe0\0\x03\0\0\xff\xc0\0\x11\x08\0\x28\0\x1e", None),
        (avif(ispe(30, 40), ispe(20, 61), ispe(10, 10)), (20, 61)),
        (avif(LARGE, ispe(30, 40)), (30, 40)),
        (avif(ispe(30, 40), LAST), (70, 80)),
        (avif(struct.pack(">I4s", 7, b"free"), ispe(30, 40)), None),
        (avif(struct.pack(">I4s", 8, b"free"), ispe(30, 40)), (30, 40)),
        (avif(box(b"free")), None),
    ],
)
def test_the_size_of_an_image_is_at_its_formats_place_and_one_byte_less_has_none(
    content: bytes, size: tuple[int, int] | None
) -> None:
    assert image_size(PlainBytes(content))[1] == size
    last = image_size(PlainBytes(content[:-1]))[1]
    assert last is None or last != size or content[:4] == b"\0\0\0\x10"  # a box that is cut off has what it has


@pytest.mark.parametrize("blank", ["\n", "\r\n", " "])
@pytest.mark.parametrize("letters", [3, 3_069, 3_072, 3_075])
def test_base64_in_lines_is_the_bytes_that_it_spells(blank: str, letters: int) -> None:
    content = bytes(place % 251 for place in range(letters))
    spelled = base64.b64encode(content).decode()
    for text in (spelled, blank.join((spelled[:2], spelled[2:])), spelled + blank):
        found = Base64Text.of(text)
        assert (len(found), found.at(0, letters), found.at(1, 2)) == (letters, content, content[1:3])


def test_base64_of_either_alphabet_says_how_many_bytes_it_is_whatever_its_padding() -> None:
    for content in (b"", b"a", b"ab", b"abc", b"\xff\xfe\xfd", b"\xfb\xff"):
        for spelled in (base64.b64encode(content).decode(), base64.urlsafe_b64encode(content).decode()):
            for text in (spelled, spelled.rstrip("=")):
                assert (len(Base64Text.of(text)), Base64Text.of(text).at(0, 9)) == (len(content), content)
    assert Base64Text.of("!!!!").at(0, 3) == b""


@pytest.mark.parametrize(
    ("raw", "source", "mime"),
    [
        ({"source": {"type": "url", "url": "https://x.test/a", "media_type": "image/png"}}, Source.URL, "image/png"),
        ({"source": {"type": "url", "url": 7, "media_type": "image/png"}}, Source.UNKNOWN, "image/png"),
        ({"source": {"data": 7, "media_type": "image/png"}}, Source.UNKNOWN, "image/png"),
        ({"source": {"content": [], "media_type": "text/x"}}, Source.TEXT, "text/x"),
        ({"image_url": {"url": "data:;base64"}}, Source.UNKNOWN, None),
        ({"image_url": {"url": "data:image/x,a"}}, Source.UNKNOWN, "image/x"),
        ({"image_url": {"url": "data:image/x,a,b"}}, Source.UNKNOWN, "image/x"),
        ({"image_url": {"url": "DATA:IMAGE/X,a"}}, Source.UNKNOWN, "image/x"),
        ({"file": {"filename": "a.pdf"}}, Source.FILE, None),
        ({"document": {"format": "pdf", "source": {}}}, Source.UNKNOWN, "application/pdf"),
        ({"video": {"format": "mkv", "source": {"s3Location": {}}}}, Source.FILE, "video/mkv"),
        ({"video": {"format": 7, "source": 7}}, Source.UNKNOWN, None),
        ({"fileData": {"mime_type": 7}}, Source.FILE, None),
    ],
)
def test_the_first_known_place_decides_where_and_what_a_part_is(raw: dict[str, Any], source: Source, mime: Any) -> None:
    facts = read_media(Media("document", raw))
    assert (facts.source, facts.mime) == (source, mime)


@pytest.mark.parametrize(
    ("model", "detail", "count"),
    [
        ("gpt-4o", "high", Count(255)),
        ("gpt-4o", "low", Count(85)),
        ("gpt-4o-mini", "high", Count(2833 + 5667)),
        ("gpt-5", "high", Count(210, Grade.BOUNDED, 350)),
        ("o1", "low", Count(75, Grade.BOUNDED, 225)),
        (None, "high", Count(255, Grade.BOUNDED, 425)),
        ("gpt-4.1-mini", "high", Count(415, Grade.ESTIMATED, 2489)),
        ("gpt-5-nano", "high", Count(630, Grade.ESTIMATED, 3779)),
        ("o4-mini", "high", Count(441, Grade.ESTIMATED, 2642)),
    ],
)
def test_an_image_of_512_pixels_costs_a_tile_or_256_patches(model: str | None, detail: Any, count: Count) -> None:
    assert (
        openai.price_media(MediaFacts(kind="image", width=512, height=512, source=Source.URL), detail, model) == count
    )


def test_an_image_as_it_is_costs_a_token_a_patch_and_a_page_half_an_image_beside_its_text() -> None:
    def original(width: int | None, height: int | None) -> Count:
        return openai.price_original(MediaFacts(kind="image", width=width, height=height))

    assert original(64, 65) == Count(6, Grade.ESTIMATED, 15)
    assert original(32_000, 3_200) == original(64_000, 64_000) == Count(10_000, Grade.ESTIMATED, 24_600)
    assert original(None, 65) == Count(2_000, Grade.ESTIMATED, 24_600)
    pages = openai.price_media(MediaFacts(kind="document", pages=2), "auto", "gpt-4o")
    assert pages == Count(2 * (2_250 + 1_445 // 2), Grade.ESTIMATED, 2 * (3_000 + 1_445))
    assert type(pages.tokens) is int
    assert type(claude.price_media(MediaFacts(kind="document", pages=2), claude.HIGH).tokens) is int
    sound = openai.price_media(MediaFacts(kind="audio", seconds=1.05), "auto", "gpt-4o")
    assert sound == Count(11, Grade.ESTIMATED, 14)


def test_an_object_stream_is_unpacked_to_the_last_byte_that_is_allowed() -> None:
    head, packed = b"<< /Filter /FlateDecode >>", zlib.compress(b"x" * 10)
    for most, left in ((11, 1), (10, 0)):
        allowed = _Allowance(bytes=most)
        assert (_unpack_stream(head, packed, allowed), allowed.bytes) == (b"x" * 10, left)
    with pytest.raises(_TooLargeError):
        _unpack_stream(head, packed, _Allowance(bytes=9))
    numbers = b"1 0 2 3 "
    allowed = _Allowance(objects=2)
    assert list(_find_objects_in_stream(b"/First 8", numbers + b"abcdef", allowed)) == [b"abc", b"def"]
    assert allowed.objects == 0
    with pytest.raises(_TooLargeError):
        list(_find_objects_in_stream(b"/First 8", numbers + b"abcdef", _Allowance(objects=1)))


# ── Small things


def test_a_request_has_a_system_text_and_tools_only_if_they_are_not_empty() -> None:
    assert Has.what("a", [1]) == Has.SYSTEM | Has.TOOLS
    assert [Has.what("", []), Has.what(None, None), Has.what("a", []), Has.what("", [1])] == [
        Has.NOTHING,
        Has.NOTHING,
        Has.SYSTEM,
        Has.TOOLS,
    ]


class Forgetting(MergingPricer):
    """A message costs its letters. One that says "?" makes the reasoning before it free, and the first costs one more.

    A message behind another costs ten more.
    """

    def fixed(self, pieces: Any, head: Any, tools: Any) -> FixedPrices:
        return FixedPrices(framing=Count(1_000))

    def message(self, message: Any) -> Count:
        return Count(len(message.parts[0]))

    def options(self, layout: Any) -> Count:
        return Count(0)

    def difference_after(self, message: Any, before: Any) -> Difference:
        return Difference(1, upper=1) if before is None else Difference(10, upper=10)

    def ends_reasoning(self, message: Any) -> bool:
        return message.parts[0] == "?"

    def without_reasoning(self, message: Any) -> Any:
        return user_message(message.parts[0].replace("hm", ""))


@pytest.mark.parametrize(
    ("texts", "tokens"),
    [
        ([], 1_000),
        (["ahm"], 1_000 + 1 + 3),
        (["ahm", "bbhm"], 1_000 + 1 + 3 + 10 + 4),
        (["?", "ahm"], 1_000 + 1 + 1 + 10 + 3),
        (["ahm", "?", "bbhm"], 1_000 + 1 + 1 + 10 + 1 + 10 + 4),
        (["ahm", "?", "bbhm", "?", "chm"], 1_000 + 1 + 1 + 10 + 1 + 10 + 2 + 10 + 1 + 10 + 3),
    ],
)
def test_reasoning_is_billed_no_more_before_the_last_message_that_forgets_it(texts: list[str], tokens: int) -> None:
    assert priced_request(Forgetting(), Layout(messages=tuple(map(user_message, texts)))) == Count(tokens)


def test_pieces_cost_together_what_the_whole_costs() -> None:
    def by_words(text: str) -> int:
        return len(text.split())

    assert price_pieces(["a b c", "d"], by_words) == [2, 1]
    assert price_pieces(["a b"], by_words) == [2]
    assert price_pieces([], by_words) == []


@pytest.mark.parametrize("held", [-1, 1.5, "7", True, object()])
def test_the_error_for_wrong_held_tokens_shows_what_came(held: Any) -> None:
    shown = f"{held}" if isinstance(held, int | float) else f"an? {type(held).__name__}"
    with pytest.raises(BudgetError, match=rf"held: expected the tokens .*, got {shown}$"):
        held_count(held)
    assert [held_count(None), held_count(0), held_count(Count(7))] == [None, Count(0), Count(7)]


@pytest.mark.parametrize("answers", [1, 2, 3])
@pytest.mark.parametrize("last", [[], [{"role": "assistant", "content": "a"}]])
def test_answers_side_by_side_are_priced_beside_what_they_go_out_with(answers: int, last: list[Any]) -> None:
    def result(at: int) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{at}", "content": "r"}]}

    calls = [{"type": "tool_use", "id": f"c{at}", "name": "f", "input": {}} for at in range(answers)]
    history: list[Any] = [{"role": "user", "content": "q"}, {"role": "assistant", "content": calls}]
    history += [*map(result, range(answers)), *last]
    ledger = Assembler(Budget(10_000, model="claude-opus-4-1"), dialect=anthropic).add_messages(history).plan()
    found = ledger.inside.ledger
    side = [answers > 1] * answers
    assert [found.beside_others(at) for at in range(len(history))] == [False, False, *side, *(False for _ in last)]
    short = found.reading(2)
    gained = PassageView(found, {}, None, [(0, len(history))], 0).gains(Change({2: None, 1: None}, ""))
    beside = [found.reading(at) for at in range(2, 2 + answers)]
    less = found.priced_run(beside) - found.priced_run(beside[1:])
    assert sum(one.upper for one in gained.values()) == -less.upper - found.price(found.reading(1)).upper, short
    runs = [range(1), range(1, 2), *[range(2, 2 + answers)] * answers, range(2 + answers, 3 + answers)]
    assert [found.run(at) for at in range(len(history))] == runs[: len(history)]


@pytest.mark.parametrize("held", [Count(1.5), Count(1, upper=2.5)])  # type: ignore[arg-type]
def test_held_tokens_are_a_whole_number_or_refused_by_name(held: Count) -> None:
    with pytest.raises(BudgetError, match=r"^held is "):
        held_count(held)
    assert held_count(Count(2, Grade.BOUNDED, 5)) == Count(2, Grade.BOUNDED, 5)


@pytest.mark.parametrize(
    ("kind", "named"), [("image", "an image"), ("audio", "an audio"), ("document", "a document"), ("video", "a video")]
)
def test_a_part_is_named_with_its_article(kind: str, named: str) -> None:
    assert a_part(kind) == named


@pytest.mark.parametrize(("mime", "before"), [("application/octet-stream", b""), ("application/pdf", b"\n")])
def test_a_pdf_is_recognised_by_its_first_bytes_or_its_name(mime: str, before: bytes) -> None:
    content = (
        before + b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 4/Kids[]>>endobj"
    )
    source = {"type": "base64", "media_type": mime, "data": base64.b64encode(content).decode()}
    facts = read_media(Media("document", {"type": "document", "source": source}))
    assert (facts.mime, facts.pages) == ("application/pdf", 4)


def test_a_picture_for_nova_is_estimated_and_a_smaller_one_is_scaled_up() -> None:
    sizes = [(1_000, 500), (nova.LEAST_SIDE, 10), (nova.LEAST_SIDE // 2, 5)]
    counts = [nova.price_medium(MediaFacts(kind="image", width=width, height=height)) for width, height in sizes]
    assert [count.grade for count in counts] == [Grade.ESTIMATED] * 3
    assert [count.upper for count in counts] == [2 * count.tokens for count in counts]
    assert counts[1] == counts[2]
    assert counts[0].tokens == -(-(nova.ANY * 100_000 + 135 * 500_000) // 100_000)


def test_a_reference_has_no_words_and_a_price_of_its_own() -> None:
    read = read_opaque(Opaque("item_reference", {"type": "item_reference", "id": "msg_1"}, "responses"))
    assert (read.text, read.beyond) == ("", REFERENCED)


def test_a_request_with_half_a_character_has_a_fingerprint() -> None:
    requests = [{"messages": [{"role": "user", "content": text}]} for text in ("\ud83d", "\ud83e")]
    first, second = (Fingerprint.of(request) for request in requests)
    assert first != second


def test_results_in_messages_of_the_users_cost_beside_one_another_what_they_are_sent_as() -> None:
    calls: list[Any] = [{"type": "tool_use", "id": name, "name": "ask", "input": {}} for name in "ab"]
    results = [{"type": "tool_result", "tool_use_id": name, "content": "yes"} for name in "ab"]
    made = Assembler(Budget(10_000, model="claude-sonnet-4-5"), dialect=anthropic)
    made.add_capability([{"name": "ask", "parameters": {"type": "object"}}]).add_message(
        {"role": "user", "content": "q"}
    )
    made.add_message({"role": "assistant", "content": calls})
    for result in results:
        made.add_message({"role": "user", "content": [result]})
    ledger = made.plan().inside.ledger
    assert ledger.since(0) == ledger.priced_run([ledger.reading(index) for index in range(4)])
