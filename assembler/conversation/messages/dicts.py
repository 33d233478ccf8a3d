"""Reads message dicts with `role` and `content`: those of OpenAI, Anthropic, Bedrock and others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard, cast

from assembler.conversation.messages.extra_fields import (
    OF_ANSWERS,
    find_unread_fields,
    refusal_of,
    thoughts_in_extra_fields,
)
from assembler.conversation.messages.jsonable import sendable_copy
from assembler.conversation.messages.kinds import PIN as PIN
from assembler.conversation.messages.message import Call, Message, Opaque, Part, Result, Role, Thinking
from assembler.conversation.messages.parts import CHAT_SHAPES, FOREIGN, NEUTRAL, Raw, call_of, read_content, result_of
from assembler.conversation.messages.stray_cache_marks import MARK_KEYS
from assembler.errors import ConversationError
from assembler.text.checked import refuse_surrogates
from assembler.text.fields import items_of

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""Every accepted word for a role, and our own word for it."""


def role_of(value: object, *, index: int) -> Role:
    """The role for a provider's word. Raises `ConversationError` for an unknown one."""
    word = value if type(value) is str else getattr(value, "value", value)  # the value of a str enum
    if isinstance(word, str) and (role := ROLES.get(word)) is not None:
        return role
    known = ", ".join(sorted(ROLES))
    problem = "message without a role" if word is None else "message with an unknown role"
    raise ConversationError(f"{problem}; expected one of {known}", index=index)


CALL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""A tool's name that OpenAI accepts in a history: `Invalid 'messages[2].tool_calls[0].function.name': string does not
match pattern` (OpenAI API reference, function tools, read 2026-11)."""

CALL_ID_LIMIT = 40
"""Characters of a tool call id. `Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with
maximum length 40`: vercel/ai#5171, read 2026-11."""

CONTAINERS = frozenset({dict, list, tuple})
"""The types of JSON-like data that are mutable or may hold mutable values."""


def private_copy(value: Any) -> Any:
    """A copy of JSON-like data that shares no list and no dict with it. Tuples become lists, as in JSON."""
    kind = cast("type[object]", type(value))
    if kind is dict:
        copy = value.copy()
        for key, item in value.items():
            if type(item) in CONTAINERS:
                copy[key] = private_copy(item)
        return copy
    if kind is list or kind is tuple:
        flat = CONTAINERS.isdisjoint(map(type, value))
        return [*value] if flat else [private_copy(item) for item in value]
    return value


def read_dict(raw: Mapping[str, Any], *, index: int, origin: object | None = None) -> Message:
    """A message from `role`, `content` and the fields that go with them. `origin` is the caller's object, if not `raw`.

    Raises `ConversationError` for a missing role or content and for parts that cannot be read.
    """
    word = raw.get("role")
    source = raw if origin is None else origin
    given: Any = raw  # untyped, because the two type checkers narrow `raw` differently
    if _is_exactly(dict, raw) and (usual := read_usual(given, source, index)) is not None:
        return usual
    role = ROLES[word] if type(word) is str and word in ROLES else role_of(word, index=index)
    seen = sendable_copy(raw, index=index)
    if "tool_call_id" in seen and not isinstance(seen["tool_call_id"], str | None):
        raise ConversationError("tool_call_id is not a text; give it the id of the call", index=index)
    if role == "tool":
        if not _is_of_blocks(seen.get("content")):
            return _read_tool_message(seen, source, index)
        role = "user"  # APIs with blocks have no tool role: results are in the user's messages
    parts, shape = _read_parts(seen, role, index)
    calls, thoughts = _read_calls(seen, index), thoughts_in_extra_fields(seen, index)
    refused = ("refusal",) if _read_refusal(seen, index) else ()
    if refused and not calls and set(map(type, parts)) == _THINKING_ALONE:  # the refusal is all that the model said
        parts, shape, refused = (*parts, seen["refusal"]), FOREIGN, ()
    if role == "assistant" and shape == FOREIGN and Opaque in map(type, parts):
        from assembler.conversation.messages.calls_in_content import with_calls  # for items in a content alone

        parts = with_calls(parts, calls, index)
    if calls:
        parts, shape = (*parts, *calls), _name_chat_shape(shape)
    elif not parts and not (role == "assistant" and (thoughts or _is_answer(raw))):
        raise ConversationError("message without content; give it a text, parts or tool calls", index=index)
    elif (refusal := refusal_of(seen)) is not None:
        parts, shape, refused = (refusal,), "openai", ()
    if thoughts or (refused and shape != NEUTRAL):  # Chat's fields, maybe beside another API's blocks
        parts, shape = (*parts, *thoughts), _name_chat_shape(shape)
    if word != role or (calls and _has_foreign_calls(seen, calls)):
        shape = FOREIGN
    name = seen.get("name")
    named = name if isinstance(name, str) and name else None
    extra = _list_extra_fields(seen, shape, refused)
    return Message(role, parts, source, shape, seen, named, raw.get(PIN) is True, extra_fields=extra)


def _list_extra_fields(seen: dict[str, Any], shape: str, refused: tuple[str, ...]) -> tuple[str, ...]:
    """The fields that are sent beside the content. A message that is spelled anew keeps those of answers alone."""
    if shape == FOREIGN:
        return tuple(key for key in (*find_unread_fields(seen), *refused) if key in OF_ANSWERS)
    return (*find_unread_fields(seen), *refused) if shape in CHAT_SHAPES else ()


_THINKING_ALONE = {Thinking}


def _read_parts(seen: dict[str, Any], role: Role, index: int) -> tuple[tuple[Part, ...], str]:
    """The parts of a message's content, and the shape that they imply."""
    content: object = seen.get("content")
    parts, shape = read_content(content, index=index)
    if role != "assistant" and Thinking in map(type, parts):
        parts = tuple(_make_foreign(part) for part in parts)
    if shape == "openai" and role != "assistant" and "refusal" in map(_read_type, items_of(content)):
        shape = FOREIGN  # Chat takes a refusal from an assistant alone: it is sent as a text
    if shape == "responses" and not isinstance(seen.get("type"), str | None):
        shape = FOREIGN  # a field of the caller's own, as in a row of a table: it is spelled anew, without it
    if shape == NEUTRAL and seen.get("type") == "message" and isinstance(content, list):
        shape = "anthropic"  # an answer dumped by Anthropic's SDK: no other API accepts its id and usage
    if role == "assistant" and shape in _WITH_SERVED_CALLS and Call in map(type, parts):
        # for Bedrock's calls alone
        from assembler.conversation.messages.bedrock_server_calls import without_served_calls

        parts = without_served_calls(parts, items_of(seen["content"]))
    return parts, shape


def _read_refusal(seen: Raw, index: int) -> str | None:
    """The refusal beside a message's content. Raises `ConversationError` for one that is no text."""
    refusal: object = seen.get("refusal")
    if refusal and not isinstance(refusal, str):
        raise ConversationError(
            f"refusal must be text, got {type(refusal).__name__}; join its texts, or leave it out", index=index
        )
    return refusal if isinstance(refusal, str) else None


def _read_type(item: object) -> object:
    return cast("Mapping[str, object]", item).get("type") if isinstance(item, Mapping) else None


_WITH_SERVED_CALLS = ("bedrock", FOREIGN)


def _make_foreign(part: Part) -> Part:
    """Turn reasoning in a message that is not the model's into a part that is sent to no API.

    Anthropic refuses it there, and other references allow it only in an assistant's message (read 2026-11).
    """
    return Opaque(str(part.raw.get("type", "reasoning")), part.raw, FOREIGN) if isinstance(part, Thinking) else part


def read_usual(raw: dict[str, Any], source: object, index: int) -> Message | None:
    """Read the most frequent messages fast: a text, a tool result of one text, or OpenAI function calls. None for any
    other. `source` is the caller's object.

    Chat Completions is sent them as they came, unless an id is too long or the role is another API's.
    """
    size, word, content = len(raw), raw.get("role"), raw.get("content")
    if type(word) is not str:
        return None
    if type(content) is not str or (size == 3 and "tool_calls" in raw):
        return _read_calling(raw, content, source) if size == 3 and word == "assistant" else None
    if size == 2:
        role = ROLES.get(word)
        if role is None or role == "tool":
            return None
        if not content.isascii():
            refuse_surrogates(content, field=f"conversation[{index}]")
        if word != role:
            return Message(role, (content,), source, FOREIGN, raw.copy(), shallow=True)
        # Positional arguments, because keywords would take a fifth of the time here.
        message = Message(role, (content,), source, NEUTRAL, raw.copy(), None, False, True)
        if content or role != "assistant":
            message.sent = message.seen
        return message
    call_id = raw.get("tool_call_id")
    if size != 3 or word != "tool" or type(call_id) is not str or not (call_id and call_id.isascii()):
        return None
    if not content.isascii():
        refuse_surrogates(content, field=f"conversation[{index}]")
    message = Message("tool", (Result(call_id, (content,)),), source, "openai", raw.copy(), None, False, True)
    if len(call_id) <= CALL_ID_LIMIT:
        message.sent = message.seen
    return message


def _read_calling(raw: dict[str, Any], content: object, source: object) -> Message | None:
    """Read an assistant message with only OpenAI function calls that need no further check. None for any other."""
    listed: Any = raw.get("tool_calls")
    if not _is_exactly(list, listed) or set(map(type, listed)) != _DICTS_ALONE:
        return None
    if "content" not in raw or not (content is None or (type(content) is str and content.isascii())):
        return None
    copies: list[dict[str, Any]] = []
    parts: list[Part] = [] if content is None else [content]
    longest = 0
    for call in listed:
        call_id, kind, function = call.get("id"), call.get("type"), call.get("function")
        if (len(call), type(call_id), type(kind), type(function)) != (3, str, str, dict):
            return None
        name, arguments = function.get("name"), function.get("arguments")
        if (len(function), type(name), type(arguments)) != (2, str, str):
            return None
        if kind != "function" or not (call_id and call_id.isascii() and arguments.isascii()):
            return None
        if CALL_NAME.fullmatch(name) is None:
            return None
        parts.append(Call(call_id, name, arguments))
        copies.append({**call, "function": function.copy()})
        longest = max(longest, len(call_id))
    message = Message("assistant", tuple(parts), source, "openai", {**raw, "tool_calls": copies})
    message.side_fields, message.fully_read = (), True
    if longest <= CALL_ID_LIMIT:
        message.sent = message.seen
    return message


_DICTS_ALONE = {dict}


def _is_exactly(kind: type, value: Any) -> bool:
    return type(value) is kind


def _name_chat_shape(shape: str) -> str:
    """The shape of a message with fields of Chat Completions whose content has `shape`."""
    return "openai" if shape in CHAT_SHAPES else FOREIGN


def _has_foreign_calls(seen: Raw, calls: Iterable[Call]) -> bool:
    """Whether no API accepts the calls as they are: without an id, in an unknown form, or with an illegal name."""
    listed: list[Raw] = seen.get("tool_calls") or []
    for entry in listed:
        named: object = entry.get("id")
        spelled = "function" in entry or "custom" in entry or entry.get("type") in entry
        if not spelled or not isinstance(named, str) or not named:
            return True
    for call in calls:  # noqa: SIM110 - a generator takes twice as long, at each message
        if CALL_NAME.fullmatch(call.name) is None:
            return True
    return False


def _is_answer(raw: Raw) -> bool:
    """Whether a message of the model without content is an answer: SDKs return `content=None` for an empty one."""
    return "content" in raw or any(raw.get(key) for key in ("refusal", "audio"))


_ANSWERS = (
    "pass the id of the call. A call without an id is answered by its name: "
    "{'role': 'tool', 'name': name, 'content': text}"
)


def _read_tool_message(seen: dict[str, Any], source: object, index: int) -> Message:
    if seen.get("content") is None:
        raise ConversationError("tool message without content; give it the tool's answer", index=index)
    call_id = seen.get("tool_call_id")
    if seen["role"] == "tool" and not isinstance(call_id, str) and not _is_named(seen):
        raise ConversationError(f"tool message without tool_call_id; {_ANSWERS}", index=index)
    if seen.get("tool_calls"):
        raise ConversationError("a tool message cannot call tools; leave its tool_calls out", index=index)
    failed = seen.get("is_error") is True  # Anthropic's word, which tool servers and frameworks write here too
    result = result_of(seen["content"], call_id=call_id, name=_read_name(seen), index=index, error=failed)
    listed: object = seen["content"]
    untyped = isinstance(listed, list) and not all(map(_is_typed, cast("list[object]", listed)))
    if untyped or "is_error" in seen or "tool_name" in seen or not _is_accepted_as_named(seen):
        return Message("tool", (result,), source, FOREIGN, seen, pinned=seen.get(PIN) is True)
    shallow = set(map(type, seen.values())) == _TEXTS_ALONE and MARK_KEYS.isdisjoint(seen)
    pinned, extra = seen.get(PIN) is True, find_unread_fields(seen)
    return Message("tool", (result,), source, "openai", seen, pinned=pinned, shallow=shallow, extra_fields=extra)


def _is_named(seen: Raw) -> bool:
    """Whether an answer without an id has the name of its call."""
    name = _read_name(seen)
    return seen.get("tool_call_id") is None and isinstance(name, str) and bool(name)


def _read_name(seen: Raw) -> Any:
    """The name of the call that a message answers. `tool_name` is Ollama's word, and no other API takes it."""
    return seen.get("name") or seen.get("tool_name")


def _is_accepted_as_named(seen: Raw) -> bool:
    """Whether the API accepts an answer's id; of the role "function", which has no id, the name."""
    call_id, name = seen.get("tool_call_id"), seen.get("name")
    if seen["role"] != "function":
        return bool(call_id)
    return call_id is None and (not isinstance(name, str) or CALL_NAME.fullmatch(name) is not None)


def _is_of_blocks(content: object) -> bool:
    """Whether the content holds results in blocks, as Anthropic and Bedrock spell them."""
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    return any(_is_fields(block) and (block.get("type") == "tool_result" or "toolResult" in block) for block in blocks)


def _is_typed(part: object) -> bool:
    """Whether a part of an answer may be of Chat's form. The texts of Responses and refusals may not."""
    return isinstance(part, Mapping) and cast(Raw, part).get("type") not in (
        None,
        "input_text",
        "output_text",
        "refusal",
    )


_TEXTS_ALONE = {str}


def _read_calls(seen: dict[str, Any], index: int) -> tuple[Call, ...]:
    listed = seen.get("tool_calls") or ()
    if not isinstance(listed, list | tuple):
        raise ConversationError(f"tool_calls must be a list, got {type(listed).__name__}", index=index)
    calls = [_read_call(item, index) for item in cast("list[object]", listed)]
    legacy = seen.get("function_call")
    if legacy and not isinstance(legacy, Mapping):
        raise ConversationError(f"function_call must be a dict, got {type(legacy).__name__}", index=index)
    if legacy:
        spelled = cast(Raw, legacy)
        calls.append(call_of(spelled.get("name"), spelled.get("arguments"), id=None, index=index))
    return tuple(calls)


def _is_fields(value: object) -> TypeGuard[Raw]:
    """Whether a value is a mapping. Checks for a dict first, because `isinstance` with an abstract class is slow."""
    return type(value) is dict or isinstance(value, Mapping)


def _read_call(spelled: object, index: int) -> Call:
    if not _is_fields(spelled):
        raise ConversationError(f"a tool call must be a dict, got {type(spelled).__name__}", index=index)
    function = spelled.get("function")
    if _is_fields(function):
        return call_of(function.get("name"), function.get("arguments"), id=spelled.get("id"), index=index)
    custom = spelled.get("custom")
    if _is_fields(custom):
        return call_of(custom.get("name"), custom.get("input"), id=spelled.get("id"), index=index)
    new = spelled.get(str(spelled.get("type")))
    if _is_fields(new):  # an unknown kind of call: all of it counts as its arguments
        return call_of(new.get("name") or spelled["type"], new, id=spelled.get("id"), index=index)
    return call_of(spelled.get("name"), spelled.get(flat_arguments(spelled)), id=spelled.get("id"), index=index)


_FLAT = ("args", "arguments", "input", "parameters")


def flat_arguments(call: Raw) -> str:
    """The key of the arguments in a call that has its name and arguments side by side, as LangChain writes it."""
    return next((key for key in _FLAT if call.get(key) is not None), _FLAT[0])
