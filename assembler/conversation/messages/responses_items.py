"""The spelling of an item of an OpenAI Responses `input`: how it is recognised, read, edited and answered.

Item types: OpenAI API reference, /v1/responses, and openai 3.54.0 (types/responses), read 2026-11."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages.dicts import PIN, ROLES, read_dict
from assembler.conversation.messages.extra_fields import OF_ANSWERS, REASONING
from assembler.conversation.messages.jsonable import sendable_copy
from assembler.conversation.messages.kinds import ARGUMENTS, OF_OTHERS, all_read, role_of_item, stands_alone
from assembler.conversation.messages.message import Call, Media, Message, Opaque, Part, Result, text_of_result
from assembler.conversation.messages.parts import (
    FOREIGN,
    NEUTRAL,
    Raw,
    call_of,
    compact_json,
    is_kind_of_part,
    read_reasoning_item,
    result_of,
)
from assembler.conversation.messages.spelling import DictSpelling
from assembler.errors import ConversationError

RESPONSES = "responses"
"""The shape of an item of `input`. `seen` is the item, or a list of items if several are one turn."""


_PARTS = frozenset(["input_text", "input_image", "input_file", "output_text", "refusal"])


_OF_MESSAGES = frozenset(["content", "kwargs", "parts", "tool_calls", "function_call", *REASONING, *OF_ANSWERS])
"""Keys that show that a dict with a type is a message, or one that LangChain has serialised: no item has them."""


_OF_MESSAGES_ALONE = _OF_MESSAGES - {"content", "kwargs"}  # an item with one of these is spelled anew


_NAMED_LIKE_PARTS = frozenset(["compaction", "reasoning"])


_EASY = frozenset({"role", "content", "type", "phase", PIN})
"""The keys of an easy input message (openai 3.54.0, EasyInputMessageParam), and our own, which is not sent."""


def _is_item(fields: Raw) -> bool:
    """Whether a dict is an item of `input`. Its type decides, for a message its status or its parts."""
    kind = fields.get("type")
    if kind is None:
        return fields.keys() - {PIN} == {"id"}  # a reference to an item may leave its type out
    if not isinstance(kind, str):
        return False
    if kind == "message":
        word = fields.get("role")
        has_role = isinstance(word, str) and word in _WORDS_FOR_ROLES
        return has_role and ("status" in fields or _holds_only_own_content(fields.get("content")))
    if "role" in fields:
        return _OF_MESSAGES.isdisjoint(fields)
    return kind.endswith(("_call", "_output")) or kind in _NAMED_LIKE_PARTS or _is_new(kind, fields)


_WORDS_FOR_ROLES = ("user", "assistant", "system", "developer")
"""Of this API (reference, read 2026-11). One with another API's word for a role is no item: it is spelled anew."""


def _is_new(kind: str, fields: Raw) -> bool:
    """Whether this may be an unknown item: no part has its type, and it has no key of a message."""
    return kind in OF_OTHERS or (not is_kind_of_part(kind) and kind not in ROLES and _OF_MESSAGES.isdisjoint(fields))


def _holds_only_own_content(content: object) -> bool:
    """Whether the content is a text or parts of this API. Other providers' messages have the type "message" too."""
    if not isinstance(content, list):
        return isinstance(content, str)
    parts = cast("list[object]", content)
    return bool(parts) and all(isinstance(part, Mapping) and cast(Raw, part).get("type") in _PARTS for part in parts)


def _read_message(raw: Mapping[str, Any], index: int) -> Message:
    """A message from one item; opaque if its type is unknown. Raises `ConversationError` if it cannot be read."""
    if raw.get("type") == "message":
        message, foreign = read_dict(raw, index=index), any(raw.get(key) for key in _OF_MESSAGES_ALONE)
        extra = [key for key in message.extra_fields if foreign and key in OF_ANSWERS]
        return attrs.evolve(message, shape=FOREIGN if foreign else RESPONSES, extra_fields=(*extra,))
    seen = sendable_copy(raw, index=index)
    kind = str(seen.get("type", "item_reference"))
    item = {key: value for key, value in seen.items() if key != PIN} if PIN in seen else seen  # a pin is not sent
    part = _READERS.get(kind, _read_opaque)(item, index)
    role = role_of_item(kind)
    shallow = all_read(kind, seen)
    return Message(role, (part,), raw, RESPONSES, seen, pinned=seen.get(PIN) is True, shallow=shallow)


def _read_opaque(item: Raw, index: int) -> Part:
    return Opaque(str(item.get("type", "item_reference")), item, RESPONSES)


def _read_call(item: Raw, index: int) -> Part:
    return call_of(item.get("name"), item.get("arguments"), id=_read_call_id(item, index), index=index)


def _read_custom_call(item: Raw, index: int) -> Part:
    return call_of(item.get("name"), item.get("input"), id=_read_call_id(item, index), index=index)


def _read_action(item: Raw, index: int) -> Part:
    """A call of a tool that the provider defines and the caller runs. It is named after its type."""
    asked: object = next((item[key] for key in _ASKED if item.get(key)), "{}")
    given: object = cast(Raw, asked) if isinstance(asked, Mapping | str) else {"actions": asked}
    name = str(item["type"]).removesuffix("_call")
    return call_of(name, given, id=_read_call_id(item, index), index=index)


_ASKED = ("action", "actions", "operation", "arguments")


def _client_call_reader(read: Callable[[Raw, int], Part]) -> Callable[[Raw, int], Part]:
    """A reader for calls that either side may run. If the server runs it, the caller owes no result."""
    return lambda item, index: (read if item.get("execution") == "client" else _read_opaque)(item, index)


def _read_call_id(item: Raw, index: int) -> str:
    call_id = item.get("call_id") or item.get("id")
    if not isinstance(call_id, str):
        raise ConversationError(f"{item['type']} without call_id; give it the id that its output names", index=index)
    return call_id


def _read_output(item: Raw, index: int) -> Part:
    if not isinstance(item.get("call_id"), str):
        raise ConversationError(f"{item['type']} without call_id; name the call that it answers", index=index)
    if "output" not in item:
        raise ConversationError(f"{item['type']} without output; give it the tool's answer", index=index)
    return _make_result(item, item["output"], index)


def _make_result(item: Raw, content: object, index: int) -> Part:
    return result_of(content, call_id=_read_call_id(item, index), name=None, index=index)


def _read_screenshot(item: Raw, index: int) -> Part:
    shown: object = item.get("output")
    parts = (Media("image", cast(Raw, shown)),) if isinstance(shown, Mapping) else ()
    return attrs.evolve(cast(Result, _make_result(item, None, index)), parts=parts)


def _read_shell_output(item: Raw, index: int) -> Part:
    """The output of commands: a text, or a list with the output of each."""
    written: object = item.get("output", item.get("tools")) or ""
    return _make_result(item, written if isinstance(written, str) else compact_json(written), index)


_READERS: dict[str, Callable[[Raw, int], Part]] = {
    "apply_patch_call": _read_action,
    "apply_patch_call_output": _read_shell_output,
    "computer_call": _read_action,
    "computer_call_output": _read_screenshot,
    "custom_tool_call": _read_custom_call,
    "custom_tool_call_output": _read_output,
    "function_call": _read_call,
    "function_call_output": _read_output,
    "local_shell_call": _read_action,
    "local_shell_call_output": _read_shell_output,
    "reasoning": read_reasoning_item,
    "shell_call": _read_action,
    "shell_call_output": _read_shell_output,
    "tool_search_call": _client_call_reader(_read_action),
    "tool_search_output": _client_call_reader(_read_shell_output),
}


def read_item(part: Opaque, index: int) -> Part:
    """An item that was found in a message's content, as it is read where it stands alone. Raises as for that one."""
    return _READERS[part.kind](part.raw, index) if part.kind in _READERS else part


def read_in_content(part: Opaque) -> Part:
    """An item that was found in a message's content, as it is read where it stands alone, if it can be read."""
    try:
        return read_item(part, 0)
    except ConversationError:  # it names no call
        return part


_TEXTLESS = ("computer_call_output", "tool_search_output")
"""Outputs for which the API accepts no text: images and tools."""


def _write_edit(seen: dict[str, Any], _: Sequence[Part], new: Sequence[Part | None]) -> Sequence[Part | None]:
    """Write a call or its output. Calls of a provider's own tool are left as they are."""
    kind, (part,) = str(seen["type"]), new
    if isinstance(part, Call) and kind in ARGUMENTS:
        seen[ARGUMENTS[kind]] = part.arguments
    elif isinstance(part, Result) and kind not in _TEXTLESS:
        seen["output"] = _write_shell_output(part) if kind == "shell_call_output" else text_of_result(part)
    # An item of a provider's own tool may write texts differently, or not at all.
    return new if part is None else _read_message(seen, 0).parts


def _write_shell_output(part: Result) -> list[dict[str, Any]]:
    """A text as the output of one command: the API expects a list of these."""
    return [{"stdout": text_of_result(part), "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]


def _write_answer(call: Call, asked_in: Message, text: str) -> dict[str, Any]:
    custom = asked_in.seen.get("type") == "custom_tool_call"
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return {"type": kind, "call_id": call.id, "output": text}


responses_item = DictSpelling(
    shape=RESPONSES, recognises=_is_item, read=_read_message, edit=_write_edit, answer=_write_answer
)


def is_sendable(message: Message) -> bool:
    """Whether `seen` may be sent in `input` unchanged: an item, or a role and a text without other providers' keys.

    A message with parts of another API, or for another role, may not: its parts must be renamed.
    """
    if message.shape == RESPONSES:
        return type(message.seen) is list or _holds_only_own_parts(message)
    if message.shape != NEUTRAL or message.seen.get("type") not in (None, "message"):  # another library's own type
        return False
    return isinstance(message.seen.get("content"), str) and message.seen.keys() <= _EASY


_OF_THE_MODEL = frozenset(["output_text", "refusal"])


_OF_OUTPUTS = frozenset(["input_text", "input_image", "input_file"])


_OF_OTHERS = _OF_OUTPUTS | {"input_audio"}


def _holds_only_own_parts(message: Message) -> bool:
    seen = message.seen
    content: object = seen.get("content") if "role" in seen else _find_listed_output(seen)
    if not isinstance(content, list):
        return content is not None or "role" not in seen
    allowed = _OF_THE_MODEL if message.role == "assistant" else _OF_OTHERS if "role" in seen else _OF_OUTPUTS
    return all(
        isinstance(part, Mapping) and _may_stand(cast(Raw, part).get("type"), allowed)
        for part in cast("list[object]", content)
    )


def _find_listed_output(item: Raw) -> object:
    """The output of a function or a custom tool. Those of a provider's own tools have forms of their own."""
    return item.get("output") if item.get("type") in ("custom_tool_call_output", "function_call_output") else None


def _may_stand(kind: object, allowed: frozenset[str]) -> bool:
    """Whether the API accepts a part of this type here. A part of an unknown type is sent unchanged."""
    return kind in allowed or (isinstance(kind, str) and not is_kind_of_part(kind) and not stands_alone(kind))
