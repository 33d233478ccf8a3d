"""Notes the extra fields of parts and messages that other APIs do not get: citations, signatures, cache marks, others.

A part goes to another API as its text, its call or its file. This module finds the fields that are lost on the way, for
all dialects. Its tables say which parts and fields an API takes unchanged.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.dicts import PIN
from assembler.conversation.messages.extra_fields import OF_ANSWERS, sent_extra_fields, texts_of_extra_fields, unread
from assembler.conversation.messages.foreign_parts import is_mark, is_native_part
from assembler.conversation.messages.parts import FOREIGN, NEUTRAL
from assembler.conversation.messages.responses import RESPONSES
from assembler.conversation.messages.stray_cache_marks import CONTROL, MARK_KEYS, POINT, stray_marks, stray_marks_of
from assembler.dialects.writing.notes import CITATIONS, FIELDS, MARKS, SIGNATURES, Notes
from assembler.pricing.media.reading import GIVEN
from assembler.regions.tools import Tool
from assembler.text.fields import fields_in, fields_of, items_of

_Raw: TypeAlias = Mapping[str, Any]

_CARRIED = frozenset(
    [
        *("type", "text", "refusal", "id", "name", "role", "content", "parts", "status", "index", "input", "output"),
        *("tool_use_id", "is_error", "call_id", "arguments", "function", "custom", "action", "actions", "operation"),
        *("toolUse", "toolUseId", "toolResult", "json", "functionCall", "function_call", "args", "parameters"),
        *("functionResponse", "function_response", "response", "image", "document", "image_url", "input_audio"),
        *("source", "title", "file", "file_id", "file_url", "file_data", "fileData", "filename", "detail", "format"),
        *("inline_data", "inlineData", "audio", "video", "url", "data", "mime_type", "mimeType", "displayName"),
        *("display_name", "file_uri", "fileUri", *GIVEN),
    ]
)
"""The keys whose content other APIs get in their own form, and those that only name a part."""

_PARTS = frozenset(["content", "output"])
"""The keys that hold further parts."""

_NESTED = frozenset(
    [
        *("toolUse", "toolResult", "function", "custom"),
        *("functionCall", "function_call", "functionResponse", "function_response"),
        *("image", "document", "audio", "video", "image_url", "inline_data", "inlineData", "file_data", "fileData"),
        *("file", "input_audio"),
    ]
)
"""The keys that hold a part's own fields in a dict, where `type` does not name the kind."""

_OF_A_MESSAGE = frozenset(
    [
        *("container", "context_management", "id", "model", "stop_details", "stop_reason", "stop_sequence", "usage"),
        *("content", "parts", PIN),
    ]
)
"""The keys of a message's parts, and those of an answer's metadata, which no API is sent."""

_WORD = {
    **dict.fromkeys(MARK_KEYS, MARKS),
    "annotations": CITATIONS,
    "citations": CITATIONS,
    "extra_content": SIGNATURES,
    "signature": SIGNATURES,
    "thoughtSignature": SIGNATURES,
    "thought_signature": SIGNATURES,
}


_CITATIONS = frozenset(key for key, word in _WORD.items() if word == CITATIONS)

_TAKEN: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("anthropic", NEUTRAL),
    "bedrock": ("bedrock",),
    "chat_template": ("chat_template",),
    "gemini": ("gemini",),
    "openai": (NEUTRAL, "openai"),
}
"""The shapes whose parts an API takes with all of their fields."""

_KEPT: Mapping[str, frozenset[str]] = {"anthropic": frozenset([CONTROL, "citations"])}
"""The fields that an API takes with a text of the type `text`, in a message of any shape."""


_WHOLE: Mapping[str, frozenset[str]] = {
    "anthropic": frozenset(["tool_use", "tool_result", "image", "document"]),
    "bedrock": frozenset(["toolUse", "toolResult"]),
    "gemini": frozenset(["functionCall", "function_call", "functionResponse", "function_response"]),
}
"""The parts that an API is sent unchanged, in a message of any shape."""


def note_lost_fields(messages: Iterable[Message], target: str, notes: Notes) -> None:
    """Note the fields in the messages that the API `target` does not get.

    A message of plain texts costs nothing, nor one that Chat Completions was sent as it came.
    """
    taken = _TAKEN.get(target, ())
    for message in messages:
        whole = message.shallow or (target == "openai" and message.sent is message.seen is not None)
        if message.extra_fields or not whole or message.shape == RESPONSES:
            notes[FIELDS] += _lost_fields(message, target)
            notes[MARKS] += _stray_marks(message, target)
            if message.shape not in taken:
                _note_message(message, target, notes)


def note_rewritten(message: Message, anew: Message, target: str, notes: Notes) -> None:
    """Note what a Chat message loses if Chat Completions is sent it as `anew`, which is written from its parts.

    `note_lost_fields` takes it for a message that is sent as it came, and notes only its stray marks.
    """
    if target != "openai" or message.shape not in _TAKEN[target]:
        return
    lost = Notes()
    for part, fields in _with_originals(message):
        if type(part) is Media:  # is sent with its own fields
            lost[MARKS] += len(MARK_KEYS & fields.keys())
        else:
            _note_fields(fields, lost)
    notes.update(lost)
    notes[MARKS] += len(MARK_KEYS & fields_in(message.seen).keys()) - _stray_marks(message, target)
    notes[FIELDS] += len(message.extra_fields) - len(sent_extra_fields(anew))


def _stray_marks(message: Message, target: str) -> int:
    """Return how many cache marks are keys where the API has none. Those that `_note_message` finds are left to it."""
    fields = fields_of(message.seen)
    if fields is None or target == "chat_template":
        return 0
    taken = message.shape in _TAKEN.get(target, ())
    if not taken and message.shape in _WITH_KEYS:
        return 0
    if message.shape == RESPONSES and "role" not in fields:
        return 0
    return sum(1 for _ in stray_marks(fields, target)) if taken else len(MARK_KEYS & fields.keys())


def loses_citations(message: Message, target: str) -> bool:
    """True if the API `target` does not get the message's citations or annotations. O(parts)."""
    if message.shape == target or target in ("chat_template", "plain"):
        return False
    notes = Notes()
    note_lost_fields([message], target, notes)
    return notes[CITATIONS] > 0


def _lost_fields(message: Message, target: str) -> int:
    """Return how many fields of a Chat message are lost. Chat and chat templates get them."""
    if target == "chat_template" or (target == "openai" and message.shape in _TAKEN[target]):
        return 0
    sent_fields = texts_of_extra_fields(message, target)
    return sum(
        field not in sent_fields and (target != "openai" or field not in OF_ANSWERS) for field in message.extra_fields
    )


def marks_of_tools(tools: Iterable[Tool], target: str) -> int:
    """Return how many cache marks on tools the API `target` does not get."""
    return sum(
        not _takes_mark(mark, tool, target)
        for tool in tools
        if tool.api is None
        for mark in MARK_KEYS & tool.extra.keys()
    )


def fields_of_tools(tools: Iterable[Tool], target: str) -> int:
    """Return how many fields of tools in another API's form the API `target` does not get."""
    return sum(
        bool(held) and key not in _NOT_LOST.get(target, _OF_ANY_TOOL)
        for tool in tools
        if tool.api is None and tool.extra and tool.form is not None and not tool.is_in_form_of(target)
        for key, held in tool.extra.items()
    )


_OF_ANY_TOOL = MARK_KEYS | {"type"}
_NOT_LOST: Mapping[str, frozenset[str]] = dict.fromkeys(("mistral", "openai", RESPONSES), _OF_ANY_TOOL | {"strict"})
"""The fields of a definition that an API has too, or that are noted as marks."""


def _takes_mark(mark: str, tool: Tool, target: str) -> bool:
    """True if a definition is sent with its mark, as one in the API's own form is."""
    if target == "bedrock":
        return mark == POINT
    in_form = target == "anthropic" or (target == "openai" and "function" in fields_in(tool.seen))
    return in_form and mark == CONTROL


def parts_as_they_came(message: Message) -> Sequence[object]:
    """Return the caller's own parts, one for each of `message.parts`; empty if the content is not a list of parts."""
    seen = fields_of(message.seen)
    if seen is None or (message.role == "tool" and message.shape != "gemini"):
        return ()
    return items_of(seen.get("parts" if message.shape == "gemini" and "parts" in seen else "content"))


def _note_message(message: Message, target: str, notes: Notes) -> None:
    notes[MARKS] += 0 if target == "bedrock" else _marks(message.parts)
    for folded in _folded(message.parts, message.shape, target):
        for held in _held_under(_CITATIONS, folded.raw):
            _note_citations(held, notes)
        notes[FIELDS] += bool(fields_in(folded.raw, "document").get("context"))  # Converse's, of a document in blocks
        notes[MARKS] += sum(held is not None for held in _held_under(MARK_KEYS, folded.raw))
        notes[FIELDS] += bool(fields_in(folded.raw, "toolResult").get("type"))  # Nova's name for its search
    for part, fields in _with_originals(message):
        if _goes_whole(fields, target):
            notes[MARKS] += sum(1 for _ in stray_marks_of(fields, target))
        else:
            is_text = isinstance(part, str) and fields.get("type") == "text"
            _note_fields(fields, notes, _KEPT.get(target, _NO_KEYS) if is_text else _NO_KEYS)
    if message.shape == FOREIGN and "role" in (seen := fields_in(message.seen)):
        notes[FIELDS] += len({*unread(seen)} - _OF_A_MESSAGE.union(OF_ANSWERS))
    if message.shape in _WITH_KEYS:
        _note_fields(fields_of(message.seen) or {}, notes, _OF_A_MESSAGE.union(message.extra_fields))


_WITH_KEYS = ("anthropic", "bedrock", "gemini")
"""The shapes whose messages go to their own API with all of their keys."""


def _goes_whole(fields: _Raw, target: str) -> bool:
    """True if a part has the form of the API `target`. Anthropic names the type in `type`; the others in a key."""
    if target == "anthropic":
        return _kind(fields) in _WHOLE[target]
    return "type" not in fields and not _WHOLE.get(target, _NO_KEYS).isdisjoint(fields)


def _kind(fields: _Raw) -> str | None:
    """Return the part's `type` if it is a text: models make up calls with other types."""
    kind = fields.get("type")
    return kind if isinstance(kind, str) else None


_NO_KEYS = frozenset[str]()


def _held_under(keys: Container[str], value: object) -> Iterator[object]:
    """Yield what a value holds under these keys, at any depth."""
    fields = fields_of(value)
    for held in items_of(value) if fields is None else ():
        yield from _held_under(keys, held)
    for key, held in (fields or {}).items():
        yield from [held] if key in keys else _held_under(keys, held)


def _folded(parts: Iterable[Part], shape: str, target: str) -> Iterator[Opaque]:
    """Yield the parts that become texts for the API `target`, or are left out. Marks of Bedrock are not."""
    for part in parts:
        if type(part) is Result:
            yield from _folded(part.parts, shape, target)
        elif type(part) is Opaque and not is_native_part(part, shape, target) and not is_mark(part):
            yield part


def _marks(parts: Iterable[Part]) -> int:
    return sum(_marks(part.parts) if type(part) is Result else is_mark(part) for part in parts)


def _with_originals(message: Message) -> Iterator[tuple[Part, _Raw]]:
    """Yield the dicts that the message's texts, calls, results and media were read from."""
    seen = fields_of(message.seen)
    originals, held = parts_as_they_came(message), message.parts
    if message.shape == RESPONSES and (seen is None or "role" not in seen):
        originals = items_of(message.seen) if seen is None else [seen]
    elif seen is not None and message.role == "tool" and message.shape != "gemini":
        originals = items_of(seen.get("content"))
        held = tuple(inner for part in message.parts if type(part) is Result for inner in part.parts)
    for part, raw in zip(held, originals, strict=False):
        if type(part) not in (Opaque, Thinking) and (fields := fields_of(raw)) is not None:
            yield part, fields
    calls = [part for part in message.parts if type(part) is Call]
    for part, call in zip(calls, items_of((seen or {}).get("tool_calls")), strict=False):
        yield part, fields_of(call) or {}


def _note_fields(fields: _Raw, notes: Notes, kept: frozenset[str] = _NO_KEYS) -> None:
    for key, held in fields.items():
        if held in _NOTHING or key in kept:
            continue
        if key in _NESTED and (inner := fields_of(held)) is not None:
            _note_fields(inner, notes)
            notes[FIELDS] += bool(inner.get("type"))
        elif key in _PARTS:
            alone = fields_of(held)
            for part in items_of(held) if alone is None else [alone]:
                known = fields_in(part)
                if known.keys() != _POINTS and ("type" not in known or _kind(known) in _READ):
                    _note_fields(known, notes)
        elif key not in _CARRIED:
            word = _WORD.get(key, FIELDS)
            if word == CITATIONS:
                _note_citations(held, notes)
            else:
                notes[word] += len(items_of(held)) or 1


def _note_citations(held: object, notes: Notes) -> None:
    """Note citations, or the setting that asks for them."""
    number = len(items_of(held))
    notes[CITATIONS if number else FIELDS] += number or held not in _NOTHING


_POINTS = {POINT}
"""The keys of a part that is only a mark. It is counted among the parts."""

_NOTHING: tuple[object, ...] = (None, False, [], ())
_READ = frozenset(
    ["text", "image", "document", "input_text", "output_text", "input_image", "input_file", "image_url", "file"]
)
"""The kinds of parts inside a result that are read; any other is sent or noted as a whole."""
