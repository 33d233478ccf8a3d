"""Messages of any class make the request, the count and the cut of the dicts that they hold."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import attrs
import pydantic
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError, ConversationError, Offload, TrimOldest, count_request
from assembler.conversation.messages import reading
from assembler.policies import ClearReasoning, ClearToolResults, Policy, TrimSteps, Truncate
from budgets import Budget
from tests.assembler.loosely_spelled import SHAPES, Message, talk
from tests.assembler.policies.by_hand import MODELS, TOOLS
from tests.scaled import scaled


class Model(pydantic.BaseModel):
    """Any class of an SDK that is made with pydantic."""

    model_config = pydantic.ConfigDict(extra="allow")


class Wrapped:
    """A class of a program's own, whose reader is registered."""

    def __init__(self, held: Message) -> None:
        self.held = held


def as_models(value: Any) -> Any:
    """The message with its parts and calls as objects of an SDK; arguments stay dicts."""
    if isinstance(value, list):
        return [as_models(held) for held in value]
    if not isinstance(value, dict) or {*"abc"} >= {*value}:
        return value
    return Model(**{key: as_models(held) for key, held in value.items()})


def as_dataclass(message: Message) -> Any:
    return dataclasses.make_dataclass("Said", [(key, object) for key in message], frozen=True)(**message)


def as_attrs(message: Message) -> Any:
    return attrs.make_class("Said", [*message], frozen=True, slots=True)(**message)


def as_langchain(message: Message) -> Any:
    """As LangChain's classes, which hold the arguments of a call as a dict."""
    kinds = {"user": "human", "assistant": "ai", "tool": "tool", "system": "system"}
    if message["role"] not in kinds:
        return message
    made = SimpleNamespace(type=kinds[message["role"]], content=message["content"] or "", additional_kwargs={})
    made.__dict__.update({key: message[key] for key in ("name", "tool_call_id", "pinned") if key in message})
    if "reasoning_content" in message:
        made.additional_kwargs["reasoning_content"] = message["reasoning_content"]
    calls = [(call["id"], call["function"]) for call in message.get("tool_calls", ())]
    made.tool_calls = [
        {"id": one, "name": asked["name"], "args": json.loads(asked["arguments"]), "type": "tool_call"}
        for one, asked in calls
    ]
    return made


FORMS: dict[str, Callable[[Message], Any]] = {
    "dict": dict,
    "models": as_models,
    "model": lambda message: Model(**message),
    "attributes": lambda message: SimpleNamespace(**message),
    "dataclass": as_dataclass,
    "attrs": as_attrs,
    "registered": Wrapped,
    "langchain": as_langchain,
}
BY_SHAPE = {
    "chat": [*FORMS],
    "anthropic": [name for name in FORMS if name != "langchain"],
    "bedrock": ["dict", "model", "attributes", "dataclass", "attrs", "registered"],
    "gemini": ["dict", "models", "registered"],
    "responses": ["dict", "models", "registered"],
}
LADDERS: list[list[Policy]] = [
    [TrimOldest()],
    [ClearToolResults(1), TrimOldest()],
    [Truncate(20), TrimSteps(0)],
    [Offload({}, min_tokens=10, preview=20), TrimOldest()],
    [ClearReasoning(), Truncate(20), ClearToolResults(0), TrimOldest(low_water=0.6)],
]


def drawn(shape: str, draw: Random) -> list[Message]:
    """A conversation with some pinned questions, and arguments spelled as those of LangChain are when they are sent."""
    messages = SHAPES[shape](talk(draw), draw)
    for message in messages:
        for call in message.get("tool_calls", ()):
            arguments = json.loads(call["function"]["arguments"])
            call["function"]["arguments"] = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
        if message.get("role") == "user" and "type" not in message and draw.random() < 0.1:
            message["pinned"] = True
    return messages


@scaled(0.5)
@given(st.integers(0, 2**32))
def test_objects_make_the_request_and_the_count_of_the_dicts_that_they_hold(seed: int) -> None:
    draw = Random(seed)
    shape, (dialect, model), ladder = draw.choice([*SHAPES]), draw.choice(MODELS), draw.choice(LADDERS)
    messages = drawn(shape, draw)
    only = draw.choice(BY_SHAPE[shape])
    forms = [only if seed % 2 else draw.choice(BY_SHAPE[shape]) for _ in messages]

    def outcome(window: int, said: list[Any]) -> Any:
        made = Assembler(Budget(window, model=model), dialect=dialect, on_overflow=ladder).set_tools(TOOLS)
        try:
            context = made.add_messages(said).build()
        except ContextLengthError as error:
            return error.required, error.smallest_window
        except ConversationError as error:
            return type(error)
        assert count_request(context.request(), dialect=dialect, model=model) == context.count
        assert context.count.upper <= window
        return context.request(), context.count

    windows = [10**6]
    with reading(Wrapped, lambda wrapped: wrapped.held, writer=Wrapped):
        for window in windows:
            objects = [FORMS[form](copy.deepcopy(message)) for form, message in zip(forms, messages, strict=True)]
            found = outcome(window, objects)
            assert found == outcome(window, copy.deepcopy(messages)), (forms, window)
            if window == 10**6 and isinstance(found, tuple):
                whole = found[1].upper
                windows += [whole - 1, max(int(whole * draw.random()), 1)]
