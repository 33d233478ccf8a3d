"""Answers of one step cost the same in one message and in several, in every spelling."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ClearToolResults, Refuse, Truncate, count_request
from assembler.dialects import DIALECTS
from assembler.drawn.conversations import Call, Conversation, Definition, Exchange, Property, Step
from assembler.drawn.spelling import SPELLINGS
from budgets import Budget
from tests.scaled import scaled

NAME = "search"
"""The tool of every call."""


def _gemini(calls: list[str | None], answers: list[str]) -> tuple[list[Any], list[Any]]:
    def part(kind: str, call: str | None, **fields: object) -> dict[str, Any]:
        return {kind: {"name": NAME, **fields} | ({} if call is None else {"id": call})}

    asked = [part("functionCall", call, args={"q": str(place)}) for place, call in enumerate(calls)]
    given = [part("functionResponse", call, response={"said": text}) for call, text in zip(calls, answers, strict=True)]
    return [{"role": "model", "parts": asked}], [{"role": "user", "parts": [one]} for one in given]


def _anthropic(calls: list[str | None], answers: list[str]) -> tuple[list[Any], list[Any]]:
    asked = [
        {"type": "tool_use", "id": call, "name": NAME, "input": {"q": str(place)}} for place, call in enumerate(calls)
    ]
    given = [
        {"type": "tool_result", "tool_use_id": call, "content": text} for call, text in zip(calls, answers, strict=True)
    ]
    return [{"role": "assistant", "content": asked}], [{"role": "user", "content": [one]} for one in given]


def _bedrock(calls: list[str | None], answers: list[str]) -> tuple[list[Any], list[Any]]:
    asked = [
        {"toolUse": {"toolUseId": call, "name": NAME, "input": {"q": str(place)}}} for place, call in enumerate(calls)
    ]
    given = [
        {"toolResult": {"toolUseId": call, "content": [{"text": text}]}}
        for call, text in zip(calls, answers, strict=True)
    ]
    return [{"role": "assistant", "content": asked}], [{"role": "user", "content": [one]} for one in given]


def _openai(calls: list[str | None], answers: list[str]) -> tuple[list[Any], list[Any]]:
    asked = [
        {"id": call, "type": "function", "function": {"name": NAME, "arguments": f'{{"q": "{place}"}}'}}
        for place, call in enumerate(calls)
    ]
    given = [{"role": "tool", "tool_call_id": call, "content": text} for call, text in zip(calls, answers, strict=True)]
    return [{"role": "assistant", "content": None, "tool_calls": asked}], given


def _responses(calls: list[str | None], answers: list[str]) -> tuple[list[Any], list[Any]]:
    asked = [
        {"type": "function_call", "call_id": call, "name": NAME, "arguments": f'{{"q": "{place}"}}'}
        for place, call in enumerate(calls)
    ]
    given = [
        {"type": "function_call_output", "call_id": call, "output": text}
        for call, text in zip(calls, answers, strict=True)
    ]
    return asked, given


SPELLED = {
    "gemini": _gemini,
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "openai_chat": _openai,
    "openai_responses": _responses,
}
HOLD_SEVERAL = {"gemini": "parts", "anthropic": "content", "bedrock": "content"}
"""Where a spelling's message keeps several answers."""
SAID = {
    "gemini": {"text": "Both, please."},
    "anthropic": {"type": "text", "text": "Both, please."},
    "bedrock": {"text": "Both, please."},
}
"""Words of the user's behind the answers."""


def _together(answers: list[Any], key: str) -> list[Any]:
    return [{**answers[0], key: [part for answer in answers for part in answer[key]]}]


@st.composite
def _histories(draw: st.DrawFn) -> list[Any]:
    spelling = draw(st.sampled_from(sorted(SPELLED)))
    answers = draw(st.lists(st.sampled_from(["sunny", '{"a": "é"}', 'said "no"', "1", ""]), min_size=1, max_size=4))
    named = spelling != "gemini" or draw(st.booleans())
    calls = [f"call_{place}" if named else None for place in range(len(answers))]
    asked, given = SPELLED[spelling](calls, answers)
    key = HOLD_SEVERAL.get(spelling)
    if key is not None:
        if draw(st.booleans()):
            given = _together(given, key)
        if draw(st.booleans()):
            given[-1] = {**given[-1], key: [*given[-1][key], SAID[spelling]]}
    opening = {"gemini": {"role": "user", "parts": [{"text": "Find it."}]}}
    return [opening.get(spelling, {"role": "user", "content": "Find it."}), *asked, *given]


@st.composite
def _of_its_own(draw: st.DrawFn, dialect: str) -> list[Any]:
    """A step with several answers, in the form of the dialect's own drawn conversations."""
    texts = draw(st.lists(st.sampled_from(["sunny", '{"a": "é"}', "1"]), min_size=1, max_size=4))
    calls = tuple(Call(place, NAME, {"q": str(place)}, text, failed=False) for place, text in enumerate(texts))
    step = Step(None, (), calls, tuple(draw(st.permutations(range(len(calls))))))
    tool = Definition(NAME, "Searches.", (Property("q", 0, required=True),))
    spelling = SPELLINGS[dialect]
    spoken = Conversation(None, (Exchange(("Find it.",), None, (step,), None, ()),), (tool,))
    read = DIALECTS[dialect].parse(spelling.request(spoken)).messages
    return [raw for message in read for raw in (message.raw if isinstance(message.raw, list) else [message.raw])]


@pytest.mark.parametrize("dialect", DIALECTS)
@scaled(0.5)
@given(data=st.data())
def test_answers_cost_what_they_cost_in_the_sent_request(dialect: str, data: st.DataObject) -> None:
    history = data.draw(_histories() | _of_its_own(dialect))
    model, spoken = SPELLINGS[dialect].models[0], DIALECTS[dialect]
    tools = [{"name": NAME, "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}]
    budget = Budget(1_000_000, model=model)
    context = Assembler(budget, dialect=spoken).add_capability(tools).add_messages(history).build()
    assert context.count == count_request(context.request(), dialect=spoken, model=model)


def test_two_responses_without_ids_in_contents_of_their_own_are_one_list_of_results() -> None:
    asked, given = _gemini([None, None], ["sunny", "windy"])
    history = [{"role": "user", "parts": [{"text": "Find it."}]}, *asked, *given]
    context = Assembler(Budget(1_000_000, model="gpt-4o"), dialect=DIALECTS["openai_chat"]).add_messages(history)
    built = context.build()
    assert built.count == count_request(built.request(), dialect=DIALECTS["openai_chat"], model="gpt-4o")


def _by_quarters(text: str) -> int:
    return -(-len(text) // 4)


@pytest.mark.parametrize("policy", [Refuse(), ClearToolResults(keep=2), Truncate(20)], ids=["whole", "cleared", "cut"])
@pytest.mark.parametrize("counter", [None, _by_quarters], ids=["o200k_base", "another counter"])
@pytest.mark.parametrize("spelling", SPELLED)
def test_many_answers_of_one_step_cost_as_one_list_what_they_are_sent_as(
    spelling: str, counter: Any, policy: Any
) -> None:
    """Each was priced beside its nearest neighbours alone, and the bound of the whole list is rounded once."""
    opening = {"gemini": {"role": "user", "parts": [{"text": "Find it."}]}}
    for many in range(8, 16):
        answers = ["It is as sunny as it was yesterday. " * 9] * many
        asked, given = SPELLED[spelling]([f"c{place}" for place in range(many)], answers)
        history = [opening.get(spelling, {"role": "user", "content": "Find it."}), *asked, *given]
        needed = _built(history, Budget(100_000, counter=counter), Refuse()).count.upper
        window = needed if isinstance(policy, Refuse) else needed - 5
        context = _built(history, Budget(window, counter=counter), policy)
        assert context.count == count_request(context.request(), dialect="openai_chat", counter=counter)


def _built(history: list[Any], budget: Budget, policy: Any) -> Any:
    return Assembler(budget, dialect="openai_chat", on_overflow=policy).add_messages(history).build()
