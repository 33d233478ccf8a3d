"""An item of Responses in a message's content is sent to Responses at its place among the items, and nowhere else."""

from __future__ import annotations

import copy
from typing import Any, cast

import attrs
import pytest

from assembler import Assembler, ConversationError, count_request, verify
from assembler.conversation.messages import Call, read_message
from assembler.conversation.messages.edit import with_part
from assembler.dialects import DIALECTS
from budgets import Budget
from tests.assembler.served import ITEMS

Dict = dict[str, Any]
OTHERS = ["anthropic", "bedrock", "gemini", "mistral", "openai_chat"]
TOOL: Dict = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
ASKED: Dict = {"role": "user", "content": "q"}
REASONED: Dict = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]}
SEARCHED: Dict = {"type": "web_search_call", "id": "ws", "status": "completed", "results": [{"text": "walrus"}]}
SUMMED_UP: Dict = {"type": "compaction", "id": "cmp", "encrypted_content": "gAAAA" * 9}
OF_ANTHROPIC: Dict = {"type": "compaction", "content": "They spoke of walruses."}
SAID: dict[str, Dict] = {
    "text": {"type": "text", "text": "so"},
    "output_text": {"type": "output_text", "text": "so"},
    "marked": {"type": "text", "text": "so", "cache_control": {"type": "ephemeral"}},
}
UNTOLD = ("a type that nobody knows yet", "item_reference without a type")
STANDS_IN_LISTS = {
    name: item
    for name, (item, *_) in ITEMS.items()
    if name not in UNTOLD and "call_id" not in item and "role" not in item and item["type"] != "reasoning"
}
"""One item of each kind that owes no answer, and that can be told from a part."""


def built(home: str, *messages: Dict) -> Any:
    return Assembler(dialect=home).add_capability([TOOL]).add_messages(copy.deepcopy([ASKED, *messages, ASKED])).build()


@pytest.mark.parametrize("spelling", SAID)
@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("name", STANDS_IN_LISTS)
def test_an_item_in_a_content_is_sent_to_responses_between_its_texts(name: str, role: str, spelling: str) -> None:
    item = STANDS_IN_LISTS[name]
    context = built("openai_responses", {"role": role, "content": [SAID[spelling], item, SAID[spelling]]})
    message = {"role": role, "content": "so"}
    assert context.request()["input"] == [ASKED, message, item, message, ASKED]
    assert {
        finding.rule for finding in verify(context.request(), dialect="openai_responses") if not finding.note
    } == set()
    assert context.count == count_request(context.request(), dialect="openai_responses")
    assert list(context.dropped) == []


@pytest.mark.parametrize("model", ["openrouter/deepseek/deepseek-chat", "openrouter/qwen/qwen3-32b", "grok-4.3"])
@pytest.mark.parametrize("items", [[SEARCHED], [SEARCHED, SEARCHED]], ids=["one", "two"])
def test_an_item_in_a_users_content_costs_an_open_model_what_is_sent(model: str, items: list[Dict]) -> None:
    """The user's texts around it were priced as one message, and are sent as two."""
    asked = {"role": "user", "content": [SAID["text"], *items, SAID["text"]]}
    for messages in (
        [ASKED, {"role": "assistant", "content": "a"}, asked],
        [asked, {"role": "assistant", "content": "a"}, ASKED],
    ):
        context = Assembler(Budget(9_000, model=model), dialect="openai_responses").add_messages(messages).build()
        assert context.count == count_request(context.request(), dialect="openai_responses", model=model)


@pytest.mark.parametrize("home", OTHERS)
@pytest.mark.parametrize("item", [SEARCHED, SUMMED_UP], ids=lambda item: item["type"])
def test_an_item_in_a_content_is_sent_to_other_apis_as_its_words_only(item: Dict, home: str) -> None:
    context = built(home, {"role": "assistant", "content": [SAID["text"], item]})
    sent = str(context.request())
    assert "gAAAA" not in sent
    assert "'ws'" not in sent
    assert ("walrus" in sent) == (item is SEARCHED)
    assert verify(context.request(), dialect=home) == []
    assert context.count == count_request(context.request(), dialect=home)
    assert [message.index for message in context.dropped] == ([] if item is SEARCHED else [1])
    assert any("part(s) of another API" in note for note in context.notes())


def test_a_summary_in_a_content_is_sent_to_the_api_that_wrote_it() -> None:
    for summary, home, other in (
        (OF_ANTHROPIC, "anthropic", "openai_responses"),
        (SUMMED_UP, "openai_responses", "anthropic"),
    ):
        message: Dict = {"role": "assistant", "content": [summary, SAID["text"]]}
        assert repr(summary) in str(built(home, message).request())
        assert repr(summary) not in str(built(other, message).request())


def test_reasoning_in_a_content_precedes_what_it_led_to() -> None:
    """It was left out as another model's, so an answer that LangChain had kept lost its reasoning."""
    context = built("openai_responses", {"role": "assistant", "content": [REASONED, SAID["output_text"]]})
    assert context.request()["input"][1:3] == [REASONED, {"role": "assistant", "content": "so"}]
    assert context.notes() == ()
    assert list(context.dropped) == []
    assert context.count == count_request(context.request(), dialect="openai_responses")


@pytest.mark.parametrize(
    "content", [[SAID["output_text"], REASONED], [REASONED], [SAID["text"], REASONED, OF_ANTHROPIC]]
)
def test_reasoning_in_a_content_that_nothing_follows_is_left_out_and_noted(content: list[Dict]) -> None:
    context = built("openai_responses", {"role": "assistant", "content": content})
    left_out = not any(item.get("type") == "reasoning" for item in context.request()["input"])
    assert left_out == (OF_ANTHROPIC not in content)
    assert any("reasoning" in note and "left out" in note for note in context.notes()) == left_out
    assert [message.index for message in context.dropped] == ([1] if left_out else [])
    assert context.count == count_request(context.request(), dialect="openai_responses")


def test_a_reasoning_item_that_nothing_follows_is_reported_as_dropped_if_it_is_left_out() -> None:
    """A note named it, but `dropped` did not."""
    for torn in (REASONED, {"role": "assistant", "content": [REASONED]}):
        context = built("openai_responses", torn)
        assert context.request()["input"] == [ASKED, ASKED]
        assert [(message.index, message.outcome) for message in context.dropped] == [(1, "dropped")]
        assert context.count == count_request(context.request(), dialect="openai_responses")


KEPT_BY_LANGCHAIN: Dict = {
    "role": "assistant",
    "content": [
        REASONED,
        SAID["output_text"],
        {"type": "function_call", "id": "fc", "call_id": "c", "name": "look", "arguments": "{}"},
    ],
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
}
ANSWERED: Dict = {"role": "tool", "tool_call_id": "c", "content": "r"}


@pytest.mark.parametrize("home", ["openai_responses", *OTHERS])
def test_a_call_in_the_content_and_beside_it_is_sent_once_and_not_reported_as_lost(home: str) -> None:
    context = built(home, KEPT_BY_LANGCHAIN, ANSWERED)
    request = context.request()
    assert verify(request, dialect=home) == []
    assert str(request).count("'look'") in (2, 3)  # the definition and the call, and with some the answer
    assert not [note for note in context.notes() if "part(s) of another API" in note]
    assert [message.outcome for message in context.dropped] == ([] if home == "openai_responses" else ["shortened"])
    assert context.count == count_request(request, dialect=home)


CALLED: dict[str, Dict] = {
    "function": {"type": "function_call", "id": "fc", "call_id": "c", "name": "look", "arguments": "{}"},
    "custom": {"type": "custom_tool_call", "id": "ct", "call_id": "c", "name": "look", "input": "closely"},
}
CONTENTS: dict[str, list[Any]] = {
    "alone": [None],
    "behind a text": [SAID["text"], None],
    "between texts": [SAID["text"], None, SAID["text"]],
    "behind reasoning": [REASONED, SAID["output_text"], None],
}
"""Contents of a message; None stands for the call."""


def calling(kind: str, name: str) -> Dict:
    return {"role": "assistant", "content": [CALLED[kind] if part is None else part for part in CONTENTS[name]]}


@pytest.mark.parametrize("home", ["openai_responses", *OTHERS])
@pytest.mark.parametrize("kind", CALLED)
@pytest.mark.parametrize("name", CONTENTS)
def test_a_call_in_the_content_alone_is_a_call_in_every_api(name: str, kind: str, home: str) -> None:
    """The call was not read, so its answer was refused as one to no call."""
    context = built(home, calling(kind, name), ANSWERED)
    request = context.request()
    assert verify(request, dialect=home) == []
    assert str(request).count("'look'") in (2, 3)  # the definition and the call, and with some the answer
    assert ("closely" in str(request)) == (kind == "custom")
    assert not [note for note in context.notes() if "part(s) of another API" in note]
    assert context.count == count_request(request, dialect=home)


def test_a_custom_call_in_a_content_is_sent_and_answered_as_one_on_responses() -> None:
    context = built("openai_responses", calling("custom", "behind reasoning"), ANSWERED)
    assert context.request()["input"] == [
        ASKED,
        REASONED,
        {"role": "assistant", "content": "so"},
        {"type": "custom_tool_call", "call_id": "c", "name": "look", "input": "closely"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "r"},
        ASKED,
    ]


def test_a_custom_call_as_an_item_gets_its_output_from_a_tool_message() -> None:
    """The API looks for a call of the output's own kind."""
    sent = built("openai_responses", CALLED["custom"], ANSWERED).request()["input"]
    assert sent[1:3] == [CALLED["custom"], {"type": "custom_tool_call_output", "call_id": "c", "output": "r"}]


@pytest.mark.parametrize("home", ["openai_responses", *OTHERS])
def test_a_custom_call_in_the_content_and_beside_it_is_sent_once(home: str) -> None:
    beside: Dict = {"id": "c", "type": "custom", "custom": {"name": "look", "input": "closely"}}
    context = built(home, {**calling("custom", "behind a text"), "tool_calls": [beside]}, ANSWERED)
    assert str(context.request()).count("closely") == 1
    assert verify(context.request(), dialect=home) == []
    assert context.count == count_request(context.request(), dialect=home)


def test_a_call_in_a_content_without_an_answer_is_refused() -> None:
    with pytest.raises(ConversationError, match="'c' has no result"):
        built("openai_responses", calling("function", "alone"))


def test_a_call_with_its_output_in_the_same_content_needs_no_answer() -> None:
    output: Dict = {"type": "function_call_output", "call_id": "c", "output": "r"}
    items = [CALLED["function"], output]
    sent = built("openai_responses", {"role": "assistant", "content": [SAID["text"], *items]}).request()["input"]
    assert sent[2:4] == items


@pytest.mark.parametrize("kind", CALLED)
def test_the_arguments_of_a_call_in_a_content_can_be_edited(kind: str) -> None:
    message = read_message(calling(kind, "behind a text"), 0)
    call = attrs.evolve(cast("Call", message.parts[1]), arguments='{"a": 1}')
    new = with_part(message, 1, call)
    assert read_message(new.raw, 0).parts == new.parts == ("so", call)
    assert cast("Dict", new.raw)["content"][1] == {
        **CALLED[kind],
        {"function": "arguments", "custom": "input"}[kind]: '{"a": 1}',
    }


GROWN = {kind: [calling(kind, "behind a text"), ANSWERED] for kind in CALLED}
GROWN["search"] = [{"role": "assistant", "content": [SAID["text"], SEARCHED]}]


@pytest.mark.parametrize("home", DIALECTS)
@pytest.mark.parametrize("kind", GROWN)
def test_a_conversation_that_grows_by_an_item_in_a_content_is_written_as_a_whole_one(kind: str, home: str) -> None:
    history = [ASKED, *GROWN[kind], ASKED]
    growing = Assembler(dialect=home).add_capability([TOOL])
    for message in history:
        growing.add_message(message)
        if message["role"] != "assistant":
            growing.build()
    whole = Assembler(dialect=home).add_capability([TOOL]).add_messages(history).build()
    assert growing.build().request() == whole.request()
    assert growing.build().count == whole.count


@pytest.mark.parametrize("home", ["openai_responses", *OTHERS])
def test_an_item_in_a_tools_answer_is_text_in_every_api(home: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asking: Dict = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer: Dict = {"role": "tool", "tool_call_id": "c", "content": [SAID["text"], SEARCHED]}
    context = built(home, asking, answer)
    assert verify(context.request(), dialect=home) == []
    assert "walrus" in str(context.request())
    assert "'ws'" not in str(context.request())
    assert context.count == count_request(context.request(), dialect=home)


def test_an_item_in_the_content_of_an_item_is_lifted_out() -> None:
    message: Dict = {
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [SAID["output_text"], SEARCHED],
    }
    context = built("openai_responses", message)
    assert context.request()["input"][1:3] == [{"role": "assistant", "content": "so"}, SEARCHED]
    assert verify(context.request(), dialect="openai_responses") == []
