"""The check of message readers finds every seeded fault, and passes readers of classes of several forms."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

from assembler import Assembler, ConversationError
from assembler.errors import MessageTypeError
from assembler.testing import ContractError, check_reader
from budgets import BudgetError

ticks = itertools.count()


@attrs.define(eq=False)
class Bubble:
    """A message: a text, calls by their ids, and results by the ids of their calls."""

    who: str
    text: str = ""
    calls: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    results: dict[str, str] = attrs.field(factory=dict)


def as_dict(bubble: Bubble) -> dict[str, Any]:
    answers = [
        {"type": "tool_result", "tool_use_id": call_id, "content": found} for call_id, found in bubble.results.items()
    ]
    if answers:
        blocks = [{"type": "text", "text": bubble.text}] if bubble.text else []
        return {"role": "user", "content": [*answers, *blocks]}
    calls = [{"id": call_id, "name": "look", "args": given} for call_id, given in bubble.calls.items()]
    return {"role": bubble.who, "content": bubble.text, **({"tool_calls": calls} if calls else {})}


def from_dict(fields: Mapping[str, Any]) -> Bubble:
    if fields["role"] == "tool":
        return Bubble("user", results={fields["tool_call_id"]: fields["content"]})
    content = fields["content"]
    blocks: list[Any] = [content] if isinstance(content, str) else content
    results = {block["tool_use_id"]: block["content"] for block in blocks if "tool_use_id" in block}
    texts = [block if isinstance(block, str) else block["text"] for block in blocks if "tool_use_id" not in block]
    calls = {call["id"]: call["args"] for call in fields.get("tool_calls", ())}
    return Bubble(fields["role"], "".join(texts), calls, results)


def talk() -> list[Bubble]:
    """A question, two calls at once with their results in one message, and an answer."""
    return [
        Bubble("user", "What is the weather in Oslo?"),
        Bubble("assistant", "I look.", {"c1": {"where": "Oslo"}, "c2": {"where": "Bergen"}}),
        Bubble("user", "", {}, {"c1": "4 degrees, rain", "c2": "5 degrees, snow"}),
        Bubble("assistant", "It rains in Oslo."),
        Bubble("user", "Thank you very much."),
    ]


def counted(bubble: Bubble) -> dict[str, Any]:
    return {**as_dict(bubble), "seen": next(ticks)}


def scribbling(bubble: Bubble) -> dict[str, Any]:
    fields = as_dict(bubble)
    bubble.text += "."
    return fields


def with_first_result(bubble: Bubble) -> dict[str, Any]:
    return as_dict(attrs.evolve(bubble, results=dict([*bubble.results.items()][:1])))


def without_texts(bubble: Bubble) -> dict[str, Any]:
    fields = as_dict(bubble)
    return {**fields, "text": fields["content"], "content": ""} if bubble.who == "user" else fields


def with_one_id(bubble: Bubble) -> dict[str, Any]:
    fields = as_dict(bubble)
    for call in fields.get("tool_calls", ()):
        call["id"] = "call"
    return fields


def raising(bubble: Bubble) -> dict[str, Any]:
    return {"role": bubble.who, "content": bubble.calls["c1"]}


def quoting(bubble: Bubble) -> dict[str, Any]:
    if not isinstance(bubble.calls, dict):
        raise ConversationError(f"calls of {bubble.text!r} are no dict")
    return as_dict(bubble)


def in_dicts(fields: Mapping[str, Any]) -> Any:
    return dict(fields)


def without_calls(fields: Mapping[str, Any]) -> Bubble:
    return attrs.evolve(from_dict(fields), calls={})


def needing_calls(fields: Mapping[str, Any]) -> Bubble:
    assert fields["tool_calls"] is not None
    return from_dict(fields)


def as_it_was(fields: Mapping[str, Any]) -> Bubble:
    """Forget that a text may have been shortened."""
    made = from_dict(fields)
    return attrs.evolve(made, text="I look.") if made.calls else made


def of_one_result(fields: Mapping[str, Any]) -> Bubble:
    made = from_dict(fields)
    return attrs.evolve(made, results=dict([*made.results.items()][:1]))


def without_messages_of_tools(fields: Mapping[str, Any]) -> Bubble:
    return Bubble("user", str(fields["content"])) if fields["role"] == "tool" else from_dict(fields)


def without_summaries(fields: Mapping[str, Any]) -> Any:
    return None if isinstance(fields["content"], str) and fields["role"] == "user" else from_dict(fields)


KEPT: list[Bubble] = []


def into_the_old_one(fields: Mapping[str, Any]) -> Bubble:
    """Change the first message of the history instead of making a new one."""
    made = from_dict(fields)
    if made.who != "user" or made.results:
        return made
    KEPT[0].text = made.text
    return KEPT[0]


def of_another_dict(bubble: Bubble) -> Any:
    return [as_dict(bubble)]


FAULTS: dict[str, tuple[str, Callable[[Bubble], Any], Callable[[Mapping[str, Any]], Any] | None]] = {
    "it counts its calls": ("equal dict each time", counted, from_dict),
    "it writes into messages": ("equal dict each time|changes nothing", scribbling, from_dict),
    "it reads one result of two": ("conversations are valid", with_first_result, None),
    "it puts the text under another key": ("message 0 is read as empty", without_texts, None),
    "it gives two calls one id": ("conversations are valid|reads every message", with_one_id, None),
    "it raises": ("reads every message; message 0 raised KeyError", raising, from_dict),
    "it returns a list": ("reads every message; .*returned a list", of_another_dict, None),
    "its error quotes a message": ("no error quotes a message; one of message 0 does", quoting, from_dict),
    "its writer makes dicts": ("of the class; again: got dict", as_dict, in_dicts),
    "its writer loses calls": ("again: the writer of Bubble made", as_dict, without_calls),
    "its writer fails without calls": (
        "raised KeyError for a dict with the role '(user|assistant)' and the keys role, content",
        as_dict,
        needing_calls,
    ),
    "its writer keeps the old text": ("shortened: the writer of Bubble made", as_dict, as_it_was),
    "its writer knows one result alone": ("again: the writer of Bubble made", as_dict, of_one_result),
    "its writer knows no results of repair": (
        "results for message 1: the writer of Bubble made",
        as_dict,
        without_messages_of_tools,
    ),
    "its writer makes no summary": ("the writer of Bubble returned None", as_dict, without_summaries),
    "its writer changes an old message": (
        "changes nothing that it is given; a message of the history",
        as_dict,
        into_the_old_one,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_of_a_reader_or_a_writer_is_found(fault: str) -> None:
    breach, reader, writer = FAULTS[fault]
    KEPT[:] = history = talk()
    with pytest.raises(ContractError, match=breach) as raised:
        check_reader(Bubble, reader, writer, histories=[history])
    assert raised.value.subject == "Bubble"
    assert not any(text in str(raised.value) for text in ("Oslo", "Thank you", "rain"))


@pytest.mark.parametrize("writer", [from_dict, None])
def test_a_reader_of_calls_and_of_several_results_passes(writer: Callable[[Mapping[str, Any]], Bubble] | None) -> None:
    history = talk()
    check_reader(Bubble, as_dict, writer, histories=[history, history[:3], history[:1]])
    assert [as_dict(bubble) for bubble in history] == [as_dict(bubble) for bubble in talk()]


def test_messages_of_other_classes_may_stand_between_them() -> None:
    check_reader(Bubble, as_dict, from_dict, histories=[[*talk(), {"role": "assistant", "content": "Any time."}]])


def test_the_reader_is_registered_during_the_check_alone() -> None:
    check_reader(Bubble, as_dict, from_dict, histories=[talk()])
    with pytest.raises(MessageTypeError):
        Assembler().add_messages(talk()).build()


@pytest.mark.parametrize("histories", [[], [[]], [[{"role": "user", "content": "Hi"}]]])
def test_without_a_message_of_the_class_nothing_is_checked(histories: Any) -> None:
    with pytest.raises(BudgetError, match="no message of the class; pass histories"):
        check_reader(Bubble, as_dict, from_dict, histories=histories)


@attrs.frozen
class Frozen:
    """A class without a `__dict__`, whose objects cannot be changed."""

    role: str
    text: str


def test_a_class_with_slots_is_damaged_too() -> None:
    def write(message: Frozen) -> dict[str, Any]:
        if not isinstance(message.role, str):
            raise ConversationError(f"no role for {message.text}")
        return {"role": message.role, "content": message.text}

    with pytest.raises(ContractError, match="no error quotes a message"):
        check_reader(Frozen, write, histories=[[Frozen("user", "What is new?")]])
