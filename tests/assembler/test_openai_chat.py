"""Chat Completions: the emitted request costs what was priced, in whatever form the history came."""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any

import pytest
from hypothesis import given

from assembler import Assembler, ConversationError, UnsupportedContentError, count_request
from assembler.dialects import openai_chat
from budgets import Budget, Grade, tiktoken_counter

from . import by_hand
from .drawn import histories, words

count = tiktoken_counter("o200k_base")


def billed(messages: list[dict[str, Any]]) -> int:
    """OpenAI cookbook, How to count tokens with tiktoken: 3 a message, 1 a name, 3 to prime the reply.

    As recordings say: one call costs its arguments, its name twice (once addressed) and 4, calls side by side their
    wrapper and 12; beside a text they are a message of their own, and results side by side are one, a JSON list.
    """
    total = 3
    for is_result, group in itertools.groupby(messages, lambda message: message["role"] == "tool"):
        answers = list(group)
        if is_result and len(answers) > 1:
            total += 4 + count(json.dumps([read_result(it["content"]) for it in answers], ensure_ascii=False))
        else:
            total += sum(map(billed_alone, answers))
    return total


def read_result(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def billed_alone(message: dict[str, Any]) -> int:
    total = 4 + sum(map(count, [message["content"]] if message.get("content") else []))
    total += count(message["name"]) + 1 if "name" in message and message["role"] != "tool" else 0
    if calls := message.get("tool_calls"):
        uses = [
            {
                "recipient_name": f"functions.{c['function']['name']}",
                "parameters": json.loads(c["function"]["arguments"]),
            }
            for c in calls
        ]
        total += 4 if message.get("content") else 0
        if len(calls) == 1:
            arguments = json.dumps(uses[0]["parameters"], ensure_ascii=False, separators=(",", ":"))
            name = calls[0]["function"]["name"]
            total += count(arguments) + count(f"functions.{name}") + count(name) + 4
        else:
            total += count(json.dumps({"tool_uses": uses}, ensure_ascii=False, separators=(",", ":"))) + 12
    return total


@given(histories(), words)
def test_an_emitted_request_costs_what_an_independent_recount_says(history: list[dict[str, Any]], rules: str) -> None:
    context = Assembler(Budget(10**6, model="gpt-4o")).add_instruction(rules).add_messages(history).build()
    request = context.request()
    assert billed(request["messages"]) == context.count.tokens
    assert count_request(request, dialect=openai_chat, model="gpt-4o").tokens == context.count.tokens
    json.dumps(request, allow_nan=False).encode()


@given(histories())
def test_a_history_in_its_own_spelling_goes_out_as_it_came(history: list[dict[str, Any]]) -> None:
    assert Assembler(dialect=openai_chat).add_messages(history).build().request()["messages"] == history


@given(histories())
def test_parsing_returns_the_layout_that_was_emitted(history: list[dict[str, Any]]) -> None:
    layout = openai_chat.parse({"messages": history})
    assert openai_chat.emit(layout).request["messages"] == history
    assert [m.role for m in layout.head] == [m["role"] for m in by_hand.split_head(history)[0]]


def anthropic_history() -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": [{"type": "text", "text": "weather?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a" * 60, "name": "f", "input": {"city": "Paris"}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {"city": "Rome"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": "rain"},
                {"type": "tool_result", "tool_use_id": "a" * 60, "content": [{"type": "text", "text": "sun"}]},
                {"type": "text", "text": "go on"},
            ],
        },
    ]


def test_an_anthropic_history_is_rewritten_for_chat_and_priced_as_rewritten() -> None:
    context = Assembler(dialect=openai_chat).add_messages(anthropic_history()).build()
    sent = context.request()["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "user"]
    ids = [call["id"] for call in sent[1]["tool_calls"]]
    assert [len(one) <= 40 for one in ids] == [True, True]
    assert [message["tool_call_id"] for message in sent[2:4]] == [ids[1], ids[0]]
    assert [call["function"]["arguments"] for call in sent[1]["tool_calls"]] == ['{"city":"Paris"}', '{"city":"Rome"}']
    assert [message["content"] for message in sent] == [
        anthropic_history()[0]["content"],
        "I look.",
        "rain",
        "sun",
        "go on",
    ]
    assert count_request({"messages": sent}, dialect=openai_chat).tokens == context.count.tokens
    assert by_hand.pairs_hold(sent)


def test_gemini_calls_without_ids_get_stable_ones() -> None:
    history = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"a": 1}}}]},
        {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"r": 2}}}]},
    ]
    sent = Assembler(dialect=openai_chat).add_messages(history).build().request()["messages"]
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"]
    assert Assembler(dialect=openai_chat).add_messages(history).build().request()["messages"] == sent


@pytest.mark.parametrize("nothing", ["", None, []])
def test_our_own_mark_is_never_sent_and_an_empty_assistant_is_left_out_and_reported(nothing: Any) -> None:
    history = [
        {"role": "user", "content": "a", "pinned": True},
        {"role": "assistant", "content": nothing},
        {"role": "user", "content": "b"},
    ]
    context = Assembler(Budget(1000, model="gpt-4o")).add_messages(history).build()
    assert context.request()["messages"] == [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    assert context.messages == history
    assert context.count.tokens == billed(context.request()["messages"])
    assert "1 empty assistant message" in str(context.report)


def test_another_models_reasoning_is_left_out_and_reported_at_every_build() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    history = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [thought, {"type": "text", "text": "b"}]},
        {"role": "user", "content": "c"},
    ]
    assembler = Assembler(Budget(1000, model="gpt-4o")).add_messages(history)
    for _ in range(2):
        context = assembler.build()
        assert "hm" not in str(context.request()["messages"])
        assert "1 reasoning part(s) of another model left out" in context.report.notes


def test_tools_are_sent_nested_and_without_tools_there_is_no_key() -> None:
    nested = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
    flat = {"name": "g", "description": "d", "parameters": {"type": "object", "properties": {}}, "strict": True}
    assembler = Assembler(dialect=openai_chat).add_messages([("user", "q")])
    assert "tools" not in assembler.build().request()
    tools = assembler.add_capability([nested, flat]).build().request()["tools"]
    assert tools[0] == nested
    assert tools[0] is not nested
    assert tools[1] == {"type": "function", "function": flat}


def test_a_request_without_a_message_is_never_emitted() -> None:
    with pytest.raises(ConversationError, match="at least one message"):
        Assembler(dialect=openai_chat).build().request()


def test_a_part_without_a_price_is_refused_with_its_place() -> None:
    film = {"type": "video_url", "video_url": {"url": "https://a.example/f.mp4"}}
    assembler = Assembler(dialect=openai_chat).add_messages([("user", "a"), {"role": "user", "content": [film]}])
    with pytest.raises(UnsupportedContentError, match="video") as raised:
        assembler.build()
    assert raised.value.index == 1


def test_a_part_of_an_unknown_type_is_sent_unchanged_and_estimated() -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "novelty", "say": "some words"}]}
    context = Assembler(dialect=openai_chat).add_message(message).build()
    assert context.request()["messages"] == [message]
    assert context.count.grade is Grade.ESTIMATED
    assert context.count.tokens < context.count.upper


def test_an_unknown_model_is_priced_as_the_newest_family_and_graded_estimated() -> None:
    counted = count_request({"messages": [{"role": "user", "content": "hi"}]}, dialect=openai_chat, model="novel-1")
    assert counted.grade is Grade.ESTIMATED


def png(width: int, height: int) -> str:
    """The head of a PNG file is all that its size takes (PNG specification, IHDR)."""
    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return base64.b64encode(head + b"\x08\x02\x00\x00\x00" + b"\0" * 16).decode()


@pytest.mark.parametrize(
    ("model", "texts", "billed"),
    [
        # pydantic/pydantic-ai and crmne/ruby_llm, cassettes read 2026-11: one recording each
        ("o1-mini-2024-09-12", ["You are a helpful assistant.", "What's the capital of France?"], 30),
        ("gpt-4o-search-preview", ["What is the latest stable version of Ruby? Cite your sources."], 13),
    ],
)
def test_models_of_one_recording_are_estimated_at_it_and_bounded_above(
    model: str, texts: list[str], billed: int
) -> None:
    request = {"messages": [{"role": "user", "content": text} for text in texts]}
    counted = count_request(request, dialect=openai_chat, model=model)
    assert (counted.tokens, counted.grade) == (billed, Grade.ESTIMATED)
    assert counted.upper > billed


def test_an_image_costs_its_tiles_and_never_its_base64() -> None:
    url = f"data:image/png;base64,{png(1126, 488)}"
    image = {"type": "image_url", "image_url": {"url": url}}
    message = {"role": "user", "content": [{"type": "text", "text": "what?"}, image]}
    context = Assembler(Budget(10_000, model="gpt-4o")).add_messages([message]).build()
    # 85 + 3 tiles of 170: counting tables verified against the API, see docs/how-it-counts-openai.md.
    assert context.count.tokens == 3 + 4 + count("what?") + 595
    assert context.request()["messages"] == [message]


def test_a_given_size_prices_a_linked_image_and_is_never_sent() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    sized = {**image, "width": 1126, "height": 488}
    message = {"role": "user", "content": [sized]}
    context = Assembler(Budget(10_000, model="gpt-4o")).add_messages([message]).build()
    assert context.count.tokens == 3 + 4 + 595
    assert context.request()["messages"][0]["content"] == [image]


def test_an_anthropic_image_becomes_a_data_url() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": png(10, 10)}
    block = {"type": "image", "source": source}
    context = Assembler(dialect=openai_chat).add_messages([{"role": "user", "content": [block]}]).build()
    sent = context.request()["messages"][0]["content"]
    assert sent == [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png(10, 10)}"}}]
