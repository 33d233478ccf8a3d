"""After a call the provider's bill anchors the next count, and the budget holds for the anchored count."""

from __future__ import annotations

import pickle
from fractions import Fraction
from math import ceil

import pytest

from assembler import (
    Assembler,
    CalibratedCounter,
    Context,
    ContextLengthError,
    ConversationError,
    Overflow,
    TrimOldest,
    Truncate,
    calibrate,
)
from assembler.dialects import openai_chat, plain
from assembler.report.cache import CacheMarks
from budgets import Budget, Count, Grade, Limit

QUESTION = {"role": "user", "content": "x" * 40}
ANSWER = {"role": "assistant", "content": "y" * 40}


def priced(window: int = 10_000) -> Assembler:
    """40 characters a message and 4 of framing, 3 for the primer: by hand, with len as the counter."""
    return Assembler(Budget(window, counter=len, model="gpt-4o"), on_overflow=TrimOldest()).add_message(QUESTION)


def test_only_what_is_new_is_counted_by_rule() -> None:
    assembler = priced()
    first = assembler.build()
    assert first.count.tokens == 47
    assembler.anchor(calibrate(first, {"prompt_tokens": 60}))
    second = assembler.add_message(ANSWER).add_message(QUESTION).build()
    assert second.count.tokens == 60 + 2 * 44
    assert second.costs.total == second.count.tokens
    assert "anchored: 60 billed where 47 were counted (+13)" in str(second.report)
    assert pickle.loads(pickle.dumps(assembler)).build().count == second.count
    assert assembler.anchor(None).build().count.tokens == 47 + 2 * 44


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4o-mini", "claude-sonnet-4-5"])
def test_the_bill_of_one_model_is_not_used_for_another(model: str) -> None:
    first = priced().build()
    other = Assembler(Budget(10_000, counter=len, model=model), dialect=openai_chat).add_message(QUESTION)
    moved = other.anchor(calibrate(first, 60)).add_message(ANSWER).build()
    assert (moved.count.tokens == 60 + 44) is (model == "gpt-4o")
    assert (moved.count == moved.by_rule) is (model != "gpt-4o")


def test_cache_marks_move_and_leave_a_request_the_one_that_was_billed() -> None:
    """A mark costs nothing and moves at each call. Its place is not in the hash by which a billed request is found."""
    budget = Budget.for_model("claude-sonnet-4-5", counter=len)
    assembler = Assembler(budget, cache_marks=CacheMarks()).add_instruction("x" * 9_000).add_message(QUESTION)
    first = assembler.build()
    assert "cache_control" in str(first.request())
    second = assembler.anchor(calibrate(first, 12_345)).add_message(ANSWER).add_message(QUESTION).build()
    assert 12_345 + 80 < second.count.tokens < 12_345 + 100


@pytest.mark.parametrize("nudge", [-1, 0, 1])
def test_the_budget_is_held_against_the_anchored_count(nudge: int) -> None:
    """47 + 88 tokens by rule. After a bill of 60 for the 47: 60 + 88, at most 135 * 61 / 47 if the error is a share."""
    roomy = priced()
    bill = calibrate(roomy.build(), 60)
    tight = priced(175 + nudge).anchor(bill).add_message(ANSWER).add_message(QUESTION)
    context = tight.build()
    assert len(context.messages) == (1 if nudge < 0 else 3)
    assert context.count == (Count(60) if nudge < 0 else Count(148, Grade.BOUNDED, upper=175))


def test_a_bill_above_the_window_raises_though_the_rule_would_fit() -> None:
    bill = calibrate(priced().build(), 90)
    with pytest.raises(ContextLengthError) as raised:
        priced(80).anchor(bill).build()
    assert raised.value.required == 90
    assert raised.value.advice.startswith("What cannot be dropped is too large: shorten its messages by 10 tokens. ")


def test_another_dialects_spelling_of_the_same_history_is_scaled_and_says_estimated() -> None:
    bill = calibrate(priced().build(), 60)
    other = Assembler(Budget(1000, counter=len), dialect=openai_chat).add_instruction("be brief").anchor(bill)
    count = other.add_message(QUESTION).build().count
    assert str(count.grade) == "estimated"
    assert count.upper >= count.tokens


@pytest.mark.parametrize("billed", [60, 90, 300])
@pytest.mark.parametrize("messages", [[QUESTION], [QUESTION, ANSWER, QUESTION]], ids=["one turn", "two turns"])
def test_the_smallest_window_of_an_anchored_error_works(billed: int, messages: list[dict[str, str]]) -> None:
    bill = calibrate(priced().build(), billed)

    def at(window: int) -> Context:
        budget = Budget(window, counter=len, model="gpt-4o")
        return Assembler(budget, on_overflow=TrimOldest()).add_messages(messages).anchor(bill).build()

    with pytest.raises(ContextLengthError) as raised:
        at(50)
    smallest = raised.value.smallest_window
    assert smallest is not None
    assert at(smallest).count.upper == raised.value.required
    assert raised.value.excess > 0
    with pytest.raises(ContextLengthError):
        at(smallest - 1)
    assert "keep_turns" not in raised.value.advice
    assert "needs 44 and" not in raised.value.advice


def test_without_a_budget_a_request_that_begins_otherwise_is_scaled_by_its_bill_too() -> None:
    assembler = Assembler(dialect=plain).add_messages([{"role": "user", "content": "one two three four five"}])
    context = assembler.build()
    bill = calibrate(context, context.count.tokens + 4)
    assembler.anchor(bill).add_messages([{"role": "user", "content": "Another thing altogether is said here"}])
    by_rule = assembler.build().by_rule
    share = Fraction(context.count.tokens + 4, context.count.tokens)
    assert assembler.build().count == Count(ceil(by_rule.tokens * share), Grade.ESTIMATED, ceil(by_rule.upper * share))


@pytest.mark.parametrize(("cap", "kept"), [(25, 2), (29, 2), (30, 3), (None, 7)])
@pytest.mark.parametrize("billed", [5, 10, 12])
def test_a_cap_of_the_conversation_is_held_under_a_bill(cap: int | None, kept: int, billed: int) -> None:
    budget = Budget(200, counter=len, limits={"conversation": Limit(cap=cap)})
    assembler = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_message(("user", "x" * 10))
    assembler.anchor(calibrate(assembler.build(), billed))
    for turns in range(2, 8):
        context = assembler.add_message(("user", "y" * 10)).build()
        assert len(context.messages) == min(turns, kept), turns
    if cap == 25:
        with pytest.raises(ContextLengthError, match="shorten it by 5 tokens, or raise its cap") as caught:
            assembler.add_message(("user", "y" * 30)).build()
        assert (caught.value.region, caught.value.excess) == ("conversation", 5)


def words(turns: int, size: int = 10) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"{turn}" + "x" * (size - 1)} for turn in range(turns)]


def test_a_wider_window_drops_nothing_that_fits_by_the_bill() -> None:
    """By rule it costs 60 tokens of 51, so a turn would be dropped; by a bill of three fifths all of it fits."""
    narrow = Assembler(Budget(50, counter=len), dialect=plain, on_overflow=TrimOldest()).add_messages(words(5))
    bill = calibrate(narrow.build(), 30)
    wide = Assembler(Budget(51, counter=len), dialect=plain, on_overflow=TrimOldest()).anchor(bill)
    assert len(wide.add_messages(words(6)).build().messages) == 6


def test_a_wider_window_brings_back_what_was_shortened_for_the_billed_request() -> None:
    def at(window: int) -> Assembler:
        policies = [Truncate(20), TrimOldest()]
        return Assembler(Budget(window, counter=len), dialect=plain, on_overflow=policies).add_messages(words(3, 40))

    context = at(90).build()
    assert [len(message["content"]) for message in context.request()["messages"]] == [20, 20, 40]
    bill = calibrate(context, context.by_rule.tokens)
    assert at(90).anchor(bill).build().request() == context.request()
    assert at(200).anchor(bill).build().request()["messages"] == words(3, 40)


def test_a_billed_request_that_filled_the_window_is_cut_once_more_messages_arrive() -> None:
    assembler = Assembler(Budget(40, counter=len), dialect=plain, on_overflow=TrimOldest(0.5)).add_messages(words(4))
    context = assembler.build()
    assembler.anchor(calibrate(context, context.by_rule.tokens))
    assert len(assembler.build().messages) == 4
    assert len(assembler.add_messages(words(5)).build().messages) == 2


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4o-mini"])
def test_a_limit_learned_from_a_refusal_survives_bills_of_its_own_model_only(model: str) -> None:
    def asked(model: str) -> Assembler:
        budget = Budget(1_000, counter=len, model=model)
        return Assembler(budget, dialect=openai_chat, on_overflow=TrimOldest()).add_messages(words(4))

    refused = calibrate(asked("gpt-4o").build(), Overflow(used=110, limit=100))
    later = calibrate(asked(model).anchor(refused).build(), 60)
    assert later.most == (100 if model == "gpt-4o" else None)


def test_the_required_tokens_of_a_billed_request_are_its_bill_and_not_its_bound() -> None:
    """By rule the request costs 46 tokens, at most 47; the billed part has no such range."""

    def at(window: int, bill: CalibratedCounter | None = None) -> Context:
        budget = Budget(window, counter=len, model="nobody-knows-it")
        assembler = Assembler(budget, dialect=openai_chat, on_overflow=TrimOldest())
        return assembler.add_message(QUESTION).anchor(bill).build()

    context = at(10_000)
    assert context.count.tokens < context.count.upper
    billed = context.count.tokens + 30
    bill = calibrate(context, billed)
    assert at(billed, bill).count == Count(billed)
    with pytest.raises(ContextLengthError) as raised:
        at(billed - 1, bill)
    assert (raised.value.required, raised.value.smallest_window) == (billed, billed)
    assert bill.bound(context.by_rule.upper) > billed


@pytest.mark.parametrize("dialect", ["gemini", "anthropic", "bedrock", "openai_chat"])
def test_calls_before_the_first_question_are_no_fault_of_a_bill(dialect: str) -> None:
    """The call is not sent before a question, so the search for the message that asked for it found none."""
    call = {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    asking = {"role": "assistant", "content": None, "tool_calls": [call]}

    def conversation() -> Assembler:
        return Assembler(Budget(10_000, counter=len), dialect=dialect, on_overflow=TrimOldest())

    def answer(assembler: Assembler) -> str:
        try:
            return repr(assembler.build().request())
        except ConversationError as refusal:
            return str(refusal)

    bill = calibrate(conversation().add_message(QUESTION).build(), 60)
    assert answer(conversation().add_message(asking).anchor(bill)) == answer(conversation().add_message(asking))


@pytest.mark.parametrize(("dialect", "model"), [("bedrock", "some-claude"), ("anthropic", "claude-sonnet-4-5")])
def test_a_bill_counts_for_what_is_left_when_what_it_kept_can_no_longer_be_sent(dialect: str, model: str) -> None:
    """Both APIs refuse calls of tools that are no longer defined; once those turns went, the bill went too."""
    call = {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    budget = Budget(2_000, counter=len, model=model)
    assembler = Assembler(budget, dialect=dialect, on_overflow=TrimOldest()).add_capability([{"name": "search"}])
    assembler.add_messages([QUESTION, {"role": "assistant", "content": None, "tool_calls": [call]}])
    context = assembler.add_message({"role": "tool", "tool_call_id": "a", "content": "found"}).build()
    assembler.anchor(calibrate(context, context.count.tokens + 50)).add_capability([])
    for message in [ANSWER, QUESTION] * 40:
        assembler.add_message(message)
    context = assembler.build()
    assert len(context.dropped) > 3
    assert context.by_rule.tokens < context.count.tokens <= context.count.upper <= 2_000
    assert "anchored" in str(context.report)
