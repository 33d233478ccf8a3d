"""Notes the fields that came with messages and tools and are not sent: citations, signatures, cache marks, others.

A part goes to another API as its text, its call or its file. What else its dict holds is a side field. One rule finds
the lost ones for every API: a side field is sent if the request holds the same key with the same value, as many times
as it came. No table says what an API takes, because the request shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, TypeAlias

import attrs

from assembler.conversation.messages import Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.dicts import PIN
from assembler.conversation.messages.extra_fields import OF_ANSWERS, field_of
from assembler.conversation.messages.foreign_parts import text_of_document
from assembler.conversation.messages.stray_cache_marks import MARK_KEYS
from assembler.dialects.writing.notes import CITATIONS, FIELDS, MARKS, SIGNATURES
from assembler.pricing.media.reading import GIVEN
from assembler.regions.tools import Tool
from assembler.text.fields import fields_in, fields_of, items_of

_Raw: TypeAlias = Mapping[str, Any]
_Unread: TypeAlias = Mapping[str, Part]
"""The parts that are not read, by what their dicts print."""

_WORD = {
    **dict.fromkeys(MARK_KEYS, MARKS),
    "annotations": CITATIONS,
    "citations": CITATIONS,
    "extra_content": SIGNATURES,
    "signature": SIGNATURES,
    "thoughtSignature": SIGNATURES,
    "thought_signature": SIGNATURES,
}
"""The notes on fields with these keys. All others are noted as fields."""

_ALWAYS = frozenset(["id", "index", "status", "type"])
"""The keys that name or number whatever has them. Each API has ids and states of its own."""

_OF_A_MESSAGE = _ALWAYS | frozenset(
    [
        *("content", "function_call", "is_error", "name", "parts", "refusal", "role", "tool_call_id", "tool_calls"),
        *("container", "context_management", "model", "stop_details", "stop_reason", "stop_sequence", "usage"),
        "tool_name",
    ]
)
"""The keys of messages that are read, and those of a dumped answer's metadata, which no API is sent."""

_OF_A_TEXT = _ALWAYS | frozenset(["refusal", "text"])

_ARGUMENTS = frozenset(
    [
        *("action", "actions", "args", "arguments", "input", "json", "operation", "parameters", "response", "tools"),
    ]
)
"""The keys of what a call asks and of what a result answers. All that is under them is sent, as text or as JSON."""

_CALLS = frozenset(["custom", "function", "functionCall", "function_call", "toolUse"])
_RESULTS = frozenset(["functionResponse", "function_response", "toolResult"])
_ANSWERED = frozenset(["call_id", "output", "toolUseId", "tool_use_id"])
_OF_NO_FILE = _ARGUMENTS | _CALLS | _RESULTS | _ANSWERED
"""The keys that only a call or a result has, and no file."""

_OF_A_CALL = _ALWAYS | _OF_NO_FILE | frozenset(["content", "is_error", "name", "parts"])

_FILES = frozenset(
    [
        *("audio", "document", "file", "fileData", "file_data", "image", "image_url", "inlineData", "inline_data"),
        *("input_audio", "video"),
    ]
)
_OF_A_FILE = (
    _ALWAYS
    | _FILES
    | frozenset(
        [
            *("bytes", "data", "fileUri", "file_id", "file_uri", "file_url", "format", "media_type", "mimeType"),
            *("mime_type", "source", "url", *GIVEN),
        ]
    )
)

_BODIES = _CALLS | _RESULTS | _FILES
"""The keys of a part's own fields that name its kind. A `type` among those says something else."""
_HOLDERS = _BODIES | frozenset(["content", "output", "parts", "source", "tool_calls"])
"""The keys of dicts and lists that hold parts, or the fields of one part."""

_IN_UNREAD = frozenset([*MARK_KEYS, "annotations", "citations", "context"])
"""The side fields of a part that is not read. Its others are noted with the part."""

_SEAL = "signature"
_IN_THOUGHT = ("reasoningContent", "reasoningText")
"""The keys under which Bedrock holds what Anthropic has in the block itself."""
_OF_A_THOUGHT = _ALWAYS | _IN_UNREAD | frozenset([*_IN_THOUGHT, "thinking", _SEAL])


@attrs.frozen(eq=False)
class SideField:
    """A field that came with a message or a tool, beside what its parts hold."""

    key: str
    held: object = attrs.field(repr=False)
    seal: str | None = attrs.field(default=None, repr=False)
    """The signature of the reasoning that it came with. Without that it is noted with the reasoning."""

    @property
    def cited(self) -> int:
        """How many citations it holds."""
        return len(items_of(self.held)) if _WORD.get(self.key) == CITATIONS else 0

    @property
    def word(self) -> str:
        """The note on its loss. A setting that asks for citations is a field."""
        word = _WORD.get(self.key, FIELDS)
        return FIELDS if word == CITATIONS and not self.cited else word

    @property
    def says_more(self) -> bool:
        """Whether it belongs to what the model said: citations, annotations, audio."""
        return self.cited > 0 or self.key in OF_ANSWERS

    @property
    def times(self) -> int:
        """How many notes its loss deserves: one for each citation."""
        return self.cited or 1


def lost_fields(
    messages: Iterable[Message], request: _Raw, history: str, noted: Iterable[object] = ()
) -> list[SideField]:
    """The side fields of the messages that a request does not hold, whose messages are under the key `history`.

    `noted` is what was left out with a note of its own. Messages of texts, and those that are sent as they came, cost
    next to nothing. O(what was sent) if any other has a side field.
    """
    apart = [message for message in messages if message.side_fields != ()]
    if not apart:
        return []
    written = items_of(request[history])
    unchanged = {id(message.seen) for message in apart}.intersection(map(id, written))
    came = side_fields(message for message in apart if id(message.seen) not in unchanged)
    if not came:
        return []
    sent = [each for each in written if id(each) not in unchanged]
    return find_missing(came, [sent, *(held for key, held in request.items() if key != history), *noted])


def side_fields(messages: Iterable[Message]) -> list[SideField]:
    """The side fields of the messages. O(values) of each message that is asked for the first time."""
    found: list[SideField] = []
    for message in messages:
        if message.side_fields is None:
            message.side_fields = tuple(_find_in_message(message))
        if message.side_fields:
            found += message.side_fields
    return found


def fields_of_tools(tools: Iterable[Tool]) -> list[SideField]:
    """The fields of functions beside what the library reads.

    Those of a form that is no API's, such as MCP's, are not meant for one, except for cache marks.
    """
    found: list[SideField] = []
    for tool in tools:
        if tool.api is not None or not tool.extra:
            continue
        of_an_api = tool.form() is not None
        for key, held in tool.extra.items():
            if key in MARK_KEYS or (of_an_api and key != "type"):
                _add_field(key, held, found)
    return found


def find_missing(came: Sequence[SideField], sent: object) -> list[SideField]:
    """The fields that `sent`, a request or a part of it, does not hold. O(what was sent)."""
    held = Counter(_find_held_under({field.key for field in came} | {_SEAL}, sent))
    sealed = {signature for key, signature in held if key == _SEAL}
    lost: list[SideField] = []
    for field in came:
        if field.seal is not None and repr(field.seal) not in sealed:
            continue
        found = (field.key, repr(field.held))
        if held[found]:
            held[found] -= 1
        else:
            lost.append(field)
    return lost


def has_more_to_say(message: Message) -> bool:
    """Whether a message has citations, annotations or audio beside its parts: without them it is shortened."""
    return any(field.says_more for field in side_fields([message]))


def saying_less(messages: Iterable[tuple[int, Message]], request: _Raw, history: str) -> set[int]:
    """The indexes of the messages whose citations or audio a request does not hold. O(what was sent)."""
    unchanged = set(map(id, items_of(request.get(history))))
    changed = [(index, message) for index, message in messages if id(message.seen) not in unchanged]
    came = [(index, field) for index, message in changed for field in side_fields([message]) if field.says_more]
    lost = set(map(id, find_missing([field for _, field in came], [*request.values()]) if came else ()))
    return {index for index, field in came if id(field) in lost}


def _find_held_under(keys: Set[str], sent: object) -> Iterator[tuple[str, str]]:
    """What is under these keys in a request, at any depth, printed."""
    unvisited = [sent]
    while unvisited:
        holder = unvisited.pop()
        if (fields := fields_of(holder)) is None:
            unvisited += items_of(holder)
            continue
        for key, held in fields.items():
            if key in keys:
                yield key, repr(held)
            if key not in _ARGUMENTS and type(held) in (dict, list):
                unvisited.append(held)


def _find_in_message(message: Message) -> list[SideField]:
    found: list[SideField] = []
    unread = {repr(raw): part for part in _list_parts(message.parts) if (raw := _find_unread_dict(part)) is not None}
    sent = {PIN, *map(field_of, message.parts)}
    if message.role == "assistant" and fields_in(message.seen, "audio").get("transcript"):
        sent.add("audio")
    seen = fields_of(message.seen)
    for fields in map(fields_in, items_of(message.seen) if seen is None else [seen]):
        unsent = {key: held for key, held in fields.items() if key not in sent}
        if message.name is None and "parts" in fields:  # a name that is read is noted as such
            _add_field("name", fields.get("name"), found)
        if "role" in fields or "parts" in fields:
            _find_unread_fields(unsent, _OF_A_MESSAGE, unread, found)
        else:  # an item of Responses
            _find_in_part(unsent, unread, found)
    return found


def _list_parts(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        if type(part) is Result:
            yield from part.parts


def _find_unread_dict(part: Part) -> _Raw | None:
    """The dict of a part that other APIs get as a text or not at all: there its fields need no note."""
    if isinstance(part, Opaque | Thinking) or (isinstance(part, Media) and text_of_document(part) is not None):
        return part.raw
    return None


def _find_in_part(part: _Raw, unread: _Unread, found: list[SideField]) -> None:
    if unread and (known := unread.get(repr(part))) is not None:
        _find_in_unread(part, found)
        if type(known) is Thinking:
            _find_in_thought(part, found)
    elif isinstance(part.get("text"), str) or "refusal" in part:
        _find_unread_fields(part, _OF_A_TEXT, unread, found)
    else:
        _find_unread_fields(part, _OF_A_FILE if _OF_NO_FILE.isdisjoint(part) else _OF_A_CALL, unread, found)


def _find_unread_fields(fields: _Raw, read: Set[str], unread: _Unread, found: list[SideField]) -> None:
    """Find the fields that are not among those that are read, and those of the parts under the others."""
    for key, held in fields.items():
        if key not in read:
            _add_field(key, held, found)
        elif key in _HOLDERS:
            inner = fields_of(held)
            if inner is not None and key in _BODIES:
                _add_field("type", inner.get("type"), found)
            for each in map(fields_in, items_of(held) if inner is None else [inner]):
                if key != "output" or "type" in each:  # a shell's output has no parts: it is sent as JSON
                    _find_in_part(each, unread, found)


def _find_in_thought(raw: _Raw, found: list[SideField]) -> None:
    """Find the fields of reasoning with a signature of Claude's, which goes from Anthropic to Bedrock and back."""
    holder = fields_in(raw, _IN_THOUGHT[0])
    thought = fields_in(holder, _IN_THOUGHT[1])
    seal = thought.get(_SEAL) if thought else raw.get(_SEAL)
    if not isinstance(seal, str):
        return
    unsent = [SideField(key, held, seal) for key, held in (*raw.items(), *holder.items()) if key not in _OF_A_THOUGHT]
    unsent += [SideField(key, held, seal) for key, held in thought.items() if key not in _OF_A_THOUGHT | {"text"}]
    found += [field for field in unsent if _says_something(field.held)]


def _find_in_unread(held: object, found: list[SideField]) -> None:
    fields = fields_of(held)
    for item in items_of(held) if fields is None else ():
        _find_in_unread(item, found)
    for key, value in (fields or {}).items():
        if key in _IN_UNREAD:
            _add_field(key, value, found)
        elif key not in _ARGUMENTS:
            _find_in_unread(value, found)


def _add_field(key: str, held: object, found: list[SideField]) -> None:
    if _says_something(held):
        found.append(SideField(key, held))


def _says_something(held: object) -> bool:
    return held is not None and held is not False and held not in _NOTHING


_NOTHING: Sequence[object] = ([], (), "")
