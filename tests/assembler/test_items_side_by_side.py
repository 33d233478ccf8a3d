"""Items of Responses that are sent as one turn of the model are priced as that turn, whatever was dropped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    TrimOldest,
    TrimSteps,
    Truncate,
    count_request,
    verify,
)
from assembler.dialects import DIALECTS
from assembler.pricing.ledger import Ledger
from assembler.testing import conversations
from budgets import Budget
from tests.assembler.one_price import LADDERS, SHARES, TRIM, Api, costs_its_request_whole_and_cut
from tests.assembler.steps import saying, step
from tests.scaled import scaled

CHAT = [Api("openai_chat", model) for model in ("gpt-4o", "gpt-5", "deepseek-chat", "a-model-of-nobody")]
ITEMS = [Api("openai_responses", model) for model in ("gpt-4o", "gpt-5", "grok-4", "a-model-of-nobody")]
OTHERS = [
    Api("anthropic", "claude-sonnet-4-5"),
    Api("gemini", "gemini-2.5-flash"),
    Api("mistral", "mistral-large-latest"),
]
BETWEEN = [*CHAT, *ITEMS, *OTHERS]
ASKED: list[Any] = [{"role": "user", "content": "Is it late?"}]
NEXT: list[Any] = [{"role": "user", "content": "And now?"}]
CALL: Any = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
OUTPUT: Any = {"type": "function_call_output", "call_id": "c1", "output": "yes"}


@pytest.mark.parametrize("api", BETWEEN, ids=str)
@scaled(0.3)
@given(history=conversations("openai_responses"), ladder=LADDERS, share=SHARES)
@example(
    # Between the two texts two items are dropped, and the reasoning goes to no other API: they go out as one.
    [
        *ASKED,
        saying("openai_responses", "see " * 4),
        *(CALL, OUTPUT),
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"role": "assistant", "content": "There."},
        *({**CALL, "call_id": "c2", "arguments": '{"q": "late trains"}'}, {**OUTPUT, "call_id": "c2"}),
        *({**CALL, "call_id": "c3"}, {**OUTPUT, "call_id": "c3"}),
    ],
    (TrimSteps(keep=0),),
    0.491,
)
def test_a_build_costs_what_its_own_request_costs(api: Api, history: list[Any], ladder: Any, share: float) -> None:
    costs_its_request_whole_and_cut(api, history, ladder, share)


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses"])
@pytest.mark.parametrize("calls", [1, 2, 5])
def test_parallel_calls_cost_the_same_as_items_and_as_one_message(name: str, calls: int) -> None:
    answers = ["sunny, 21 degrees"] * calls
    items, messages = ([*ASKED, *step(api, answers)] for api in ("openai_responses", "openai_chat"))
    assembler = Assembler(Budget.for_model("gpt-4o"), dialect=DIALECTS[name])
    assert assembler.fork().add_messages(items).build().count == assembler.add_messages(messages).build().count


def _call(call_id: str, kind: str = "function_call") -> dict[str, str]:
    given = {"arguments": "{}"} if kind == "function_call" else {"input": "all of it"}
    return {"type": kind, "call_id": call_id, "name": "search", **given}


def _output(call_id: str, kind: str = "function_call") -> dict[str, str]:
    return {"type": f"{kind}_output", "call_id": call_id, "output": "found"}


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("place", range(3))
def test_a_custom_call_is_sent_in_one_turn_with_the_calls_beside_it(name: str, place: int) -> None:
    kinds = ["function_call"] * 3
    kinds[place] = "custom_tool_call"
    calls = [_call(f"c{number}", kind) for number, kind in enumerate(kinds)]
    outputs = [_output(f"c{number}", kind) for number, kind in enumerate(kinds)]
    assembler = Assembler(dialect=name).add_capability([{"name": "search", "parameters": {"type": "object"}}])
    context = assembler.add_messages([{"role": "user", "content": "q"}, *calls, *outputs]).build()
    assert name == "plain" or verify(context.request(), dialect=name) == []
    assert context.count == count_request(context.request(), dialect=name)


def answer_item(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": text, "role": "assistant", "status": "completed", "content": content}


@pytest.mark.parametrize("dialect", ["openai_chat", "mistral", "anthropic", "gemini", "bedrock"])
@pytest.mark.parametrize("texts", [["Wait."], ["Wait.", "There."], ["Wait.", "There.", "So."]])
@pytest.mark.parametrize("easy", [False, True], ids=["items", "no type"])
def test_texts_between_a_call_and_its_answer_do_not_separate_them(dialect: str, texts: list[str], easy: bool) -> None:
    tools: list[Any] = [{"name": "look", "parameters": {"type": "object", "properties": {}}}]
    messages = (
        [{"role": "assistant", "content": text} for text in texts] if easy else [answer_item(text) for text in texts]
    )
    items = [*ASKED, CALL, *messages, OUTPUT, *NEXT]
    request = Assembler(dialect=dialect).add_capability(tools).add_messages(items).build().request()
    assert not verify(request, dialect=dialect)
    sent = str(request)
    assert [text for text in texts if text not in sent] == []


def test_a_text_without_a_type_between_a_call_and_its_answer_is_sent_to_responses_where_it_stands() -> None:
    history = [*ASKED, CALL, {"role": "assistant", "content": "Wait."}, OUTPUT, *NEXT]
    assembler = Assembler(dialect="openai_responses")
    for message in history:
        assembler.add_message(message)
    assert assembler.build().request()["input"] == history


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "a-model-of-nobody"])
@pytest.mark.parametrize("calls", [False, True])
def test_a_text_after_a_servers_item_costs_what_it_costs_in_one_message_with_it(calls: bool, model: str) -> None:
    asked = {"role": "user", "content": "q"}
    search = {"type": "web_search_call", "id": "ws", "results": [{"title": "walruses", "text": "eat clams"}]}
    history: list[dict[str, Any]] = [asked, search, {"role": "assistant", "content": "so"}]
    if calls:
        history.append({"type": "function_call", "call_id": "c", "name": "ask", "arguments": "{}"})
        history.append({"type": "function_call_output", "call_id": "c", "output": "x"})
    for tail in ([], [asked]):
        budget = Budget(10_000, model=model)
        context = Assembler(budget, dialect="openai_chat").add_messages([*history, *tail]).build()
        assert context.count == count_request(context.request(), dialect="openai_chat", model=model)


@pytest.mark.parametrize("model", ["gpt-4o", "deepseek-chat", "nobody-knows-this-model", "claude-sonnet-4-5"])
@pytest.mark.parametrize("thought", [True, False])
def test_an_answer_after_an_item_is_billed_with_it(model: str, thought: bool) -> None:
    """It was priced alone, but is sent in one message with the text before the item."""
    words = [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b c"}]
    history: list[dict[str, Any]] = [{"role": "user", "content": "q"}, {"role": "assistant", "content": words}]
    history += [{"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]}] * thought
    history += [{"role": "assistant", "content": "good morning"}, {"role": "user", "content": "and now?"}]
    for name in ("openai_chat", "openai_responses"):
        context = Assembler(Budget(100_000, model=model), dialect=name).add_messages(history).build()
        assert context.count == count_request(context.request(), dialect=name, model=model)


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "a-model-of-nobody"])
def test_texts_around_another_models_thought_cost_the_one_item_they_become(model: str) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    blocks = [{"type": "text", "text": "walruses"}, thought, {"type": "text", "text": "eat clams"}]
    asked: dict[str, Any] = {"role": "user", "content": "q"}
    budget = Budget(10_000, model=model)
    assembler = Assembler(budget, dialect="openai_responses")
    context = assembler.add_messages([asked, {"role": "assistant", "content": blocks}, asked]).build()
    assert context.count == count_request(context.request(), dialect="openai_responses", model=model)


@st.composite
def steps_out_of_order(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Turns in which the model says more between the answers of a step: this API alone takes that."""
    history: list[dict[str, Any]] = []
    asked = 0
    for turn in range(draw(st.integers(1, 3))):
        history.append({"role": "user", "content": f"question {turn}"})
        waiting: list[str] = []
        for _ in range(draw(st.integers(0, 8))):
            match draw(st.sampled_from(["call", "answer", "text", "thought", "search"])):
                case "call":
                    waiting.append(f"call_{asked}")
                    asked += 1
                    history.append(
                        {"type": "function_call", "call_id": waiting[-1], "name": "look", "arguments": '{"q": 1}'}
                    )
                case "answer" if waiting:
                    history.append(answer(draw, waiting))
                case "thought":
                    summary = [{"type": "summary_text", "text": "Hm."}]
                    history.append({"type": "reasoning", "id": f"rs_{len(history)}", "summary": summary})
                case "search":
                    action = {"type": "search", "query": "late trains"}
                    search = {"type": "web_search_call", "id": f"ws_{len(history)}", "status": "completed"}
                    history.append({**search, "action": action})
                case _:
                    history.append(draw(st.sampled_from([SAID, {"role": "assistant", "content": "Let me see."}])))
        while waiting:
            history.append(answer(draw, waiting))
    return [*history, {"role": "user", "content": "and?"}]


def answer(draw: st.DrawFn, waiting: list[str]) -> dict[str, Any]:
    call_id = waiting.pop(draw(st.integers(0, len(waiting) - 1)))
    output = draw(st.sampled_from(["", '{"a": "\\u00e9"}', "plain words of some length"]))
    return {"type": "function_call_output", "call_id": call_id, "output": output}


CALLS = [CALL, {**CALL, "call_id": "c2"}]
ANSWERS = [{**OUTPUT, "call_id": call["call_id"]} for call in CALLS]
SAID = saying("openai_responses", "Let me see.")


@pytest.mark.parametrize("api", BETWEEN, ids=str)
@scaled(0.3)
@given(history=steps_out_of_order(), ladder=LADDERS, share=SHARES)
@example([*ASKED, *CALLS, ANSWERS[0], SAID, ANSWERS[1], *ASKED], TRIM, 1.0)  # 4 tokens more than it is sent as
@example([*ASKED, CALL, SAID, SAID, OUTPUT, *ASKED], TRIM, 1.0)
@example([*ASKED, CALL, *[{"role": "assistant", "content": "So."}] * 2, OUTPUT, *ASKED], TRIM, 1.0)  # 6 tokens more
def test_words_of_the_model_between_answers_cost_what_they_are_sent_as(
    api: Api, history: list[Any], ladder: Any, share: float
) -> None:
    costs_its_request_whole_and_cut(api, history, ladder, share)


def test_reasoning_that_nothing_follows_yet_is_counted_as_it_is_sent_now_and_later() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]}
    for then in ([[SAID], ASKED], [ASKED], [[CALL, OUTPUT], ASKED]):
        assembler, history = Assembler(Budget(10_000, model="gpt-5"), dialect="openai_responses"), [*ASKED]
        for messages in [[thought], *then]:
            history += messages
            context = assembler.add_messages(history).build()
            assert context.count == count_request(context.request(), dialect="openai_responses", model="gpt-5")


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize(
    ("history", "unsent"),
    [
        ([*ASKED, SAID, *ASKED], set()),
        ([*ASKED, "thought", *ASKED], {1}),
        ([*ASKED, "thought", "thought", *ASKED], {2}),
    ],
    ids=["no thought", "one", "two"],
)
def test_the_reasoning_that_is_not_sent_is_known_in_whatever_order_messages_are_priced(
    history: list[Any], unsent: set[int], newest_first: bool
) -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]}
    messages = [thought if message == "thought" else message for message in history]
    draft, settings = Assembler(Budget(10_000, model="gpt-5"), dialect="openai_responses").add_messages(messages).inside
    ledger = Ledger.of(draft.history.view(), settings.pricer)
    for index in range(ledger.length)[:: -1 if newest_first else 1]:
        ledger.message(index)
    assert ledger.prices.overpriced == unsent


@pytest.mark.parametrize(
    ("then", "counted_whole"),
    [([SAID], False), ([CALL, OUTPUT], False), ([], True), (ASKED, True), ([SAID, *ASKED], False)],
)
def test_a_sum_is_recounted_as_a_whole_only_if_nothing_of_the_model_follows_its_reasoning(
    then: list[Any], counted_whole: bool
) -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]}
    made = Assembler(Budget(10_000, model="gpt-5"), dialect="openai_responses")
    assert made.add_messages([*ASKED, thought, *then]).plan().inside.ledger.overpriced is counted_whole


def answered(text: str) -> list[Any]:
    """Two results of one step whose JSON spells each character as an escape; the server writes it anew, without."""
    return [*ASKED, *step("openai_chat", [json.dumps({"said": text})] * 2), *ASKED]


@pytest.mark.parametrize(
    ("text", "ladder"),
    [
        ("日本語のテキスト" * 40 + "word " * 100, [Truncate(50), TrimOldest()]),  # twice what it is sent for, at most
        ("日本語のテキスト" * 40, [TrimOldest()]),  # more than twice: turns that were cut by the sum come back
    ],
)
def test_results_that_cost_half_if_rewritten_stay_if_they_fit_as_they_are_sent(text: str, ladder: list[Any]) -> None:
    whole = Assembler(Budget(100_000, model="gpt-4o")).add_messages(answered(text)).build().count.upper
    context = Assembler(Budget(whole, model="gpt-4o"), on_overflow=ladder).add_messages(answered(text)).build()
    assert (context.count.upper, not context.inside.trimmed.decisions) == (whole, True)
    less = Assembler(Budget(whole - 1, model="gpt-4o"), on_overflow=ladder).add_messages(answered(text)).build()
    assert less.inside.trimmed.decisions
