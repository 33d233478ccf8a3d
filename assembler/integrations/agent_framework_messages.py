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

import attrs

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
_KIND = "model_output_kind"
"""The property of a text that says whether it is a refusal."""
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
    return _add_author(message, _make_entries(message, _write_answer, _write_result, _write_part))


def _add_author(message: Any, entries: list[Entry]) -> list[Entry]:
    name = _UNNAMED.sub("", message.author_name or "")[:64]
    if not name:
        return entries
    return [(fields if fields["role"] == "tool" else {**fields, "name": name}, places) for fields, places in entries]


def chat_messages_of(message: Any) -> list[Entry]:
    """Return the messages that Chat Completions gets: each content as one of its own, but calls beside their text."""
    return [
        apart
        for entry in _add_author(message, _make_entries(message, _write_chat_answers, _write_result, _write_chat_part))
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
    return _make_entries(message, _write_items, _write_rich_result, _write_item_part)


def _make_entries(
    message: Any,
    answer: Callable[[Sequence[tuple[int, Any]]], list[Entry]],
    result: Callable[[Any], dict[str, Any]],
    write_part: Callable[[Any], dict[str, Any] | None],
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
    parts = [(place, write_part(content)) for place, content in contents]
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


@attrs.define
class _ChatAnswer:
    """What the Chat client sends as one message: contents, and the reasoning that the provider put into a field."""

    contents: list[tuple[int, Any]]
    details: tuple[int, Any] | None


def _write_chat_answers(contents: Sequence[tuple[int, Any]]) -> list[Entry]:
    """Return an answer as the Chat client sends it: each text with the calls around it, and thoughts by themselves.

    With a refusal all of it is one message.
    """
    refused = [content.text or "" for _, content in contents if _is_refusal(content)]
    answers = _group_as_sent([(place, content) for place, content in contents if not _is_refusal(content)])
    if not refused:
        return [_write_chat_answer(answer) for answer in answers]
    details = next((answer.details for answer in answers if answer.details), None)
    fields, places = _write_chat_answer(_ChatAnswer([one for answer in answers for one in answer.contents], details))
    alone = not fields["content"] and "tool_calls" not in fields
    own = [place for place, content in contents if _is_refusal(content)] if alone else []
    return [({**fields, "refusal": "".join(refused)}, (*own[:1], *places[alone:]))]


def _group_as_sent(contents: Sequence[tuple[int, Any]]) -> list[_ChatAnswer]:
    answers: list[_ChatAnswer] = []
    takes_more, details = False, None
    for place, content in contents:
        if content.type == "text_reasoning" and content.protected_data is not None:
            details = (place, content)
            continue
        if content.type == "text":
            joins = takes_more and all(other.type != "text" for _, other in answers[-1].contents)
        elif content.type == "function_call":
            joins = takes_more
        elif _thinks_aloud(content):
            joins = False
        else:
            continue
        if not joins:
            answers.append(_ChatAnswer([], details))
            details = None
        answers[-1].contents.append((place, content))
        takes_more = not _thinks_aloud(content)
    if details is not None and not answers:
        answers.append(_ChatAnswer([], details))
    elif details is not None:
        answers[-1].details = details
    return answers


def _write_chat_answer(answer: _ChatAnswer) -> Entry:
    """Return one message of an answer. A text without a word is sent too if it stands alone."""
    silent: Entry = ({"role": "assistant", "content": ""}, tuple(place for place, _ in answer.contents[:1]))
    ((fields, places),) = _write_answer(answer.contents) or [silent]
    if answer.details is None:
        return fields, places
    place, content = answer.details
    return {**fields, "reasoning_details": json.loads(content.protected_data)}, (*places, place)


def _is_refusal(content: Any) -> bool:
    if content.type != "text":
        return False
    properties: dict[str, Any] = content.additional_properties or {}
    core: dict[str, Any] = properties.get("core", {})
    return "refusal" in (core.get(_KIND), properties.get(_KIND))


def _write_items(contents: Sequence[tuple[int, Any]]) -> list[Entry]:
    """Return an answer as the Responses client sends it: its texts as one message, behind the calls beside them."""
    outputs = {content.call_id: content.output for _, content in contents if content.type == "mcp_server_tool_result"}
    items: list[Entry] = []
    texts: list[tuple[int, Any]] = []
    for group in runs(contents, lambda now, before: _is_same_reasoning(now[1], before[1])):
        place, content = group[0]
        if content.type == "text":
            texts.append((place, content))
            continue
        if content.type in _HOSTED:
            items += _write_texts(texts)
            texts = []
        reasoned = content.type == "text_reasoning"
        own = _write_reasoning([each for _, each in group]) if reasoned else _write_item(content, outputs)
        items += [] if own is None else [(own, tuple(place for place, _ in group))]
    return [*items, *_write_texts(texts)]


def _write_texts(texts: Sequence[tuple[int, Any]]) -> list[Entry]:
    parts = [{"type": "output_text", "text": content.text or ""} for _, content in texts]
    item = {**message_item(""), "content": parts if len(parts) > 1 else "".join(part["text"] for part in parts)}
    return [(item, tuple(place for place, _ in texts))] if texts else []


def _is_same_reasoning(now: Any, before: Any) -> bool:
    """Whether two contents side by side are the summaries of one reasoning, which is sent as one item."""
    return bool(now.type == before.type == "text_reasoning" and now.id == before.id)


def _write_reasoning(contents: Sequence[Any]) -> dict[str, Any] | None:
    """Return the item of all contents of one reasoning; None without its id or its encrypted form, which are needed."""
    sealed: list[Any] = [
        each.protected_data or each.additional_properties.get("encrypted_content") for each in contents
    ]
    seal: str | None = next((each for each in sealed if each), None)
    if not contents[0].id or seal is None:
        return None
    summary = [{"type": "summary_text", "text": content.text} for content in contents if content.text]
    return {**reasoning_item(contents[0].id, None, seal), "summary": summary}


def _write_item(content: Any, outputs: Mapping[str, Any]) -> dict[str, Any] | None:
    match content.type:
        case "function_call":
            return _add_status(content, call_item(content.call_id, content.name, _write_arguments(content)))
        case "mcp_server_tool_call":
            call = {"type": "mcp_call", "id": content.call_id, "server_label": content.server_name or ""}
            asked = {"name": content.tool_name or "", "arguments": _write_arguments(content)}
            return {**call, **asked, "output": _write_output(outputs.get(content.call_id))}
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
    shown = [part for item in items if (part := _write_item_part(item)) is not None]
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


def _write_chat_part(content: Any) -> dict[str, Any] | None:
    """Return what the Chat client sends of a content of the user: nothing of most files that it is given by a URL."""
    match content.type:
        case "text":
            return {"type": "text", "text": content.text or ""}
        case "data" | "uri" if not _is_file(content) or content.uri.startswith("data:"):
            return _write_media(content)
        case _:
            return None


def _write_item_part(content: Any) -> dict[str, Any] | None:
    """Return what the Responses client sends of a content of the user."""
    match content.type:
        case "text":
            return {"type": "text", "text": content.text or ""}
        case "data" | "uri":
            return _write_media(content)
        case _:
            return _write_part(content)


def _is_file(content: Any) -> bool:
    return (content.media_type or "").startswith("application/")


def _write_media(content: Any) -> dict[str, Any] | None:
    """Return a picture, a sound or a file, as both clients send it; None for another media type."""
    media, uri = content.media_type or "", content.uri
    sound = next((form for kind, form in _SOUNDS.items() if kind in media), None)
    if media.startswith("audio/"):
        data = uri.split(",", 1)[-1]
        return {"type": "input_audio", "input_audio": {"data": data, "format": sound}} if sound else None
    return _write_part(content) if media.startswith("image/") or _is_file(content) else None


_SOUNDS = {"wav": "wav", "mp3": "mp3", "mpeg": "mp3"}


def rewrite_message(message: Any, entries: Sequence[Entry], became: Sequence[tuple[Message, Message | None]]) -> Any:
    """Return a copy of the message with the texts that are left of its entries, and the same id and properties."""
    contents: list[Any] = message.contents
    left: dict[int, Any] = dict(enumerate(contents))
    for (_, places), (before, after) in zip(entries, became, strict=True):
        if after is before:
            continue
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
