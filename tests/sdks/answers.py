"""An answer of each type that an SDK's own models name, every field of it filled, and what the SDK would send of it."""

from __future__ import annotations

import contextlib
import enum
import types
import typing
from collections.abc import Iterator
from typing import Any

import attrs
import pydantic

from .census import members

Dict = dict[str, Any]

DEEPEST = 5
"""Models inside one another: some hold themselves."""

LEAVES: dict[object, Any] = {str: None, bool: True, int: 1, float: 0.5, bytes: b"\xfb\xffab", object: "x", Any: "x"}


def filled(model: type[pydantic.BaseModel], depth: int = 0) -> Dict:
    """A value for each field of a model, under the API's name for it."""
    found = {name: _value(field.annotation, name, depth) for name, field in model.model_fields.items()}
    aliases = {name: field.alias or name for name, field in model.model_fields.items()}
    return {aliases[name]: value for name, value in found.items() if value is not None}


def _value(kind: Any, name: str, depth: int) -> Any:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return inner[0]
    if origin in (typing.Annotated, typing.Union, types.UnionType) or hasattr(kind, "__value__"):
        members_left = [
            one for one in members(kind) if one is not type(None) and getattr(one, "__name__", "") != "Unset"
        ]
        return _value(members_left[0], name, depth) if members_left else None
    if origin is dict:
        return {"k": _value(inner[1], name, depth + 1)}
    if isinstance(origin, type) and issubclass(origin, list):
        return [_value(inner[0], name, depth + 1)] if depth < DEEPEST else []
    if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
        return filled(kind, depth + 1) if depth < DEEPEST else {}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind)).value
    return name if kind is str else LEAVES.get(kind)


@attrs.frozen
class Answer:
    """One message or item of a model's, as the SDK's object and as its JSON, and what must follow it."""

    dialect: str
    kind: str
    spoken: Any
    sent: Dict
    after: tuple[Any, ...] = ()


CALL = {"id": "call_1", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
SIGNED = {**CALL, "extra_content": {"google": {"thought_signature": "c2ln"}}}
"""A call as Google's own endpoint of this spelling has it: the signature must come back."""


def chat() -> Iterator[Answer]:
    from openai._models import construct_type
    from openai.types.chat import ChatCompletionMessage

    whole = {**filled(ChatCompletionMessage), "tool_calls": [SIGNED], "reasoning_content": "hm", "dream": {"said": "x"}}
    del whole["function_call"]  # OpenAI's first spelling of a call, which stands beside no other
    answered = ({"role": "tool", "tool_call_id": "call_1", "content": "x"},)
    custom = {"id": "call_1", "type": "custom", "custom": {"name": "ask", "input": "x"}}
    called = {"role": "assistant", "content": None, "tool_calls": [custom]}
    for kind, body, after in (("every field", whole, answered), ("custom", called, answered)):
        yield Answer("openai_chat", kind, construct_type(value=body, type_=ChatCompletionMessage), body, after)


def responses() -> Iterator[Answer]:
    from openai._models import construct_type
    from openai.types.responses import ResponseOutputItem

    spoken = {"type": "message", "id": "msg_9", "role": "assistant", "status": "incomplete", "content": []}
    for model in members(ResponseOutputItem):
        body = filled(model)
        kind = body["type"]
        if kind.endswith("_call_output"):
            continue  # what the caller answers: tested with its call
        body |= {"execution": "server"} if "execution" in body else {}
        outputs: list[Dict] = [{"type": f"{kind}_output", "call_id": body.get("call_id"), "output": "x"}]
        after = tuple(outputs) if kind in ANSWERED else (spoken,) if kind == "reasoning" else ()
        yield Answer("openai_responses", kind, construct_type(value=body, type_=ResponseOutputItem), body, after)


ANSWERED = ("function_call", "custom_tool_call", "shell_call", "apply_patch_call", "local_shell_call", "computer_call")


def anthropic() -> Iterator[Answer]:
    from anthropic._models import construct_type
    from anthropic.types.beta import BetaMessage
    from anthropic.types.beta.beta_content_block import BetaContentBlock

    for model in members(BetaContentBlock):
        block = filled(model)
        block |= {"input": {"k": "v"}} if "input" in block else {}
        blocks = [block, {"type": "text", "text": "so", "citations": None}]
        whole = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks, "stop_reason": "x"}
        spoken: Any = construct_type(value=whole, type_=BetaMessage)
        result = {"type": "tool_result", "tool_use_id": "id", "content": "x"}
        after = ({"role": "user", "content": [result]},) if block["type"] == "tool_use" else ()
        answer = {"role": "assistant", "content": blocks}
        yield Answer("anthropic", block["type"], {"role": "assistant", "content": spoken.content}, answer, after)
        yield Answer("anthropic", f"{block['type']} in a message", spoken, answer, after)


def gemini() -> Iterator[Answer]:
    from google.genai import types as genai

    blob: Dict = {"mime_type": "image/png", "data": b"\xfb\xffab"}
    answered = genai.Part(function_response=genai.FunctionResponse(id="f", name="ask", response={"r": 1}))
    for field, info in genai.Part.model_fields.items():
        part: Dict = {field: _value(info.annotation, field, 1)}
        if field == "function_response":
            continue  # what the caller answers
        if field == "function_call":
            part = {field: {"id": "f", "name": "ask", "args": {"k": "v"}}, "thought_signature": b"\xfb\xffs"}
        elif field in ("thought", "thought_signature"):
            part |= {"text": "hm"}
        elif field == "inline_data" or field.endswith(("_metadata", "_resolution", "_processing")):
            part |= {"inline_data": blob}
        elif field == "file_data":
            part = {field: {"file_uri": "gs://f", "mime_type": "image/png"}}
        spoken = genai.Content(role="model", parts=[genai.Part(**part)])
        after = (genai.Content(role="user", parts=[answered]),) if field == "function_call" else ()
        yield Answer("gemini", field, spoken, spoken.model_dump(exclude_none=True), after)
        wire = spoken.model_dump(exclude_none=True, mode="json", by_alias=True)
        yield Answer("gemini", f"{field} on the wire", spoken, wire, after)


def mistral() -> Iterator[Answer]:
    from mistralai.client import models
    from mistralai.client.models import contentchunk

    variants: Dict = vars(contentchunk)["_CONTENT_CHUNK_VARIANTS"]
    for kind, model in variants.items():
        message: Dict = {
            "role": "assistant",
            "content": [filled(model) | {"type": kind}, {"type": "text", "text": "so"}],
        }
        yield Answer("mistral", kind, models.AssistantMessage.model_validate(message), message)
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    after = ({"role": "tool", "tool_call_id": "abcdefghi", "name": "ask", "content": "x"},)
    yield Answer("mistral", "tool_calls", models.AssistantMessage.model_validate(message), message, after)


def answers() -> list[Answer]:
    """Every answer, in the order of the SDKs' own types."""
    return [*chat(), *responses(), *anthropic(), *gemini(), *mistral()]


def sent(post: Any, request: Dict, bodies: list[Dict]) -> Any:
    """The list of messages of the body that a client posts."""
    with contextlib.suppress(Exception):  # what the stub answers to what it does not know is not asked here
        post(request)
    return next(bodies[-1][key] for key in ("messages", "input", "contents") if key in bodies[-1])
