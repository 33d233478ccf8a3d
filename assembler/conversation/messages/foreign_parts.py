"""Adapts parts of one API for another: to a text, or to nothing.

A part of one API is sent to that API byte for byte. Any other API would refuse it, so its content is sent as a text:
the results of a search, the output of code, a summary. A part without content for other APIs is left out: a reference
to a stored item, an encrypted text, a setting.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from assembler.conversation.messages.custom_tools import with_functions
from assembler.conversation.messages.extra_fields import OF_ANSWERS, loses_fields_of_answers, texts_of_extra_fields
from assembler.conversation.messages.kinds import (
    CALLS,
    IN_RESULTS,
    OF_ANTHROPIC,
    OF_BEDROCK,
    id_in,
    is_owed,
    stands_alone,
)
from assembler.conversation.messages.message import Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.part_owners import SYSTEM, is_native_part
from assembler.conversation.messages.parts import CHAT_SHAPES, FOREIGN, NEUTRAL
from assembler.conversation.messages.shapes import SHAPES
from assembler.text.fields import fields_in

_Raw: TypeAlias = Mapping[str, Any]


def is_mark(part: Part) -> bool:
    """Whether a part is a cache mark of Bedrock, which has no content."""
    return type(part) is Opaque and part.kind == "cachePoint"


def adapt_message(message: Message, target: str) -> Message:
    """The message for the API `target`: parts that it does not know become texts or are left out.

    Cache marks stay, because each dialect counts those that it leaves out. Returns the same message if no part is of
    another API. O(parts).
    """
    message = _add_texts_of_fields(with_functions(message, target), target)
    for part in message.parts:
        if type(part) in _ADAPTED or (type(part) is Result and not _ADAPTED.isdisjoint(map(type, part.parts))):
            break
    else:
        return message
    hides_media = message.role == "assistant" and not _may_show(message, target)
    copies, asked = _find_repeated_calls(message), _find_calls_of_no_model(message)
    shape = _find_shape(message, target)
    parts = [
        None
        if place in copies or (hides_media and type(part) is Media)
        else _adapt_part(part, SYSTEM if place in asked else shape, target)
        for place, part in enumerate(message.parts)
    ]
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    kept = tuple(part for part in parts if part is not None)
    role = message.role
    if role == "tool" and Result not in map(type, kept):  # not a result for a call of the caller's tools
        role = "user" if any(map(_is_output_of_caller, message.parts)) else "assistant"
    left = tuple(key for key in message.extra_fields if key in OF_ANSWERS)  # as of any message that is written anew
    seen = _remove_items(message, parts)
    return attrs.evolve(message, role=role, parts=kept, shape=FOREIGN, shallow=False, seen=seen, extra_fields=left)


_OF_THE_SYSTEM = ("system", "developer")


def _find_shape(message: Message, target: str) -> str:
    """The shape of a message that decides which of its parts the API `target` gets unchanged.

    No API takes items or blocks of a server's in a system text. Responses takes unknown parts there, and the system's
    own items, such as loaded tools, beside the messages.
    """
    if message.role not in _OF_THE_SYSTEM:
        return message.shape
    if SHAPES[target].system_parts is not None:
        return SYSTEM
    items = any(type(part) is Opaque and stands_alone(part.kind) for part in message.parts)
    in_content = target == "responses" and "content" in fields_in(message.seen)
    return SYSTEM if items and in_content else message.shape


def _find_repeated_calls(message: Message) -> frozenset[int]:
    """The places of items in the content that are copies of the message's calls, as LangChain keeps them."""
    if message.role != "assistant" or Opaque not in map(type, message.parts):
        return frozenset()
    ids = message.call_ids
    return frozenset(
        place
        for place, part in enumerate(message.parts)
        if type(part) is Opaque and part.kind in CALLS and _has_one_of_ids(ids, part)
    )


def _has_one_of_ids(ids: frozenset[str | None], part: Opaque) -> bool:
    named: object = part.raw.get("call_id")
    return isinstance(named, str) and named in ids


def _find_calls_of_no_model(message: Message) -> frozenset[int]:
    """The places of calls in the content of a message that is not the model's, and of their outputs there.

    Sent as items of their own, such calls would become the model's, and nothing would answer them.
    """
    if message.role == "assistant" or Opaque not in map(type, message.parts):
        return frozenset()
    items = {place: part for place, part in enumerate(message.parts) if type(part) is Opaque}
    asked = {id_in(part.raw) for part in items.values() if is_owed(part.kind, part.raw)}
    return frozenset(
        place
        for place, part in items.items()
        if is_owed(part.kind, part.raw) or (part.kind.endswith("_output") and id_in(part.raw) in asked)
    )


def _add_texts_of_fields(message: Message, target: str) -> Message:
    """The message with the texts of `texts_of_extra_fields` added to its own."""
    words = texts_of_extra_fields(message, target)
    if not words:
        return message
    texts = sum(1 for _ in itertools.takewhile(lambda part: type(part) is str, message.parts))
    parts = (*message.parts[:texts], *words.values(), *message.parts[texts:])
    left = tuple(key for key in message.extra_fields if key not in words)
    seen = _insert_places(message.seen, texts, len(words))
    return attrs.evolve(message, parts=parts, shape=FOREIGN, shallow=False, extra_fields=left, seen=seen)


def _insert_places(seen: _Raw, at: int, number: int) -> _Raw:
    """The raw message with a place in its list for each text that is put among its parts."""
    listed: object = seen.get("content")
    if not isinstance(listed, list):
        return seen
    items = cast("list[object]", listed)
    return {**seen, "content": [*items[:at], *itertools.repeat(None, number), *items[at:]]}


def _is_output_of_caller(part: Part) -> bool:
    """Whether an item is the caller's output for a call of an unknown kind. Outputs of servers are known by kind."""
    from assembler.conversation.messages.part_as_text import CONTENT_FIELDS  # as in `_write_as_text`

    return type(part) is Opaque and part.kind not in CONTENT_FIELDS and isinstance(part.raw.get("call_id"), str)


_ADAPTED = frozenset([Opaque, Media])
"""The types of parts that another API may not know."""


def _may_show(message: Message, target: str) -> bool:
    """Whether the API `target` may accept the images and sounds in a message of the model.

    They are sent to no API but their own, and not to one that accepts none from an assistant (Amazon Bedrock API
    reference, Message; OpenAI API reference, assistant message; read 2026-11).
    """
    return SHAPES[target].shows_media and message.shape in (NEUTRAL, target, *SHAPES[target].accepts)


def without_marks(message: Message) -> Message:
    """The message without cache marks, as an API bills it that ignores those of another one. O(parts)."""
    kept = tuple(part for part in message.parts if not is_mark(part)) if Opaque in map(type, message.parts) else ()
    return message if len(kept) in (0, len(message.parts)) else attrs.evolve(message, parts=kept)


def as_chat_sends(message: Message) -> Message:
    """The message as Chat bills it: without cache marks, and without empty texts beside other parts.

    Chat gets the empty texts of a message in its own shape, unless there are results beside them.
    """
    kinds = set(map(type, message.parts))
    if Opaque in kinds:
        message = without_marks(message)
    if "" not in message.parts or (Result not in kinds and message.shape in CHAT_SHAPES):
        return message
    kept = tuple(part for part in message.parts if part != "")
    return attrs.evolve(message, parts=kept or ("",))


LEFT_OUT = "part(s) of another API without content here left out"
FOLDED = "part(s) of another API sent as text"
UNASKED = "question(s) to a tool of another API left out"


def adapt_and_note(message: Message, target: str, done: Counter[str]) -> Message:
    """`adapt_message`, and count in `done` the parts that were left out and those that became text."""
    new = adapt_message(message, target)
    if new is not message:
        before = _count_adaptable(message.parts) - len(_find_repeated_calls(message))
        after = _count_adaptable(new.parts)
        words = len(texts_of_extra_fields(message, target))
        left_out = _count_lost_parts(message, new) + words
        found = {
            FOLDED: before - after - left_out + words,
            LEFT_OUT: left_out,
            UNASKED: _count_lost_questions(message, new),
        }
        done.update({what: n for what, n in found.items() if n > 0})
    return new


MAY_BE_LOST = _ADAPTED | {Result, Thinking}
"""The types of parts that may be left out for another API, and those that may hold such parts."""


def is_sent_whole(message: Message, target: str) -> bool:
    """Whether nothing that the parts of a message say is left out for the API `target`. O(parts)."""
    if SHAPES[target].sends_all:
        return True
    new = adapt_message(message, target)
    return new is message or not (_count_lost_parts(message, new) or _count_lost_questions(message, new))


def is_left_out_for(message: Message, target: str) -> bool:
    """Whether nothing of a message is left for the API `target`, so that its dialect leaves it out."""
    empty = not message.parts and loses_fields_of_answers(message, target)
    lost = empty or not _ADAPTED.isdisjoint(map(type, message.parts))
    return lost and not SHAPES[target].sends_all and not adapt_message(message, target).parts


def _count_adaptable(parts: Iterable[Part]) -> int:
    """How many parts, including those in results, are media or opaque."""
    return sum(type(part) in _ADAPTED and not is_mark(part) for part in _list_parts(parts))


def _list_parts(parts: Iterable[Part]) -> list[Part]:
    return [inner for part in parts for inner in (part.parts if isinstance(part, Result) else (part,))]


def _count_lost_questions(message: Message, new: Message) -> int:
    """How many parts became texts that do not say what was asked."""
    from assembler.conversation.messages.part_as_text import loses_question  # as in `_write_as_text`

    kept = set(map(id, _list_parts(new.parts)))
    return sum(
        type(part) is Opaque and id(part) not in kept and loses_question(part) for part in _list_parts(message.parts)
    )


def _count_lost_parts(message: Message, new: Message) -> int:
    """How many parts of a message are not in its adapted form, not counting copies."""
    return _count_parts(message.parts) - len(_find_repeated_calls(message)) - _count_parts(new.parts)


def _count_parts(parts: Iterable[Part]) -> int:
    return sum(1 + (len(part.parts) if isinstance(part, Result) else 0) for part in parts)


def _remove_items(message: Message, parts: Sequence[Part | None]) -> Any:
    """The raw message with only those items of its list whose parts were kept."""
    if not isinstance(message.seen, dict):
        return message.seen
    seen = cast("dict[str, Any]", message.seen)
    key = "content" if "content" in seen else "parts"
    listed: object = seen.get(key)
    if not isinstance(listed, list) or (message.role == "tool" and key == "content"):
        return seen
    items = cast("list[object]", listed)
    return {**seen, key: [item for item, part in zip(items, parts, strict=False) if part is not None]}


def _adapt_part(part: Part, shape: str, target: str) -> Part | None:
    match part:
        case Opaque():
            native = is_mark(part) or (is_native_part(part, shape, target) and part.kind not in _IN_RESULTS_ALONE)
            return part if native else _write_as_text(part)
        case Media() if target == "openai" and shape in (NEUTRAL, target) and not has_an_object(part):
            return _read_file(part, target) or attrs.evolve(part)  # a new part, so that the message is written anew
        case Media():
            return _read_file(part, target) or part
        case Result() if not _ADAPTED.isdisjoint(map(type, part.parts)):
            inner = [_adapt_held(held, shape, target) for held in part.parts]
            if all(new is old for new, old in zip(inner, part.parts, strict=True)):
                return part
            return attrs.evolve(part, parts=tuple(held for held in inner if isinstance(held, str | Media | Opaque)))
        case _:
            return part


def _write_as_text(part: Opaque) -> str | None:
    from assembler.conversation.messages.part_as_text import text_for_other_apis  # few requests hold such parts

    return text_for_other_apis(part)


_IN_RESULTS_ALONE = frozenset(["browser_state", "json", "tool_reference"])
"""The kinds that their own API takes in a tool's result alone (anthropic 2.12.0, ContentBlockParam; botocore 1.44.5,
ContentBlock; read 2026-11)."""


def is_in_chats_form(part: Media, message: Message) -> bool:
    """Whether Chat accepts a part of its own types as it came: in the form of objects, and not from an assistant.

    Mistral's part of the same type may hold a text in place of the object.
    """
    return message.role != "assistant" and has_an_object(part)


def has_an_object(part: Media) -> bool:
    """Whether a medium is in Chat's form: an object under the key that its type names."""
    return isinstance(part.raw.get(str(part.raw.get("type"))), Mapping)


_IN_MESSAGES = frozenset([*OF_ANTHROPIC, *OF_BEDROCK, "audio"]) - IN_RESULTS


def _adapt_held(part: Part, shape: str, target: str) -> Part | None:
    """A part of a result. One that its API takes only in messages becomes a text, and so does an item of Responses."""
    if type(part) is not Opaque:
        return _adapt_part(part, shape, target)
    if part.kind in _IN_MESSAGES or (part.api == "responses" and stands_alone(part.kind)):
        return _write_as_text(part)
    return part if is_mark(part) or is_native_part(part, shape, target) else _write_as_text(part)


def _read_file(part: Media, target: str) -> str | None:
    """The text of a plain-text document, for an API other than its own; None for any other medium."""
    home = "anthropic" if "type" in part.raw else "bedrock"
    return None if target == home else text_of_document(part)


def text_of_document(part: Media) -> str | None:
    """The text for other APIs of a plain-text document, headed by its title; None for any other medium."""
    source = fields_in(part.raw, "source") or fields_in(part.raw, "document", "source")
    text = source.get("data") if source.get("type") == "text" else source.get("text")
    if part.kind != "document" or not text:
        return None
    return _write_as_text(Opaque("document", {"title": part.raw.get("title"), "source": {"text": text}}))
