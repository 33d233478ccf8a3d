"""All forms of a message are read alike, and any other value is refused when it is added."""

from __future__ import annotations

import copy
import enum
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    AssemblyError,
    ConversationError,
    MarkupError,
    MessageTypeError,
    TrimOldest,
    count_request,
    repair,
    verify,
)
from assembler.conversation.messages import Call, Media, Message, Opaque, Result, Thinking, dicts, read_message
from assembler.dialects import DIALECTS
from budgets import Budget

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


class Speaker(str, enum.Enum):
    USER = "user"


@attrs.define
class OwnMessage:
    role: Any
    content: Any


def langchain(kind: str, content: Any, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(type=kind, content=content, **more)


@pytest.mark.parametrize(
    ("raw", "role", "parts"),
    [
        ({"role": "user", "content": "hi"}, "user", ("hi",)),
        ({"role": "developer", "content": "hi"}, "developer", ("hi",)),
        (("user", "hi"), "user", ("hi",)),
        (("human", "hi"), "user", ("hi",)),
        (["ai", "hi"], "assistant", ("hi",)),
        (OwnMessage("assistant", "hi"), "assistant", ("hi",)),
        (OwnMessage(Speaker.USER, "hi"), "user", ("hi",)),
        (langchain("human", "hi"), "user", ("hi",)),
        (langchain("system", "hi"), "system", ("hi",)),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            "user",
            ("a", "b"),
        ),
        ({"role": "user", "parts": [{"text": "hi"}]}, "user", ("hi",)),
        ({"role": "model", "parts": [{"text": "hi"}]}, "assistant", ("hi",)),
        ({"role": "user", "content": [{"text": "hi"}]}, "user", ("hi",)),
    ],
)
def test_every_spelling_of_a_text_message_reads_alike(raw: Any, role: str, parts: tuple[str, ...]) -> None:
    message = read_message(raw, 0)
    assert (message.role, message.parts, message.raw is raw) == (role, parts, True)


ASKED = Call("c1", "f", '{"a": 1}')
COMPACT = Call("c1", "f", '{"a":1}')


@pytest.mark.parametrize(
    ("raw", "call"),
    [
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, ASKED),
        ({"role": "assistant", "tool_calls": [CALL]}, ASKED),
        ({"role": "assistant", "content": "", "function_call": CALL["function"]}, Call(None, "f", '{"a": 1}')),
        (SimpleNamespace(role="assistant", content=None, tool_calls=[CALL]), ASKED),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}]},
            COMPACT,
        ),
        (langchain("ai", "", tool_calls=[{"id": "c1", "name": "f", "args": {"a": 1}, "type": "tool_call"}]), COMPACT),
        (
            langchain(
                "ai",
                [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}],
                tool_calls=[{"id": "c1", "name": "f", "args": {"a": 1}}],
            ),
            COMPACT,
        ),
        ({"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "f", "input": {"a": 1}}}]}, COMPACT),
        ({"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}}]}, COMPACT),
        ({"role": "model", "parts": [{"function_call": {"name": "f", "args": {"a": 1}}}]}, Call(None, "f", '{"a":1}')),
    ],
)
def test_every_spelling_of_a_call_reads_alike(raw: Any, call: Call) -> None:
    assert [part for part in read_message(raw, 0).parts if part != ""] == [call]


@pytest.mark.parametrize(
    ("raw", "call_id", "name"),
    [
        ({"role": "tool", "tool_call_id": "c1", "content": "42"}, "c1", None),
        ({"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "42"}]}, "c1", None),
        ({"role": "function", "name": "f", "content": "42"}, None, "f"),
        ({"role": "tool", "tool_name": "f", "content": "42"}, None, "f"),
        (SimpleNamespace(role="tool", tool_name="f", content="42", images=None, thinking=None), None, "f"),
        ({"role": "tool", "tool_name": "g", "name": "f", "tool_call_id": "c1", "content": "42"}, "c1", "f"),
        (langchain("tool", "42", tool_call_id="c1", name="f"), "c1", "f"),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "42"}]}, "c1", None),
        ({"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "42"}]}, "c1", None),
        ({"role": "tool", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "42"}]}}]}, "c1", None),
        (
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "42"}]}}]},
            "c1",
            None,
        ),
    ],
)
def test_every_spelling_of_a_result_reads_alike(raw: Any, call_id: str | None, name: str | None) -> None:
    assert read_message(raw, 0).parts == (Result(call_id, ("42",), name),)


@pytest.mark.parametrize("role", ["tool", "function"])
@pytest.mark.parametrize("name", list(DIALECTS))
def test_text_beside_gemini_results_is_the_users_in_every_api(name: str, role: str) -> None:
    """Chat was sent a tool message that answers no call, and Mistral's dialect raised a `KeyError`."""
    call = {"function_call": {"id": "a", "name": "f", "args": {}}}
    result = {"function_response": {"id": "a", "name": "f", "response": {"output": "42"}}}
    history = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [call]},
        {"role": role, "parts": [result, {"text": "look"}]},
        {"role": role, "parts": [{"text": "again"}]},
    ]
    tool = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
    context = Assembler(dialect=name).add_capability([tool]).add_messages(history).build()
    assert "look" in str(context.request())
    assert name == "plain" or verify(context.request(), dialect=name) == []


@pytest.mark.parametrize("name", list(DIALECTS))
def test_a_result_in_a_message_of_the_models_is_refused_and_the_repair_that_the_error_names_works(name: str) -> None:
    """It was sent unchanged, which every API refuses."""
    use = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [use]},
        {"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "42"}]},
    ]
    tool = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
    assembler = Assembler(dialect=name).add_capability([tool])
    with pytest.raises(ConversationError, match="'a' is in an assistant message") as raised:
        assembler.add_messages(history).build()
    assert (raised.value.index, raised.value.call_id) == (2, "a")
    request = assembler.add_messages(repair(history)[0]).build().request()
    assert name == "plain" or verify(request, dialect=name) == []


def test_a_gemini_response_is_its_object_as_json() -> None:
    raw = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": [1]}}}]}
    assert read_message(raw, 0).parts == (Result(None, ('{"a":[1]}',), "f"),)


def test_thinking_media_and_unknown_parts_are_carried_unchanged() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "image", "source": {}},
        {"type": "novelty", "x": 1},
    ]
    parts = read_message({"role": "assistant", "content": blocks}, 0).parts
    assert [type(part) for part in parts] == [Thinking, Thinking, Media, Opaque]
    assert [part.raw for part in parts if not isinstance(part, str | Call | Result)] == blocks


# What comes in, the index that the error names, and a word of what it asks for.
BROKEN: list[tuple[str, list[Any], int | None, str]] = [
    ("no message", [3], 0, "pair"),
    ("no message", [{"role": "user", "content": "a"}, None], 1, "dict"),
    ("no role", [{"content": "a"}], 0, "role"),
    ("unknown role", [{"role": "boss", "content": "a"}], 0, "assistant"),
    ("no content", [{"role": "user"}], 0, "content"),
    ("None content of a user", [{"role": "user", "content": None}], 0, "content"),
    ("an assistant with nothing", [{"role": "assistant"}], 0, "content"),
    ("a tool message without id", [{"role": "tool", "content": "a"}], 0, "tool_call_id"),
    ("content of a wrong type", [{"role": "user", "content": 3}], 0, "list of parts"),
    ("a part without type", [{"role": "user", "content": [{"x": 1}]}], 0, "type"),
    ("a part that is no dict", [{"role": "user", "content": [3]}], 0, "dict"),
    ("a pair of three", [("user", "a", "b")], 0, "pair"),
    ("calls that are no list", [{"role": "assistant", "content": "a", "tool_calls": "x"}], 0, "list"),
    ("a call without name", [{"role": "assistant", "tool_calls": [{"id": "a", "function": {}}]}], 0, "name"),
    (
        "an orphan result",
        [{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "x", "content": "b"}],
        1,
        "repair",
    ),
    (
        "an answer given twice",
        [
            {"role": "user", "content": "a"},
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "b"},
            {"role": "tool", "tool_call_id": "c1", "content": "b"},
        ],
        3,
        "already has a result",
    ),
    (
        "a call that nobody answers",
        [{"role": "assistant", "tool_calls": [CALL]}, {"role": "user", "content": "a"}],
        1,
        "no result",
    ),
    ("an id used twice in a message", [{"role": "assistant", "tool_calls": [CALL, CALL]}], 0, "twice"),
    ("a user who calls", [{"role": "user", "content": "a", "tool_calls": [CALL]}], 0, "cannot call"),
    (
        "arguments that are not JSON",
        [
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": float("nan")}}],
            }
        ],
        0,
        "JSON",
    ),
]


@pytest.mark.parametrize("at_once", [True, False], ids=["add_messages", "add_message"])
@pytest.mark.parametrize(("what", "history", "index", "hint"), BROKEN, ids=[case[0] for case in BROKEN])
def test_a_broken_history_is_refused_when_it_is_added_and_changes_nothing(
    what: str, history: list[Any], index: int, hint: str, at_once: bool
) -> None:
    assembler = Assembler().add_messages([{"role": "user", "content": "before"}] if at_once else [])
    with pytest.raises(ConversationError, match=hint) as raised:
        if at_once:
            assembler.add_messages(history)
        else:
            for message in history:
                before = assembler.fork()
                assembler.add_message(message)
    assert raised.value.index == index
    if at_once:
        assert assembler.build().messages == [{"role": "user", "content": "before"}]
    else:
        assert assembler == before


@pytest.mark.parametrize("messages", [{"role": "user", "content": "a"}, "hello", b"x", 3])
def test_a_history_that_is_not_a_list_of_messages_is_refused(messages: Any) -> None:
    with pytest.raises(MessageTypeError, match="list of messages"):
        Assembler().add_messages(messages)
    assert issubclass(MessageTypeError, TypeError)
    assert issubclass(MessageTypeError, ValueError)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "a\ud800"},
        {"role": "user", "content": [{"type": "text", "text": "a\ud800"}]},
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "a\ud800"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "a\ud800"},
    ],
)
def test_a_lone_surrogate_is_refused_with_its_place(message: dict[str, Any]) -> None:
    with pytest.raises(MarkupError, match=r"conversation\[0\].*character 1"):
        Assembler().add_message(message)
    with pytest.raises(MarkupError, match="instruction"):
        Assembler().add_instruction("\ud800")


@pytest.mark.parametrize("text", [3, b"x", ["a"]])
def test_an_instruction_must_be_text(text: Any) -> None:
    assembler = Assembler().add_instruction("before")
    with pytest.raises(MarkupError, match="instruction: expected text"):
        assembler.add_instruction(text)
    assert assembler.build().system == "before"


def test_unanswered_calls_are_refused_by_the_build_and_not_when_they_are_added() -> None:
    assembler = Assembler().add_message({"role": "user", "content": "a"})
    assembler.add_message({"role": "assistant", "tool_calls": [CALL]})
    with pytest.raises(ConversationError, match="at the end of the history"):
        assembler.build()
    assembler.add_message({"role": "tool", "tool_call_id": "c1", "content": "b"})
    assert len(assembler.build().messages) == 3


def test_messages_that_a_policy_cuts_away_need_not_be_read() -> None:
    broken: list[Any] = [{"role": "user", "content": "x" * 9} for _ in range(300)]
    broken[3] = {"role": "tool", "tool_call_id": "lost", "content": "x" * 9}
    assembler = Assembler(Budget(40, counter=len), on_overflow=TrimOldest()).add_messages(broken)
    assert len(assembler.build().messages) == 4
    whole = Assembler(Budget(4000, counter=len), on_overflow=TrimOldest()).add_messages(broken)
    with pytest.raises(ConversationError):
        whole.build()


def test_a_changed_message_is_noticed_and_a_built_one_stays() -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "12345"}]}
    assembler = Assembler(Budget(100, counter=len)).add_messages([{"role": "user", "content": "a"}, message])
    before = assembler.build()
    message["content"][0]["text"] = "123456789"  # type: ignore[index]
    after = assembler.build()
    assert (before.costs.total, after.costs.total) == (6, 10)
    assert before.request()["messages"][1]["content"][0]["text"] == "12345"
    assert after.request()["messages"][1]["content"][0]["text"] == "123456789"


def test_a_request_shares_no_list_and_no_dict_with_what_came_in() -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "a"}], "meta": {"x": [1]}}
    context = Assembler().add_messages([message]).build()
    sent = context.request()
    sent["messages"][0]["content"][0]["text"] = "b"
    sent["messages"][0]["meta"]["x"].append(2)
    assert message == {"role": "user", "content": [{"type": "text", "text": "a"}], "meta": {"x": [1]}}
    assert context.request()["messages"] == [message]


def test_errors_and_reprs_carry_no_text() -> None:
    canary = "sk-CANARY-123"
    assembler = Assembler(Budget(5)).add_instruction(canary).add_knowledge(canary, type="rag")
    assembler.add_messages([{"role": "user", "content": canary}])
    seen = [repr(assembler), repr(assembler._draft), repr(assembler._settings)]
    for attempt in (
        assembler.build,
        lambda: assembler.add_message({"role": "tool", "tool_call_id": "a", "content": canary}),
    ):
        with pytest.raises(AssemblyError) as raised:
            attempt()
        seen += [str(raised.value), repr(raised.value), repr(raised.value.args)]
    context = assembler.fork()
    roomy = Assembler().add_instruction(canary).add_messages([{"role": "user", "content": canary}]).build()
    seen += [repr(context), repr(roomy), str(roomy.report), repr(roomy.report), str(roomy.report.to_dict())]
    assert not any(canary in text for text in seen)


def test_a_field_that_an_sdk_marks_as_unset_is_left_out() -> None:
    class Unset:
        """As in Mistral's SDK: a false object in every field that the API did not send."""

        def __bool__(self) -> bool:
            return False

        def model_dump(self, **_: object) -> str:
            return "~?~unset~?~sentinel~?~"

    class Answer:
        role, content, tool_calls, name, refusal = "assistant", "Shipped.", Unset(), Unset(), Unset()

    message = read_message(Answer(), 0)
    assert message.seen == {"role": "assistant", "content": "Shipped."}


TEXTS = st.sampled_from(["", "f", "look_up", "é", "\ud800", "two words", '{"a": 1}', None, 7])
FUNCTIONS = st.one_of(
    st.fixed_dictionaries({"name": TEXTS, "arguments": TEXTS}, optional={"strict": st.booleans()}),
    st.sampled_from([None, "f", {"name": "f"}, {"name": "f", "arguments": {"a": [1]}}]),
)
CALLS = st.fixed_dictionaries(
    {"id": TEXTS, "type": st.sampled_from(["function", "custom", None]), "function": FUNCTIONS},
    optional={"custom": st.just({"name": "f", "input": "x"}), "index": st.just(0)},
)
CALLING = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["assistant", "ai", "user", Speaker.USER]),
        "content": TEXTS,
        "tool_calls": st.one_of(st.lists(st.one_of(CALLS, st.just(CALL)), max_size=3), st.none(), st.just((CALL,))),
    },
    optional={"name": TEXTS, "refusal": TEXTS, "pinned": st.booleans()},
)


def read(raw: dict[str, Any]) -> Any:
    """All that is known of a message, or the text of its refusal."""
    try:
        message = read_message(raw, 3)
    except AssemblyError as error:
        return str(error)
    assert message.sent is None or message.sent is message.seen  # what Chat is sent, if a reader knows it already
    known_by_one_reader = ("raw", "sent", "side_fields", "fully_read")
    names = [field.name for field in attrs.fields(type(message)) if field.name not in known_by_one_reader]
    return message.parts, [getattr(message, name) for name in names]


@given(raw=CALLING)
def test_the_fast_reader_of_calls_agrees_with_the_field_by_field_one(raw: dict[str, Any]) -> None:
    at_once = read(raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dicts, "_read_calling", lambda *_: None)
        assert read(raw) == at_once


def test_the_reading_of_calls_shares_no_list_and_no_dict_with_the_message() -> None:
    raw: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": copy.deepcopy([CALL])}
    message = read_message(raw, 0)
    raw["tool_calls"][0]["function"]["arguments"] = "{}"
    raw["tool_calls"][0]["id"] = "c2"
    raw["tool_calls"].append(CALL)
    assert message.seen == {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert list(message.seen) == ["role", "content", "tool_calls"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"arguments": "{}"}}]},
        {"role": "assistant", "tool_calls": [{"id": "c1", "args": {}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "input": {}}]},
        {"role": "model", "parts": [{"function_call": {"args": {}}}]},
        {"type": "function_call", "call_id": "c1", "arguments": "{}"},
    ],
)
def test_the_error_for_a_call_without_a_name_shows_the_keys_of_a_call(message: dict[str, Any]) -> None:
    with pytest.raises(ConversationError, match=r"no name; expected \{id, function: \{name, arguments\}\}, \{id, name"):
        read_message(message, 0)


PARTS = st.sampled_from(["", "hi", Call("c1", "f", "{}"), Result("c1", ("hi",)), Opaque("kind", {})])


@given(st.lists(PARTS, max_size=3), st.lists(PARTS, max_size=3))
def test_a_message_has_a_text_if_that_is_its_only_part(parts: list[Any], others: list[Any]) -> None:
    message = Message("user", tuple(parts), None, "neutral", None)
    for made, of in ((message, parts), (attrs.evolve(message, parts=tuple(others)), others)):
        assert made.text == (of[0] if [type(part) for part in of] == [str] else None)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "c2ln"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
        {"type": "text", "text": "a"},
        {"type": "tool_result", "tool_use_id": "a", "content": "b"},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
    ],
    ids=lambda block: block["type"],
)
def test_a_block_in_place_of_a_message_is_read_once_it_is_put_where_the_error_says(block: dict[str, Any]) -> None:
    with pytest.raises(AssemblyError, match="put the block into a message: ") as refused:
        read_message(block, 0)
    role = "assistant" if "'assistant'" in str(refused.value) else "user"
    assert role == ("assistant" if block["type"] in ("thinking", "redacted_thinking", "tool_use") else "user")
    assert read_message({"role": role, "content": [block]}, 0).parts


@pytest.mark.parametrize("name", DIALECTS)
def test_a_refusal_beside_thinking_alone_is_what_the_model_said(name: str) -> None:
    """The build counted three tokens fewer than the request that it was sent in."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    asked = {"role": "user", "content": "q"}
    history = [asked, {"role": "assistant", "content": [thought], "refusal": "No."}, asked]
    context = Assembler(Budget(10_000, model="gpt-4o"), dialect=name).set_messages(history).build()
    assert "No." in str(context.request())
    assert context.count == count_request(context.request(), dialect=name, model="gpt-4o")
