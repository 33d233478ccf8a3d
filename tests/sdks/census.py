"""Every item, block, part and tool that the installed SDKs' own types name, and what this library does with each.

`python -m tests.sdks.census > docs/what-is-carried.md` writes the table; a test holds the page against the SDKs.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any

import attrs

from assembler.conversation.messages import Call, Media, Opaque, Result, Thinking, read_message
from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.kinds import SUMMARY as COMPACTION
from assembler.conversation.messages.message import Part
from assembler.conversation.messages.part_as_text import text_for_other_apis
from assembler.pricing.hosted import row_of
from assembler.regions.tools import read_tools

Dict = dict[str, Any]

WORDS = "words"
_SAID: Dict = {
    "text": WORDS,
    "refusal": WORDS,
    "thinking": WORDS,
    "summary": [],
    "signature": "s",
    "encrypted_content": "e",
    "id": "i",
    "call_id": "i",
    "tool_use_id": "i",
    "name": "n",
    "arguments": "{}",
    "input": "{}",
    "output": WORDS,
    "code": WORDS,
    "result": WORDS,
    "results": [{"text": WORDS}],
    "outputs": [{"type": "logs", "logs": WORDS}],
    "action": {"sources": [{"url": WORDS}]},
    "content": [{"type": "text", "text": WORDS}],
    "title": WORDS,
    "source": WORDS,
    "image_url": "https://a.example/i.png",
    "file_id": "f",
}
"""A value for every field by which a kind is read: fields that it does not have are passed over."""


@attrs.frozen
class Row:
    """One kind of one API, and what happens to it."""

    api: str
    where: str
    kind: str
    carried: str
    priced: str
    converted: str


def members(union: Any) -> Iterator[Any]:
    """The types of a union, however it is wrapped."""
    origin = typing.get_origin(union)
    if origin is typing.Annotated:
        yield from members(typing.get_args(union)[0])
    elif origin in (typing.Union, types.UnionType):
        for member in typing.get_args(union):
            yield from members(member)
    elif hasattr(union, "__value__"):
        yield from members(union.__value__)
    else:
        yield union


def kinds(union: Any) -> list[str]:
    """What the members of a union may say as their type, sorted."""
    return sorted({kind for member in members(union) for kind in _kinds_of(member)})


def _kinds_of(member: Any) -> tuple[str, ...]:
    fields = getattr(member, "model_fields", None)
    annotation = fields["type"].annotation if fields and "type" in fields else None
    if fields is None:
        annotation = typing.get_type_hints(member, include_extras=True).get("type")
    while annotation is not None and typing.get_origin(annotation) is not typing.Literal:
        inner = [each for each in typing.get_args(annotation) if each is not type(None)]
        annotation = inner[0] if inner else None
    return () if annotation is None else typing.get_args(annotation)


def camel(key: str) -> str:
    """A key of the SDK's as the wire writes it."""
    head, *rest = key.split("_")
    return head + "".join(word.capitalize() for word in rest)


def rows() -> list[Row]:
    """The whole census, by API, place and kind."""
    return [*_responses(), *_chat(), *_anthropic(), *_gemini(), *_bedrock(), *_mistral()]


def _responses() -> Iterator[Row]:
    from openai.types.responses import (
        response_input_content_param,
        response_input_item_param,
        response_output_item,
        response_output_message_param,
        tool_param,
    )

    found = kinds(response_input_item_param.ResponseInputItemParam) + kinds(response_output_item.ResponseOutputItem)
    for kind in sorted({*found} - {"message"}):
        role = {"role": "developer"} if kind == "additional_tools" else {}
        raw = {key: held for key, held in _SAID.items() if key not in ("content", "refusal", "thinking")}
        yield _row("Responses", "item", kind, read_message({"type": kind, **raw, **role}, 0).parts[0])
    for kind in kinds(response_input_content_param.ResponseInputContentParam):
        content = [{"type": kind, **_SAID}]
        yield _row("Responses", "part", kind, read_message({"role": "user", "content": content}, 0).parts[0])
    for kind in kinds(response_output_message_param.Content):
        content = [{"type": kind, **_SAID}]
        yield _row("Responses", "part", kind, read_message({"role": "assistant", "content": content}, 0).parts[0])
    yield from (_tool("Responses", kind, {"type": kind}) for kind in kinds(tool_param.ToolParam))


def _chat() -> Iterator[Row]:
    from openai.types.chat import chat_completion_assistant_message_param as answers
    from openai.types.chat import chat_completion_content_part_param as content
    from openai.types.chat import chat_completion_message, chat_completion_tool_union_param

    for kind in kinds(content.ChatCompletionContentPartParam):
        raw = {"type": kind, "text": WORDS, "image_url": {"url": "u"}, "input_audio": {}, "file": {}}
        yield _row("Chat", "part", kind, read_message({"role": "user", "content": [raw]}, 0).parts[0])
    fields = {*chat_completion_message.ChatCompletionMessage.model_fields}
    fields |= {*typing.get_type_hints(answers.ChatCompletionAssistantMessageParam)} | {"reasoning_content", "reasoning"}
    yield from (_field("Chat", field) for field in sorted(fields - {"role", "content"}))
    for kind in kinds(chat_completion_tool_union_param.ChatCompletionToolUnionParam):
        yield _tool("Chat", kind, {"type": kind, kind: {"name": "n"}})


def _field(api: str, field: str) -> Row:
    """A field of an assistant's message beside its content."""
    read = {
        "name": ("as it came", "by rule", "kept where the API has names, else left out with a note"),
        "refusal": ("as it came", "by rule, as text", "as text"),
        "tool_calls": ("as it came", "by rule", "a call, as each API spells it"),
        "function_call": ("as it came", "by rule", "a call, as each API spells it"),
        "reasoning_content": ("as it came", "estimated over its words, bounded", "left out with a note"),
        "reasoning": ("as it came", "estimated over its words, bounded", "left out with a note"),
        "audio": (
            "its id, if it came with its sound",
            "estimated by its transcript, bounded",
            "its transcript, as text",
        ),
    }
    fate = read.get(field, ("as it came", "estimated over its JSON, bounded", "left out with a note"))
    return Row(api, "field", field, *fate)


def _anthropic() -> Iterator[Row]:
    from anthropic.types.beta import beta_content_block_param, beta_tool_result_block_param, beta_tool_union_param

    for kind in kinds(beta_content_block_param.BetaContentBlockParam):
        source = {"source": {"type": "text", "media_type": "text/plain", "data": WORDS}} if kind == "document" else {}
        content = {"content": WORDS} if kind == COMPACTION else {}
        block = {"type": kind, **_SAID, "input": {}, **source, **content}
        yield _row("Anthropic", "block", kind, read_message({"role": "assistant", "content": [block]}, 0).parts[0])
    for kind in kinds(beta_tool_result_block_param.Content):
        held = [{"type": kind, **_SAID, "source": {}}]
        message = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "i", "content": held}]}
        result = read_message(message, 0).parts[0]
        assert isinstance(result, Result)
        yield _row("Anthropic", "in a result", kind, result.parts[0])
    for kind in kinds(beta_tool_union_param.BetaToolUnionParam):
        schema = {"input_schema": {}} if kind == "custom" else {}
        yield _tool("Anthropic", kind, {"type": kind, "name": "n", **schema})


def _gemini() -> Iterator[Row]:
    from google.genai import types as genai

    values: Dict = {"text": WORDS, "function_call": {"name": "n"}, "function_response": {"name": "n", "response": {}}}
    values |= {"executable_code": {"code": WORDS}, "code_execution_result": {"output": WORDS}}
    values |= {"tool_response": {"response": {"output": WORDS}}}
    blob = {"mime_type": "image/png", "data": "AAAA"}
    for field in sorted(genai.Part.model_fields):
        if field in ("thought", "thought_signature") or field.endswith(("_metadata", "_resolution", "_processing")):
            yield Row("Gemini", "beside a part", field, "as it came", "with its part", "left out")
            continue
        held = values.get(field, blob if field in ("inline_data", "file_data") else {"k": "v"})
        part = read_message({"role": "model", "parts": [{field: held}]}, 0).parts[0]
        yield _row("Gemini", "part", field, part)
    for field in sorted(genai.Tool.model_fields):
        held = [{"name": "n"}] if field == "function_declarations" else {}
        yield _tool("Gemini", field, {field: held})


def _bedrock() -> Iterator[Row]:
    import botocore.session

    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    shape: Any = service.operation_model("Converse").input_shape
    block = shape.members["messages"].member.members["content"].member
    values: Dict = {"text": WORDS, "toolUse": {"name": "n", "toolUseId": "i", "input": {}}}
    values |= {"toolResult": {"toolUseId": "i", "content": [{"text": WORDS}]}}
    values |= {"reasoningContent": {"reasoningText": {"text": WORDS}}, "guardContent": {"text": {"text": WORDS}}}
    values |= {"citationsContent": {"content": [{"text": WORDS}]}, "searchResult": {"title": WORDS}}
    for key in sorted(block.members):
        part = {key: values.get(key, {"source": {}})}
        role = "assistant" if key == "reasoningContent" else "user"
        yield _row("Bedrock", "block", key, read_message({"role": role, "content": [part]}, 0).parts[0])
    for key in sorted(block.members["toolResult"].members["content"].member.members):
        held = {"toolUseId": "i", "content": [{key: values.get(key, {"source": {}})}]}
        message = {"role": "user", "content": [{"toolResult": held}]}
        result = read_message(message, 0).parts[0]
        assert isinstance(result, Result)
        yield _row("Bedrock", "in a result", key, result.parts[0])
    for key in sorted(shape.members["toolConfig"].members["tools"].member.members):
        if key == "cachePoint":
            yield Row("Bedrock", "tool", key, "as it came", "free: a mark of the cache", "left out with a note")
        else:
            yield _tool("Bedrock", key, {key: {"name": "n"}})


def _mistral() -> Iterator[Row]:
    from mistralai.client.models import chatcompletionrequest, contentchunk

    variants: Dict = vars(contentchunk)["_CONTENT_CHUNK_VARIANTS"]
    for kind in sorted(variants):
        chunk = {"type": kind, "text": WORDS, "thinking": [{"type": "text", "text": WORDS}], "image_url": "u"}
        chunk |= {"document_url": "https://a.example/d.pdf", "uri": "file:///a", "resource": {"text": WORDS}}
        yield _row("Mistral", "chunk", kind, read_message({"role": "assistant", "content": [chunk]}, 0).parts[0])
    for kind in kinds(chatcompletionrequest.ChatCompletionRequestTool):
        yield _tool("Mistral", kind, {"type": kind, kind: {"name": "n"}})


def _row(api: str, where: str, kind: str, part: Part) -> Row:
    match part:
        case str():
            return Row(api, where, kind, "as it came", "by rule, as text", "as text")
        case Call():
            return Row(api, where, kind, "as it came", "by rule, as a call", "a call, as each API spells it")
        case Result():
            return Row(api, where, kind, "as it came", "by rule, as an answer", "an answer, as each API spells it")
        case Thinking():
            priced = "by rule where recorded, else estimated and bounded"
            return Row(api, where, kind, "as it came", priced, "left out with a note")
        case Media():
            priced = "by the published formula; where its size is not known, a typical one, bounded"
            return Row(api, where, kind, "as it came", priced, "as each API spells it, or refused")
        case Opaque():
            text = "left out with a note" if text_for_other_apis(part) is None else "as text"
            return Row(api, where, kind, "as it came", _unread(part), text)


def _unread(part: Opaque) -> str:
    if is_mark(part):
        return "free: a mark of the cache"
    if part.kind == "item_reference":
        return "a guess with a bound: what it stands for is not in the request"
    if part.kind == "additional_tools":
        return "estimated as tools of the request, bounded"
    if part.kind == COMPACTION:
        return "estimated over its words or its seal, bounded; what stands before it is free"
    if part.kind in ("audio", "video"):
        return "estimated by its seconds, or its bytes, bounded"
    if part.kind == "document_url":
        return "estimated by its pages; where nobody says how many, a typical one, bounded"
    return "estimated over its words, bounded"


def _tool(api: str, kind: str, definition: Dict) -> Row:
    tools = read_tools([definition if kind != "function" else {**definition, "name": "n"}])
    tool = tools[0]
    if tool.api is None:
        return Row(api, "tool", kind, "as it came", "by rule", "as each API spells it")
    source = row_of(tool.kind).source
    elsewhere = "as a function of one text" if kind == "custom" else "left out with a note"
    return Row(api, "tool", kind, "as it came", f"estimated, bounded: {source}", elsewhere)


HEAD = """# What is carried

Every item, block, part and tool that the providers' SDKs name, and what becomes of it: whether it goes back to its own
API as it came, how it is priced, and what any other API gets of it. One that no SDK names yet is carried as it came,
estimated over its words with a bound, and elsewhere sent as the text that it holds, or left out with a note.

Written by `tests/sdks/census.py` from the types of openai 3.54.0, anthropic 2.12.0, google-genai 3.4.0, botocore 1.44.5
and mistralai 3.7.0; a test fails when one of them brings a new type. How to use hosted tools:
[hosted tools](hosted-tools.md).

| API | where | type | to its own API | priced | to another API |
|---|---|---|---|---|---|
"""


def page() -> str:
    """The page of the documentation."""
    lines = [
        f"| {row.api} | {row.where} | `{row.kind}` | {row.carried} | {row.priced} | {row.converted} |" for row in rows()
    ]
    return HEAD + "\n".join(dict.fromkeys(lines)) + "\n"


if __name__ == "__main__":
    print(page(), end="")
