"""Ladders of any policies in any order drop only as much as needed and never make an invalid request."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ChatRegions, QuestionChunks, Strategy, count_request
from assembler.conversation.messages import user_message
from assembler.dialects import anthropic, openai_chat, plain
from assembler.policies import (
    ClearReasoning,
    ClearToolResults,
    KeepRelevant,
    Refuse,
    Summarize,
    TrimOldest,
    TrimSteps,
    Truncate,
)
from assembler.policies.policy import Policy
from assembler.pricing.ledger import Cut
from assembler.verify import verify
from budgets import Budget, ContextLengthError, tiktoken_counter
from tests.assembler import by_hand
from tests.assembler.by_hand import History, step, talk
from tests.assembler.one_price import adds_up
from tests.scaled import scaled

from .build import assembler_of, built, check, sent
from .drawn import NAMES, any_session, gist, ladders, low_ladders, low_summaries, sessions, unmarked


def tight(history: History, data: st.DataObject) -> int:
    whole = by_hand.cost(history)
    return max(whole - data.draw(st.integers(1, max(whole * 3 // 4, 1)), label="less"), 1)


@scaled(0.5)
@given(any_session, ladders, st.data())
def test_any_ladder_leaves_a_valid_request_that_fits_and_reports_it_truly(
    history: History, ladder: Sequence[Policy], data: st.DataObject
) -> None:
    before, limit = copy.deepcopy(history), tight(history, data)
    assembler = assembler_of(history, limit, ladder)
    state = repr(assembler)
    try:
        context = assembler.build()
    except ContextLengthError as error:
        assert error.required > limit
        assert history == before
        return
    check(context, history, limit)
    again = by_hand.canonical(assembler.build().request())
    assert again == by_hand.canonical(assembler.fork().build().request()) == by_hand.canonical(context.request())
    assert history == before
    assert repr(assembler) == state


@scaled(0.5)
@given(any_session, ladders, st.data())
def test_a_rung_is_asked_only_if_those_before_did_not_suffice(
    history: History, ladder: Sequence[Policy], data: st.DataObject
) -> None:
    ladder = [attrs.evolve(rung, pins=()) if isinstance(rung, TrimOldest | KeepRelevant) else rung for rung in ladder]
    limit = tight(history, data)  # without pins, which one rung sets for all
    whole = built(history, limit, ladder)
    for rungs in range(1, len(ladder)):
        context = built(history, limit, ladder[:rungs])
        if context is not None:
            assert whole is not None
            assert by_hand.canonical(whole.request()) == by_hand.canonical(context.request())
            return


@scaled(0.5)
@given(any_session, ladders, st.integers(0, 2))
def test_a_history_that_fits_is_not_changed(history: History, ladder: Sequence[Policy], spare: int) -> None:
    context = assembler_of(history, by_hand.cost(history) + spare, ladder).build()
    assert [id(message) for message in context.messages] == [id(message) for message in history]
    assert sent(context) == by_hand.public(history)
    assert not context.dropped


@scaled(0.5)
@given(unmarked, ladders, st.data())
def test_a_pinned_message_is_sent_word_for_word(
    history: History, ladder: Sequence[Policy], data: st.DataObject
) -> None:
    pins = data.draw(st.sets(st.integers(0, len(history) - 1), min_size=1, max_size=3), label="pins")
    marked = [{**message, "pinned": True} if at in pins else message for at, message in enumerate(history)]
    context = built(marked, tight(marked, data), [*ladder, ClearReasoning(0), ClearToolResults(0), Truncate(18)])
    if context is not None:
        assert {id(marked[at]) for at in pins} <= {id(message) for message in context.messages}


@pytest.mark.parametrize(
    ("form", "dialect", "model"), [("openai", openai_chat, "gpt-4o"), ("anthropic", anthropic, None)]
)
@scaled(0.5)
@given(data=st.data(), ladder=ladders)
def test_the_request_of_an_api_fits_as_counted_from_its_own_bytes(
    form: str, dialect: Any, model: str | None, data: st.DataObject, ladder: Sequence[Policy]
) -> None:
    history = [*data.draw(sessions(form)), {"role": "user", "content": "and now?"}]
    tools = [{"name": name, "description": "d", "parameters": {"type": "object", "properties": {}}} for name in NAMES]
    count = tiktoken_counter("o200k_base")
    whole = (
        Assembler(Budget(10**6, counter=count), dialect=dialect)
        .add_capability(tools)
        .add_messages(history)
        .build()
        .count.upper
    )
    limit = max(whole - data.draw(st.integers(1, whole * 3 // 4)), 1)
    assembler = Assembler(Budget(limit, counter=count), dialect=dialect, on_overflow=ladder)
    assembler.add_capability(tools).add_messages(history)
    try:
        context = assembler.build()
    except ContextLengthError:
        return
    request = context.request()
    anew = count_request(request, dialect=dialect, counter=count).upper
    assert anew == context.count.upper or dialect is anthropic  # which makes one of two messages side by side
    assert anew <= context.count.upper <= limit
    assert not verify(request, dialect=dialect)
    adds_up(context)
    assert by_hand.canonical(assembler.fork().build().request()) == by_hand.canonical(request)


def outcome(assembler: Assembler) -> str | None:
    try:
        return by_hand.canonical(assembler.build().request())
    except ContextLengthError:
        return None


@scaled(0.5)
@given(any_session, low_ladders, st.data())
def test_with_low_water_old_messages_change_only_at_an_overflow(
    history: History, ladder: Sequence[Policy], data: st.DataObject
) -> None:
    limit = tight(history, data)
    before: tuple[int, History] | None = (0, [])
    for stop in by_hand.prefixes(history):
        context = built(history[:stop], limit, ladder)
        now = None if context is None else sent(context)
        if before is not None and now is not None:
            length, old = before
            grown = [*old, *by_hand.public(history[length:stop])]
            assert (now == grown) == (by_hand.cost(grown) <= limit)
        before = None if now is None else (stop, now)


@scaled(0.5)
@given(any_session, low_summaries, st.data())
def test_with_low_water_and_a_summary_old_messages_change_only_at_a_build_that_overflows(
    history: History, ladder: Sequence[Policy], data: st.DataObject
) -> None:
    limit = tight(history, data)
    lived = Assembler(Budget(limit, counter=len), dialect=plain, on_overflow=ladder)
    before: tuple[int, History] = (0, [])
    for stop in by_hand.prefixes(history):
        length, old = before
        for message in history[length:stop]:
            lived.add_message(message)
        try:
            context = lived.build()
        except ContextLengthError:
            return
        check(context, history[:stop], limit)
        assert lived.fork().build().request() == lived.build().request() == context.request()
        grown = [*old, *by_hand.public(history[length:stop])]
        assert (sent(context) == grown) == (by_hand.cost(grown) <= limit)
        before = (stop, sent(context))


def test_with_low_water_a_summary_is_written_at_an_overflow_and_leaves_the_mark() -> None:
    asked: list[tuple[int, str | None, int]] = []

    def write(dropped: Any, previous: str | None, most: int) -> str:
        asked.append((len(dropped), previous, most))
        return f"{len(asked)}" * 10

    history: History = [{"role": "user", "content": f"{turn:02}" + "x" * 18} for turn in range(40)]
    ladder = [Summarize(write, 2), TrimOldest(low_water=0.5)]
    lived = Assembler(Budget(200, counter=len), dialect=plain, on_overflow=ladder)
    costs = [lived.add_message(message).build().count.tokens for message in history]
    heading = len("Summary of the conversation so far:\n")
    after = heading + 10 + 2 * 20
    assert costs[:11] == [*range(20, 201, 20), after]
    turns = (200 - after) // 20 + 1  # that come before it overflows again
    assert costs[11 : 11 + turns] == [*range(after + 20, 201, 20), after]
    spare = 100 - heading - 2 * 20
    assert asked[:3] == [(9, None, spare), (turns, "1" * 10, spare), (turns, "2" * 10, spare)]
    assert len(asked) == 1 + (40 - 11) // turns


@scaled(0.5)
@given(any_session, low_ladders, st.sampled_from([ChatRegions(), QuestionChunks()]), st.data())
def test_with_low_water_the_state_does_not_depend_on_earlier_builds(
    history: History, ladder: Sequence[Policy], strategy: Strategy, data: st.DataObject
) -> None:
    limit = tight(history, data) + cost_of_asking(strategy)
    lived = hosting(history[:0], limit, ladder, strategy)
    settled = set(by_hand.prefixes(history))
    for stop, message in enumerate(history, 1):
        lived.add_message(message)
        if stop in settled and data.draw(st.booleans()):
            outcome(lived)
            if data.draw(st.booleans()):
                outcome(lived.fork().add_knowledge("k" * data.draw(st.integers(1, 20)), type="rag"))
    cold = hosting(history, limit, ladder, strategy)
    assert outcome(lived) == outcome(cold)
    shorter = data.draw(st.sampled_from(sorted(settled)))
    assert outcome(cold.fork().add_messages(history[:shorter])) == outcome(
        hosting(history[:shorter], limit, ladder, strategy)
    )


def hosting(history: History, limit: int, ladder: Sequence[Policy], strategy: Strategy) -> Assembler:
    """An assembler whose newest question stands in the words of a strategy."""
    budget = Budget(limit, counter=len)
    return Assembler(budget, dialect=plain, on_overflow=ladder, strategy=strategy).add_messages(history)


def cost_of_asking(strategy: Strategy) -> int:
    """The tokens of the strategy's words around the question."""
    return hosting([{"role": "user", "content": "q"}], 10_000, [Refuse()], strategy).build().count.tokens - 1


def test_a_question_that_carried_documents_is_replayed_with_them() -> None:
    """A fresh assembler shortened the third question; a session does not while the documents stand around it."""
    history: History = [
        {"role": "user", "content": letter * size} for letter, size in zip("abcd", [100] * 3 + [10], strict=True)
    ]
    ladder = [Truncate(20), TrimOldest(0.5, keep_turns=3)]
    limit = 250 + cost_of_asking(QuestionChunks())
    lived = hosting(history[:0], limit, ladder, QuestionChunks())
    for message in history:
        lived.add_message(message)
        outcome(lived)
    assert outcome(lived) == outcome(hosting(history, limit, ladder, QuestionChunks()))
    assert "c" * 100 in json.dumps(lived.build().request())


@scaled(0.5)
@given(any_session, ladders, st.data())
def test_without_low_water_and_summaries_the_state_does_not_depend_on_the_builds_before(
    history: History, ladder: Sequence[Policy], data: st.DataObject
) -> None:
    calm = [rung for rung in ladder if not isinstance(rung, Summarize)] or [TrimOldest()]
    limit = tight(history, data)
    lived = Assembler(Budget(limit, counter=len), dialect=plain, on_overflow=calm)
    settled = set(by_hand.prefixes(history))
    for stop, message in enumerate(history, 1):
        lived.add_message(message)
        if stop in settled and data.draw(st.booleans()):
            outcome(lived.fork().add_knowledge("k" * data.draw(st.integers(1, 20)), type="rag"))
    assert outcome(lived) == outcome(assembler_of(history, limit, calm))


def test_each_rung_says_what_it_did() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history: History = [
        {"role": "user", "content": "u" * 50},
        {"role": "user", "content": "q" * 50},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "r" * 50},
        {"role": "user", "content": "n" * 50},
    ]
    ladder = [ClearReasoning(), ClearToolResults(0), TrimOldest(keep_turns=2), TrimSteps(), Truncate(30)]
    context = built(history, 90, ladder)
    assert context is not None
    (dropped,) = [row.reason for row in context.report.rows if row.outcome == "dropped"]
    assert "TrimOldest: older turns do not fit; ClearToolResults: tool result cleared" in dropped
    shortened = [row.reason for row in context.report.rows if row.outcome == "shortened"]
    assert any("ClearToolResults: 1 × tool result cleared" in reason for reason in shortened)
    assert ["Truncate: 1 × text shortened" in reason for reason in shortened] == [True, True]


@pytest.mark.parametrize("low_water", [None, 0.6])
def test_two_policies_of_one_class_are_distinguished_even_after_a_pickle_and_a_restart(low_water: float | None) -> None:
    history: History = [{"role": "user", "content": f"{number} " + "u" * 90} for number in range(9)]
    last = TrimOldest() if low_water is None else TrimOldest(low_water=low_water)
    budget, five = Budget(120, max_output_tokens=1, counter=len), TrimOldest(keep_turns=5)
    ladder = [Truncate(60), Truncate(30), five, last]
    assembler = Assembler(budget, on_overflow=ladder).add_messages(history)
    context = assembler.build()
    names = [one["policy"] for one in context.manifest()["decision"]["policies"]]
    assert names == ["Truncate", "Truncate", "TrimOldest", "TrimOldest"]
    assert all(one["saved"] > 0 for one in context.manifest()["decision"]["policies"][:2])
    (shortened, *_) = [row.reason for row in context.report.rows if row.outcome == "shortened"]
    assert shortened == "Truncate: 1 × text shortened; Truncate: 1 × text shortened"
    restarted = Assembler(budget, on_overflow=ladder).add_messages(history)
    restarted.restore(json.loads(json.dumps(context.state())))
    for again in (pickle.loads(pickle.dumps(assembler)), restarted):
        assert again.build().manifest()["decision"] == context.manifest()["decision"]


@pytest.mark.parametrize("low_water", [None, 0.9])
def test_the_reason_of_a_turn_counts_what_was_cleared_in_that_turn(low_water: float | None) -> None:
    history: History = []
    for number, results in enumerate((3, 1, 2)):
        ids = [f"c{number}{place}" for place in range(results)]
        calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
        history += [{"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": calls}]
        history += [{"role": "tool", "tool_call_id": one, "content": "r" * 50} for one in ids]
    trim = TrimOldest() if low_water is None else TrimOldest(low_water=low_water)
    context = built([*history, {"role": "user", "content": "n"}], 100, [ClearToolResults(0), trim])
    assert context is not None
    reasons = [row.reason for row in context.report.rows if row.outcome == "shortened"]
    assert reasons == [f"ClearToolResults: {number} × tool result cleared" for number in (3, 1, 2)]


def test_what_a_policy_saved_at_several_times_is_added_up() -> None:
    history = [{"role": "user", "content": "q"}]
    for number in range(6):
        history += step(f"c{number}", "r" * 100)
    context = built(history, 400, [ClearToolResults(keep=0), TrimOldest(low_water=0.8)])
    assert context is not None
    assert len(context.inside.trimmed.made) > 1
    (cleared,) = context.manifest()["decision"]["policies"]
    assert cleared["saved"] == by_hand.cost(history) - context.count.tokens


def test_a_message_that_is_shortened_first_and_dropped_later_is_reported_as_dropped() -> None:
    history: History = [*talk("u" * 50), *step("c", "r" * 50), *talk("n")]
    context = built(history, 20, [ClearToolResults(0), TrimOldest()])
    assert context is not None
    assert [(item.index, item.outcome) for item in context.dropped] == [(at, "dropped") for at in range(3)]


def test_a_rung_that_failed_is_reported_even_where_nothing_was_dropped() -> None:
    def away(dropped: object, previous: object, max_tokens: int) -> str:
        raise RuntimeError

    history: History = [{"role": "user", "content": letter * 50} for letter in "abc"]
    context = built(history, 140, [Summarize(away, 1), Truncate(20)])
    assert context is not None
    assert "the summarizer raised RuntimeError" in str(context.report)


def test_a_moved_part_is_not_confused_with_the_one_at_its_old_place() -> None:
    thinking = {"type": "thinking", "thinking": "t" * 50, "signature": "s"}
    first, second = ({"type": "text", "text": letter * 100} for letter in "ab")
    history: History = [{"role": "user", "content": "q"}, {"role": "assistant", "content": [thinking, first, second]}]
    newer = {"role": "user", "content": "n"}
    ladder = [ClearReasoning(0), Truncate(30)]
    warm = assembler_of(history, 120, ladder)
    assert outcome(warm) is not None  # the thinking is the newest turn's: the texts stand second and third
    assert outcome(warm.add_message(newer)) == outcome(assembler_of([*history, newer], 120, ladder))


def test_two_sessions_with_the_same_summarizer_and_history_say_the_same() -> None:
    history: History = [{"role": "user", "content": f"{turn:02}" + "x" * 20} for turn in range(9)]
    ladder = [Summarize(gist, 1), TrimOldest()]
    assert outcome(assembler_of(history, 90, ladder)) == outcome(assembler_of(history, 90, ladder))


def test_a_rung_makes_its_own_change_though_an_earlier_one_proposed_a_longer_text() -> None:
    history: History = [*talk("u"), *step("c", "r" * 50), *talk("n")]
    context = built(history, 30, [ClearToolResults(0, placeholder="long" * 20), ClearToolResults(0, "gone")])
    assert context is not None
    assert [message["content"] for message in sent(context) if message["role"] == "tool"] == ["gone"]


def test_a_result_and_the_arguments_of_its_call_are_cleared_and_reported_separately() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"q": "what was asked"}'}}
    history: History = [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "r" * 50},
        {"role": "user", "content": "n"},
    ]
    done = {
        60: [("tool result cleared", 1)],
        20: [("tool result cleared", 1), ("arguments of the call cleared", 1)],
    }
    for limit, expected in done.items():
        context = built(history, limit, ClearToolResults(0))
        assert context is not None
        (decision,) = context.inside.trimmed.decisions
        assert (decision.policy, list(decision.done)) == ("ClearToolResults", expected)
        assert decision.saved == by_hand.cost(history) - context.count.tokens


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock"])
@pytest.mark.parametrize("rung", [Truncate(6), TrimSteps(0), ClearToolResults(0)], ids=repr)
def test_a_replay_begins_anew_when_more_messages_precede_the_first_turn(rung: Policy, dialect: str) -> None:
    """The place that the last replay had reached was now before the first turn, and a policy was asked about that."""
    assembler = Assembler(Budget(1, counter=len), dialect=dialect, on_overflow=[rung, TrimOldest(0.7)])
    for messages in (step("a", "r" * 9), step("b", "r" * 9)):
        for message in messages:
            assembler.add_message(message)
        with pytest.raises(ContextLengthError):
            assembler.plan()


class Noting:
    """Replaces all but the newest turn by a note of so many letters."""

    def __init__(self, letters: int) -> None:
        self.letters = letters

    def cut(self, ledger: Any, tokens_left: int) -> Cut:
        return Cut(ledger.newest_turns(1), "a note", user_message("n" * self.letters))


class SeesTokensLeft:
    """Drops nothing, and keeps how many tokens were left for it."""

    def __init__(self) -> None:
        self.left: list[int] = []

    def cut(self, ledger: Any, tokens_left: int) -> Cut:
        self.left.append(tokens_left)
        return Cut(ledger.first, "nothing")


@pytest.mark.parametrize(("letters", "left"), [(30, 10), (40, 0), (50, 0)])
def test_a_policy_behind_a_note_that_fills_the_window_is_told_that_no_token_is_left(letters: int, left: int) -> None:
    policy = SeesTokensLeft()
    with pytest.raises(ContextLengthError):
        assembler_of([{"role": "user", "content": "x" * 20}] * 5, 40, [Noting(letters), policy]).build()
    assert policy.left[0] == left
