"""Responses: nothing is lost in parsing and emitting, every rule of the API holds, and the prices add up."""

from __future__ import annotations

import copy
import itertools
import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assembler import Assembler, ConversationError, TrimOldest, UnsupportedContentError, count_request
from assembler.conversation.messages import Call, Message, Result, Thinking, read_message
from assembler.conversation.turns import head_length
from assembler.dialects import DIALECTS, openai_chat, openai_responses
from assembler.regions.layout import Layout
from assembler.regions.tools import read_tools
from assembler.verify import verify
from budgets import Budget, Count, Grade, tiktoken_counter
from budgets.count import total
from tests.assembler.by_hand import SEARCH_TOOL
from tests.assembler.drawn import histories, texts, words
from tests.budgets.raw_engines import tokens_of

CHAT_TOOL = SEARCH_TOOL
FLAT_TOOL: dict[str, Any] = {"type": "function", **CHAT_TOOL["function"], "strict": True}

ids = st.one_of(st.text("abc_019-", min_size=1, max_size=8), st.text("xyz", min_size=60, max_size=70))
Item = dict[str, Any]


@st.composite
def steps(draw: st.DrawFn, tag: str) -> list[Item]:
    """A step of a reasoning model: a thought, perhaps a text, parallel calls, and their outputs."""
    thought: Item = {"type": "reasoning", "id": f"rs_{tag}", "summary": [{"type": "summary_text", "text": draw(words)}]}
    if draw(st.booleans()):
        thought["encrypted_content"] = "gAAAA" * draw(st.integers(1, 9))
    spoken: Item = {
        "type": "message",
        "id": f"msg_{tag}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": draw(texts), "annotations": []}],
    }
    calls = [
        {
            "type": "function_call",
            "id": f"fc_{tag}{place}",
            "call_id": f"call_{tag}{place}",
            "name": draw(st.sampled_from(["search", "refund"])),
            "arguments": json.dumps({"q": draw(words)}),
        }
        for place in range(draw(st.integers(1, 3)))
    ]
    outputs: list[Item] = [
        {
            "type": "function_call_output",
            "call_id": call["call_id"],
            "output": draw(st.one_of(texts, texts.map(lambda text: [{"type": "input_text", "text": text}]))),
        }
        for call in calls
    ]
    before = ([thought] if draw(st.booleans()) else []) + ([spoken] if draw(st.booleans()) else [])
    return [*before, *calls, *draw(st.permutations(outputs))]


@st.composite
def inputs(draw: st.DrawFn) -> list[Item]:
    items: list[Item] = []
    if draw(st.booleans()):
        items.append({"role": "developer", "content": draw(words)})
    for turn in range(draw(st.integers(1, 3))):
        spoken = draw(st.lists(texts, min_size=1, max_size=3))
        asked: Any = spoken[0] if len(spoken) == 1 else [{"type": "input_text", "text": text} for text in spoken]
        items.append({"role": "user", "content": asked})
        for step in range(draw(st.integers(0, 2))):
            items += draw(steps(f"{turn}{step}"))
        if draw(st.booleans()):
            items.append({"type": "reasoning", "id": f"rs_{turn}", "summary": []})
            items.append({"role": "assistant", "content": draw(words)})
    return items


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    request: dict[str, Any] = {"input": draw(inputs())}
    if draw(st.booleans()):
        request["instructions"] = draw(words)
    if draw(st.booleans()):
        request["tools"] = [copy.deepcopy(FLAT_TOOL)]
        request["tool_choice"] = draw(st.sampled_from(["auto", "required", {"type": "function", "name": "search"}]))
        request["parallel_tool_calls"] = draw(st.booleans())
    if draw(st.booleans()):
        form: Item = {"type": "json_schema", "name": "answer", "schema": {"type": "object", "properties": {}}}
        request["text"] = {"format": form, "verbosity": "low"}
    return request | draw(st.sampled_from([{}, {"model": "gpt-5", "temperature": 0.5, "store": False}]))


def layout_of(history: list[Any], system: str | None = None, tools: list[Any] | None = None) -> Layout:
    messages = [read_message(raw, index) for index, raw in enumerate(history)]
    head = head_length(messages)
    return Layout(system=system, head=messages[:head], messages=messages[head:], tools=read_tools(tools or []))


def abstract(layout: Layout) -> list[Any]:
    """The content without its spelling: the texts of a turn's speaker joined, calls numbered in order."""
    numbers: dict[str, int] = {}
    count = itertools.count()
    messages: list[Any] = [("system", layout.system)] if layout.system is not None else []
    for message in [*layout.head, *layout.messages]:
        text = "".join(part for part in message.parts if isinstance(part, str))
        calls = [part for part in message.parts if isinstance(part, Call)]
        results = [part for part in message.parts if isinstance(part, Result)]
        for call in calls:
            numbers[str(call.id)] = next(count)
        answers = [(numbers[str(result.call_id)], "".join(map(str, result.parts))) for result in results]
        messages.append((message.role, text, [(call.name, call.arguments) for call in calls], answers))
    return messages


def priced(layout: Layout, model: str = "gpt-4o") -> Count:
    pricer = openai_responses.pricer(model, tiktoken_counter())
    fixed = pricer.fixed((), layout.head, layout.tools)
    return total([*fixed.head, *fixed.tools, fixed.tooling, fixed.framing, *map(pricer.message, layout.messages)])


# ── in and out


@given(requests())
def test_parsing_and_emitting_gives_the_request_back_key_for_key(request: dict[str, Any]) -> None:
    before = copy.deepcopy(request)
    layout = openai_responses.parse(request)
    emitted = openai_responses.emit(layout).request
    assert {**layout.options, **emitted} == before
    assert request == before
    assert set(layout.options).isdisjoint(emitted)


@given(histories(), st.none() | words)
def test_a_chat_history_says_the_same_after_a_round_trip(history: list[Any], system: str | None) -> None:
    layout = layout_of(history, system, [CHAT_TOOL])
    back = openai_responses.parse(openai_responses.emit(layout).request)
    assert abstract(back) == abstract(layout)
    (tool,), (came,) = back.tools, layout.tools
    assert (tool.name, tool.description, tool.parameters) == (came.name, came.description, came.parameters)


@given(requests())
def test_a_turn_of_the_model_becomes_one_message_in_another_dialect(request: dict[str, Any]) -> None:
    layout = openai_responses.parse({**request, "tools": [CHAT_TOOL]})
    assume(all(any(message.parts) for message in layout.messages))  # Chat cannot carry a list of empty texts
    chat = openai_chat.emit(layout).request
    assert verify(chat, dialect="openai_chat") == []
    spoken = [line for line in abstract(layout) if line != ("assistant", "", [], [])]
    assert [line for line in abstract(openai_chat.parse(chat)) if line[0] != "system"] == [
        line for line in spoken if line[0] != "system"
    ]


@given(requests())
def test_emitting_twice_shares_nothing(request: dict[str, Any]) -> None:
    layout = openai_responses.parse(request)
    first = openai_responses.emit(layout).request
    again = copy.deepcopy(first)
    for item in first["input"]:
        for value in item.values():
            if isinstance(value, list):
                value.clear()
        item.clear()
    first.get("tools", []).clear()
    assert openai_responses.emit(layout).request == again


# ── the API's rules


@given(requests())
def test_every_parsed_request_is_emitted_validly(request: dict[str, Any]) -> None:
    assert verify(openai_responses.emit(openai_responses.parse(request)).request, dialect=openai_responses) == []


@given(histories(), ids, st.booleans())
def test_every_history_is_emitted_validly_whatever_its_ids(history: list[Any], prefix: str, repeated: bool) -> None:
    for place, message in enumerate(history):
        for call in message.get("tool_calls", []):
            own = call["id"][-2:] if repeated else call["id"]
            for answer in history[place:]:
                if answer.get("tool_call_id") == call["id"]:
                    answer["tool_call_id"] = prefix + own
            call["id"] = prefix + own
    emitted = openai_responses.emit(layout_of(history, "Be brief.", [CHAT_TOOL])).request
    assert verify(emitted, dialect=openai_responses) == []
    assert abstract(openai_responses.parse(emitted))[1:] == abstract(layout_of(history))


@pytest.mark.parametrize("length", [63, 64, 65, 200])
def test_an_id_changes_only_if_it_is_too_long(length: int) -> None:
    call_id = "c" * length
    request = {
        "input": [
            {"role": "user", "content": "q"},
            {"type": "function_call", "call_id": call_id, "name": "search", "arguments": "{}"},
            {"type": "function_call_output", "call_id": call_id, "output": "a"},
        ]
    }
    _, call, output = openai_responses.emit(openai_responses.parse(request)).request["input"]
    assert call["call_id"] == output["call_id"]
    assert (call["call_id"] == call_id) == (length <= 64)
    assert len(call["call_id"]) <= 64


def test_calls_without_ids_get_ids_of_their_own() -> None:
    def turn(city: str) -> list[Any]:
        return [
            {"role": "user", "parts": [{"text": "weather?"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {"q": "x"}}}] * 2},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "search", "response": {"city": city}}}] * 2,
            },
        ]

    emitted = openai_responses.emit(layout_of([*turn("Rome"), *turn("Oslo")], None, [CHAT_TOOL])).request
    assert verify(emitted, dialect=openai_responses) == []
    calls = [item["call_id"] for item in emitted["input"] if item.get("type") == "function_call"]
    assert len(set(calls)) == 4
    assert calls == [item["call_id"] for item in emitted["input"] if item.get("type") == "function_call_output"]


def test_a_tool_of_another_api_is_sent_as_not_strict() -> None:
    nothing: dict[str, Any] = {"name": "now", "input_schema": {"type": "object", "properties": {}}}
    strict: dict[str, Any] = {
        "type": "function",
        "function": {"name": "exact", "strict": True, "parameters": {"properties": {}}},
    }
    tools = openai_responses.emit(
        layout_of([{"role": "user", "content": "q"}], None, [CHAT_TOOL, nothing, strict])
    ).request
    assert [tool["strict"] for tool in tools["tools"]] == [False, False, True]
    assert all(tool["parameters"]["type"] == "object" for tool in tools["tools"])
    assert verify(tools, dialect=openai_responses) == []


def test_a_tool_without_parameters_gets_an_empty_object() -> None:
    emitted = openai_responses.emit(layout_of([{"role": "user", "content": "q"}], None, [{"name": "now"}])).request
    assert emitted["tools"] == [
        {"type": "function", "name": "now", "parameters": {"type": "object", "properties": {}}, "strict": False}
    ]


def test_a_system_text_alone_is_sent_as_an_item() -> None:
    emitted = openai_responses.emit(Layout(system="Be brief.")).request
    assert emitted == {"input": [{"role": "system", "content": "Be brief."}]}
    assert verify(emitted, dialect=openai_responses) == []
    with pytest.raises(ConversationError):
        openai_responses.emit(Layout())


def test_own_keys_are_not_sent_and_names_are_noted_as_left_out() -> None:
    history = [
        {"role": "user", "content": "q", "name": "ann", "pinned": True},
        {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}", "pinned": True},
        {"type": "function_call_output", "call_id": "c", "output": "a"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
    ]
    layout = layout_of(history)
    assert openai_responses.emit(layout).request["input"] == [
        {"role": "user", "content": "q"},
        {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "a"},
    ]
    assert openai_responses.emit(layout).notes == (
        "1 name(s) of messages left out",
        "1 reasoning part(s) of another model left out",
    )
    assert openai_responses.emit(layout_of([{"role": "user", "content": "q"}])).notes == ()
    assert [message.pinned for message in layout.messages] == [True, True, False, False]


def test_a_turn_of_texts_and_results_keeps_its_order() -> None:
    history = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "one "},
                {"type": "text", "text": "two"},
                {"type": "tool_use", "id": "t", "name": "search", "input": {"q": "x"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a"}] * 2},
                {"type": "text", "text": "and"},
                {"type": "text", "text": ""},
                {"type": "text", "text": "now?"},
            ],
        },
    ]
    emitted = openai_responses.emit(layout_of(history)).request
    assert emitted["input"][1:] == [
        {"role": "assistant", "content": "one two"},
        {"type": "function_call", "call_id": "t", "name": "search", "arguments": '{"q":"x"}'},
        {"type": "function_call_output", "call_id": "t", "output": [{"type": "input_text", "text": "a"}] * 2},
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "and"}, {"type": "input_text", "text": "now?"}],
        },
    ]
    assert verify(emitted, dialect=openai_responses) == []
    layout = layout_of(history)
    for model in ("gpt-4o", "gpt-5"):
        assert count_request(emitted, dialect=openai_responses, model=model) == priced(layout, model)


def test_two_answers_in_a_row_stay_two() -> None:
    items = [{"role": "user", "content": "q"}, *({"role": "assistant", "content": text} for text in "ab")]
    assert [line[1] for line in abstract(openai_responses.parse({"input": items}))] == ["q", "a", "b"]


def test_pictures_and_files_of_chat_are_converted() -> None:
    seen = [
        {"type": "text", "text": "what is it?"},
        {"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}},
        {"type": "image_url", "image_url": "https://x/z.png"},
        {"type": "file", "file": {"file_id": "f"}},
    ]
    (item,) = openai_responses.emit(layout_of([{"role": "user", "content": seen}])).request["input"]
    assert item["content"] == [
        {"type": "input_text", "text": "what is it?"},
        {"type": "input_image", "image_url": "https://x/y.png", "detail": "low"},
        {"type": "input_image", "image_url": "https://x/z.png", "detail": "auto"},
        {"type": "input_file", "file_id": "f"},
    ]


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
            {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"},
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
            {"type": "input_image", "image_url": "https://x/y.png", "detail": "auto"},
        ),
        (
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
            {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0="},
        ),
    ],
)
def test_pictures_and_documents_of_anthropic_are_converted(part: Item, sent: Item) -> None:
    (item,) = openai_responses.emit(layout_of([{"role": "user", "content": [part]}])).request["input"]
    (content,) = item["content"]
    assert {key: content.get(key) for key in sent} == sent
    assert set(content) <= {*sent, "filename"}


def test_a_call_without_a_call_id_is_answered_under_its_new_one() -> None:
    items = [
        {"type": "message", "role": "user", "content": "q"},
        {"type": "function_call", "id": "fc_1", "name": "search", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "fc_1", "output": "found"},
    ]
    emitted = openai_responses.emit(layout_of(items, None, [CHAT_TOOL])).request["input"]
    assert emitted[1]["call_id"] == emitted[2]["call_id"]


UNCARRIED: list[Item] = [
    {"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]},
    {"role": "user", "content": [{"type": "video_url", "video_url": {"url": "https://a.example/v.mp4"}}]},
]


@pytest.mark.parametrize("message", UNCARRIED)
def test_the_error_names_a_part_that_cannot_be_sent(message: Item) -> None:
    with pytest.raises(UnsupportedContentError) as refused:
        openai_responses.emit(layout_of([message]))
    assert refused.value.kind in str(refused.value)


# ── reading


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({}, "no input"),
        ({"input": 7}, "input must be"),
        ({"input": "q", "instructions": ["x"]}, "instructions must be"),
        ({"input": [{"type": "function_call_output", "output": "a"}]}, "call_id"),
        ({"input": [{"type": "function_call_output", "call_id": "c"}]}, "output"),
        ({"input": [{"type": "function_call", "call_id": "c", "arguments": "{}"}]}, "no name"),
        ({"input": [{"type": "human", "content": "q"}]}, "role"),
    ],
)
def test_a_request_that_cannot_be_read_says_where(request_: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConversationError, match=expected):
        openai_responses.parse(request_)


def test_items_nested_too_deeply_are_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ConversationError, match="too deeply"):
        openai_responses.parse({"input": [{"type": "reasoning", "summary": deep}]})


def test_a_text_as_input_is_one_user_message() -> None:
    layout = openai_responses.parse({"input": "hello"})
    assert abstract(layout) == [("user", "hello", [], [])]
    assert openai_responses.parse({"previous_response_id": "r"}).messages == []


def test_another_provider_s_message_is_not_taken_for_an_item() -> None:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}], "stop_reason": "x"}
    assert openai_responses.emit(layout_of([answer])).request["input"] == [{"role": "assistant", "content": "hi"}]
    spoken = read_message({"type": "message", "role": "user", "content": "hi"}, 0)
    assert openai_chat.emit(Layout(messages=[spoken])).request["messages"] == [{"role": "user", "content": "hi"}]


def test_the_readable_part_of_reasoning_is_shown() -> None:
    item = {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "first"}, "?"],
        "content": [{"type": "reasoning_text", "text": "second"}],
    }
    (part,) = read_message(item, 0).parts
    assert isinstance(part, Thinking)
    assert part.text == "first\nsecond"
    assert read_message({"type": "web_search_call", "id": "w"}, 0).role == "assistant"
    assert read_message({"type": "computer_call_output", "call_id": "w"}, 0).role == "tool"
    custom = read_message({"type": "custom_tool_call", "call_id": "w", "name": "sql", "input": "select 1"}, 0)
    assert custom.parts == (Call("w", "sql", "select 1"),)


# ── the bill


def test_words_before_and_after_a_call_are_two_items_for_an_unknown_model() -> None:
    call: dict[str, Any] = {"function_call": {"id": "c", "name": "ask", "args": {}}}
    history: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"text": "before"}, call, {"text": "behind"}]},
        {"role": "user", "parts": [{"function_response": {"id": "c", "name": "ask", "response": {"output": "x"}}}]},
    ]
    budget = Budget(10_000, model="a-model-of-nobody")
    context = Assembler(budget, dialect=openai_responses).add_messages(history).build()
    assert context.count == count_request(context.request(), dialect=openai_responses, model="a-model-of-nobody")
    assert [item.get("type") for item in context.request()["input"]] == [
        *(None, None, "function_call", None, "function_call_output")
    ]


@given(st.lists(st.tuples(st.sampled_from(["user", "system"]), texts), min_size=1), st.none() | words)
def test_plain_texts_cost_a_primer_and_four_tokens_each(lines: list[tuple[str, str]], system: str | None) -> None:
    body: dict[str, Any] = {"input": [{"role": role, "content": text} for role, text in lines]}
    texts = [text for _, text in lines]
    if system is not None:
        body["instructions"] = system
        texts.append(system)
    count = count_request(body, dialect=openai_responses, model="gpt-4.1")
    assert count.tokens == 3 + sum(4 + tokens_of("o200k_base", text) for text in texts)
    assert count.upper == count.tokens + 1
    assert count_request(body, dialect=openai_responses, model="gpt-5").tokens == count.tokens - 1


@given(requests(), st.sampled_from(["gpt-4o", "gpt-5", "gpt-3.5-turbo", None]))
def test_the_emitted_request_costs_what_the_layout_costs(request: dict[str, Any], model: str | None) -> None:
    layout = openai_responses.parse(request)
    emitted = {**layout.options, **openai_responses.emit(layout).request}
    assert count_request(emitted, dialect=openai_responses, model=model) == count_request(
        request, dialect=openai_responses, model=model
    )


@given(histories(), st.sampled_from(["gpt-4o", "gpt-5"]))
def test_a_chat_history_costs_here_what_its_items_cost(history: list[Any], model: str) -> None:
    layout = layout_of(history, None, [CHAT_TOOL])
    emitted = openai_responses.emit(layout).request
    assert count_request(emitted, dialect=openai_responses, model=model) == priced(layout, model)


def test_a_text_beside_calls_is_an_item_of_its_own() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "search", "arguments": '{"q":"x"}'}
    output = {"type": "function_call_output", "call_id": "c", "output": "a"}

    def tokens(*items: Item) -> int:
        body = {"input": [{"role": "user", "content": "q"}, *items, output]}
        return count_request(body, dialect=openai_responses, model="gpt-4o").tokens

    bare = tokens(call)
    assert tokens({"role": "assistant", "content": ""}, call) == bare + 1  # five recordings
    assert tokens({"role": "assistant", "content": "hello"}, call) == bare + 4 + 1
    chat = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": "{}"}}],
    }
    silent = layout_of([{"role": "user", "content": "q"}, chat])
    assert len(openai_responses.emit(silent).request["input"]) == 2


def test_several_parts_cost_at_most_what_they_cost_separately() -> None:
    parts = [{"type": "input_text", "text": text} for text in ("inter", "nation", "al")]
    whole = count_request({"input": [{"role": "user", "content": parts}]}, dialect=openai_responses, model="gpt-4o")
    one = count_request({"input": "international"}, dialect=openai_responses, model="gpt-4o")
    assert whole.tokens == one.tokens
    assert whole.grade is Grade.BOUNDED
    assert whole.upper == one.upper + 2


@pytest.mark.parametrize("sealed", [0, 400, 40_000])
def test_reasoning_is_estimated_from_its_visible_and_its_hidden_part(sealed: int) -> None:
    item: Item = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hello"}]}
    if sealed:
        item["encrypted_content"] = "g" * sealed
    price = openai_responses.pricer("gpt-5", tiktoken_counter()).message(read_message(item, 0))
    assert price.grade is Grade.ESTIMATED
    assert price.tokens == max(1, sealed * 3 // 4 // 4)
    assert price.upper == 4 + max(1, sealed * 3 // 4 // 2)


def test_the_reasoning_of_another_provider_is_not_sent_and_costs_nothing() -> None:
    content = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    message = read_message({"role": "assistant", "content": content}, 0)
    assert openai_responses.pricer("gpt-5", tiktoken_counter()).message(message) == Count(0)


def test_settings_cost_what_recordings_say() -> None:
    body = {"input": "q", "tools": [FLAT_TOOL]}
    serial = {**body, "parallel_tool_calls": False}
    assert (
        count_request(serial, dialect=openai_responses, model="gpt-5").tokens
        == count_request(body, dialect=openai_responses, model="gpt-5").tokens + 78
    )
    without = {"input": "q", "parallel_tool_calls": False}
    assert count_request(without, dialect=openai_responses, model="gpt-5").tokens == 2 + 4 + 1


# ── through the door


def test_a_history_of_items_is_trimmed_by_whole_turns() -> None:
    history: list[Item] = []
    for turn in range(6):
        history += [
            {"role": "user", "content": f"question {turn}"},
            {"type": "reasoning", "id": f"rs_{turn}", "summary": []},
            {"type": "function_call", "call_id": f"c{turn}", "name": "search", "arguments": "{}"},
            {"type": "function_call_output", "call_id": f"c{turn}", "output": "found " * 20},
            {"role": "assistant", "content": "answer"},
        ]
    history.append({"role": "user", "content": "last"})
    budget = Budget.for_model("gpt-4o", context_window=400, max_output_tokens=100)
    assembler = Assembler(budget=budget, dialect=openai_responses, on_overflow=TrimOldest())
    context = assembler.add_instruction("Be brief.").add_capability([CHAT_TOOL]).add_messages(history).build()
    request = context.request()
    assert 0 < len(context.messages) < len(history)
    assert all(kept is came for kept, came in zip(context.messages[::-1], history[::-1], strict=False))
    assert verify(request, dialect=openai_responses) == []
    assert count_request(request, dialect=openai_responses, model="gpt-4o") == context.count
    assert context.count.upper <= 300


def test_the_table_of_dialects_has_openai_responses() -> None:
    assert DIALECTS["openai_responses"] is openai_responses
    assert isinstance(read_message({"type": "compaction", "id": "c"}, 0), Message)


PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MIXED = [
    {"type": "text", "text": "a"},
    {"type": "input_text", "text": "b"},
    {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}},
    {"type": "input_image", "image_url": PIXEL, "detail": "low"},
]


def test_parts_of_both_apis_in_one_list_get_the_names_of_this_one() -> None:
    message = {"role": "user", "content": MIXED}
    request = Assembler(dialect=openai_responses).add_message(message).build().request()
    assert [part["type"] for part in request["input"][0]["content"]] == ["input_text"] * 2 + ["input_image"] * 2
    assert verify(request, dialect=openai_responses) == []
    chat = Assembler(dialect=openai_chat).add_message(message).build().request()
    assert [part["type"] for part in chat["messages"][0]["content"]] == ["text", "text", "image_url", "image_url"]
    assert verify(chat, dialect=openai_chat) == []


@given(kinds=st.lists(st.sampled_from(["text", "input_text", "output_text"]), min_size=1, max_size=4), text=words)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_texts_are_named_by_role_and_cost_the_same_under_any_name(role: str, kinds: list[str], text: str) -> None:
    def built(*types: str) -> Any:
        history = [
            {"role": "user", "content": "q"},
            {"role": role, "content": [{"type": t, "text": text} for t in types]},
        ]
        return Assembler(dialect=openai_responses).add_messages([*history, {"role": "user", "content": "on"}]).build()

    context = built(*kinds)
    assert verify(context.request(), dialect=openai_responses) == []
    assert abs(context.count.tokens - built(*["text"] * len(kinds)).count.tokens) <= len(kinds)
    assert text * len(kinds) in "".join(spoken(context.request()["input"][1]))


def spoken(item: dict[str, Any]) -> list[str]:
    content = item["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content]


def test_a_part_of_an_unknown_type_is_sent_unchanged() -> None:
    message = {"role": "user", "content": [{"type": "input_text", "text": "a"}], "type": "message", "novel": 1}
    assert Assembler(dialect=openai_responses).add_message(message).build().request()["input"] == [message]


def test_the_hidden_prompt_of_pro_mode_is_priced() -> None:
    """1 recording, pydantic/pydantic-ai: 1,549 billed for a request of 18."""
    request = {"input": "What is the capital of France? Answer in one word."}
    plain = count_request(request, dialect=openai_responses, model="gpt-5.6-sol")
    pro = count_request({**request, "reasoning": {"mode": "pro"}}, dialect=openai_responses, model="gpt-5.6-sol")
    low = count_request({**request, "reasoning": {"effort": "low"}}, dialect=openai_responses, model="gpt-5.6-sol")
    assert low == plain
    assert pro.grade is Grade.ESTIMATED
    assert plain.tokens + 1_500 < pro.tokens < pro.upper


@pytest.mark.parametrize("content", ["", [{"type": "output_text", "text": ""}]])
def test_an_empty_text_of_the_assistant_is_sent_as_it_is_billed(content: object) -> None:
    silent: Item = {"type": "message", "role": "assistant", "content": content}
    history: list[Item] = [{"role": "user", "content": "q"}, silent, {"role": "user", "content": "on"}]
    context = Assembler(Budget.for_model("gpt-5"), dialect=openai_responses).add_messages(history).build()
    assert context.request()["input"] == history
    assert context.count == count_request(context.request(), dialect=openai_responses, model="gpt-5")
    without = count_request({"input": [history[0], history[2]]}, dialect=openai_responses, model="gpt-5")
    assert context.count.tokens == without.tokens + 1


def test_reasoning_stays_before_an_empty_text() -> None:
    thought: Item = {"type": "reasoning", "id": "rs", "summary": []}
    silent: Item = {"role": "assistant", "content": ""}
    history: list[Item] = [{"role": "user", "content": "q"}, thought, silent, {"role": "user", "content": "on"}]
    request = Assembler(dialect=openai_responses).add_messages(history).build().request()
    assert request["input"] == history
    assert verify(request, dialect=openai_responses) == []


def test_an_empty_answer_of_another_form_is_left_out_with_a_note() -> None:
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": []},
        {"role": "user", "content": "on"},
    ]
    context = Assembler(dialect=openai_responses).add_messages(history).build()
    assert len(context.request()["input"]) == 2
    assert "1 empty assistant message(s) left out" in str(context.report)
