"""Reads Microsoft Agent Framework's messages as OpenAI's, and makes copies with other texts.

They are read as `_build_openai_messages` of the two OpenAI clients writes them (agent-framework-core 1.23,
agent-framework-openai 1.17, read 2026-11). One message may become several: each tool result is separate.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from assembler.conversation.messages import Call, Message, Part, Result
from assembler.integrations.kept_objects import align_parts
from assembler.integrations.openai_dicts import call_item, chat_call, message_item, reasoning_item, text_of
from assembler.text.runs import runs

Entry: TypeAlias = tuple[dict[str, Any], tuple[int, ...]]
"""A message as it is sent, and the contents of its parts, in order."""

_UNNAMED = re.compile(r"[^a-zA-Z0-9_]+")
"""The characters that the client removes from an author's name."""
_UNSENT = frozenset(
    f"{tool}_tool_{kind}" for tool in ("search", "code_interpreter", "image_generation") for kind in ("call", "result")
)
"""The contents of hosted tools, which the client leaves out of the next request."""
_RICH = frozenset({"data", "uri", "hosted_file"})
_HOSTED = {"shell_tool_call": "shell_call", "computer_tool_call": "computer_call"}


def drop_unsendable(messages: Sequence[Any]) -> list[Any]:
    """Remove the reasoning before hosted calls: the client leaves these out, and the API refuses reasoning alone.

    A message without such reasoning is the same object.
    """
    return [_remove_reasoning(message, _find_orphaned_reasoning(message.contents)) for message in messages]


def _find_orphaned_reasoning(contents: Sequence[Any]) -> frozenset[str]:
    return frozenset(
        content.id
        for content, after in itertools.pairwise(contents)
        if content.type == "text_reasoning" and after.type in _UNSENT
    )


def _remove_reasoning(message: Any, orphaned: frozenset[str]) -> Any:
    if not orphaned:
        return message
    changed = copy.copy(message)
    contents: list[Any] = message.contents
    changed.contents = [each for each in contents if each.type != "text_reasoning" or each.id not in orphaned]
    return changed


def messages_of(message: Any) -> list[Entry]:
    """Return the messages that an API gets, with the author's name and without unsupported contents."""
    return _add_author(message, _make_entries(message, _write_answer, _write_result))


def _add_author(message: Any, entries: list[Entry]) -> list[Entry]:
    name = _UNNAMED.sub("", message.author_name or "")[:64]
    if not name:
        return entries
    return [(fields if fields["role"] == "tool" else {**fields, "name": name}, places) for fields, places in entries]


def chat_messages_of(message: Any) -> list[Entry]:
    """Return the messages that Chat Completions gets: each content as one of its own, but calls beside their text."""
    return [
        apart
        for entry in _add_author(message, _make_entries(message, _write_chat_answers, _write_result))
        for apart in _split_entry(entry)
    ]


def _split_entry(entry: Entry) -> Iterator[Entry]:
    fields, places = entry
    if fields["role"] != "user" or isinstance(fields["content"], str):
        yield entry
        return
    for part, place in zip(fields["content"], places, strict=True):
        yield {**fields, "content": [part]}, (place,)


def items_of(message: Any) -> list[Entry]:
    """Return the items that the Responses API gets, with the pictures and files of tool results."""
    return _make_entries(message, _write_items, _write_rich_result)


def _make_entries(
    message: Any,
    answer: Callable[[Sequence[tuple[int, Any]]], list[Entry]],
    result: Callable[[Any], dict[str, Any]],
) -> list[Entry]:
    own: list[Any] = message.contents
    contents = list(enumerate(own))
    if message.role in ("system", "developer"):
        texts = [(place, content.text) for place, content in contents if content.type == "text" and content.text]
        joined = "\n".join(text for _, text in texts)
        return [({"role": message.role, "content": joined}, tuple(place for place, _ in texts[:1]))] if texts else []
    results: list[Entry] = [
        (result(content), (place,)) for place, content in contents if content.type == "function_result"
    ]
    if message.role == "assistant":
        return [*answer(contents), *results]
    parts = [(place, _write_part(content)) for place, content in contents]
    shown = [(place, part) for place, part in parts if part is not None]
    if not shown:
        return results
    lone = shown[0][1]["text"] if len(shown) == 1 and shown[0][1]["type"] == "text" else None
    content = lone if lone is not None else [part for _, part in shown]
    return [({"role": message.role, "content": content}, tuple(place for place, _ in shown)), *results]


def _write_answer(contents: Sequence[tuple[int, Any]]) -> list[Entry]:
    texts = [(place, content.text) for place, content in contents if content.type == "text" and content.text]
    thoughts = [(place, content.text) for place, content in contents if _thinks_aloud(content)]
    calls = [(place, content) for place, content in contents if content.type == "function_call"]
    written = sorted([*texts, *thoughts])
    if not written and not calls:
        return []
    lone = written[0][1] if len(written) == 1 else None
    content = lone if lone is not None else [{"type": "text", "text": text} for _, text in written] or None
    fields: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        fields["tool_calls"] = [chat_call(call.call_id, call.name, _write_arguments(call)) for _, call in calls]
    return [(fields, tuple(place for place, _ in (*written, *calls)))]


def _write_chat_answers(contents: Sequence[tuple[int, Any]]) -> list[Entry]:
    """Return an answer as the Chat client sends it: each text with the calls around it, and thoughts by themselves."""
    groups: list[list[tuple[int, Any]]] = []
    takes_more = False
    for place, content in contents:
        if content.type == "text":
            joins = takes_more and all(other.type != "text" for _, other in groups[-1])
        elif content.type == "function_call":
            joins = takes_more
        elif _thinks_aloud(content):
            joins = False
        else:
            continue
        if not joins:
            groups.append([])
        groups[-1].append((place, content))
        takes_more = not _thinks_aloud(content)
    return [entry for group in groups for entry in _write_answer(group) or [_write_silence(group)]]


def _write_silence(group: Sequence[tuple[int, Any]]) -> Entry:
    """Return a text without a word, which the client sends too if it stands alone."""
    return {"role": "assistant", "content": ""}, (group[0][0],)


def _write_items(contents: Sequence[tuple[int, Any]]) -> list[Entry]:
    outputs = {content.call_id: content.output for _, content in contents if content.type == "mcp_server_tool_result"}
    items: list[Entry] = []
    for group in runs(contents, lambda now, before: now[1].type == before[1].type == "text"):
        texts = [{"type": "output_text", "text": content.text or ""} for _, content in group]
        (_, first), *more = group
        item = {**message_item(""), "content": texts} if more else _write_item(first, outputs.get(first.call_id))
        items += [] if item is None else [(item, tuple(place for place, _ in group))]
    return items


def _write_item(content: Any, output: Any) -> dict[str, Any] | None:
    match content.type:
        case "text":
            return message_item(content.text or "")
        case "function_call":
            return _add_status(content, call_item(content.call_id, content.name, _write_arguments(content)))
        case "text_reasoning":
            return reasoning_item(content.id, content.text, content.protected_data)
        case "mcp_server_tool_call":
            call = {"type": "mcp_call", "id": content.call_id, "server_label": content.server_name or ""}
            asked = {"name": content.tool_name or "", "arguments": _write_arguments(content)}
            return {**call, **asked, "output": _write_output(output)}
        case kind if kind in _HOSTED:
            return {**content.to_dict(), "type": _HOSTED[kind], "id": content.call_id or content.id}
        case _:
            return None


def _add_status(content: Any, item: dict[str, Any]) -> dict[str, Any]:
    """Return a call with an id and the server's status, which some models are billed for."""
    status = content.status or content.additional_properties.get("status")
    return {**item, "id": f"fc_{content.call_id}", "status": status} if status else item


def _thinks_aloud(content: Any) -> bool:
    """Whether reasoning is sent as a text, because no part of it is encrypted."""
    return content.type == "text_reasoning" and content.protected_data is None and bool(content.text)


def _write_arguments(call: Any) -> str:
    arguments = call.arguments
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def _write_result(content: Any) -> dict[str, Any]:
    texts = [item.text or "" for item in content.items or () if item.type == "text"]
    output = _write_output("\n".join(texts) if content.items else content.result)
    return {"role": "tool", "tool_call_id": content.call_id, "content": output}


def _write_rich_result(content: Any) -> dict[str, Any]:
    """Return a result as the Responses client sends it: with other parts than texts, it is a list of all of them."""
    items: list[Any] = content.items or []
    if all(item.type not in _RICH for item in items):
        return _write_result(content)
    shown = [part for item in items if (part := _write_part(item)) is not None]
    return {"role": "tool", "tool_call_id": content.call_id, "content": shown}


def _write_output(output: Any) -> str:
    if output is None or isinstance(output, str):
        return output or ""
    parts: Any = output
    if isinstance(output, list) and output and all(hasattr(part, "text") for part in parts):
        return "\n".join(part.text or "" for part in parts)
    return json.dumps(output, default=str)


def _write_part(content: Any) -> dict[str, Any] | None:
    match content.type:
        case "text":
            return {"type": "text", "text": content.text} if content.text else None
        case "data" | "uri" if (content.media_type or "").startswith("image/"):
            detail = cast("Mapping[str, object]", content.additional_properties or {}).get("detail")
            return {"type": "image_url", "image_url": {"url": content.uri, **({"detail": detail} if detail else {})}}
        case "data" | "uri":
            return {"type": "file", "file": {"file_data": content.uri}}
        case "hosted_file":
            return {"type": "file", "file": {"file_id": content.file_id}}
        case _:
            return None


def rewrite_message(message: Any, entries: Sequence[Entry], became: Sequence[tuple[Message, Message | None]]) -> Any:
    """Return a copy of the message with the texts that are left of its entries, and the same id and properties."""
    contents: list[Any] = message.contents
    left: dict[int, Any] = dict(enumerate(contents))
    for (_, places), (before, after) in zip(entries, became, strict=True):
        parts = [] if after is None else [new for _, new in align_parts(before.parts, after.parts)]
        for place, new in zip(places, [*parts, *[None] * (len(places) - len(parts))], strict=True):
            left[place] = _rewrite_content(left[place], new)
    changed = copy.copy(message)
    changed.contents = [content for content in left.values() if content is not None]
    return changed


def _rewrite_content(content: Any, new: Part | None) -> Any:
    own = cast("Any", type(content))
    if new is None:
        return None
    copied = copy.copy(content)
    match new:
        case str() if content.type in ("text", "text_reasoning"):
            copied.text = new
        case Call() if content.type == "function_call":
            copied.arguments = new.arguments
        case Result():
            copied.result = text_of(new.parts)
            shown = [item for item in content.items or () if item.type in _RICH]
            stay = any(not isinstance(part, str) for part in new.parts)
            copied.items = [own.from_text(copied.result), *shown] if stay else None
        case _:
            return content
    return copied
