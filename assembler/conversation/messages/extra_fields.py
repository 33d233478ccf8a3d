"""Fields of a Chat message beside its content: reasoning in a host's own field, and fields that are not read here.

The reasoning of an answer is in a field that OpenAI's API does not have but that compatible APIs want back: DeepSeek's
thinking models refuse a step of a tool loop without it (DeepSeek API, "Thinking mode", read 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, cast

from assembler.conversation.messages.message import Message, Part, Thinking
from assembler.conversation.messages.parts import CHAT_SHAPES, compact_json
from assembler.conversation.messages.shapes import SHAPES
from assembler.conversation.messages.stray_cache_marks import MARK_KEYS
from assembler.text.checked import checked_text
from assembler.text.fields import fields_of

_Raw: TypeAlias = Mapping[str, Any]

REASONING = ("reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks")
"""The fields of reasoning: DeepSeek's and Qwen's; vLLM's, Groq's and OpenRouter's; Ollama's; OpenRouter's list; the
list of LiteLLM, which holds Anthropic's blocks (their API references, read 2026-11)."""

OF_ANSWERS = ("annotations", "audio", "refusal")
"""Further fields of an assistant's message in the APIs of this spelling (OpenAI API reference, read 2026-11)."""

_READ = frozenset(
    [
        *("role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "pinned"),
        "tool_name",  # Ollama's word for the name in an answer
    ]
)
"""The fields that other modules read."""

_FREE = frozenset([*MARK_KEYS, "prefix"])
"""Fields that add nothing to the prompt: a cache mark, and the request to continue an answer."""

OF_CHAT = (_READ - {"role", "content", "pinned"}).union(REASONING, OF_ANSWERS, ["prefix"])
"""The keys of a Chat message that no other API has, beside its role and content."""

_NOTHING: tuple[object, ...] = (None, [], ())
OF_TABLES = ("tool_calls", "function_call", "tool_call_id", "name")
"""The columns of a table of messages that are "" or {} in the rows that have none. The API refuses such values:
`Invalid 'messages[1].name': string does not match pattern` (extended_openai_conversation#251, read 2026-11)."""
_OF_THE_MODEL = ("assistant", "ai", "model")

_KEYS_OF_TEXTS = ("text", "thinking", "summary", "data", "content")
"""The keys of an entry of a reasoning list that hold its text or its encrypted form."""


def thoughts_in_extra_fields(seen: _Raw, index: int) -> tuple[Part, ...]:
    """One part for each non-empty reasoning field of an assistant's message. Its `raw` is that field alone."""
    if seen.keys() <= _READ or seen["role"] not in _OF_THE_MODEL:
        return ()
    held = [key for key in REASONING if seen.get(key)]
    return tuple(Thinking(_read_text(seen[key], f"conversation[{index}].{key}"), {key: seen[key]}) for key in held)


def texts_of_extra_fields(message: Message, target: str) -> dict[str, str]:
    """The texts in an answer's fields that the model of the API `target` is not shown: a refusal, a transcript."""
    if not message.extra_fields or message.role != "assistant" or SHAPES[target].fields_of_answers:
        return {}
    value = {key: message.seen.get(key) for key in message.extra_fields if key in OF_ANSWERS}
    audio = value.get("audio")
    value["audio"] = cast(_Raw, audio).get("transcript") if isinstance(audio, Mapping) else None
    return {key: words for key, words in value.items() if isinstance(words, str) and words.strip()}


def write_sound(held: object) -> object:
    """A spoken answer as a request names it: by its id alone if it came with its sound, as an SDK returns it.

    OpenAI takes nothing else back (openai 3.57.0, `Audio` of an assistant's message; LangChain sends the id alone too).
    """
    fields: _Raw = fields_of(held) or {}
    named: object = fields.get("id")
    return {"id": named} if "data" in fields and isinstance(named, str) and named else held


def loses_fields_of_answers(message: Message, target: str) -> bool:
    """Whether a message has textless fields that the API `target` lacks: annotations, untranscribed audio."""
    if not message.extra_fields or SHAPES[target].fields_of_answers:
        return False
    return not set(OF_ANSWERS).isdisjoint(set(message.extra_fields) - texts_of_extra_fields(message, target).keys())


def sent_extra_fields(message: Message) -> tuple[str, ...]:
    """The fields beside the content that Chat Completions is sent with a message that is written anew."""
    return tuple(key for key in message.extra_fields if key in OF_ANSWERS or message.shape in CHAT_SHAPES)


def sends_fields_of_answers(message: Message, target: str) -> bool:
    """Whether the API `target` gets a message's refusal, transcript or annotations."""
    if texts_of_extra_fields(message, target):
        return True
    return not set(OF_ANSWERS).isdisjoint(message.extra_fields) and SHAPES[target].fields_of_answers


def refusal_of(seen: _Raw) -> str | None:
    """The refusal of a Chat message that has no content and no calls; else None."""
    refusal: object = seen.get("refusal")
    if not isinstance(refusal, str) or seen.get("tool_calls") or seen.get("function_call"):
        return None
    content: object = seen.get("content")
    return refusal if content is None or (refusal and content in _EMPTY) else None


_EMPTY: tuple[object, ...] = ("", [], ())


def field_of(part: Part) -> str | None:
    """The field of a Chat message that holds this reasoning; None if it is among the content's parts."""
    if type(part) is not Thinking or len(part.raw) != 1:
        return None
    key = next(iter(part.raw))
    return key if key in REASONING else None


def find_unread_fields(seen: _Raw) -> tuple[str, ...]:
    """The non-empty fields of a Chat message that are sent but not read into parts."""
    if seen.keys() <= _READ:
        return ()
    known = _READ | _FREE | frozenset(REASONING if seen["role"] in _OF_THE_MODEL else ())
    return tuple(key for key, held in seen.items() if key not in known and held not in _NOTHING)


def without_nothing(seen: _Raw) -> dict[str, Any]:
    """The non-empty fields: the API refuses `function_call: null`, and some hosts refuse `annotations: []`.

    A null content stays: the API requires the field beside calls. Groq: `property 'annotations' is unsupported`;
    OpenAI: `None is not of type 'object' - 'messages.1.function_call'` (public issue threads, read 2026-11).
    """
    return {key: held for key, held in seen.items() if key == "content" or not _holds_nothing(key, held)}


def _holds_nothing(key: str, held: object) -> bool:
    return held in _NOTHING or (key in OF_TABLES and not held)


def _read_text(held: object, field: str) -> str:
    if isinstance(held, str):
        return checked_text(held, field=field)
    return "\n".join(_read_texts(held, field)) or checked_text(compact_json(held), field=field)


def _read_texts(held: object, field: str) -> Iterator[str]:
    for entry in cast("Iterable[object]", held) if isinstance(held, list | tuple) else ():
        fields: _Raw = cast(_Raw, entry) if isinstance(entry, Mapping) else {}
        for key in _KEYS_OF_TEXTS:
            value = fields.get(key)
            if isinstance(value, str):
                yield checked_text(value, field=field)
