"""Notes what stands beside words, calls and files and goes to no other API: citations, signatures, marks, fields.

A part that an API reads goes to another one by what it says. What its own API keeps beside that is looked for here,
once for all dialects: a dialect says what it takes as it came, and all else that no other API has a word for is noted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from assembler.conversation.messages import Call, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.dicts import PIN
from assembler.conversation.messages.extra_fields import OF_ANSWERS
from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.parts import NEUTRAL
from assembler.conversation.messages.responses import RESPONSES
from assembler.dialects.notes import CITATIONS, FIELDS, MARKS, SIGNATURES, Notes
from assembler.pricing.media.reading import GIVEN
from assembler.regions.tools import Tool
from assembler.text.fields import fields_in, fields_of, items_of

_Raw: TypeAlias = Mapping[str, Any]

_TOLD = frozenset(
    [
        *("type", "text", "refusal", "id", "name", "role", "content", "parts", "status", "index", "input", "output"),
        *("tool_use_id", "is_error", "call_id", "arguments", "function", "custom", "action", "actions", "operation"),
        *("toolUse", "toolUseId", "toolResult", "json", "functionCall", "function_call", "args"),
        *("functionResponse", "function_response", "response", "image", "document", "image_url", "input_audio"),
        *("source", "title", "file", "file_id", "file_url", "file_data", "fileData", "filename", "detail", "format"),
        *("inline_data", "inlineData", *GIVEN),
    ]
)
"""The keys that other APIs are told of, in their own words, and those that name a part and say nothing of it."""

_WITHIN = frozenset(
    [
        *("content", "output", "toolUse", "toolResult", "function", "custom"),
        *("functionCall", "function_call", "functionResponse", "function_response"),
    ]
)
"""The keys that hold further parts, or what a part keeps in a dict of its own."""

_OF_A_MESSAGE = frozenset(
    [
        *("container", "context_management", "id", "model", "stop_details", "stop_reason", "stop_sequence", "usage"),
        *("content", "parts", PIN),
    ]
)
"""What a message has beside its parts, and what an answer says of how it was made: no API is told that again."""

_WORD = {
    "annotations": CITATIONS,
    "cache_control": MARKS,
    "citations": CITATIONS,
    "extra_content": SIGNATURES,
    "signature": SIGNATURES,
    "thoughtSignature": SIGNATURES,
    "thought_signature": SIGNATURES,
}


_TAKEN: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("anthropic", NEUTRAL),
    "bedrock": ("bedrock",),
    "chat_template": ("chat_template",),
    "gemini": ("gemini",),
    "openai": (NEUTRAL, "openai"),
}
"""The shapes whose parts an API takes with all that is in them."""

_KEPT: Mapping[str, frozenset[str]] = {"anthropic": frozenset(["cache_control", "citations"])}
"""What an API takes beside a text, whoever spelled it."""


_WHOLE: Mapping[str, frozenset[str]] = {
    "anthropic": frozenset(["tool_use", "tool_result", "image", "document"]),
    "bedrock": frozenset(["toolUse", "toolResult"]),
    "gemini": frozenset(["functionCall", "function_call", "functionResponse", "function_response"]),
}
"""The parts that an API is sent as they came, whatever message they stand in."""


def note_left(messages: Iterable[Message], own: str, notes: Notes) -> None:
    """Note what stands in the messages and does not go to the API of the shape `own`.

    O(what stands beside the texts): a message of texts alone is passed.
    """
    taken = _TAKEN.get(own, ())
    for message in messages:
        if message.beside or not message.shallow or message.shape == RESPONSES:
            notes[FIELDS] += _lost_fields(message, own)
            if message.shape not in taken:
                _note_message(message, own, notes)


def _lost_fields(message: Message, own: str) -> int:
    """How many fields of a Chat message stay behind. Chat takes them, and a template is given them."""
    if own == "chat_template" or (own == "openai" and message.shape in _TAKEN[own]):
        return 0
    return sum(own != "openai" or field not in OF_ANSWERS for field in message.beside)


def marks_of_tools(tools: Iterable[Tool], own: str) -> int:
    """How many cache marks on tools the API of the shape `own` is not sent."""
    return sum(
        not _takes_mark(mark, tool, own) for tool in tools if tool.api is None for mark in _MARKS & tool.extra.keys()
    )


_MARKS = frozenset(["cache_control", "cachePoint"])


def _takes_mark(mark: str, tool: Tool, own: str) -> bool:
    """Whether a definition goes out with its mark: in its own spelling it goes as it came."""
    if own in ("anthropic", "bedrock"):
        return mark == ("cache_control" if own == "anthropic" else "cachePoint")
    came = fields_in(tool.seen)
    return came.get("type") == "function" and ("name" in came) == (own == RESPONSES) and own != "gemini"


def parts_as_they_came(message: Message) -> Sequence[object]:
    """The caller's own parts, in step with `message.parts`; empty where the content is no list of parts."""
    seen = fields_of(message.seen)
    if seen is None or (message.role == "tool" and message.shape != "gemini"):
        return ()
    return items_of(seen.get("parts" if message.shape == "gemini" and "parts" in seen else "content"))


def _note_message(message: Message, own: str, notes: Notes) -> None:
    notes[MARKS] += 0 if own == "bedrock" else _marks(message.parts)
    for part, fields in _spelled(message):
        if not _goes_whole(fields, own):
            _note_fields(fields, notes, _KEPT.get(own, _NO_KEYS) if isinstance(part, str) else _NO_KEYS)
    if message.shape in ("anthropic", "bedrock", "gemini"):
        _note_fields(fields_of(message.seen) or {}, notes, _OF_A_MESSAGE.union(message.beside))


def _goes_whole(fields: _Raw, own: str) -> bool:
    """Whether a part is in the words of the API of the shape `own`. Anthropic types its parts; the others key them."""
    if own == "anthropic":
        return _kind(fields) in _WHOLE[own]
    return "type" not in fields and not _WHOLE.get(own, _NO_KEYS).isdisjoint(fields)


def _kind(fields: _Raw) -> str | None:
    """What a part says it is: models make up calls whose type is no text."""
    kind = fields.get("type")
    return kind if isinstance(kind, str) else None


_NO_KEYS = frozenset[str]()


def _marks(parts: Iterable[Part]) -> int:
    return sum(_marks(part.parts) if type(part) is Result else is_mark(part) for part in parts)


def _spelled(message: Message) -> Iterator[tuple[Part, _Raw]]:
    """The dicts that the message's texts, calls, results and media were read from."""
    seen = fields_of(message.seen)
    came, held = parts_as_they_came(message), message.parts
    if message.shape == RESPONSES and (seen is None or "role" not in seen):
        came = items_of(message.seen) if seen is None else [seen]
    elif seen is not None and message.role == "tool" and message.shape != "gemini":
        came = items_of(seen.get("content"))
        held = tuple(inner for part in message.parts if type(part) is Result for inner in part.parts)
    for part, raw in zip(held, came, strict=False):
        if type(part) not in (Opaque, Thinking) and (fields := fields_of(raw)) is not None:
            yield part, fields
    calls = [part for part in message.parts if type(part) is Call]
    for part, call in zip(calls, items_of((seen or {}).get("tool_calls")), strict=False):
        yield part, fields_of(call) or {}


def _note_fields(fields: _Raw, notes: Notes, kept: frozenset[str] = _NO_KEYS) -> None:
    for key, held in fields.items():
        if held in _NOTHING or key in kept:
            continue
        if key in _WITHIN:
            alone = fields_of(held)
            for inner in items_of(held) if alone is None else [alone]:
                known = fields_in(inner)
                if "type" not in known or _kind(known) in _READ:
                    _note_fields(known, notes)
        elif key not in _TOLD:
            notes[_WORD.get(key, FIELDS)] += len(items_of(held)) or 1


_NOTHING: tuple[object, ...] = (None, False, [], ())
_READ = frozenset(
    ["text", "image", "document", "input_text", "output_text", "input_image", "input_file", "image_url", "file"]
)
"""The kinds of parts inside a result that are read; what else there is goes as a whole, and is noted as one."""
