"""Writes neutral parts, the system text and tools as Gemini's parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.stray_cache_marks import NONE_TAKEN
from assembler.dialects.blocks.ids import IdRule
from assembler.dialects.blocks.media import PDF, Inline, Link, content_of, not_carried, without_given
from assembler.dialects.blocks.writer import Block, Raw, Writer, arguments_of
from assembler.dialects.writing.fields import named_tool, object_schema, own_fields
from assembler.dialects.writing.media_in_results import all_with_media_after_results
from assembler.errors import ToolError, UnsupportedContentError
from assembler.regions.tools import Tool
from assembler.regions.tools.tool import own_definition
from assembler.text.fields import fields_in, fields_of, items_of

_SHAPE = "gemini"
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
"""Function names: kaitranntt/ccs#25 quotes the API."""
UNSIGNED = "skip_thought_signature_validator"
"""The dummy signature for a call that Gemini did not make: Gemini 3 refuses a call of the current turn without one, and
older models ignore it (Google, "Thought signatures", FAQ; langchain-google#1972; read 2026-11)."""
_STORES = ("gs://", "https://generativelanguage.googleapis.com/")
"""The locations that `file_data` accepts."""


def read_either(fields: Raw, snake: str, default: object = None) -> object:
    """The value of a key in the SDK's or the wire's form."""
    if (found := fields.get(snake)) is not None:
        return found
    head, *rest = snake.split("_")
    found = fields.get(head + "".join(word.capitalize() for word in rest))
    return default if found is None else found


_KINDS = frozenset(["kind", "type"])
"""The keys by which other libraries name the kind of a part. This API refuses unknown keys."""


class GeminiWriter(Writer):
    """Writes Gemini's parts."""

    shape = _SHAPE
    content = "parts"
    id_rule = IdRule(re.compile(r"[ -~]+"), needed=False)
    tool_name = _NAME

    def adapt(self, messages: Iterable[Message]) -> list[Message]:
        """The messages adapted to this API, with pictures and files of answers after them."""
        return super().adapt(all_with_media_after_results([*messages], _SHAPE, self.notes))

    def text(self, text: str, raw: Raw | None, shape: str) -> Block | None:
        """A text part; an empty one only with a thought signature, which Gemini 3 wants back."""
        own = raw if raw is not None and shape == _SHAPE and _KINDS.isdisjoint(raw) else None
        signed = own is not None and read_either(own, "thought_signature") is not None
        if not text and not signed:
            self.notes["empty text(s) left out"] += 1
            return None
        return {"text": text} if own is None else own_fields(own)

    def call(self, call: Call, call_id: str | None, raw: Raw | None) -> Block:
        """A `function_call` part with its signature; one of the caller's own is copied."""
        name = self.named(call)
        own_call = None if raw is None else read_either(raw, "function_call")
        if raw is None or not isinstance(own_call, Mapping):
            asked: Block = {"id": call_id} if call_id is not None else {}
            asked |= {"name": name, "args": arguments_of(call, self.notes)}
            return {"function_call": asked, "thought_signature": call.signature or UNSIGNED}
        part: Block = own_fields(raw)
        function: Block = part["function_call" if "function_call" in part else "functionCall"]
        function["name"] = name
        if isinstance(function.get("args"), str):
            function["args"] = arguments_of(call, self.notes)
        if call_id is not None:
            function["id"] = call_id
        return part

    def result(self, result: Result, call: Call, call_id: str | None, raw: Raw | None) -> Block:
        """A `function_response` part with the call's name; one of the caller's own is copied."""
        name = self.answered(call)
        own_response = None if raw is None else read_either(raw, "function_response")
        if raw is None or not isinstance(own_response, Mapping):
            answer: Block = {"id": call_id} if call_id is not None else {}
            answer |= {"name": name, "response": response_of(result)}
            return {"function_response": answer}
        part: Block = own_fields(raw)
        response: Block = part["function_response" if "function_response" in part else "functionResponse"]
        response["name"] = name
        if call_id is not None:
            response["id"] = call_id
        if not isinstance(response.get("response"), dict):
            response["response"] = response_of(result)
        if shown := items_of(response.get("parts")):
            response["parts"] = [without_given(fields_in(each)) for each in shown]
        return part

    def thinking(self, part: Thinking, shape: str) -> Block | None:
        """Gemini's own thoughts unchanged; None for other reasoning."""
        return own_fields(part.raw) if sends(part, shape) else None

    def opaque(self, part: Opaque) -> Block | None:
        """Copy a part that this library does not read; None for one without data."""
        return super().opaque(part) if sends(part, _SHAPE) else None

    def media(self, part: Media) -> Block:
        """A part with data, or with a file by its address."""
        if any(isinstance(read_either(part.raw, key), Mapping) for key in ("inline_data", "file_data")):
            return without_given(part.raw)
        match content_of(part):
            case Inline(mime=mime, data=data):
                return {"inline_data": {"mime_type": mime, "data": data}}
            case Link(url=url) if url.startswith(_STORES):
                return {"file_data": {"file_uri": url}}
            case Link(url=url) if (named := _guess_type(part.kind, url)) is not None:
                return {"file_data": {"file_uri": url, "mime_type": named}}
            case _:
                raise not_carried(part, "gemini")

    def system_instruction(self, system: str | None, head: Sequence[Message]) -> str | Block | None:
        """The system instruction: the caller's own content, one text as a text, or several as parts."""
        parts = self.system(system, head)
        if system is None and len(head) == 1 and head[0].shape == _SHAPE:
            frame = self.frame(head[0])
            if "role" in frame:
                frame["role"] = head[0].seen["role"]
            return {**frame, "parts": parts} if parts else None
        return str(parts[0]["text"]) if len(parts) == 1 else {"parts": parts} if parts else None


def _guess_type(kind: str, url: str) -> str | None:
    """The type of a document at a public address, which is a PDF in other APIs, or of an image by its name."""
    if kind == "document":
        return PDF
    end = url.partition("?")[0].rpartition(".")[2].lower()
    return _IMAGES.get(end) if kind == "image" else None


_IMAGES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp", "gif": "image/gif"}
"""Public and signed addresses are fetched since January 2026 (Google, "File input methods", read 2026-11)."""


def sends(part: Part, shape: str) -> bool:
    """Whether a part is sent: no empty text or thought, no other model's reasoning, no other API's mark."""
    match part:
        case str():
            return part != "" or shape == _SHAPE  # an empty text of its own may carry a signature
        case Thinking():
            return shape == _SHAPE and (part.text != "" or read_either(part.raw, "thought_signature") is not None)
        case Opaque():
            # The API refuses a part without data: one of the SDK's in which every field is None, for one.
            nothing = part.api == _SHAPE and all(held is None or key == "thought" for key, held in part.raw.items())
            return not nothing and "cachePoint" not in part.raw
        case _:
            return True


def response_of(result: Result) -> dict[str, Any]:
    """An answer as the object that the API demands: its own, or its text under `output` or `error`."""
    if result.given is not None:
        return own_fields(result.given)
    texts: list[str] = []
    for part in result.parts:
        if is_mark(part):
            continue
        if not isinstance(part, str):
            raise UnsupportedContentError(
                f"gemini takes text and JSON in a tool's answer, not a part of kind {part.kind!r}; leave it out",
                kind=part.kind,
            )
        texts.append(part)
    return {"error" if result.error else "output": texts[0] if len(texts) == 1 else texts}


def as_answered(part: Part) -> Part:
    """An answer with the object that is sent and billed, and any other part unchanged.

    So is an answer with parts that are no texts: Gemini's own API refuses it, and a gateway may pass it on.
    """
    if not isinstance(part, Result) or not all(isinstance(held, str) or is_mark(held) for held in part.parts):
        return part
    return attrs.evolve(part, given=response_of(part))


def schema_of(options: Raw, key: str) -> Raw | None:
    """The schema of an answer under `key`; None without one."""
    return fields_of(setting_of(options, key))


def setting_of(options: Raw, key: str) -> object:
    """The value under `key` of `config` or the wire's `generationConfig`; None without one."""
    held: object = read_either(fields_in(read_either(options, "generation_config")), key, read_either(options, key))
    return held


def declarations(tools: Sequence[Tool]) -> list[Block]:
    """The `tools` list: the caller's own lists of declarations, and one of all others. Raises `ToolError`."""
    wrapped: dict[int, Block] = {}
    declared: list[Block] = []
    for tool in tools:
        if tool.api is None and not _NAME.fullmatch(tool.name):
            raise ToolError(
                "gemini takes no function name that begins with a digit or a dash; rename the tool", tool=tool.name
            )
        if id(tool.raw) in wrapped:  # an object of many declarations is copied once
            continue
        if tool.api is not None:
            wrapped[id(tool.raw)] = own_definition(tool)
            continue
        raw = fields_of(tool.seen)
        if raw is not None and read_either(raw, "function_declarations") is not None:
            wrapped[id(tool.raw)] = _copy_own_list(raw)
        else:
            declared.append(_write_declaration(tool))
    return [*wrapped.values(), *([{"function_declarations": declared}] if declared else [])]


def _copy_own_list(raw: Raw) -> Block:
    """Copy a list of declarations, with `type: object` in each schema, which Gemini demands."""
    own = own_fields(raw)
    for declared in items_of(read_either(own, "function_declarations")):
        NONE_TAKEN.drop_from_tool(fields_in(declared))
        for key, schema in fields_in(declared).items():
            fields = fields_of(schema) if key in _SCHEMAS else None
            if fields and "type" not in fields:
                cast("Block", declared)[key] = {"type": _SCHEMAS[key], **fields}
    return own


_SCHEMAS = {
    "parameters": "OBJECT",
    "parameters_json_schema": "object",
    "parametersJsonSchema": "object",
}
"""The name of the object type under each schema key of a declaration."""


def with_json_schema(tools: Sequence[Tool]) -> frozenset[str]:
    """The names of the tools that are sent with `parametersJsonSchema`; Gemini's own may have `parameters`.

    O(declarations): those of one object share it.
    """
    definitions = {id(tool.seen): tool.seen for tool in tools}
    lists = (items_of(read_either(fields_in(seen), "function_declarations")) for seen in definitions.values())
    declared = (fields_in(item) for items in lists for item in items)
    own = {fields.get("name"): None for fields in declared if "parameters" in fields}
    return frozenset(tool.name for tool in tools if tool.name not in own)


def _write_declaration(tool: Tool) -> Block:
    schema = {"parameters_json_schema": object_schema(tool.parameters)} if tool.parameters else {}
    return {**named_tool(tool), **schema}
