"""Content that a server holds must be declared with `held` and is then budgeted."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from assembler import Assembler, ConversationError, TrimOldest, count_request, fit_request, verify
from assembler.dialects import DIALECTS, chat_template
from budgets import Budget, BudgetError, ContextLengthError, Count, Grade, Limit
from tests.assembler.dialects.test_chat_template import TOKENIZERS

Dict = dict[str, Any]

STATEFUL: list[tuple[str, Dict]] = [
    ("openai_responses", {"input": "on", "previous_response_id": "resp_1"}),
    ("openai_responses", {"input": "on", "conversation": {"id": "conv_1"}}),
    ("openai_responses", {"input": "on", "prompt": {"id": "pmpt_1"}}),
    ("gemini", {"contents": "on", "config": {"cached_content": "cachedContents/1"}}),
    ("gemini", {"contents": [{"parts": [{"text": "on"}]}], "cachedContent": "cachedContents/1"}),
    ("anthropic", {"messages": [{"role": "user", "content": "on"}], "container": "container_1"}),
    ("bedrock", {"messages": [{"role": "user", "content": [{"text": "on"}]}], "promptVariables": {"a": {"text": "b"}}}),
]


@pytest.mark.parametrize(("dialect", "body"), STATEFUL)
def test_a_request_that_its_server_extends_is_not_counted_without_held(dialect: str, body: Dict) -> None:
    with pytest.raises(ConversationError, match="held="):
        count_request(body, dialect=dialect)
    alone = count_request(body, dialect=dialect, held=0)
    assert count_request(body, dialect=dialect, held=1_000).tokens == alone.tokens + 1_000
    bounded = count_request(body, dialect=dialect, held=Count(1_000, Grade.BOUNDED, upper=1_200))
    assert bounded.upper == alone.upper + 1_200
    assert bounded.grade >= Grade.BOUNDED


@pytest.mark.parametrize("wrong", [-1, True, 1.5, "1000"])
def test_held_takes_a_number_of_tokens(wrong: Any) -> None:
    with pytest.raises(BudgetError, match="held"):
        count_request({"input": "on"}, dialect="openai_responses", held=wrong)
    with pytest.raises(BudgetError, match="held"):
        Assembler().hold(wrong)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_assembler_leaves_tokens_for_what_the_server_holds(dialect: str) -> None:
    base = Assembler(dialect=DIALECTS[dialect]).add_message({"role": "user", "content": "q"})
    alone = base.build().count
    context = base.fork().hold(1_000).build()
    assert context.count.tokens == alone.tokens + 1_000
    assert context.count.upper == alone.upper + 1_000
    assert context.costs.total == context.count.tokens
    assert context.request() == base.build().request()
    for budget, fits in ((alone.upper + 1_000, True), (alone.upper + 999, False)):
        small = Assembler(Budget(budget), dialect=DIALECTS[dialect]).add_message({"role": "user", "content": "q"})
        small.hold(1_000)
        if fits:
            assert small.build().count == context.count
        else:
            with pytest.raises(ContextLengthError):
                small.build()
    assert base.hold(1_000).hold(None).build().count == alone


@pytest.mark.parametrize("held", [985, 2_000])
def test_what_the_server_holds_is_named_as_too_large_and_the_advised_step_works(held: int) -> None:
    history = [{"role": role, "content": "word " * 90} for _ in range(9) for role in ("user", "assistant")]
    history.append({"role": "user", "content": "q"})
    budget = Budget(1_000, model="gpt-5")
    assembler = Assembler(budget, dialect="openai_responses", on_overflow=TrimOldest()).add_instruction("word " * 20)
    with pytest.raises(ContextLengthError) as raised:
        assembler.fork().hold(held).add_messages(history[-1:]).build()
    assert f", of which the server holds {held}. Call hold(None), and send the whole" in raised.value.advice
    assert raised.value.smallest_window is not None
    assert assembler.hold(None).add_messages(history).build().dropped
    with pytest.raises(ContextLengthError, match="Shorten the instruction"):
        assembler.hold(50).add_instruction("word " * 2_000).build()


def test_a_policy_leaves_tokens_for_what_the_server_holds() -> None:
    history = [{"role": role, "content": "word " * 20} for _ in range(5) for role in ("user", "assistant")]
    assembler = Assembler(Budget(400), dialect="openai_responses", on_overflow=TrimOldest())
    assembler.add_messages([*history, {"role": "user", "content": "q"}])
    assert not assembler.build().dropped
    assert assembler.hold(200).build().dropped


def test_held_tokens_are_copied_and_pickled_with_the_assembler() -> None:
    assembler = Assembler().hold(100).add_message(("user", "q"))
    assert copy.deepcopy(assembler).build().count == assembler.build().count
    assert pickle.loads(pickle.dumps(assembler)).build().count == assembler.build().count


def test_a_chat_template_takes_no_held_tokens() -> None:
    with pytest.raises(BudgetError, match="holds everything"):
        Assembler(dialect=chat_template(TOKENIZERS["chatml"])).hold(5)


def test_a_body_that_continues_an_answer_is_fitted_once_held_is_given() -> None:
    body = {"input": "on", "previous_response_id": "resp_1"}
    assembler = Assembler(Budget(500), dialect="openai_responses")
    with pytest.raises(ConversationError, match="hold"):
        fit_request(body, dialect="openai_responses", assembler=assembler)
    assert fit_request(body, dialect="openai_responses", assembler=assembler.hold(100)) == body
    with pytest.raises(ContextLengthError):
        fit_request(body, dialect="openai_responses", assembler=assembler.hold(5_000))


OUTPUT: Dict = {"type": "function_call_output", "call_id": "c1", "output": "Sunny. " * 40}
SECOND: Dict = {"type": "function_call_output", "call_id": "c2", "output": "Windy."}


def increment() -> Assembler:
    budget = Budget(2_000, max_output_tokens=100, model="gpt-5")
    return Assembler(budget, dialect="openai_responses", on_overflow=TrimOldest())


@pytest.mark.parametrize("way", ["one by one", "as a list"])
def test_the_answer_to_a_call_that_the_server_holds_is_sent_once_held_is_given(way: str) -> None:
    items = [OUTPUT, SECOND, {"role": "user", "content": "And tomorrow?"}]
    assembler = increment().hold(700)
    if way == "as a list":
        assembler.add_messages(items)
    else:
        for item in items:
            assembler.add_message(item)
    context = assembler.build()
    assert context.request()["input"] == items
    body = {**context.request(), "previous_response_id": "resp_1"}
    assert verify(body, dialect="openai_responses") == []
    assert count_request(body, dialect="openai_responses", model="gpt-5", held=700).tokens == context.count.tokens


def test_without_held_it_is_refused_and_the_advised_step_works() -> None:
    with pytest.raises(ConversationError, match=r"assembler\.hold\(tokens\)") as refused:
        increment().add_message(OUTPUT)
    assert (refused.value.call_id, refused.value.index) == ("c1", 0)
    with pytest.raises(ConversationError, match="hold"):
        increment().hold(700).add_message(OUTPUT).hold(None)
    assert increment().hold(700).add_message(OUTPUT).build().request()["input"] == [OUTPUT]


@pytest.mark.parametrize("dialect", ["openai_chat", "anthropic"])
def test_an_api_that_holds_no_conversation_refuses_an_answer_without_its_call(dialect: str) -> None:
    with pytest.raises(ConversationError):
        Assembler(dialect=dialect).hold(700).add_message(OUTPUT)


def test_an_answer_in_the_middle_still_needs_its_call() -> None:
    with pytest.raises(ConversationError, match="answers no open call"):
        increment().hold(700).add_messages([OUTPUT, {"role": "user", "content": "?"}, SECOND])


@pytest.mark.parametrize("room", [1_000, 400])
def test_no_policy_drops_an_answer_that_the_server_waits_for(room: int) -> None:
    assembler = increment().hold(1_899 - room).add_message(OUTPUT)
    for number in range(9):
        assembler.add_message({"role": "user", "content": f"{number}: " + "go on " * 20})
        assembler.add_message({"role": "assistant", "content": "I do."})
    context = assembler.add_message({"role": "user", "content": "And?"}).build()
    assert context.request()["input"][0] == OUTPUT
    assert bool(context.dropped) is (room == 400)


def test_a_body_with_an_answer_alone_is_fitted() -> None:
    body = {"model": "gpt-5", "input": [OUTPUT], "previous_response_id": "resp_1"}
    fitted = fit_request(body, dialect="openai_responses", assembler=increment().hold(700))
    assert fitted["input"] == [OUTPUT]


def test_another_number_may_be_held_for_a_history_that_begins_with_an_answer_to_the_server() -> None:
    answer = {"type": "function_call_output", "call_id": "call_1", "output": "found"}
    assembler = Assembler(Budget(1_000, model="gpt-4o"), dialect="openai_responses").hold(100).add_messages([answer])
    first = assembler.build().count.tokens
    assert assembler.hold(200).build().count.tokens == first + 100
    with pytest.raises(ConversationError, match="answers no call"):
        assembler.hold(None)


def test_a_cap_on_a_conversation_that_a_template_prints_is_named_in_the_error() -> None:
    budget = Budget(1_000, limits={"conversation": Limit(cap=20)})
    assembler = Assembler(budget, dialect=chat_template(TOKENIZERS["chatml"])).add_instruction("Be brief.")
    with pytest.raises(ContextLengthError) as raised:
        assembler.add_message(("user", "word " * 60)).build()
    error = raised.value
    assert error.region == "conversation"
    assert error.costs is not None
    assert error.available == error.required - error.costs.conversation + 20
