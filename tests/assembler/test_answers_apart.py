"""Answers of one step cost the same in one message and in several, in every spelling."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ClearToolResults, Refuse, Truncate, count_request, verify
from assembler.dialects import DIALECTS
from assembler.drawn.conversations import Call, Conversation, Definition, Exchange, Property, Step
from assembler.drawn.spelling import SPELLINGS
from budgets import Budget
from tests.assembler.one_price import Api, assembled, costs_its_request
from tests.assembler.steps import HOLDS, asking, part, step
from tests.assembler.steps import SPELLINGS as SPELLED
from tests.scaled import scaled

NAME = "search"
"""The tool of every call."""
ASKED = {"role": "user", "content": "Find it."}


@st.composite
def _histories(draw: st.DrawFn) -> list[Any]:
    spelling = draw(st.sampled_from(SPELLED))
    answers = draw(st.lists(st.sampled_from(["sunny", '{"a": "é"}', 'said "no"', "1", ""]), min_size=1, max_size=4))
    named = spelling != "gemini" or draw(st.booleans())
    behind = [part(spelling, "Both, please.")] if spelling in HOLDS and draw(st.booleans()) else []
    messages = step(spelling, answers, named=named, apart=draw(st.booleans()), behind=behind)
    return [asking(spelling, "Find it."), *messages]


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
    api = Api(dialect, SPELLINGS[dialect].models[0])
    costs_its_request(assembled(api, data.draw(_histories() | _of_its_own(dialect))).build(), api)


def test_two_responses_without_ids_in_contents_of_their_own_are_one_list_of_results() -> None:
    api = Api("openai_chat", "gpt-4o")
    history = [asking("gemini", "Find it."), *step("gemini", ["sunny", "windy"], named=False)]
    costs_its_request(assembled(api, history).build(), api)


def _by_quarters(text: str) -> int:
    return -(-len(text) // 4)


@pytest.mark.parametrize("policy", [Refuse(), ClearToolResults(keep=2), Truncate(20)], ids=["whole", "cleared", "cut"])
@pytest.mark.parametrize("counter", [None, _by_quarters], ids=["o200k_base", "another counter"])
@pytest.mark.parametrize("spelling", SPELLED)
def test_many_answers_of_one_step_cost_as_one_list_what_they_are_sent_as(
    spelling: str, counter: Any, policy: Any
) -> None:
    """Each answer was priced beside its neighbours alone, but the bound of the whole list is rounded once."""
    for many in range(8, 16):
        answers = ["It is as sunny as it was yesterday. " * 9] * many
        history = [asking(spelling, "Find it."), *step(spelling, answers)]
        needed = _built(history, Budget(100_000, counter=counter), Refuse()).count.upper
        window = needed if isinstance(policy, Refuse) else needed - 5
        context = _built(history, Budget(window, counter=counter), policy)
        assert context.count == count_request(context.request(), dialect="openai_chat", counter=counter)


def _built(history: list[Any], budget: Budget, policy: Any) -> Any:
    return Assembler(budget, dialect="openai_chat", on_overflow=policy).add_messages(history).build()


def test_an_answer_under_an_empty_id_is_sent_under_the_id_that_its_call_gets() -> None:
    """The call got an id, because the API wants one, and its answer kept the empty one."""
    function = {"name": "look_up_the_weather", "arguments": "{}"}
    call = {"id": "", "type": "function", "function": function}
    answers: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": "", "content": "sunny"},
        {"role": "tool", "tool_call_id": "", "content": "sunny", "name": "look_up_the_weather"},
    ]
    models = {"openai_chat": "gpt-4o", "mistral": "mistral-small-latest", "anthropic": "claude-opus-4-1"}
    history: list[Any] = [ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}]
    for (dialect, model), answer in itertools.product(models.items(), answers):
        assembler = Assembler(Budget(10_000, model=model), dialect=dialect).add_capability([{"name": function["name"]}])
        context = assembler.add_messages([*history, answer, ASKED]).build()
        request = context.request()
        assert verify(request, dialect=dialect) == []
        assert count_request(request, dialect=dialect, model=model) == context.count
        assert str(request).count("sunny") == 1


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-3.5-turbo"])
def test_an_answer_to_a_function_with_an_illegal_name_costs_what_it_is_sent_as(model: str) -> None:
    """Its call is sent as a tool call with a legal name, so it is a tool's answer, whose name costs nothing."""
    function = {"name": "weather: look up", "arguments": "{}"}
    answer = {"role": "function", "name": function["name"], "content": "sunny"}
    history = [ASKED, {"role": "assistant", "content": None, "function_call": function}, answer, ASKED]
    context = Assembler(Budget(10_000, model=model), dialect="openai_chat").add_messages(history).build()
    request = context.request()
    assert verify(request, dialect="openai_chat") == []
    assert count_request(request, dialect="openai_chat", model=model) == context.count


def test_an_answer_under_another_functions_name_gets_the_id_of_the_call_that_it_answers() -> None:
    function = {"name": "weather: look up", "arguments": "{}"}
    answer = {"role": "function", "name": "look_up", "content": "sunny"}
    history = [ASKED, {"role": "assistant", "content": None, "function_call": function}, answer, ASKED]
    request = Assembler(dialect="openai_chat").add_messages(history).build().request()
    assert verify(request, dialect="openai_chat") == []
