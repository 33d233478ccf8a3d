"""Reads LlamaIndex's `ChatMessage` as a message dict, and makes copies with other texts. Imports no framework."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from assembler.conversation.messages import Call, Message, Part, Result
from assembler.conversation.messages.sdk_objects import plain_fields
from assembler.errors import UnsupportedContentError
from assembler.integrations.kept_objects import align_parts
from assembler.integrations.openai_dicts import chat_call

_ASSISTANTS = frozenset({"chatbot", "model"})
"""Roles of `MessageRole` (llama-index-core 0.14.25) for other providers' models."""
_SIDE_CALLS = "tool_calls"
"""The key of `additional_kwargs` with the calls, as OpenAI's objects or dicts, in messages without `ToolCallBlock`."""


def message_fields(message: Any) -> dict[str, Any]:
    """Return the message dict of a `ChatMessage`. O(blocks); reads the head of a file that a block names.

    Calls are its `ToolCallBlock`s, then those of `additional_kwargs` with other ids.
    """
    role = str(getattr(message.role, "value", message.role))
    fields: dict[str, Any] = {"role": "assistant" if role in _ASSISTANTS else role}
    parts = [part for block in message.blocks for part in _read_parts(block)]
    lone = parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else None
    fields["content"] = lone if lone is not None else parts or ""
    extra: Mapping[str, Any] = message.additional_kwargs
    if calls := [
        *map(_read_call_block, _list_call_blocks(message.blocks)),
        *map(_read_call, _list_side_calls(message)),
    ]:
        fields["tool_calls"] = calls
    fields |= {key: extra[key] for key in ("tool_call_id", "name") if isinstance(extra.get(key), str)}
    return fields


def _list_call_blocks(blocks: Iterable[Any]) -> list[Any]:
    return [block for block in blocks if block.block_type == "tool_call"]


def _list_side_calls(message: Any) -> list[Any]:
    """Return the calls of `additional_kwargs` that are in no block: some integrations put each call in both places."""
    known = {block.tool_call_id for block in _list_call_blocks(message.blocks)}
    listed = cast("Iterable[Any]", message.additional_kwargs.get(_SIDE_CALLS) or ())
    return [call for call in listed if _read_call(call).get("id") not in known]


def _read_call(call: Any) -> dict[str, Any]:
    """Return a call of `additional_kwargs` as a dict: OpenAI's form, or LlamaIndex's own `ToolSelection`."""
    fields = cast("Mapping[str, Any]", call if isinstance(call, Mapping) else call.model_dump(exclude_none=True))
    if "tool_name" in fields:
        return {"id": fields.get("tool_id"), "name": fields["tool_name"], "args": fields.get("tool_kwargs")}
    return plain_fields(fields)


def _read_call_block(block: Any) -> dict[str, Any]:
    kwargs = block.tool_kwargs
    arguments = kwargs if isinstance(kwargs, str) else json.dumps(kwargs)  # as its OpenAI clients write them
    return chat_call(block.tool_call_id, block.tool_name, arguments)


def _read_parts(block: Any) -> list[dict[str, Any]]:
    """Return the content parts of one block; none for a call, which is not content, and for a cache point."""
    match block.block_type:
        case "text":
            return [{"type": "text", "text": block.text}]
        case "thinking":
            extra: Mapping[str, Any] = block.additional_information
            signed = {key: extra[key] for key in ("signature",) if key in extra}
            return [{"type": "thinking", "thinking": block.content or "", **signed}]
        case "image":
            detail = {"detail": block.detail} if block.detail else {}
            return [{"type": "image_url", "image_url": {"url": _find_address(block, block.image), **detail}}]
        case "audio":
            data = block.resolve_audio(as_base64=True).read().decode()
            return [{"type": "input_audio", "input_audio": {"data": data, "format": block.format}}]
        case "document":
            return [{"type": "file", "file": {"file_data": block.inline_url(), "filename": block.title}}]
        case "citable":
            return [part for inner in block.content for part in _read_parts(inner)]
        case "citation":
            return _read_parts(block.cited_content)
        case "tool_call" | "cache":
            return []
        case kind:
            raise UnsupportedContentError(f"a {kind} block has no price here; leave it out", kind=str(kind))


def _find_address(block: Any, data: object) -> str:
    return str(block.url) if block.url is not None and not data else str(block.inline_url())


def rewrite_message(own: Any, before: Message, after: Message) -> Any:
    """Return a copy of the `ChatMessage` with the texts and arguments that a policy left. All else is shared."""
    became = align_parts(before.parts, after.parts)
    if before.role == "tool":
        (was, now), *_ = became
        became = align_parts(cast(Result, was).parts, cast(Result, now).parts)
    calls: dict[str | None, Call] = {}
    blocks: list[Any] = []
    contents = (block for block in own.blocks if block.block_type != "tool_call" and _read_parts(block))
    for was, now in became:
        if isinstance(was, Call):
            calls[was.id] = cast(Call, now)
        elif (block := next(contents, None)) is not None and now is not None:
            blocks.append(_rewrite_block(block, was, now))
    blocks += [_rewrite_call_block(block, calls[block.tool_call_id]) for block in _list_call_blocks(own.blocks)]
    extra = dict(own.additional_kwargs)
    if _SIDE_CALLS in extra:
        extra[_SIDE_CALLS] = [_rewrite_side_call(call, calls) for call in extra[_SIDE_CALLS]]
    return own.model_copy(update={"blocks": blocks, "additional_kwargs": extra})


def _rewrite_block(block: Any, was: Part, now: Part) -> Any:
    return block if now is was or not isinstance(now, str) else block.model_copy(update={"text": now})


def _rewrite_call_block(block: Any, call: Call) -> Any:
    arguments = call.arguments if isinstance(block.tool_kwargs, str) else json.loads(call.arguments)
    return block if arguments == block.tool_kwargs else block.model_copy(update={"tool_kwargs": arguments})


def _rewrite_side_call(call: Any, calls: Mapping[str | None, Call]) -> Any:
    """Return a call of `additional_kwargs` with the arguments that are left of it."""
    fields = _read_call(call)
    now = calls.get(fields.get("id"))
    if now is None:
        return call
    if isinstance(call, Mapping):
        spelled = cast("dict[str, Any]", call)
        return {**spelled, "function": {**spelled["function"], "arguments": now.arguments}}
    if "args" in fields:
        return call.model_copy(update={"tool_kwargs": json.loads(now.arguments)})
    function = call.function.model_copy(update={"arguments": now.arguments})
    return call.model_copy(update={"function": function})
