"""Reads content parts of any provider, by one table from the type of a part to its reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from assembler.conversation.messages.kinds import (
    KEYS_OF_A_FRAMEWORK,
    KEYS_OF_ANTHROPIC,
    OF_ANTHROPIC,
    OF_BEDROCK,
    OF_COHERE,
    OF_GEMINI,
    OF_HOSTS,
    OF_LANG_CHAIN,
    OF_MISTRAL,
    PIN,
    is_item,
)
from assembler.conversation.messages.message import Call, Media, Opaque, Part, Result, Thinking
from assembler.errors import ConversationError
from assembler.text.checked import checked_text, refuse_surrogates
from assembler.text.fields import fields_in, fields_of, items_of

Raw: TypeAlias = Mapping[str, Any]

NEUTRAL = "neutral"
"""The shape of a message that several providers spell the same: a role and plain text."""

FOREIGN = "foreign"
"""The shape of a message that no API accepts unchanged. Every dialect spells it anew."""

CHAT_SHAPES = (NEUTRAL, "openai")
"""The shapes of messages that Chat Completions accepts unchanged."""


def compact_json(value: object) -> str:
    """`value` as JSON without blanks and with readable characters, as it is sent to providers."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def write_parts(
    items: Sequence[Any], old: Sequence[Part], new: Sequence[Part | None], write: Callable[[Any, Part], Any]
) -> list[Any]:
    """The items, each with its new part written by `write`; without those whose new part is None."""
    return [
        item if after is before else write(item, after)
        for item, before, after in zip(items, old, new, strict=True)
        if after is not None
    ]


def read_content(content: object, *, index: int) -> tuple[tuple[Part, ...], str]:
    """The parts of a `content` field (a text, None, or a list of typed parts), and the shape that they imply."""
    if type(content) is str:
        if not content.isascii():
            refuse_surrogates(content, field=f"conversation[{index}]")
        return (content,), NEUTRAL
    if content is None:
        return (), NEUTRAL
    if isinstance(content, str):
        return (checked_text(content, field=f"conversation[{index}]"),), NEUTRAL
    if not isinstance(content, list | tuple):
        raise ConversationError(
            f"content must be text, None or a list of parts, got {type(content).__name__}"
            + ("; write it as JSON text: json.dumps(content)" if isinstance(content, Mapping) else ""),
            index=index,
        )
    parts: list[Part] = []
    shapes: set[str] = set()
    for item in cast("list[object]", content):
        part, shape = read_part(item, index=index)
        parts.append(part)
        shapes.add(shape)
    shapes.discard(NEUTRAL)
    if len(shapes) > 1:
        return tuple(parts), FOREIGN  # no API accepts parts of two APIs
    return tuple(parts), shapes.pop() if shapes else NEUTRAL


def read_part(item: object, *, index: int) -> tuple[Part, str]:
    """One part and its shape. A kind that is not listed here becomes `Opaque`."""
    if isinstance(item, str):
        return checked_text(item, field=f"conversation[{index}]"), FOREIGN  # no API accepts a bare text in a list
    if not isinstance(item, Mapping):
        raise ConversationError(f"a content part must be a dict, got {type(item).__name__}", index=index)
    part = cast(Raw, item)
    kind = part.get("type")
    if PIN in part and part[PIN] is True:
        raise _make_pin_error(index)
    if kind is None and not OF_GEMINI.isdisjoint(part):
        return read_gemini_part(part, index), FOREIGN  # Gemini has no content, and no other API has its parts
    if isinstance(kind, str) and (is_item(kind, part)):
        return Opaque(kind, part, "responses"), FOREIGN
    if kind is None and "type" not in part:
        kind = _find_kind_by_key(part)
    if not isinstance(kind, str):
        raise ConversationError("a content part has no type; expected {'type': 'text', 'text': …}", index=index)
    if kind in OF_HOSTS and "type" in part:
        return Media(OF_HOSTS[kind], part), NEUTRAL if kind in part else FOREIGN
    if kind == "file" and kind not in part and not KEYS_OF_A_FRAMEWORK.isdisjoint(part):
        return Media("document", part), FOREIGN
    known = OF_COHERE if kind == "document" and "data" in fields_in(part, kind) else kind
    reader, shape = _READERS.get(known) or (_opaque_reader(NEUTRAL if "type" in part else "bedrock"), NEUTRAL)
    if "type" not in part:
        shape = "bedrock"  # the only API whose parts name their kind by a key
    elif kind == "text" and len(part) > 2 and not KEYS_OF_ANTHROPIC.isdisjoint(part):
        shape = "anthropic"
    return reader(part, index), shape


def _make_pin_error(index: int) -> ConversationError:
    return ConversationError(
        f"a part is {PIN}, and only a whole message can be: write the key next to its role", index=index
    )


def _read_text(part: Raw, index: int) -> str:
    return checked_text(part.get("text"), field=f"conversation[{index}]")


def _find_kind_by_key(part: Raw) -> str | None:
    """The kind of a part without a type (Bedrock): a known key, or an unknown key whose value is a mapping."""
    known = next((key for key in _UNTYPED if key in part), None)
    return known or next((key for key, held in part.items() if isinstance(held, Mapping)), None)


def _opaque_reader(api: str) -> Callable[[Raw, int], Opaque]:
    """A reader for a kind that becomes `Opaque`. `api` is the shape that has it."""

    def read(part: Raw, index: int) -> Opaque:
        return Opaque(str(part.get("type") or _find_kind_by_key(part)), part, api)

    return read


def _media_reader(kind: str) -> Callable[[Raw, int], Media]:
    return lambda part, index: Media(kind, part)


def _read_document(part: Raw, _index: int) -> Media | Opaque:
    """A document. One with its content in blocks is not a file but `Opaque`, and priced by its words."""
    block: object = part if "type" in part else part.get("document")
    source: object = cast(Raw, block).get("source") if isinstance(block, Mapping) else None
    if isinstance(source, Mapping) and "content" in cast(Raw, source):
        return Opaque("document", part, "anthropic" if "type" in part else "bedrock")
    return Media("document", part)


def _read_thinking(part: Raw, index: int) -> Thinking:
    text: object = part.get("thinking", "")
    chunks = [cast(Raw, chunk).get("text") for chunk in items_of(text) if isinstance(chunk, Mapping)]  # Mistral's
    return Thinking(text if isinstance(text, str) else "".join(c for c in chunks if isinstance(c, str)), part)


_CALLS = (
    "{id, function: {name, arguments}}, {id, name, args}, {type: 'tool_use', id, name, input}, "
    "{function_call: {name, args}} or {type: 'function_call', call_id, name, arguments}"
)
"""The keys of a call in each spelling."""


def call_of(name: object, given: object, *, id: object, index: int, signature: str | bytes | None = None) -> Call:
    """A call from its name and arguments, a JSON text or an object. Raises `ConversationError` for anything else."""
    if not isinstance(name, str) or not name:
        raise ConversationError(f"a tool call has no name; expected {_CALLS}", index=index, call_id=_read_id(id))
    if type(given) is str and given.isascii():
        return Call(_read_id(id), name, given, None, signature)
    if isinstance(given, str):
        text = checked_text(given, field=f"conversation[{index}].arguments")
        return Call(_read_id(id), name, text, signature=signature)
    if given is None:
        return Call(_read_id(id), name, "{}", given={}, signature=signature)
    if not isinstance(given, Mapping):
        raise ConversationError(
            f"arguments of a call must be JSON text or an object, got {type(given).__name__}",
            index=index,
            call_id=_read_id(id),
        )
    try:
        text = compact_json(cast(Raw, given))
    except (TypeError, ValueError, RecursionError):
        raise ConversationError(
            "arguments of a call are not JSON data; pass plain dicts, lists, texts and finite numbers",
            index=index,
            call_id=_read_id(id),
        ) from None
    text = checked_text(text, field=f"conversation[{index}].arguments")
    return Call(_read_id(id), name, text, given=cast(Raw, given), signature=signature)


def _read_id(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


_WITHIN_RESULTS = (str, Media, Opaque)


def result_of(
    content: object, *, call_id: object, name: object, index: int, error: object = None, given: Raw | None = None
) -> Result:
    """A result from its content: a text, None or a list of parts. Raises `ConversationError` for calls in it."""
    parts, _ = read_content(content, index=index)
    inner: list[str | Media | Opaque] = []
    for part in parts:
        if not isinstance(part, _WITHIN_RESULTS):
            raise ConversationError(
                "a tool result may hold text and media only", index=index, call_id=_read_id(call_id)
            )
        inner.append(part)
    return Result(_read_id(call_id), tuple(inner), name if isinstance(name, str) else None, error is True, given)


def _read_tool_use(part: Raw, index: int) -> Call:
    return call_of(part.get("name"), part.get("input"), id=part.get("id"), index=index)


def _read_tool_result(part: Raw, index: int) -> Result:
    return result_of(
        part.get("content"), call_id=part.get("tool_use_id"), name=None, index=index, error=part.get("is_error", False)
    )


def _read_bedrock_use(part: Raw, index: int) -> Call:
    use = cast(Raw, part["toolUse"])
    return call_of(use.get("name"), use.get("input"), id=use.get("toolUseId"), index=index)


def _read_bedrock_result(part: Raw, index: int) -> Result:
    answer = cast(Raw, part["toolResult"])
    call_id, content = answer.get("toolUseId"), _read_bedrock_content(answer.get("content", []), index)
    return result_of(content, call_id=call_id, name=None, index=index, error=answer.get("status") == "error")


def _read_bedrock_content(content: object, index: int) -> object:
    """The content of Bedrock's result with its JSON as text. Raises `ConversationError` for no text and no list."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise ConversationError(
            f"the content of a toolResult must be a list, got {type(content).__name__}; "
            "write [{'json': value}], or [{'text': text}]",
            index=index,
        )
    items = cast("Sequence[object]", content)
    return [{"text": compact_json(fields_in(item)["json"])} if "json" in fields_in(item) else item for item in items]


def _read_bedrock_reasoning(part: Raw, index: int) -> Thinking:
    text = cast(Raw, part["reasoningContent"]).get("reasoningText", {})
    return Thinking(str(cast(Raw, text).get("text", "")) if isinstance(text, Mapping) else "", part)


def read_either(part: Raw, snake: str, camel: str) -> Any:
    """The value under a key of Gemini's in the SDK's spelling, or else in the API's."""
    return part.get(snake, part.get(camel))


def read_gemini_part(part: Raw, index: int) -> Part:
    """A part of Gemini's, in the API's camelCase or the SDK's snake_case."""
    if PIN in part and part[PIN] is True:
        raise _make_pin_error(index)
    if (call := read_either(part, "function_call", "functionCall")) is not None:
        signature: object = read_either(part, "thought_signature", "thoughtSignature")
        if not isinstance(signature, str | bytes | None):
            kind = type(signature).__name__
            raise ConversationError(
                f"a thought signature is a {kind}; pass it as it came, base64 or bytes", index=index
            )
        return call_of(call.get("name"), call.get("args"), id=call.get("id"), index=index, signature=signature)
    if (response := read_either(part, "function_response", "functionResponse")) is not None:
        return _read_gemini_result(response, index)
    if part.get("text") is not None:
        text = checked_text(part["text"], field=f"conversation[{index}]")
        return Thinking(text, part) if part.get("thought") is True else text
    blob = read_either(part, "inline_data", "inlineData") or read_either(part, "file_data", "fileData")
    if isinstance(blob, Mapping):
        mime = str(read_either(cast(Raw, blob), "mime_type", "mimeType") or "")
        kind = mime.split("/", 1)[0]
        return Media(kind if kind in ("image", "audio", "video") else "document", part)
    kinds = (key for key, held in part.items() if held is not None and key not in _SIGNS)
    return Opaque(next(kinds, "part"), part, "gemini")


def _read_gemini_result(response: Raw, index: int) -> Result:
    held: object = response.get("response")
    held = {} if held is None else held
    fields = fields_of(held)
    given = {_OUTPUT: held} if fields is None else fields
    text = held if isinstance(held, str) else compact_json(held)
    result = result_of(text, call_id=response.get("id"), name=response.get("name"), index=index, given=given)
    listed: object = response.get("parts")
    if not isinstance(listed, list | tuple | None):
        raise ConversationError(
            f"parts of a function response must be a list, got {type(listed).__name__}; put the part into a list",
            index=index,
        )
    further = tuple(_read_part_of_response(part, index) for part in items_of(cast(object, listed)))
    return attrs.evolve(result, parts=(*result.parts, *further)) if further else result


_OUTPUT = "output"
"""The key of an answer that is no object: Gemini demands one (Google, `FunctionResponse.response`, read 2026-11)."""


def _read_part_of_response(item: object, index: int) -> Media | Opaque:
    """A part of a function response beside its object: an image, a file (google-genai 3.4.0, FunctionResponsePart)."""
    if not isinstance(item, Mapping):
        raise ConversationError(f"a part of a function response must be a dict, got {type(item).__name__}", index=index)
    part = read_gemini_part(cast(Raw, item), index)
    return part if isinstance(part, Media | Opaque) else Opaque("part", cast(Raw, item), "gemini")


_SIGNS = ("thought", "thought_signature", "thoughtSignature")
"""Keys beside the one that names the kind of a part."""


def is_reasoning_item(fields: Raw) -> bool:
    """Whether a part is an item of reasoning, as Responses has it."""
    return fields.get("type") == "reasoning" and isinstance(fields.get("summary"), list)


def read_reasoning_item(item: Raw, index: int) -> Thinking:
    """An item of reasoning of Responses, with the texts of its summary and its content."""
    texts: list[str] = []
    for key in ("summary", "content"):
        for part in items_of(item.get(key)):
            text = cast(Raw, part).get("text") if isinstance(part, Mapping) else None
            if isinstance(text, str):
                texts.append(checked_text(text, field=f"conversation[{index}].{key}"))
    return Thinking("\n".join(texts), item)


def _read_lang_chain_reasoning(part: Raw, index: int) -> Thinking:
    """LangChain's own form of reasoning: its text under the kind, for Bedrock in an object there.

    langchain-core 1 and langchain-aws 1, read 2026-11.
    """
    if is_reasoning_item(part):
        return read_reasoning_item(part, index)
    held: object = part.get(str(part["type"]))
    text = cast(Raw, held).get("text") if isinstance(held, Mapping) else held
    return Thinking(checked_text(text, field=f"conversation[{index}]") if isinstance(text, str) else "", part)


def _read_lang_chain_call(part: Raw, index: int) -> Call:
    return call_of(part.get("name"), part.get("args"), id=part.get("id"), index=index)


# One line for each kind of part: its reader, and the shape of the only provider that uses it.
_READERS: dict[str, tuple[Callable[[Raw, int], Part], str]] = {
    "text": (_read_text, NEUTRAL),
    "input_text": (_read_text, "responses"),
    "output_text": (_read_text, "responses"),
    "image_url": (_media_reader("image"), "openai"),
    "input_audio": (_media_reader("audio"), "openai"),
    "file": (_media_reader("document"), "openai"),
    "refusal": (lambda part, index: checked_text(part.get("refusal"), field=f"conversation[{index}]"), "openai"),
    "input_image": (_media_reader("image"), "responses"),
    "input_file": (_media_reader("document"), "responses"),
    "image": (_media_reader("image"), "anthropic"),
    "document": (_read_document, "anthropic"),
    OF_COHERE: (lambda part, _: Opaque("document", part, "openai"), "openai"),
    "thinking": (_read_thinking, "anthropic"),
    "redacted_thinking": (_read_thinking, "anthropic"),
    "tool_use": (_read_tool_use, "anthropic"),
    "tool_result": (_read_tool_result, "anthropic"),
    "toolUse": (_read_bedrock_use, "bedrock"),
    "toolResult": (_read_bedrock_result, "bedrock"),
    "reasoningContent": (_read_bedrock_reasoning, "bedrock"),
    "reasoning": (_read_lang_chain_reasoning, FOREIGN),
    "reasoning_content": (_read_lang_chain_reasoning, FOREIGN),
    "tool_call": (_read_lang_chain_call, FOREIGN),
    **dict.fromkeys(OF_LANG_CHAIN, (_opaque_reader(FOREIGN), FOREIGN)),
    **dict.fromkeys(OF_ANTHROPIC, (_opaque_reader("anthropic"), "anthropic")),
    **dict.fromkeys(OF_BEDROCK, (_opaque_reader("bedrock"), "bedrock")),
    **dict.fromkeys(OF_MISTRAL, (_opaque_reader("mistral"), NEUTRAL)),
}


def is_kind_of_part(kind: str) -> bool:
    """Whether this is a known type of content part."""
    return kind in _READERS or kind in OF_HOSTS


# Keys that name the kind of a part (Bedrock Converse, ContentBlock). Text is near the end, because it may be beside
# another; a mark is last, because it is the only kind without content.
_UNTYPED = (
    *("toolUse", "toolResult", "reasoningContent", *OF_BEDROCK[1:]),
    *("image", "document", "video", "audio", "text", "cachePoint"),
)
