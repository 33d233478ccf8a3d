"""Reads LangChain's messages as Chat Completions messages, and makes copies with other texts.

They are read as `_convert_message_to_dict` writes them (langchain-core 1.7.2, langchain-openai 1.7.3, read 2026-11).
`assembler.integrations.langchain_items` does the same for the Responses API.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from assembler.conversation.messages import Call, Message, Part, Result
from assembler.errors import UnsupportedContentError
from assembler.integrations.kept_objects import align_parts
from assembler.integrations.openai_dicts import chat_call, text_of

if TYPE_CHECKING:
    # The used parts of LangChain, for type checkers without it.
    from collections.abc import Callable

    convert_to_openai_data_block: Callable[[Any], dict[str, Any]]
    is_data_content_block: Callable[[Any], bool]
else:
    from langchain_core.messages import convert_to_openai_data_block, is_data_content_block

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
_UNSENT = frozenset({"tool_use", "tool_call", "function_call", "code_interpreter_call", "server_tool_call"})
"""Content blocks that repeat `tool_calls`, or that a Chat Completions request leaves out."""

_LEGACY = "function_call"
"""The older field of a single call, which LangChain keeps among the additional ones."""


def as_chat(message: Any) -> dict[str, Any]:
    """Return a message as Chat Completions gets it, so that only what is sent is priced."""
    kind = kind_of(message)
    fields: dict[str, Any] = {"role": _ROLES.get(kind) or getattr(message, "role", kind)}
    content = message.content
    fields["content"] = content if isinstance(content, str) else [sent for _, sent in _respell_blocks(content) if sent]
    if kind == "tool":
        failed = {"is_error": True} if message.status == "error" else {}  # Claude is told, OpenAI's models are not
        return {**fields, "tool_call_id": message.tool_call_id, **failed}
    extra: dict[str, Any] = message.additional_kwargs
    if name := message.name or extra.get("name"):
        fields["name"] = name
    if kind != "ai":
        return fields
    if "audio" in extra:
        fields["audio"] = {"id": extra["audio"]["id"]} if "id" in extra["audio"] else extra["audio"]
    if calls := calls_of(message):
        fields["tool_calls"] = [chat_call(call["id"], call["name"] or "", arguments) for call, arguments in calls]
    elif _LEGACY in extra:
        fields[_LEGACY] = extra[_LEGACY]
    else:
        return fields
    return {**fields, "content": fields["content"] or None}


def kind_of(message: Any) -> str:
    """Return `human`, `ai`, `system`, `tool`, `function` or `chat`, for a message or a chunk."""
    kind: str = message.type
    return kind.removesuffix("MessageChunk").lower()


def calls_of(message: Any) -> list[tuple[Any, str]]:
    """Return each call with its arguments as they are sent: the output of `json.dumps`, with spaces."""
    made = [(call, json.dumps(call["args"], ensure_ascii=False)) for call in message.tool_calls]
    return [*made, *((call, call["args"] or "") for call in message.invalid_tool_calls)]


def _respell_blocks(content: Sequence[Any]) -> Iterator[tuple[Any, dict[str, Any] | None]]:
    """Yield each content block with its form in the request; None for one that is not sent as content."""
    for block in content:
        if isinstance(block, str):
            yield block, {"type": "text", "text": block}
        elif block.get("type") in _UNSENT:
            yield block, None
        elif block.get("type") == "text":
            yield block, {"type": "text", "text": block["text"]}
        elif block.get("type") in ("reasoning", "reasoning_content"):
            # Not every API takes reasoning back: marked as reasoning, it is left to the dialect.
            yield block, {"type": "thinking", "thinking": str(block.get("reasoning", ""))}
        elif is_data_content_block(block):
            yield block, _respell_medium(block)
        else:
            yield block, dict(block)


def _respell_medium(block: dict[str, Any]) -> dict[str, Any]:
    """Return a medium in OpenAI's form, or in Claude's where Chat Completions has none: a text, a file's URL."""
    kind: str = block["type"]
    if kind == "text-plain" and "text" in block:
        source = {"type": "text", "media_type": "text/plain", "data": block["text"]}
        return {"type": "document", "source": source}
    if kind == "file" and "url" in block:
        return {"type": "document", "source": {"type": "url", "url": block["url"]}}
    try:
        return convert_to_openai_data_block(block)
    except (KeyError, ValueError):
        raise UnsupportedContentError(
            f"a {kind} block in this spelling has no price here; leave it out", kind=kind
        ) from None


def rewrite_message(message: Any, before: Message, after: Message, read: Any = None) -> Any:
    """Return a copy of the message with the texts that the policy left, and the same id and metadata.

    `read` has the blocks that were read in place of the message's own, one for each.
    """
    became = [new for _, new in align_parts(before.parts, after.parts)]
    if isinstance(answer := became[0] if became else None, Result):
        return message.model_copy(update={"content": text_of(answer.parts)})
    changes: dict[str, Any] = {"content": _rewrite_content(message.content, read or message.content, became)}
    arguments = {part.id: part.arguments for part in became if isinstance(part, Call)}
    return message.model_copy(update=changes | with_arguments(message, arguments))


def with_arguments(message: Any, arguments: dict[str | None, str]) -> dict[str, Any]:
    """Return the calls of a message with other arguments, by id; nothing if it has none."""
    if not arguments:
        return {}
    if _LEGACY in (extra := message.additional_kwargs) and not message.tool_calls:
        call = {**extra[_LEGACY], "arguments": arguments[None]}
        return {"additional_kwargs": {**extra, _LEGACY: call}}
    kept, unread = (
        [call for call in calls if call["id"] in arguments]
        for calls in (message.tool_calls, message.invalid_tool_calls)
    )
    return {
        "tool_calls": [{**call, "args": json.loads(arguments[call["id"]])} for call in kept],
        "invalid_tool_calls": [{**call, "args": arguments[call["id"]]} for call in unread],
    }


def _rewrite_content(content: Any, read: Any, became: Sequence[Part | None]) -> Any:
    if isinstance(content, str):
        return became[0] if became and isinstance(became[0], str) else ""
    parts = iter(became)
    kept: list[Any] = []
    for block, (_, sent) in zip(content, _respell_blocks(read), strict=True):
        part = next(parts) if sent else ""
        if part is None:
            continue
        changed = sent and isinstance(part, str) and part != sent.get("text")
        kept.append({"type": "text", **(block if isinstance(block, dict) else {}), "text": part} if changed else block)
    return kept
