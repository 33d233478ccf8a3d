"""Odd messages: strange mappings, SDK objects, missing ids, values that change while they are read.

Whatever comes in, there are two ways out: a request that JSON carries and that the API's rules allow, or an error of
ours that leaves the assembler as it was.
"""

from __future__ import annotations

import collections
import json
import pickle
import types
from collections.abc import Iterator
from functools import partial
from typing import Any
from unittest.mock import MagicMock

import pydantic
import pytest

from assembler import (
    Assembler,
    AssemblyError,
    ConversationError,
    MessageTypeError,
    TrimOldest,
    count_request,
    fit_request,
)
from assembler.dialects import anthropic, bedrock, gemini, mistral, openai_chat, openai_responses, plain
from assembler.verify import verify
from budgets import Budget
from tests.hostile.mappings import Fields

APIS = (openai_chat, openai_responses, anthropic, gemini, mistral, plain)
USER = {"role": "user", "content": "hi"}
NEXT = {"role": "user", "content": "next"}


class Attributes:
    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)


def call(**fields: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}, **fields}


def step(asked: object, answer_id: object = "c1", content: object = "r") -> list[Any]:
    answer = {"role": "assistant", "content": None, "tool_calls": [asked]}
    return [USER, answer, {"role": "tool", "tool_call_id": answer_id, "content": content}, NEXT]


def outcome(messages: list[Any], dialect: Any) -> str:
    """What came of it: a valid request, a typed error, or the breach in a few words."""
    assembler = Assembler(dialect=dialect).add_capability([{"name": "f"}]).add_messages([USER])
    try:
        context = assembler.add_messages(messages).build()
        request = context.request()
        str(context.report)
    except AssemblyError:
        return "fine"
    except Exception as error:
        return f"{type(error).__name__} came through"
    try:
        json.dumps(request, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        return f"not JSON: {type(error).__name__}"
    broken = [] if dialect is plain else verify(request, dialect=dialect)
    return f"the API would refuse it: {broken[0]}" if broken else "fine"


NESTED = {"type": "tool_use", "id": "c2", "name": "f", "input": {}}

HELD: dict[str, list[Any]] = {
    "calls in the first system message": [{"role": "system", "content": None, "tool_calls": [call()]}, NEXT],
    "calls in a second system message": [
        {"role": "system", "content": "s"},
        {"role": "developer", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        NEXT,
    ],
    "an answer in the first system message": [
        {"role": "system", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]},
        NEXT,
    ],
    "a function's answer by an id": [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call()]},
        {"role": "function", "name": "f", "tool_call_id": "c1", "content": "r"},
        NEXT,
    ],
    "a nameless function's answer to a call without id": [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [{k: v for k, v in call().items() if k != "id"}]},
        {"role": "function", "content": "r"},
        NEXT,
    ],
    **{
        f"an item by the {word}": [
            USER,
            {"type": "message", "role": word, "content": [{"type": kind, "text": "x"}]},
            NEXT,
        ]
        for word, kind in [("model", "output_text"), ("ai", "output_text"), ("human", "input_text")]
    },
    "own mapping": [Fields(USER)],
    "mapping proxy": [types.MappingProxyType(USER)],
    "user dict": [collections.UserDict(USER)],
    "chain map": [collections.ChainMap({"role": "user"}, {"content": "x"})],
    "default dict": [collections.defaultdict(list, USER)],
    "any attribute": [MagicMock()],
    "no content": [{"role": "user", "content": None}],
    "bool content": [{"role": "user", "content": True}],
    "dict content": [{"role": "user", "content": {"type": "text", "text": "x"}}],
    "set content": [{"role": "user", "content": {"x"}}],
    "generator content": [{"role": "user", "content": (c for c in "ab")}],
    "nested list": [{"role": "user", "content": [[{"type": "text", "text": "x"}]]}],
    "no part": [{"role": "user", "content": [None]}],
    "part without text": [{"role": "user", "content": [{"type": "text"}]}],
    "part without type": [{"role": "user", "content": [{"type": 3, "text": "x"}]}],
    "empty dict": [{}],
    "none": [None],
    "role of wrong kind": [{"role": ["user"], "content": "x"}],
    "shouted role": [{"role": "USER", "content": "x"}],
    "pair of numbers": [(1, 2)],
    "triple": [("user", "x", "y")],
    "two letters": ["ab"],
    "result first": [{"role": "tool", "tool_call_id": "c1", "content": "r"}, USER],
    "result before its call": [USER, step(call())[2], step(call())[1]],
    "result without id": [*step(call())[:2], {"role": "tool", "content": "r"}],
    "result without content": [*step(call())[:2], {"role": "tool", "tool_call_id": "c1"}],
    "answered twice": [*step(call())[:3], step(call())[2]],
    "interrupted": [*step(call())[:2], USER, step(call())[2]],
    "one id twice in a message": [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call(), call()]},
        *step(call())[2:3] * 2,
    ],
    "one id in two turns": [*step(call())[:3], {"role": "assistant", "content": "a"}, *step(call())],
    "one dict three times": [USER, USER, USER],
    "one step twice": [*step(call())] * 2,
    "a user calls": [{"role": "user", "content": "x", "tool_calls": [call()]}, step(call())[2]],
    "no calls in a dict": [USER, {"role": "assistant", "content": "x", "tool_calls": {"a": 1}}],
    "no call": [USER, {"role": "assistant", "content": None, "tool_calls": [None]}],
    "call without function": [USER, {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}],
    "arguments of no kind": step(call(function={"name": "f", "arguments": [1]})),
    "arguments with NaN": step(call(function={"name": "f", "arguments": {"a": float("nan")}})),
    "arguments with a set": step(call(function={"name": "f", "arguments": {"a": {1}}})),
    "broken arguments": step(call(function={"name": "f", "arguments": '{"a'})),
    "a very long id": step(call(id="x" * 9_000), "x" * 9_000),
    "a control token as id": step(call(id="<|im_start|>"), "<|im_start|>"),
    "Gemini without parts": [{"role": "user", "parts": None}],
    "Gemini part of text": [{"role": "user", "parts": ["x"]}],
    "nested call in a result": [
        USER,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [NESTED]}]},
    ],
}


@pytest.mark.parametrize("dialect", APIS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("name", HELD)
def test_an_odd_message_is_sent_validly_or_refused(name: str, dialect: Any) -> None:
    assert outcome(HELD[name], dialect) == "fine"


SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "x"}]}

BROKEN: dict[str, tuple[Any, list[Any]]] = {
    "NaN in an unknown key": (openai_chat, [{**USER, "note": float("nan")}]),
    "a set in an unknown key": (openai_chat, [{**USER, "note": {1}}]),
    "bytes in an unknown key": (openai_chat, [{**USER, "note": b"x"}]),
    "a key that is no text": (openai_chat, [{**USER, ("a",): 1}]),
    "a call that is no dict": (plain, step(Fields(call()))),
    "a custom call": (mistral, step({"id": "c1", "type": "custom", "custom": {"name": "f", "input": "x"}})),
    "a call without id": (openai_chat, step({k: v for k, v in call().items() if k != "id"})),
    "a call whose id is None": (openai_responses, step(call(id=None))),
    "a call whose id is a number": (openai_chat, step(call(id=7), "7")),
    "a call whose id is a list": (openai_chat, step(call(id=[1]), "1")),
    "arguments as an object": (openai_chat, step(call(function={"name": "f", "arguments": {"a": 1}}))),
    "no arguments": (openai_chat, step(call(function={"name": "f", "arguments": None}))),
    "a result of None": (openai_chat, step(call(), content=None)),
    "a result of texts": (openai_chat, step(call(), content=["a"])),
    "parts that are texts": (openai_chat, [{"role": "user", "content": ["a", "b"]}]),
    "an empty list of calls": (openai_chat, [USER, {"role": "assistant", "content": "x", "tool_calls": []}, NEXT]),
    "a film as a part": (anthropic, [{"role": "user", "content": [{"type": "video_url", "video_url": {"url": "u"}}]}]),
    "a Bedrock use of None": (plain, [USER, {"role": "assistant", "content": [{"toolUse": None}]}]),
    "a Bedrock result of None": (plain, [{"role": "user", "content": [{"toolResult": None}]}]),
    "a Bedrock kind alone": (plain, [USER, {"role": "assistant", "content": [{"type": "toolUse"}]}]),
    "Bedrock reasoning of text": (plain, [USER, {"role": "assistant", "content": [{"reasoningContent": "x"}]}]),
    "a number that cannot be written": (openai_chat, [{**USER, "note": 10**5_000}]),
    **{
        f"a search in a content under an id of {odd!r} for {dialect.name}": (
            dialect,
            [USER, {"role": "assistant", "content": [{"type": "web_search_call", "call_id": odd}]}, NEXT],
        )
        for dialect in (openai_responses, mistral)
        for odd in ({"a": 1}, ["a"])
    },
    "a call without arguments among items": (
        openai_responses,
        [
            USER,
            {"type": "function_call", "call_id": "c1", "name": "f"},
            {"type": "function_call_output", "call_id": "c1", "output": "r"},
        ],
    ),
    "a call with an object for arguments among items": (
        openai_responses,
        [
            USER,
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": {"a": 1}},
            {"type": "function_call_output", "call_id": "c1", "output": "r"},
        ],
    ),
    "a call whose id is a list, answered by name": (
        mistral,
        [*step(call(id=[[]]))[:2], {"role": "function", "name": "f", "content": "r"}, NEXT],
    ),
    "an answer of parts without types": (openai_chat, step(call(), content=[{"text": "r"}])),
    "an id that is a number": (mistral, [{**USER, "tool_call_id": 1.5}]),
    "an answer of no parts": (openai_chat, step(call(), content=[])),
    "bytes in a text part": (openai_chat, [{"role": "user", "content": [{"type": "text", "text": "x", "note": b"x"}]}]),
    "bytes as an address": (
        mistral,
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": b"x"}}]}],
    ),
    "bytes for base64": (
        anthropic,
        [{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": b"x"}}]}],
    ),
    "bytes in a part of an unknown type": (openai_chat, [{"role": "user", "content": [{"type": "odd", "data": b"x"}]}]),
    "bytes below a part of an unknown type": (
        openai_responses,
        [{"role": "user", "content": [{"type": "odd", "odd": [{"bytes": b"x"}]}]}],
    ),
    "bytes in an answer": (anthropic, step(call(), content=[{"type": "odd", "data": b"x"}])),
    "bytes for a sound": (
        openai_chat,
        [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": b"x", "format": "wav"}}]}],
    ),
    "reasoning of an answer that was cut off": (openai_responses, [USER, THOUGHT, NEXT]),
    "reasoning at the end": (openai_responses, [USER, THOUGHT]),
    "two thoughts, an answer, a thought": (openai_responses, [USER, THOUGHT, THOUGHT, SAID, THOUGHT, NEXT]),
    "a result that calls": (openai_chat, [*step(call())[:2], {**step(call())[2], "tool_calls": "x"}]),
    "a Gemini response whose name is no text": (
        plain,
        [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}, "id": "c1"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": {}, "id": "c1", "response": {}}}]},
        ],
    ),
    "an item that calls without an id": (
        openai_chat,
        [USER, {"type": "function_call", "name": "f", "arguments": "{}"}],
    ),
    "a Gemini call of text": (plain, [USER, {"role": "model", "parts": [{"functionCall": "x"}]}]),
    "a Gemini response of text": (plain, [{"role": "user", "parts": [{"functionResponse": "x"}]}]),
    "a Gemini response with NaN": (
        plain,
        [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": float("nan")}}}]},
        ],
    ),
}


NAMES = ("ns.search", "multi_tool_use.parallel", "x" * 65, "two words", "f<|im_start|>", "суп", "")


@pytest.mark.parametrize("dialect", [*APIS, bedrock], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spelled", ["openai", "anthropic", "gemini", "responses", "legacy"])
def test_a_tool_name_that_a_model_made_up_is_sent_legally_or_refused(spelled: str, name: str, dialect: Any) -> None:
    asked: dict[str, list[Any]] = {
        "openai": step(call(function={"name": name, "arguments": "{}"})),
        "anthropic": [
            USER,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": name, "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "r"}]},
        ],
        "gemini": [
            USER,
            {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"a": 1}}}]},
        ],
        "responses": [USER, item("c1", name=name), output("c1"), NEXT],
        "legacy": [
            USER,
            {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": "{}"}},
            {"role": "function", "name": name, "content": "r"},
            NEXT,
        ],
    }
    assert outcome(asked[spelled], dialect) == "fine"


@pytest.mark.parametrize("dialect", [openai_chat, openai_responses, mistral], ids=lambda dialect: dialect.name)
def test_a_call_that_is_renamed_is_noted_and_priced_under_the_name_that_is_sent(dialect: Any) -> None:
    history = step(call(function={"name": "räksmörgås.sök", "arguments": "{}"}))
    context = Assembler(Budget(5_000, counter=lambda text: len(text.encode())), dialect=dialect).add_messages(history)
    built = context.build()
    assert "1 call(s) of an illegal tool name renamed" in str(built.report)
    assert '"r_ksm_rg_s_s_k"' in json.dumps(built.request())
    again = count_request(built.request(), dialect=dialect, counter=lambda text: len(text.encode()))
    assert again.tokens <= built.count.upper


def item(call_id: str, **fields: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}", **fields}


def output(call_id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": "r"}


MIXED: dict[str, list[Any]] = {
    "a text between two outputs": [USER, item("c1"), item("c2"), output("c1"), SAID, output("c2"), NEXT],
    "a call between two outputs": [USER, item("c1"), item("c2"), output("c1"), item("c3"), output("c3"), output("c2")],
    "a text before the outputs": [USER, item("c1"), SAID, output("c1"), NEXT],
    "two steps": [USER, item("c1"), output("c1"), SAID, item("c2"), output("c2"), SAID, NEXT],
}


@pytest.mark.parametrize("dialect", [*APIS, bedrock], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("name", MIXED)
def test_items_in_any_order_are_sent_validly(name: str, dialect: Any) -> None:
    assert outcome(MIXED[name], dialect) == "fine"
    assert outcome([*MIXED[name], *MIXED[name]], dialect) == "fine"


def test_reasoning_that_nothing_follows_is_left_out_and_noted() -> None:
    context = Assembler(dialect=openai_responses).add_messages([USER, THOUGHT, NEXT, THOUGHT, SAID]).build()
    assert [each.get("type") for each in context.request()["input"]] == [None, None, "reasoning", "message"]
    assert "1 reasoning item(s) that nothing of the model follows left out" in str(context.report)


@pytest.mark.parametrize("dialect", [*APIS, bedrock], ids=lambda dialect: dialect.name)
def test_a_legacy_answer_to_a_call_without_id_is_sent_under_the_id_that_the_call_gets(dialect: Any) -> None:
    bare = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call(), bare]}
    answers = [
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        {"role": "function", "name": "f", "content": "r"},
    ]
    assert outcome([USER, answer, *answers, NEXT], dialect) == "fine"


@pytest.mark.parametrize("name", BROKEN)
def test_a_message_that_once_broke_the_reader_is_sent_validly_or_refused(name: str) -> None:
    dialect, messages = BROKEN[name]
    assert outcome(messages, dialect) == "fine"


@pytest.mark.parametrize("depth", [150, 199, 200, 201, 950, 100_000])
@pytest.mark.parametrize("key", ["content", "note"])
def test_an_accepted_message_can_be_pickled_and_built_on_a_deeper_stack(key: str, depth: int) -> None:
    nested: Any = "x"
    for _ in range(depth):
        nested = [nested]
    message = {"role": "user", "content": "x", "parts": [{"text": "x", "more": nested}]} if key == "content" else USER
    assembler = Assembler(dialect=plain)
    try:
        assembler.add_messages([{**message, "note": nested} if key == "note" else message])
    except ConversationError as error:
        assert depth > 190
        assert "nested too deeply" in str(error)
        return
    assert depth < 202

    def deeper(frames: int) -> Any:
        return deeper(frames - 1) if frames else pickle.loads(pickle.dumps(assembler)).build().request()

    assert json.loads(json.dumps(deeper(200)))["messages"]


def test_a_generator_of_messages_is_read_like_a_list() -> None:
    assert Assembler().add_messages(each for each in [USER, NEXT]).build().messages == [USER, NEXT]


@pytest.mark.parametrize("odd", ["text", b"bytes", {"role": "user", "content": "x"}, 5])
def test_a_history_that_is_not_a_list_is_refused(odd: Any) -> None:
    assembler = Assembler().add_messages([USER])
    with pytest.raises(MessageTypeError):
        assembler.add_messages(odd)
    assert assembler.build().messages == [USER]


def test_a_generator_that_fails_leaves_the_history_alone() -> None:
    def failing() -> Iterator[Any]:
        yield NEXT
        raise OSError("lost")

    assembler = Assembler().add_messages([USER])
    with pytest.raises(OSError, match="lost"):
        assembler.add_messages(failing())
    assert assembler.build().messages == [USER]


class Hostile:
    """Raises whenever it is compared or hashed."""

    role, content = "user", "hi"

    def __eq__(self, _other: object) -> bool:
        raise OSError

    def __hash__(self) -> int:
        raise OSError


def test_objects_that_cannot_be_compared_are_still_sent() -> None:
    odd = Hostile()
    assembler = Assembler(Budget(100, counter=len), on_overflow=TrimOldest(), dialect=plain).add_messages([odd])
    assert assembler.add_messages([odd, USER]).build().messages[0] is odd
    assert assembler.build().request()["messages"] == [USER, USER]


def test_the_callers_list_is_read_once_and_never_changed() -> None:
    given = [dict(USER)]
    assembler = Assembler(dialect=plain).add_messages(given)
    given.append(NEXT)
    context = assembler.build()
    context.messages.append("not ours")
    context.request()["messages"].clear()
    assert assembler.build().messages == [USER] == context.request()["messages"]


def test_a_message_changed_after_it_was_added_is_sent_and_counted_as_it_is_now() -> None:
    message, system = dict(USER), {"role": "system", "content": "s"}
    assembler = Assembler(Budget(1_000, counter=len), dialect=plain).add_messages([system, message])
    before = assembler.build()
    message["content"], system["content"] = "x" * 50, "y" * 70
    after = assembler.build()
    assert (before.count.tokens, after.count.tokens) == (3, 120)
    assert before.request()["messages"][1]["content"] == "hi"
    assert after.request()["messages"][1]["content"] == "x" * 50
    message["content"] = 5  # type: ignore[assignment]
    with pytest.raises(ConversationError):
        assembler.build()


def test_removing_a_pin_lets_the_turn_be_dropped() -> None:
    pinned = {"role": "user", "content": "x", "pinned": True}
    assembler = Assembler(Budget(3, counter=len), on_overflow=TrimOldest(), dialect=plain)
    assembler.add_messages([pinned, {"role": "user", "content": "mm"}, {"role": "user", "content": "nn"}])
    assert [each["content"] for each in assembler.build().request()["messages"]] == ["x", "nn"]
    pinned["pinned"] = False
    assert [each["content"] for each in assembler.build().request()["messages"]] == ["nn"]


@pytest.mark.parametrize("dialect", APIS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("mark", [True, False, None, "yes", 1])
def test_our_own_pin_is_never_sent(mark: object, dialect: Any) -> None:
    parts = {"role": "user", "content": [{"type": "text", "text": "x"}], "pinned": mark}
    request = Assembler(dialect=dialect).add_messages([parts, {**USER, "pinned": mark}]).build().request()
    assert "pinned" not in json.dumps(request)


MARKED = {"role": "user", "content": "x", "pinned": True}


@pytest.mark.parametrize(
    "kind", [Fields, collections.OrderedDict, collections.UserDict, lambda fields: Attributes(**fields)]
)
def test_a_pin_on_any_kind_of_message_pins(kind: Any) -> None:
    assembler = Assembler(Budget(3, counter=len), on_overflow=TrimOldest(), dialect=plain)
    assembler.add_messages([kind(MARKED), {"role": "user", "content": "mm"}, {"role": "user", "content": "nn"}])
    assert [each["content"] for each in assembler.build().request()["messages"]] == ["x", "nn"]


@pytest.mark.parametrize("dialect", APIS, ids=lambda dialect: dialect.name)
def test_a_first_turn_has_a_prefix_like_any(dialect: Any) -> None:
    for instruction in ("", "be brief"):
        context = Assembler(dialect=dialect).add_instruction(instruction).add_messages([USER]).build()
        assert len(context.prefix_hash) == 64


class Block(pydantic.BaseModel):
    """As SDKs return content: an object of their own, with `model_dump`."""

    type: str = "text"
    text: str = "t"


def test_blocks_of_an_sdk_inside_a_dict_are_read() -> None:
    """`{"role": "assistant", "content": response.content}` is how Anthropic's own guide goes on."""
    history = [USER, {"role": "assistant", "content": [Block()]}, NEXT]
    request = Assembler(dialect=anthropic).add_messages(history).build().request()
    assert request["messages"][1]["content"] in ("t", [{"type": "text", "text": "t"}])
    json.dumps(request)


def test_a_streamed_langchain_message_is_a_message() -> None:
    for kind in ("AIMessageChunk", "HumanMessageChunk"):
        chunk = Attributes(type=kind, content="x", tool_calls=[])
        assert Assembler(dialect=plain).add_messages([USER, chunk]).build().request()["messages"][1]["content"] == "x"


def test_a_content_object_of_gemini_is_a_message() -> None:
    class Part(pydantic.BaseModel):
        text: str

    class Content(pydantic.BaseModel):
        role: str
        parts: list[Part]

    content = Content(role="user", parts=[Part(text="x")])
    request = Assembler(dialect=gemini).add_messages([content]).build().request()
    assert request["contents"] == [{"role": "user", "parts": [{"text": "x"}]}]


def test_an_output_item_of_an_sdk_is_a_message() -> None:
    """`input += response.output` is how OpenAI's own guide goes on."""

    class FunctionCall(pydantic.BaseModel):
        type: str = "function_call"
        call_id: str = "c1"
        name: str = "f"
        arguments: str = "{}"

    answer = {"type": "function_call_output", "call_id": "c1", "output": "r"}
    assembler = Assembler(dialect=openai_responses).add_messages([USER, FunctionCall(), answer])
    assert [item.get("call_id") for item in assembler.build().request()["input"]] == [None, "c1", "c1"]


def test_a_refusal_counts_as_text() -> None:
    refused = {"role": "assistant", "content": None, "refusal": "I will not."}
    request = Assembler(dialect=openai_chat).add_messages([USER, refused, NEXT]).build().request()
    assert "I will not." in json.dumps(request)


@pytest.mark.parametrize("odd", ["no_such_api", "", 5, object(), type(openai_chat)])
def test_a_value_that_is_not_a_dialect_is_refused_at_construction(odd: Any) -> None:
    with pytest.raises(AssemblyError):
        Assembler(dialect=odd)


@pytest.mark.parametrize("dialect", [openai_chat, mistral, plain], ids=lambda dialect: dialect.name)
def test_tuples_of_the_caller_are_sent_as_lists(dialect: Any) -> None:
    parts = ({"type": "text", "text": "x"},)
    request = Assembler(dialect=dialect).add_messages([{"role": "user", "content": parts}]).build().request()
    assert isinstance(request["messages"][0]["content"], list | str)


def test_no_message_is_sent_with_no_part() -> None:
    for empty in ([], ()):
        assembler = Assembler(dialect=openai_chat)
        try:
            assembler.add_messages([USER, {"role": "user", "content": empty}])
            messages = assembler.build().request()["messages"]
        except ConversationError:
            continue
        assert all(len(message["content"]) for message in messages)


SYSTEM_FIELDS = {
    "plain": "system",
    "anthropic": "system",
    "bedrock": "system",
    "gemini": "system_instruction",
    "openai_responses": "instructions",
}
SAYS_NOTHING: list[Any] = [5, True, 0.5, b"x", [5], [None], {5}, object()]


def body_with(system: object, dialect: str) -> dict[str, Any]:
    if dialect == "gemini":
        return {"system_instruction": system, "contents": [{"role": "user", "parts": [{"text": "q"}]}]}
    asked = [{"role": "user", "content": [{"text": "q"}] if dialect == "bedrock" else "q"}]
    return {SYSTEM_FIELDS[dialect]: system, "input" if dialect == "openai_responses" else "messages": asked}


@pytest.mark.parametrize("system", SAYS_NOTHING, ids=lambda system: type(system).__name__)
@pytest.mark.parametrize("dialect", SYSTEM_FIELDS)
def test_a_system_field_of_a_wrong_type_is_refused(dialect: str, system: object) -> None:
    """Claude's was sent and not counted; the plain one failed in `fit_request`."""
    body = body_with(system, dialect)
    for read in (count_request, partial(fit_request, assembler=Assembler())):
        with pytest.raises(ConversationError):
            read(body, dialect=dialect)


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock"])
def test_a_text_as_the_system_field_of_blocks_is_one_text(dialect: str) -> None:
    """Bedrock's was read letter by letter."""
    text = "Be brief, and name the sources."
    as_text, as_block = (
        count_request(body_with(system, dialect), dialect=dialect)
        for system in (text, [{"text": text, **({"type": "text"} if dialect == "anthropic" else {})}])
    )
    assert as_text == as_block


REQUESTS: list[tuple[Any, dict[str, Any]]] = [
    (openai_chat, {"messages": [USER], "tools": 5}),
    (mistral, {"messages": [USER], "functions": True}),
    (gemini, {"contents": [USER], "config": "x"}),
    (bedrock, {"messages": [{"role": "user", "content": [{"text": "x"}]}], "toolConfig": "x"}),
    (bedrock, {"messages": [{"role": "user", "content": [{"text": "x"}]}], "system": 5}),
    (plain, {"messages": 1}),
]


@pytest.mark.parametrize(("dialect", "request_"), REQUESTS, ids=lambda each: getattr(each, "name", ""))
def test_a_raw_request_of_the_wrong_types_is_refused(dialect: Any, request_: dict[str, Any]) -> None:
    with pytest.raises(AssemblyError) as refused:
        count_request(request_, dialect=dialect)
    assert refused.value.__context__ is None


class Raises:
    """A message object whose content cannot be asked for."""

    role = "user"

    @property
    def content(self) -> str:
        raise RuntimeError("sk-CANARY-123")


class Dumps:
    def model_dump(self, **_options: Any) -> dict[str, Any]:
        raise OSError("sk-CANARY-123")


class Lists(dict[str, Any]):
    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("sk-CANARY-123")

    keys = __iter__  # type: ignore[assignment]


class Gets(dict[str, Any]):
    def get(self, _key: str, _default: Any = None) -> Any:
        raise RuntimeError("sk-CANARY-123")


def test_a_mapping_whose_own_get_raises_is_read_by_its_items() -> None:
    odd = Gets(USER)
    context = Assembler(dialect=plain).add_messages([odd]).build()
    assert context.messages[0] is odd
    assert context.request()["messages"] == [USER]


@pytest.mark.parametrize("odd", [Raises(), Dumps(), Lists(USER)], ids=lambda odd: type(odd).__name__)
def test_an_object_that_raises_when_it_is_read_is_refused_without_being_quoted(odd: Any) -> None:
    assembler = Assembler(dialect=plain).add_messages([USER])
    with pytest.raises(ConversationError) as refused:
        assembler.add_messages([odd])
    assert refused.value.__context__ is None
    assert "CANARY" not in str(refused.value)
    assert assembler.build().messages == [USER]


def test_an_item_between_a_call_of_another_spelling_and_its_result_is_refused() -> None:
    """Responses lists a turn item by item; no other API allows a text between a call and its answer."""
    call = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "find", "input": {}}}]}
    block = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "wait"}]}
    answer = {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "found"}]}}]}
    history = [{"role": "user", "content": "find it"}, call, block, answer]
    with pytest.raises(ConversationError, match="has no result before this message"):
        Assembler(dialect=openai_chat).add_messages(history).build()
    one_by_one = Assembler(dialect=openai_chat)
    with pytest.raises(ConversationError, match="has no result before this message"):
        for message in history:
            one_by_one.add_message(message)
    item = {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "found"}
    lawful = [history[0], item, block, output]
    assert len(Assembler(dialect=openai_chat).add_messages(lawful).build().messages) == 4
