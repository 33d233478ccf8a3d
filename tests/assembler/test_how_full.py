"""The status of the window can be asked in every state of a conversation, even if no request can be made of it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    CacheMarks,
    ContextLengthError,
    ConversationError,
    Overflow,
    UnsupportedContentError,
    calibrate,
)
from assembler.dialects import DIALECTS, Dialect, anthropic, chat_template
from assembler.policies import ClearToolResults, Policy, TrimOldest, TrimSteps, Truncate
from budgets import Budget

Message = dict[str, Any]

REQUIRED_USER = """{%- for message in messages -%}
{%- if loop.last and message.role == 'assistant' %}{{ raise_exception('the user has the last word') }}{% endif -%}
[{{ message.role }}] {{ message.content }}{% endfor %}"""

TOOL: Message = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}


def called(*ids: str) -> Message:
    calls = [{"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def answered(call: str) -> Message:
    return {"role": "tool", "tool_call_id": call, "content": "there"}


USER: Message = {"role": "user", "content": "hello"}
SAID: Message = {"role": "assistant", "content": "well"}
A, B = "aaaaaaaa1", "bbbbbbbb2"
PAST = [USER, called(A), answered(A), SAID]

STATES: dict[str, list[Message]] = {
    "empty": [],
    "a system message alone": [{"role": "system", "content": "be brief"}],
    "a greeting alone": [SAID],
    "ends with the assistant": [*PAST],
    "ends with the assistant's second word": [*PAST, SAID],
    "waits for a result": [*PAST, USER, called(A)],
    "waits for one result of two": [*PAST, USER, called(A, B), answered(B)],
    "waits in its first turn": [USER, called(A)],
    "ends with a result": [*PAST, USER, called(A), answered(A)],
    "ends with the user": [*PAST, USER],
}

LADDERS: dict[str, list[Policy]] = {
    "refuse": [],
    "trim": [TrimOldest()],
    "low water": [TrimOldest(0.5)],
    "rewrites": [ClearToolResults(keep=0), TrimSteps(keep=0), Truncate(3), TrimOldest()],
}


def templated() -> Dialect:
    pytest.importorskip("transformers")
    from .dialects.test_chat_template import tokenizer_of

    return chat_template(tokenizer_of(REQUIRED_USER))


SPOKEN: dict[str, Callable[[], Dialect]] = {
    **{name: (lambda dialect=dialect: dialect) for name, dialect in DIALECTS.items()},
    "template": templated,
}


def made(dialect: Dialect, ladder: str = "trim", window: int = 10_000) -> Assembler:
    on_overflow = {} if ladder == "refuse" else {"on_overflow": LADDERS[ladder]}
    budget = Budget(window, counter=len)
    assembler = Assembler(budget, dialect=dialect, cache_marks=CacheMarks(), **on_overflow)  # type: ignore[arg-type]
    return assembler.add_instruction("Look around.").add_capability([TOOL])


def full(assembler: Assembler) -> int:
    """How full the window is, by each function that says so; all must agree."""
    plan = assembler.plan()
    views = [str(plan.report), plan.report.to_dict(), plan.report.to_html(), repr(plan), plan.dropped, plan.kept]
    assert all(one is not None for one in views)
    assert plan.count.tokens == plan.costs.total <= plan.count.upper
    assert plan.what_if(context_window=20_000).count == plan.count
    again = pickle.loads(pickle.dumps(plan))
    assert (again.count, again.kept) == (plan.count, plan.kept)
    assert assembler.costs().total > 0
    left = assembler.available_for_messages()
    assert left is not None
    assert 0 < left < 10_000
    return plan.count.tokens


@pytest.mark.parametrize(
    ("dialect", "state", "ladder"),
    [
        pytest.param(dialect, state, ladder, marks=() if (row + column) % len(LADDERS) == number else pytest.mark.slow)
        for row, dialect in enumerate(SPOKEN)
        for column, state in enumerate(STATES)
        for number, ladder in enumerate(LADDERS)
    ],
)
def test_every_state_of_a_conversation_says_how_full_it_is(dialect: str, state: str, ladder: str) -> None:
    spoken = SPOKEN[dialect]()
    assembler = made(spoken, ladder).add_messages(STATES[state])
    tokens = full(assembler)
    try:
        context = assembler.build()
    except ConversationError as refusal:
        with pytest.raises(ConversationError) as caught:
            assembler.plan().manifest()
        assert str(caught.value) == str(refusal)
        assert f"no request yet: {refusal}" in assembler.plan().report.notes
    else:
        assert tokens == context.count.tokens
        assert not any("no request yet" in note for note in context.report.notes)


@pytest.mark.parametrize("dialect", SPOKEN)
def test_a_conversation_that_an_api_refuses_is_refused_until_the_next_message(dialect: str) -> None:
    assembler = made(SPOKEN[dialect]()).add_messages(STATES["waits for a result"])
    assembler.plan()
    with pytest.raises(ConversationError, match="has no result"):
        assembler.build()
    with pytest.raises(ConversationError, match="has no result"):
        pickle.loads(pickle.dumps(assembler)).build()
    built = assembler.add_message(answered(A)).build()
    assert built.count == assembler.plan().count


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "plain"])
@pytest.mark.parametrize("then", [[SAID], [called(A)], [called(A, B), answered(A)]], ids=["said", "called", "half"])
def test_an_anchored_conversation_counts_from_its_bill_before_the_next_message_too(
    dialect: str, then: list[Message]
) -> None:
    assembler = made(DIALECTS[dialect]).add_messages([*PAST, USER])
    billed = assembler.build()
    assembler.anchor(calibrate(billed, billed.count.tokens + 70))
    for message in then:
        assembler.add_message(message)
    by_rule = assembler.fork().anchor(None).plan().count.tokens
    tokens = full(assembler)
    assert tokens > billed.count.tokens + 70
    if then != [called(A, B), answered(A)]:
        assert tokens == by_rule + 70


def test_a_plan_refuses_a_history_that_no_later_message_can_repair() -> None:
    assembler = made(anthropic)
    lost = [{"role": "user", "content": f"{place}"} for place in range(300)]
    lost[3:3] = [called(A)]
    assembler.add_messages(lost)
    with pytest.raises(ConversationError, match="before this message"):
        assembler.plan()
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    with pytest.raises(UnsupportedContentError):
        made(anthropic).add_message({"role": "user", "content": [sound]}).plan()


@given(
    letters=st.lists(st.sampled_from("uascr"), max_size=9),
    window=st.integers(1, 120),
    ladder=st.sampled_from(sorted(LADDERS)),
    dialect=st.sampled_from(sorted(DIALECTS)),
)
def test_a_plan_returns_or_raises_as_documented(letters: list[str], window: int, ladder: str, dialect: str) -> None:
    assembler = made(DIALECTS[dialect], ladder, window)
    open_calls: list[str] = []
    for place, letter in enumerate(letters):
        if letter == "r" and open_calls:
            message = answered(open_calls.pop(0))
        elif letter == "c" and not open_calls:
            open_calls = [f"call{place:05}", f"cald{place:05}"][: 1 + place % 2]
            message = called(*open_calls)
        elif letter in "uas" and not open_calls:
            message = {"role": {"u": "user", "a": "assistant", "s": "system"}[letter], "content": f"{place}"}
        else:
            continue
        assembler.add_message(message)
        costs = assembler.costs()
        assert costs.total == sum(costs.to_dict().values())
        assert 0 <= assembler.available_for_messages() <= window
        try:
            plan = assembler.plan()
        except ContextLengthError as error:
            with pytest.raises(ContextLengthError) as caught:
                assembler.build()
            assert caught.value.required == error.required
            continue
        try:
            assert assembler.build().count == plan.count
        except ConversationError:
            assert open_calls or "no request yet" in str(plan.report)


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock", "gemini", "openai_chat"])
def test_a_greeting_added_after_a_look_at_an_empty_conversation_is_still_left_out(dialect: str) -> None:
    greeting, asked = ("assistant", "Welcome!"), ("user", "Where am I?")
    looked = Assembler(Budget(1_000), dialect=dialect).add_instruction("Be brief.")
    for message in (greeting, asked):
        assert looked.plan().count.tokens > 0
        looked.add_message(message)
    fresh = Assembler(Budget(1_000), dialect=dialect).add_instruction("Be brief.").add_messages([greeting, asked])
    assert looked.build().request() == fresh.build().request()
    assert looked.build().count == fresh.build().count


def bill_of(billed: int | Overflow) -> Assembler:
    assembler = Assembler(Budget(1_000, counter=len)).set_instruction("x" * 100).add_message(("user", "hi"))
    return assembler.anchor(calibrate(assembler.build(), billed))


@pytest.mark.parametrize(
    "billed", [51, 101, 102, 103, 120, 302, Overflow(used=120, limit=200), Overflow(used=102, limit=110)], ids=str
)
def test_a_conversation_of_the_tokens_left_fits_after_a_bill_or_a_refusal(billed: int | Overflow) -> None:
    left = bill_of(billed).available_for_messages()
    assert bill_of(billed).set_messages([("user", "y" * left)]).build().messages


@pytest.mark.parametrize(
    ("billed", "left"),
    [
        (102, 900),  # as counted
        (302, 400),  # at most twice the count is believed: 500 of the 1,000, less the instruction
        (Overflow(used=102, limit=110), 10),  # what the provider accepts, less the instruction
    ],
    ids=str,
)
def test_a_bill_leaves_fewer_tokens_for_messages(billed: int | Overflow, left: int) -> None:
    assert bill_of(billed).available_for_messages() == left
