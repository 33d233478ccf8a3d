"""Which part of a request stays the same from call to call, compared with the JSON of the requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, Context, TrimOldest
from assembler.dialects import (
    Dialect,
    Emission,
    anthropic,
    bedrock,
    gemini,
    mistral,
    openai_chat,
    openai_responses,
    plain,
)
from assembler.report.cache import OPENING
from assembler.report.cache.entries import RequestBytes, first_changed, read_request_bytes
from budgets import Budget, ContextLengthError

LISTS = {"anthropic": "messages", "bedrock": "messages", "gemini": "contents", "openai_responses": "input"}
DIALECTS = [anthropic, bedrock, gemini, mistral, openai_chat, openai_responses, plain]
CALLED = [{"id": "call00001", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
TOOLS = [{"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}]
contents = st.text("abcd é", min_size=1, max_size=8).filter(str.strip)


@st.composite
def sessions(draw: st.DrawFn, max_turns: int = 8) -> list[dict[str, Any]]:
    """Turns of a question, maybe a call and its result, and an answer; the last one ends with the user."""
    history: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, max_turns))):
        history.append({"role": "user", "content": draw(contents)})
        if draw(st.booleans()):
            history.append({"role": "assistant", "content": None, "tool_calls": CALLED})
            history.append({"role": "tool", "tool_call_id": "call00001", "content": draw(contents)})
        history.append({"role": "assistant", "content": draw(contents)})
    return [*history, {"role": "user", "content": draw(contents)}]


def listed(context: Context, dialect: Dialect) -> tuple[str, list[str]]:
    request = context.request()
    entries = request.pop(LISTS.get(dialect.name, "messages"))
    return written(request), [written(entry) for entry in entries]


def written(value: object) -> str:
    return json.dumps(value, default=str)


def session_assembler(dialect: Dialect, instruction: str = "Be brief.") -> Assembler:
    return Assembler(dialect=dialect).add_instruction(instruction).add_capability(TOOLS)


def unfinished(history: list[dict[str, Any]]) -> list[int]:
    """Lengths at which a request is made: the history ends with the user or with a result."""
    return [at for at, message in enumerate(history, 1) if message["role"] in ("user", "tool")]


@given(sessions(), st.sampled_from(DIALECTS), st.data())
def test_first_changed_is_the_place_where_the_json_of_two_requests_differs(
    history: list[dict[str, Any]], dialect: Dialect, data: st.DataObject
) -> None:
    stops = unfinished(history)
    now, before = (data.draw(st.sampled_from(stops)) for _ in range(2))
    earlier = [dict(message) for message in history[:before]]
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, before - 1))
        if earlier[place]["content"] is not None:
            earlier[place]["content"] = data.draw(contents)
    instruction = data.draw(st.sampled_from(["Be brief.", "Be brief. "]))
    one = session_assembler(dialect).add_messages(history[:now]).build()
    other = session_assembler(dialect, instruction).add_messages(earlier).build()
    opening, entries = listed(one, dialect)
    known_opening, known = listed(other, dialect)
    if opening != known_opening:
        expected: int | None = OPENING
    elif entries[: len(known)] == known:
        expected = None
    else:
        expected = next(at for at in range(len(known)) if at >= len(entries) or entries[at] != known[at])
    assert one.first_changed(other) == expected


@given(sessions(), st.sampled_from(DIALECTS))
def test_a_growing_conversation_changes_nothing_that_was_sent(history: list[dict[str, Any]], dialect: Dialect) -> None:
    assembler = session_assembler(dialect)
    previous: Context | None = None
    for at, message in enumerate(history, 1):
        assembler.add_message(message)
        if at not in unfinished(history):
            continue
        context = assembler.build()
        if previous is not None:
            assert context.first_changed(previous) is None
        previous = context


@given(sessions(max_turns=12), st.sampled_from([0.3, 0.5, 0.8]), st.integers(20, 60))
def test_the_prefix_hash_moves_only_with_a_turn_or_a_cut(history: list[dict[str, Any]], low: float, room: int) -> None:
    policy = TrimOldest(low_water=low)
    assembler = Assembler(Budget(room, counter=len), dialect=plain, on_overflow=policy)
    known: tuple[int, int] | None = None
    hashed = ""
    for at, message in enumerate(history, 1):
        assembler.add_message(message)
        if at not in unfinished(history):
            continue
        try:
            context = assembler.build()
        except ContextLengthError:
            known = None
            continue
        turns = sum(1 for earlier in history[:at] if earlier["role"] == "user")
        state = (turns, len(context.dropped))
        if known == state:
            assert context.prefix_hash == hashed
        elif known is not None:
            # An empty prefix before and after a cut of everything old is the one state that looks like another.
            assert context.prefix_hash != hashed or len(context.messages) <= 1 or known[1] != state[1]
        known, hashed = state, context.prefix_hash


@given(sessions(), st.sampled_from(DIALECTS), contents)
def test_another_newest_question_leaves_the_prefix_hash_alone(
    history: list[dict[str, Any]], dialect: Dialect, question: str
) -> None:
    base = session_assembler(dialect).add_messages(history)
    other = session_assembler(dialect).add_messages([*history[:-1], {"role": "user", "content": question}])
    assert base.build().prefix_hash == other.build().prefix_hash


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_another_instruction_tool_or_old_message_moves_the_prefix_hash(dialect: Dialect) -> None:
    history = [("user", "a"), ("assistant", "b"), ("user", "c")]
    base = session_assembler(dialect).add_messages(history)
    hashes = {
        assembler.build().prefix_hash
        for assembler in (
            base,
            base.fork().add_instruction("Be long."),
            base.fork().add_capability([{**TOOLS[0], "description": "Looks twice."}]),
            base.fork().add_messages([("user", "A"), *history[1:]]),
        )
    }
    assert len(hashes) == 4


def test_a_question_that_is_merged_into_the_one_before_takes_it_out_of_the_prefix() -> None:
    history = [("user", "a"), ("assistant", "b"), ("user", "c"), ("user", "d")]
    short = [("user", "a"), ("assistant", "b"), ("user", "x")]
    one, other = (session_assembler(anthropic).add_messages(messages).build() for messages in (history, short))
    assert one.prefix_hash == other.prefix_hash


def test_a_request_without_turns_is_its_own_prefix() -> None:
    one = Assembler(dialect=plain).add_instruction("a").build()
    assert one.prefix_hash != Assembler(dialect=plain).add_instruction("b").build().prefix_hash
    assert one.first_changed(one) is None


def test_a_newest_turn_with_nothing_to_say_has_no_entry_of_its_own() -> None:
    spoken = [("user", "a"), ("user", " ")]
    assert session_assembler(anthropic).add_messages(spoken).build().prefix_hash


def test_a_finished_prompt_is_compared_message_by_message() -> None:
    class Finished:
        def __getattr__(self, name: str) -> Any:
            return getattr(plain, name)

        def emit(self, layout: Any) -> Emission:
            return Emission({"prompt": json.dumps(plain.emit(layout).request, default=str)})

    one = session_assembler(Finished()).add_messages([("user", "a"), ("assistant", "b"), ("user", "c")])
    grown = one.fork().add_message(("assistant", "d")).add_message(("user", "e"))
    assert grown.build().first_changed(one.build()) is None
    assert one.build().first_changed(grown.build()) == 3


def test_bytes_inside_a_request_are_compared_by_what_they_are() -> None:
    def sent(octet: int) -> RequestBytes:
        image = {"image": {"format": "png", "source": {"bytes": bytes([octet])}}}
        found = read_request_bytes({"messages": [{"role": "user", "content": [image]}]})
        assert found is not None
        return found

    assert first_changed(sent(1), sent(1)) is None
    assert first_changed(sent(1), sent(2)) == 0
