"""An example of each type that the SDKs name, with every field filled: texts are words that stand nowhere else."""

from __future__ import annotations

import itertools
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

import typing_extensions

from tests.sdks.census import camel, members

Dict = dict[str, Any]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # one pixel
CALL = "call_1"
_SAID: Dict = dict.fromkeys(("call_id", "tool_use_id", "toolUseId", "id"), CALL) | {
    "name": "ask",
    "arguments": "{}",
    "image_url": f"data:image/png;base64,{PNG}",
    "url": "https://a.example",
    "data": "aGVsbG8=",
    "mime_type": "text/plain",
    "type": "server_tool_use",  # of Bedrock's calls and results: it names the kind, and says nothing
}
_LEFT = ("caller", "cache_control")
"""Fields that have tests of their own."""
_WRAPPED = (
    typing.Annotated,
    typing.Required,
    typing.NotRequired,
    typing_extensions.Required,
    typing_extensions.NotRequired,
)
_words = itertools.count(1)


def word() -> str:
    """A text that stands nowhere else."""
    return f"word{next(_words)}"


def filled(kind: Any, key: str = "", depth: int = 0, spelled: Any = str) -> Any:
    """A value of a type, of its first variant; `spelled` writes the names of a model's fields."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in _WRAPPED:
        return filled(inner[0], key, depth, spelled)
    if origin is typing.Literal:
        return inner[0]
    if origin in (typing.Union, types.UnionType):
        return filled(next(each for each in inner if each is not type(None)), key, depth, spelled)
    if hasattr(kind, "__value__"):
        return filled(kind.__value__, key, depth, spelled)
    if origin in (list, Iterable, Sequence, tuple):
        return [filled(inner[0], key, depth + 1, spelled)]
    if (fields := _fields_of(kind)) is not None:
        held = {} if depth > 5 else fields
        return {spelled(name): filled(held[name], name, depth + 1, spelled) for name in held if name not in _LEFT}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(each.value for each in kind if "UNSPECIFIED" not in str(each.value))
    if kind is str or kind is bytes:
        return _SAID.get(key, word() if kind is str else "aGVsbG8=")
    plain = {bool: True, int: 1, float: 0.5}
    return plain[kind] if kind in plain else {"k": word()}


def _fields_of(kind: Any) -> Mapping[str, Any] | None:
    if typing_extensions.is_typeddict(kind):
        return typing.get_type_hints(kind, include_extras=True)
    models = getattr(kind, "model_fields", None) if isinstance(kind, type) else None
    return None if models is None else {name: field.annotation for name, field in models.items()}


def items() -> Iterator[tuple[str, Dict]]:
    """The items of Responses."""
    from openai.types.responses import response_input_item_param

    for kind in members(response_input_item_param.ResponseInputItemParam):
        item = filled(kind)
        if item.get("type", "message") != "message":
            yield item["type"], item | ({"execution": "client"} if item["type"].startswith("tool_search") else {})


def blocks() -> Iterator[tuple[str, Dict]]:
    """The blocks of Anthropic's messages."""
    from anthropic.types.beta import beta_content_block_param

    read: Dict = {
        "document": {"source": {"type": "text", "media_type": "text/plain", "data": word()}},
        "image": {"source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        "tool_result": {"content": [{"type": "text", "text": word()}]},
    }
    for kind in members(beta_content_block_param.BetaContentBlockParam):
        block = filled(kind)
        yield block["type"], {**block, **read.get(block["type"], {})}


def parts() -> Iterator[tuple[str, Dict]]:
    """The parts of Gemini's contents, as the wire spells them."""
    from google.genai import types as genai

    for name, field in genai.Part.model_fields.items():
        beside = name.startswith("thought") or name.endswith(("_metadata", "_resolution", "_processing"))
        value = filled(field.annotation, name, spelled=camel)
        if name == "inline_data":
            value = {"mimeType": "image/png", "data": PNG}
        if name == "function_response":
            value.pop("parts")
        if name != "file_data":  # has no price: nothing says how large it is
            yield name, ({"text": word()} if beside else {}) | {camel(name): value}


def converse() -> Iterator[tuple[str, Dict]]:
    """The blocks of Bedrock's Converse."""
    import botocore.session

    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    shape: Any = service.operation_model("Converse").input_shape
    members_of = shape.members["messages"].member.members["content"].member.members
    read: Dict = {
        "document": {"format": "txt", "name": "d", "source": {"text": word()}},
        "image": {"format": "png", "source": {"bytes": bytes.fromhex("89504e470d0a1a0a")}},
    }
    for key, member in members_of.items():
        if key not in ("image", "video", "audio"):  # bytes, which the tests of media send
            yield key, {key: read.get(key) or _shaped(member, key)}


def _shaped(shape: Any, key: str) -> Any:
    match shape.type_name:
        case "structure" if getattr(shape, "is_document_type", False):
            return {"k": word()}
        case "structure":
            held = [*shape.members.items()][: 1 if getattr(shape, "is_tagged_union", False) else None]
            return {name: _shaped(member, name) for name, member in held}
        case "list":
            return [_shaped(shape.member, key)]
        case "string":
            return shape.enum[0] if shape.enum else _SAID.get(key, word())
        case "blob":
            return b"hello"
        case "boolean":
            return True
        case kind:
            return {"integer": 1, "long": 1}.get(kind, 0.5)
