"""Copies of a message with other parts, in the same spelling and of the same class. The original is never changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages.dicts import flat_arguments, private_copy
from assembler.conversation.messages.extra_fields import REASONING, field_of, refusal_of
from assembler.conversation.messages.kinds import ARGUMENTS, CALLS
from assembler.conversation.messages.message import Call, Media, Message, Opaque, Part, Result, content_of_result
from assembler.conversation.messages.objects import is_message_object
from assembler.conversation.messages.parts import compact_json, write_parts
from assembler.conversation.messages.read import read_message
from assembler.conversation.messages.registered import is_registered, registered_writer
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.conversation.messages.shapes import SHAPES
from assembler.conversation.messages.spelling import spelling_with
from assembler.conversation.messages.stray_cache_marks import MARK_KEYS
from assembler.errors import MessageTypeError
from assembler.text.fields import fields_in, object_in
from assembler.validation import name_of_value
from budgets.numbers import with_noun


def edited(message: Message, parts: Sequence[Part | None]) -> Message:
    """A copy of `message` with `parts` in place of its own, one for one; None leaves a part out. O(parts).

    Texts, results, media and call arguments may be replaced, and anything may be left out; roles, names and ids stay.
    The new `raw` is of the caller's own class if that can be copied, else a dict. Raises `MessageTypeError` if a part
    has another type than the one it replaces, such as a text in place of a result. Only a medium may become a text.
    """
    _refuse_other_kinds(message.parts, parts)
    seen = private_copy(message.seen)
    by_content = "role" in seen and "content" in seen  # these are written alike in every spelling
    spelling = None if by_content else spelling_with(message.shape)
    if spelling is not None:
        parts = spelling.edit(seen, message.parts, parts)
    elif message.role == "tool":
        seen["content"] = content_of_result(parts[0])
    else:
        _write_content(seen, message.parts, parts)
    kept = tuple(part for part in parts if part is not None)
    if kept and (any(map(_is_of_new_kind, seen.get("tool_calls") or ())) or _holds_own_calls(kept, seen)):
        kept = read_message(seen, 0).parts
    return attrs.evolve(message, parts=kept, seen=seen, raw=_copy_like(message.raw, seen), shallow=False)


def with_part(message: Message, place: int, part: Part) -> Message:
    """A copy of `message` with another part at one place, made by `edited`."""
    return edited(message, [*message.parts[:place], part, *message.parts[place + 1 :]])


def _refuse_other_kinds(old: Sequence[Part], new: Sequence[Part | None]) -> None:
    if len(old) != len(new):
        raise MessageTypeError(
            f"edited(): the message has {with_noun(len(old), 'part')}, got {len(new)}; pass None to leave one out"
        )
    for place, (before, after) in enumerate(zip(old, new, strict=True)):
        if type(before) is Call and type(after) is Call:
            _refuse_other_arguments(place, before, after)
        if type(before) is Result and type(after) is Result and after is not before:
            _refuse_other_content(place, after)
        if after is None or type(after) is type(before):
            continue
        if not (type(before) is Media and type(after) is str):
            kind, got = type(before).__name__, type(after).__name__
            step = f"{_REPLACED.get(kind, f'another {kind}')}, or None to leave it out"
            raise MessageTypeError(f"edited(): parts[{place}] is a {kind}, got a {got}; write {step}")


def _refuse_other_arguments(place: int, before: Call, after: Call) -> None:
    """Raise unless the arguments are a text, and that of a JSON object if the message holds one."""
    arguments: object = after.arguments
    if type(arguments) is not str:
        problem = f"arguments are JSON text, got {name_of_value(arguments)}; write json.dumps(arguments)"
    elif before.given is not None and arguments != before.arguments and not _is_object_text(arguments):
        problem = "the message holds its arguments as an object; write the text of a JSON object, such as '{}'"
    else:
        return
    raise MessageTypeError(f"edited(): parts[{place}] is a Call: {problem}")


def _refuse_other_content(place: int, result: Result) -> None:
    """Raise unless the parts of a result are a tuple of texts and media, and its `given` is an object or None."""
    parts: object = result.parts
    if type(parts) is not tuple:
        problem = f"its parts are a tuple, got {name_of_value(parts)}; write parts=(text,)"
    elif wrong := [part for part in cast("tuple[object, ...]", parts) if not isinstance(part, str | Media | Opaque)]:
        problem = f"its parts are texts and media, got {name_of_value(wrong[0])}; write parts=(text,)"
    elif not isinstance(cast(object, result.given), Mapping | None):
        problem = f"given is the object that a result came as, got {name_of_value(result.given)}; write given=None"
    else:
        return
    raise MessageTypeError(f"edited(): parts[{place}] is a Result: {problem}")


def _is_object_text(text: str) -> bool:
    found = object_in(text)
    try:
        return found is not None and bool(compact_json(found).encode())
    except (ValueError, RecursionError):  # NaN, an infinity or a lone surrogate, which JSON cannot carry
        return False


_REPLACED = {
    "Call": "attrs.evolve(part, arguments=json_text)",
    "Media": "a text, another Media",
    "Result": "attrs.evolve(part, parts=(text,))",
    "str": "another text",
}
"""What may stand in place of a part."""


def may_lose_id(message: Message) -> bool:
    """Whether a message is an item with an id that the Responses API does not require."""
    if message.shape != RESPONSES or type(message.seen) is not dict:
        return False
    seen = cast("dict[str, Any]", message.seen)
    free = seen.get("role") == "assistant" or seen.get("type") in ARGUMENTS
    return free and isinstance(seen.get("id"), str) and (seen.get("call_id") is not None or "role" in seen)


def has_no_id(message: Message) -> bool:
    """Whether a message is one item of the model without an id, so that the Responses API demands nothing before it."""
    seen: object = message.seen
    return message.role == "assistant" and type(seen) is dict and not cast("dict[str, Any]", seen).get("id")


def without_id(message: Message) -> Message:
    """The item without its id. Its `raw` is a dict, or an object made by the registered writer of its class."""
    seen = private_copy(message.seen)
    del seen["id"]
    return attrs.evolve(message, seen=seen, raw=write_like(message.raw, private_copy(seen)), shallow=False)


def of_the_user(message: Message) -> object:
    """The message in the user's role: of the caller's class if a writer or the SDK can make one, else a dict."""
    seen = {**private_copy(message.seen), "role": "user"}
    if is_registered(message.raw):
        return write_like(message.raw, seen)
    return seen if isinstance(message.raw, Mapping) else _read_back(message.raw, seen)


def failed_answer(call: Call, asked_in: Message, text: str) -> dict[str, Any]:
    """A new message dict that answers a call with an error's text, in the spelling of the message that holds it."""
    if (spelling := spelling_with(asked_in.shape)) is not None:
        return spelling.answer(call, asked_in, text)
    if (failed_block := SHAPES[asked_in.shape].failed_block) is not None:
        return {"role": "user", "content": [failed_block(call.id, text)]}
    if call.id is not None:
        return {"role": "tool", "tool_call_id": call.id, "content": text}
    role = "function" if fields_in(asked_in.seen).get("function_call") else "tool"
    return {"role": role, "name": call.name, "content": text}


def answer_call(message: Message, call: Call) -> object:
    """An answer in Chat's form as one to this call: by its id, or, without one, by its name."""
    fields = private_copy(message.seen) | {"role": "tool"}
    fields.pop("tool_call_id", None)
    fields |= {"name": call.name} if call.id is None else {"tool_call_id": call.id}
    return write_like(message.raw, fields)


def write_like(raw: object, fields: dict[str, Any]) -> object:
    """`fields` as an object of the class of `raw` if a writer is registered for it, else `fields`. O(fields).

    Raises `MessageTypeError` if the writer raises or returns None, or if the reader of the class reads the new object
    as a different message.
    """
    writer = registered_writer(raw)
    if writer is None:
        return fields
    kind = type(raw).__name__
    try:
        made = writer(private_copy(fields))
    except Exception as error:  # its text could quote the message, so it is only chained
        given = f"a dict with the role {fields.get('role')!r} and the keys {', '.join(fields)}"
        raise MessageTypeError(f"the writer of {kind} raised {type(error).__name__} for {given}") from error
    if made is None:
        raise MessageTypeError(f"the writer of {kind} returned None; return the new message")
    meant, read = read_message(fields, 0), read_message(made, 0)
    if meant.parts != read.parts or (meant.role != read.role and not _may_be_of_either_role(meant)):
        raise MessageTypeError(
            f"the writer of {kind} made a message that its reader reads as another one; "
            "reader(writer(fields)) must equal fields"
        )
    return made


def _may_be_of_either_role(message: Message) -> bool:
    """Whether a message has results alone. A class may give these the user's role, as Anthropic does, or the tool's."""
    return {"tool", "user"}.issuperset([message.role]) and set(map(type, message.parts)) == {Result}


def _write_content(seen: dict[str, Any], old: Sequence[Part], new: Sequence[Part | None]) -> None:
    """Write the `content` of a dict, and its `tool_calls` if the calls are beside the content."""
    content = seen.get("content")
    listed = int(isinstance(content, str))
    if refusal_of(seen) is not None:
        listed = 1
        _write_refusal(seen, new[0])
    elif isinstance(content, list | tuple):
        blocks = cast("Sequence[Any]", content)
        listed = len(blocks)
        seen["content"] = write_parts(blocks, old[:listed], new[:listed], _write_block)
    elif listed:
        seen["content"] = new[0] if isinstance(new[0], str) else ""
    for before, after in zip(old, new, strict=True):
        if after is None and (field := field_of(before)) is not None:
            del seen[field]
    calls: list[Any] = seen.get("tool_calls") or []
    until = listed + len(calls)
    if calls:
        seen["tool_calls"] = write_parts(calls, old[listed:until], new[listed:until], _write_call)
        if not seen["tool_calls"]:
            del seen["tool_calls"]
    elif "function_call" in seen and len(old) > listed:
        _write_function_call(seen, old[listed], new[listed])


def _write_refusal(seen: dict[str, Any], text: Part | None) -> None:
    """Write the refusal of a message that says nothing else."""
    seen["content"] = None
    if isinstance(text, str):
        seen["refusal"] = text
    else:
        del seen["refusal"]


def _write_function_call(seen: dict[str, Any], old: Part, new: Part | None) -> None:
    if isinstance(new, Call):
        seen["function_call"]["arguments"] = new.arguments
    elif isinstance(old, Call):
        del seen["function_call"]


def _write_block(item: Any, part: Part) -> object:
    if isinstance(item, str):
        return part
    if isinstance(part, str):
        return _write_text_block(item, part)
    if isinstance(part, Media):
        return private_copy(part.raw)
    if isinstance(part, Call) and item.get("type") in CALLS:  # one of a provider's own tool is left as it is
        return {**item, ARGUMENTS[item["type"]]: part.arguments} if item["type"] in ARGUMENTS else item
    if isinstance(part, Call):
        given = json.loads(part.arguments)
        if item.get("type") == "tool_call":
            return {**item, "args": given}
        inner = {**item["toolUse"], "input": given} if "toolUse" in item else None
        return {**item, "input": given} if inner is None else {**item, "toolUse": inner}
    content = content_of_result(part)
    if "toolResult" in item:
        listed = [{"text": content}] if isinstance(content, str) else content
        return {**item, "toolResult": {**item["toolResult"], "content": listed}}
    return {**item, "content": content}


def _write_text_block(item: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A block with another text, or the text in place of a medium, spelled as its API spells texts."""
    if item.get("type") == "refusal":
        return {**item, "refusal": text}
    if isinstance(item.get("text"), str):
        return {**item, "text": text}
    mark = {key: item[key] for key in MARK_KEYS if key in item}
    if "type" not in item:  # Bedrock's blocks
        return {"text": text, **mark}
    return {"type": "input_text" if str(item["type"]).startswith("input_") else "text", "text": text, **mark}


def _write_call(item: dict[str, Any], part: Part) -> dict[str, Any]:
    arguments = cast(Call, part).arguments
    if "function" in item:
        return {**item, "function": {**item["function"], "arguments": arguments}}
    if "custom" in item:
        return {**item, "custom": {**item["custom"], "input": arguments}}
    if _is_of_new_kind(item):
        return item  # its field for arguments is unknown
    key = flat_arguments(item)
    return {**item, key: arguments if isinstance(item.get(key), str) else json.loads(arguments)}


def _is_of_new_kind(call: Mapping[str, Any]) -> bool:
    """Whether a call of a Chat message is of an unknown kind, with its content under the name of its type."""
    kind = call.get("type")
    return "function" not in call and "custom" not in call and isinstance(call.get(str(kind)), Mapping)


def _holds_own_calls(parts: Sequence[Part], seen: Mapping[str, Any]) -> bool:
    """Whether a content holds calls of a provider's own tools, which no edit changes."""
    listed: object = seen.get("content") if Call in map(type, parts) else None
    return isinstance(listed, list) and any(
        item.get("type") in CALLS - ARGUMENTS.keys() for item in map(fields_in, cast("list[object]", listed))
    )


def _copy_like(raw: object, seen: dict[str, Any]) -> object:
    """An object of the class of `raw` with the content of `seen`; a dict if the class cannot be copied."""
    if is_registered(raw):
        return write_like(raw, private_copy(seen))
    if isinstance(raw, Mapping):
        return private_copy(seen)
    if isinstance(raw, tuple | list):
        return (cast("tuple[object, ...]", raw)[0], seen["content"])
    if not is_message_object(raw):
        return _read_back(raw, seen)
    fields: dict[str, Any] = {key: private_copy(seen[key]) for key in _WRITTEN if key in seen and hasattr(raw, key)}
    fields |= _clear_attributes(raw, seen)
    update = getattr(raw, "model_copy", None)
    if callable(update):
        return update(update=fields)
    twin = copy.copy(raw)
    try:
        for key, value in fields.items():
            setattr(twin, key, value)
    except AttributeError:  # a frozen object: attrs and dataclasses raise a subclass of this
        return private_copy(seen)
    return twin


_WRITTEN = ("content", "tool_calls", "refusal")
"""The attributes of a message object that an edit may change."""


def _read_back(raw: object, seen: dict[str, Any]) -> object:
    """`seen` as an object of the SDK's class of `raw`; a dict if that object would not read back the same."""
    fields = private_copy(seen)
    validate: Any = getattr(type(raw), "model_validate_json", None)
    if not callable(validate):
        return fields
    try:
        made: object = validate(json.dumps(fields))  # from JSON, where bytes are base64, as in `fields`
        same = read_message(made, 0).seen == fields
    except Exception:  # a caller's class may raise anything
        return fields
    return made if same else fields


def _clear_attributes(raw: object, seen: dict[str, Any]) -> dict[str, Any]:
    """Cleared values for the attributes whose reasoning or calls are no longer in `seen`."""
    cleared: dict[str, Any] = {
        key: None for key in REASONING if key not in seen and getattr(raw, key, None) is not None
    }
    if "tool_calls" not in seen and getattr(raw, "tool_calls", None):
        cleared["tool_calls"] = []
    further: object = getattr(raw, "additional_kwargs", None)
    if isinstance(further, Mapping) and any(key in further and key not in seen for key in REASONING):
        kept = cast("Mapping[str, object]", further)
        cleared["additional_kwargs"] = {key: kept[key] for key in kept if key in seen or key not in REASONING}
    return cleared
