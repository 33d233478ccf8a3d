"""Writes neutral messages and tools for OpenAI Responses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never, cast

from assembler.conversation.compaction import without_compacted_parts
from assembler.conversation.messages import Call, Media, Message, Opaque, Result, Thinking
from assembler.conversation.messages.calls_in_content import call_items
from assembler.conversation.messages.dicts import PIN, private_copy
from assembler.conversation.messages.foreign_parts import adapt_and_note, is_mark
from assembler.conversation.messages.items_in_content import is_sent_item
from assembler.conversation.messages.kinds import ARGUMENTS, OWED
from assembler.conversation.messages.parts import compact_json
from assembler.conversation.messages.responses import unfollowed_reasoning
from assembler.conversation.messages.responses_items import RESPONSES, is_sendable
from assembler.conversation.messages.stray_cache_marks import BREAKPOINT, TakenMarks
from assembler.dialects.blocks.ids import CallIds, IdRule, made_id
from assembler.dialects.blocks.media import Link, content_of, without_given
from assembler.dialects.openai.respelled import legal_name, media_part
from assembler.dialects.openai.wire import is_flat
from assembler.dialects.writing.call_ids import legal_id
from assembler.dialects.writing.fields import NO_PARAMETERS, named_tool, object_schema, own_fields
from assembler.dialects.writing.notes import FAILED, REASONING, RENAMED, SILENT, Notes
from assembler.errors import UnsupportedContentError
from assembler.regions.tools import Tool
from assembler.regions.tools.tool import own_definition
from assembler.text.fields import fields_in, fields_of

CALL_ID_LIMIT = 64
"""Characters of a call_id: 9router#393, read 2026-11."""
_MARKS = TakenMarks(in_parts=[BREAKPOINT])
_ID_RULE = IdRule(re.compile(rf"(?s).{{0,{CALL_ID_LIMIT}}}"), needed=True)

Item = dict[str, Any]


def input_items(messages: Sequence[Message], ids: ItemIds, notes: Notes) -> list[Item]:
    """Write the messages as new items. Every call id is legal and unique, and its output has the same id.

    Reasoning that no item of the model follows is left out. `notes` counts what is left out or renamed.
    """
    items: list[Item] = []
    unfollowed = unfollowed_reasoning(messages)
    for place, message in enumerate(messages):
        if place in unfollowed:
            notes[TORN] += 1
        elif is_sendable(message):
            items.extend(_put_call_id(item, ids, notes) for item in _copy_items(message, notes))
        else:
            items.extend(_respell_message(message, ids, notes))
    return items


TORN = "reasoning item(s) that nothing of the model follows left out"


def _copy_items(message: Message, notes: Notes) -> Iterator[Item]:
    seen: object = message.seen
    for given in cast("list[Item]", seen) if isinstance(seen, list) else [cast(Item, seen)]:
        item: Item = given.copy() if message.shallow else private_copy(given)
        item.pop(PIN, None)
        _add_demanded(item)
        _MARKS.drop(item)
        for key in ("content", "output"):
            if isinstance(item.get(key), list):
                item[key] = [_remove_hints(part) for part in item[key]]
        if isinstance(item.get("output"), dict):  # a screenshot
            item["output"] = without_given(item["output"])
        yield item


def _add_demanded(item: Item) -> None:
    """Add what the API demands of an item that has nothing to say there."""
    kind = item.get("type")
    if kind == "reasoning" and item.get("summary") is None:
        item["summary"] = []
    elif kind in ("custom_tool_call_output", "function_call_output") and item.get("output") is None:
        item["output"] = ""


def _remove_hints(part: object) -> object:
    """A part without the keys by which callers give its size."""
    fields = fields_of(part)
    return part if fields is None else without_given(fields)


class ItemIds(CallIds):
    """The call ids of one request, or of its end."""

    __slots__ = ("custom", "strays")

    def __init__(self) -> None:
        super().__init__(_ID_RULE)
        self.strays = 0
        """Outputs without a call in this request: the server may hold the call."""
        self.custom: set[str] = set()
        """The ids of calls of custom tools. Their outputs are items of another type."""

    def asked(self, call: Call) -> str:
        """The id that a call is sent with."""
        return str(self.ask(call, 0))

    def answered(self, call_id: str | None, name: str | None) -> str:
        """The id of the call that an output answers, found by its id, or by name and order without one."""
        found = self.find(call_id, name)
        if found is not None:
            return str(found[1])
        self.strays += 1
        return legal_id(call_id, CALL_ID_LIMIT) if call_id is not None else made_id(name or "")


def _put_call_id(item: Item, ids: ItemIds, notes: Notes) -> Item:
    """The caller's item with the id that this request gives to its call."""
    kind = str(item.get("type"))
    call_id = item.get("call_id") or (item.get("id") if kind in OWED else None)
    if not isinstance(call_id, str):
        if kind == "local_shell_call_output" and isinstance(item.get("id"), str):  # its id is that of its call
            item["id"] = ids.answered(item["id"], None)
    elif kind.endswith("_call"):
        item["call_id"] = ids.asked(Call(call_id, "", ""))
        if kind == "custom_tool_call":
            ids.custom.add(item["call_id"])
        if kind == "function_call":
            item["name"] = _make_name_legal(str(item["name"]), notes)
            arguments = item.get("arguments")
            item["arguments"] = arguments if isinstance(arguments, str) else compact_json(arguments or {})
    elif kind.endswith("_output"):
        item["call_id"] = ids.answered(call_id, None)
    return item


def _make_name_legal(name: str, notes: Notes) -> str:
    legal = legal_name(name)
    notes[RENAMED] += legal != name
    return legal


def _respell_message(original: Message, ids: ItemIds, notes: Notes) -> Iterator[Item]:
    """Write a message of another API: an item for each stretch of content, each call and each result, in order."""
    content: list[str | Media | Opaque] = []
    whole = adapt_and_note(original, RESPONSES, notes)
    message = without_compacted_parts(whole)
    notes[REPLACED] += len(whole.parts) - len(message.parts)
    notes[SILENT] += message.role == "assistant" and not any(message.parts)
    notes[NAMES] += message.name is not None
    items = call_items(message)
    for part in message.parts:
        match part:
            case str() | Media():
                content.append(part)
                continue
            case Call() if (item := items.get(part.id)) is not None:
                yield from _write_message_item(message, content)
                yield _copy_call_in_list(item, ids, notes)
            case Call():
                yield from _write_message_item(message, content)
                yield _write_call(part, ids, notes)
            case Result():
                yield from _write_message_item(message, content)
                yield _write_result(part, ids, notes)
            case Thinking() | Opaque() if is_sent_item(part, message):
                yield from _write_message_item(message, content)
                yield _copy_item_in_list(part.raw, ids, notes)
            case Thinking():
                notes[REASONING] += 1  # another model's reasoning is left out
                continue
            case Opaque():
                if not is_mark(part):
                    content.append(part)
                continue
            case _ as never:
                assert_never(never)
        content = []
    yield from _write_message_item(message, content)


def _write_call(call: Call, ids: ItemIds, notes: Notes) -> Item:
    call_id = ids.asked(call)
    name = _make_name_legal(call.name, notes)
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": call.arguments}


def _write_result(result: Result, ids: ItemIds, notes: Notes) -> Item:
    call_id = ids.answered(result.call_id, result.name)
    notes[FAILED] += result.error
    kind = "custom_tool_call_output" if call_id in ids.custom else "function_call_output"
    return {"type": kind, "call_id": call_id, "output": _write_output(result)}


def _copy_item_in_list(raw: Mapping[str, Any], ids: ItemIds, notes: Notes) -> Item:
    """An item that was found in a message's content, without what callers write beside it."""
    item = own_fields(raw)
    _MARKS.drop(item)
    return _put_call_id(item, ids, notes)


def _copy_call_in_list(raw: Mapping[str, Any], ids: ItemIds, notes: Notes) -> Item:
    """A call that was found in a message's content.

    That of a caller's tool goes without its id, since for an item with an id the API demands the reasoning that came
    before it. It demands the id of other calls.
    """
    item = _copy_item_in_list(raw, ids, notes)
    if item["type"] not in ARGUMENTS:
        return item
    return {key: held for key, held in item.items() if key not in ("id", "status")}


REPLACED = "part(s) before a summary in the same answer left out"
NAMES = "name(s) of messages left out"


def _write_message_item(message: Message, content: Sequence[str | Media | Opaque]) -> Iterator[Item]:
    """One message item, or none for empty content. The assistant's texts are joined, as they are billed."""
    filled = [part for part in content if part]
    if not filled and message.role == "assistant":
        return
    if not content:
        return
    texts = [part for part in filled if isinstance(part, str)]
    if message.role == "assistant" and not any(isinstance(part, Opaque) for part in filled):
        yield {"role": "assistant", "content": "".join(texts)}  # media are left out for an assistant
        return
    if len(filled) < 2 and len(texts) == len(filled):
        yield {"role": message.role, "content": "".join(texts)}
        return
    kind = "output_text" if message.role == "assistant" else "input_text"
    yield {"role": message.role, "content": [_write_part(part, kind) for part in filled]}


def _write_output(result: Result) -> str | list[Item]:
    if len(result.parts) == 1 and isinstance(result.parts[0], str):
        return result.parts[0]
    parts = [part for part in result.parts if not is_mark(part)]
    return [_write_part(part) for part in parts] if parts else ""


def _write_part(part: str | Media | Opaque, text: str = "input_text") -> Item:
    if isinstance(part, str):
        return {"type": text, "text": part}
    if isinstance(part, Opaque):
        own: Item = own_fields(part.raw)
        return own
    inner: object = part.raw.get(str(part.raw.get("type")))
    match part.raw.get("type"), inner:
        case (("input_image" | "input_file"), _):
            return without_given(part.raw)
        case "image_url", str():
            return {"type": "input_image", "image_url": inner, "detail": "auto"}
        case "image_url", Mapping():
            fields = cast("Mapping[str, Any]", inner)
            return {"type": "input_image", "image_url": fields.get("url"), "detail": fields.get("detail", "auto")}
        case "file", Mapping():
            return {"type": "input_file", **own_fields(cast("Mapping[str, Any]", inner))}
        case _:
            return _convert_part(part)


def _convert_part(part: Media) -> Item:
    """Convert another provider's image or document to Chat's form, and that to an item's part."""
    content = content_of(part)
    if part.kind == "document" and isinstance(content, Link):
        return {"type": "input_file", "file_url": content.url}
    moved = media_part(part, "openai_responses")
    if moved["type"] == "image_url":
        url = moved["image_url"]
        return {"type": "input_image", "image_url": url["url"], "detail": url.get("detail", "auto")}
    if moved["type"] == "file":
        return {"type": "input_file", **moved["file"]}
    raise _make_carry_error(part.kind)


def _make_carry_error(kind: str) -> UnsupportedContentError:
    return UnsupportedContentError(
        f"Responses cannot carry a part of kind {kind!r} here; pass an input_image or input_file in a user message",
        kind=kind,
    )


def flat_definition(tool: Tool) -> Item:
    """The flat definition. One of the caller's own in this form is copied, with a type for its parameters.

    One with Chat's `function` beside its name is not completed: the API ignores that key. Any other definition gets an
    explicit `strict`, because this API's default is true, and that of other APIs is false (OpenAI API reference,
    function tools, read 2026-11).
    """
    if tool.api is not None:
        return own_definition(tool)
    fields = fields_in(tool.seen)
    if is_flat(tool):
        own = own_fields(fields)
        if tool.parameters and "function" not in fields:
            own["parameters"] = object_schema(tool.parameters)
        _MARKS.drop_from_tool(own)
        return own
    schema = object_schema(tool.parameters or NO_PARAMETERS)
    strict = tool.extra.get("strict") is True
    return {"type": "function", **named_tool(tool), "parameters": schema, "strict": strict}
