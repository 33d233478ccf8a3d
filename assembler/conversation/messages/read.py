"""Reads whatever a caller passes as a message into a `Message`, or raises a clear error."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, cast

import attrs

from assembler.conversation.messages.dicts import PIN, ROLES, read_dict, read_usual
from assembler.conversation.messages.message import Message
from assembler.conversation.messages.objects import is_message_object, read_object, spell_object
from assembler.conversation.messages.parts import is_kind_of_part
from assembler.conversation.messages.registered import is_registered, registered_fields
from assembler.conversation.messages.sdk_objects import as_input, dump_of, plain_fields
from assembler.conversation.messages.spelling import spelling_of, spelling_of_dialect
from assembler.errors import ConversationError, MarkupError, MessageTypeError
from budgets.numbers import with_noun


def read_message(raw: object, index: int) -> Message:
    """Read any message that a caller may pass. A framework's own class must be registered by `register_reader`.

    Raises `ConversationError` with `index` for a malformed message, whatever its reader raised.
    """
    given: Any = raw  # untyped, because the two type checkers narrow `raw` differently
    try:
        if type(raw) is not dict:
            return _read_any_form(given, index)
        if (usual := read_usual(given, given, index)) is not None:
            return usual
        # A role and a text: no other spelling needs to be tried.
        if "type" not in given and "parts" not in given and type(given.get("content", given)) in _TEXT_OR_NONE:
            fields = as_input(cast("Mapping[str, Any]", given))
            return read_dict(fields, index=index, origin=None if fields is given else given)
        return _read_any_form(given, index)
    except (ConversationError, MarkupError, MemoryError):
        raise
    except Exception as error:  # an object's own property can raise anything, with any text
        problem = type(error).__name__
    raise ConversationError(
        f"message cannot be read ({problem}): its parts are not of the types that its API names", index=index
    )


def _read_any_form(raw: object, index: int) -> Message:
    if (fields := _find_fields(raw, index)) is not None:
        return _read_fields(fields, index, raw)
    if isinstance(raw, tuple | list):
        return _read_pair(cast("tuple[object, ...]", raw), index)
    if is_message_object(raw):
        return read_object(raw, index=index)
    raise MessageTypeError(
        f"expected a dict, a (role, content) pair or an object with role and content, got {type(raw).__name__}"
        + (_advise_instead(raw) or "; assembler.register_reader(kind, reader) lets objects of a class be read"),
        index=index,
    )


def _find_fields(raw: object, index: int) -> Mapping[str, Any] | None:
    """A dict, a registered message or an SDK's dump as plain fields, with either `content` or `parts`.

    None for anything else: a pair, an object with a role and content, and what is no message.
    """
    fields: Mapping[str, Any] | None
    if (registered := registered_fields(raw, index)) is not None:
        fields = plain_fields(registered)
    elif isinstance(raw, Mapping):
        given = cast("Mapping[str, Any]", raw)
        # What is recognised must be what is copied, whatever `get` of a subclass answers.
        fields = given if type(cast("object", raw)) is dict else dict(given)
        fields = fields if _is_plain(fields) else plain_fields(fields)
    elif isinstance(raw, tuple | list) or is_message_object(raw) or (fields := _dump_object(raw)) is None:
        return None
    if "parts" not in fields:
        return as_input(fields)
    from assembler.conversation.messages.two_bodies import with_one_body  # for Gemini's and a page's messages alone

    return with_one_body(fields, index)


def _read_fields(fields: Mapping[str, Any], index: int, raw: object) -> Message:
    spelling = spelling_of(fields)
    if spelling is None and fields.get("role") not in ROLES:
        spelling = spelling_of_dialect(fields)
    if spelling is not None:
        message = spelling.read(fields, index)
        return message if fields is raw else attrs.evolve(message, raw=raw)
    if fields.get("role") is None and (step := _advise_instead(fields)):
        raise MessageTypeError(f"expected a message, got {type(raw).__name__}{step}", index=index)
    return read_dict(fields, index=index, origin=None if fields is raw else raw)


_TEXT_OR_NONE = (str, type(None))


def _is_plain(fields: Mapping[str, Any]) -> bool:
    """Whether the content holds no SDK objects, such as the blocks of a response that was appended unchanged."""
    content: Any = fields.get("content", fields.get("parts"))
    if type(content) is str or not isinstance(content, list):
        return True
    items = cast("Iterable[object]", content)
    return all(type(item) in (dict, str) for item in items)


def _dump_object(raw: object) -> Mapping[str, Any] | None:
    """An SDK object as plain data; None for anything else."""
    fields: object = dump_of(raw)
    return plain_fields(cast("Mapping[str, Any]", fields)) if isinstance(fields, Mapping) else None


def user_message(text: str) -> Message:
    """A new user message with this text: a summary or a note."""
    return read_dict({"role": "user", "content": text}, index=0)


def _read_pair(raw: tuple[object, ...], index: int) -> Message:
    if raw and not any(isinstance(item, str) for item in raw):
        raise MessageTypeError(
            f"expected a message, got a list of {len(raw)}; for message in messages: add_message(message), "
            "or set_messages(messages) for a whole conversation",
            index=index,
        )
    if len(raw) != 2 or not isinstance(raw[0], str):
        raise MessageTypeError(f"expected a pair (role, content), got {with_noun(len(raw), 'item')}", index=index)
    if raw[0] not in ROLES and raw[1] in ROLES:
        raise ConversationError("a pair with the role at its end; write (role, content)", index=index)
    return read_dict({"role": raw[0], "content": raw[1]}, index=index, origin=raw)


def unchanged(message: Message) -> bool:
    """Whether the caller's object is unchanged since it was read. Fast: texts are compared by identity first."""
    return still_says(message, message.raw)


def still_says(message: Message, raw: Any) -> bool:
    """Whether `raw` still has the content that was read. It is the message's own object, or one in its place."""
    try:
        if type(raw) is dict and raw == message.seen:  # pyright: ignore[reportUnknownArgumentType]
            return True
        # Some spellings are read into another form: a part or a tuple of parts into a list.
        return bool(
            _spell_fields(cast("object", raw)) == message.seen
            or read_message(cast("object", raw), 0).seen == message.seen
        )
    except Exception:
        return False


def _spell_fields(raw: object) -> Mapping[str, Any]:
    """Any message as fields, without checking or copying them: what `seen` holds of most."""
    if (fields := _find_fields(raw, 0)) is not None:
        return fields
    if isinstance(raw, tuple | list):
        role, content = cast("tuple[object, ...]", raw)
        return {"role": role, "content": content}
    return spell_object(raw, index=0)


_HOLDS_THE_MESSAGE = {
    "choices": "pass the message of the response: response.choices[0].message",
    "candidates": "pass the content of the response: response.candidates[0].content",
    "output": "pass the items of the response, one after another: for item in response.output: add_message(item)",
    "message": "pass its .message",
    "messages": "pass its messages: set_messages(body['messages'])",
    "contents": "pass its contents: set_messages(body['contents'])",
    "kwargs": "load it first: langchain_core.load.load(…)",
    "data": "load it first: langchain_core.messages.messages_from_dict([…])",
    "parts": "assembler.integrations.pydantic_ai fits messages of Pydantic AI",
}
"""What to pass instead of a request or response, by the field in it that holds messages."""

_OF_GEMINI = ("function_response", "functionResponse", "function_call", "functionCall", "inline_data", "inlineData")
_OF_THE_MODEL = ("output_text", "redacted_thinking", "refusal", "thinking", "tool_call", "tool_use")
"""Types of blocks that only the model writes."""
_ONE_PIECE = "add up the deltas of the stream, and pass the whole message: {'role': 'assistant', 'content': text}"


def _advise_instead(raw: object) -> str:
    """What the caller should probably pass instead of this value, after `; `, or an empty text."""
    step = _name_step(raw)
    return f"; {step}" if step else ""


def _name_step(raw: object) -> str:
    if isinstance(raw, str):
        return "give the text a role: ('user', text)"
    if inspect.isawaitable(raw):
        return "await it first"
    if isinstance(raw, Mapping):
        fields = cast("Mapping[str, Any]", raw)
        if _is_streamed(fields):
            return _ONE_PIECE
        if any(name in fields for name in _OF_GEMINI):
            return "put the part into a content: {'role': 'user', 'parts': [part]}; 'model' for what the model said"
        if is_kind_of_part(str(fields.get("type"))):
            role = "assistant" if fields["type"] in _OF_THE_MODEL else "user"
            return f"put the block into a message: {{'role': '{role}', 'content': [block]}}"
        if "output" in fields and isinstance(fields["output"], Mapping):
            return "pass the message of the response: response['output']['message']"
        return next((step for name, step in _HOLDS_THE_MESSAGE.items() if name in fields), "")
    return next((step for name, step in _HOLDS_THE_MESSAGE.items() if _has_attribute(raw, name)), "")


def _is_streamed(fields: Mapping[str, Any]) -> bool:
    """Whether this is one chunk of a streamed chat completion, also of a compatible host."""
    choices = cast(object, fields.get("choices"))
    first = cast(object, choices[0]) if isinstance(choices, list) and choices else None
    kind = str(fields.get("object", ""))
    return kind.endswith(".chunk") or (isinstance(first, Mapping) and "delta" in first and "message" not in first)


def _has_attribute(raw: object, name: str) -> bool:
    try:
        return hasattr(raw, name)
    except Exception:  # an object's own property can raise anything
        return False


def pinned_among(raws: list[object]) -> list[int]:
    """The indexes of messages with a `pinned` mark. A history of dicts is checked in C."""
    try:
        if not any(map(_HOLDS, raws, _PINS)):
            return []
    except TypeError:  # a message that is no dict
        pass
    return [index for index, raw in enumerate(raws) if _is_marked(raw)]


_HOLDS = cast("Callable[[object, str], bool]", dict.__contains__)  # pyright: ignore[reportUnknownMemberType]
_PINS = itertools.repeat(PIN)


def _is_marked(raw: object) -> bool:
    """Whether a message has a `pinned` mark: a key of a mapping, also of one that the reader of a class returns, or an
    attribute of an object. One that cannot be read has none: it is refused when it is read.
    """
    if is_registered(raw):
        with suppress(ConversationError):
            raw = registered_fields(raw, 0)
    if type(raw) is dict or isinstance(raw, Mapping):
        fields = cast("Mapping[str, object]", raw)
        return PIN in fields and fields[PIN] is True
    return getattr(raw, PIN, None) is True
