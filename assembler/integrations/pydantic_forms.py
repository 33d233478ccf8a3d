"""Reads parts of Pydantic AI as one API gets them, where a form for all of them says too little.

Read in pydantic-ai-slim 2.68.0 (2026-11): `_content_model_response` of its Google model, `_map_message` of Claude's,
`_map_binary_content_item` of Chat's.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from assembler.conversation.messages import Call, Part

Takes: TypeAlias = Callable[[Any, Any], bool]


def takes_nothing(response: Any, part: Any) -> bool:
    """Return False: the model takes no signature back."""
    return False


_NO_SIGNATURE = base64.b64encode(b"skip_thought_signature_validator").decode()
"""What the model sends with the first call of a response that has no signature of its own."""


def in_form_of(dialect: str, part: Any, message_dict: dict[str, Any]) -> dict[str, Any]:
    """Return one part of a request as its API gets it: results of Claude and Gemini, and files in a result."""
    if message_dict["role"] != "tool":
        return message_dict
    failed = part.outcome in ("failed", "retried")
    if dialect == "gemini" and isinstance(message_dict["content"], str):
        response = {"error": part.model_response_str(wrap_if_error=False)} if failed else _write_response(part)
        answered = {"name": part.tool_name, "response": response, "id": part.tool_call_id}
        return {"role": "user", "parts": [{"function_response": answered}]}
    if holds_files(dialect, part):
        message_dict = {**message_dict, "content": _write_result(part, dialect)}
    if dialect in ("anthropic", "bedrock") and failed:
        answered = {"type": "tool_result", "tool_use_id": message_dict["tool_call_id"], "is_error": True}
        return {"role": "user", "content": [{**answered, "content": message_dict["content"]}]}
    return message_dict


def _write_response(part: Any) -> Any:
    """Return a result as Gemini gets it: as a text of JSON if it has a `$ref`, which the API would look up."""
    given = json_value(part.model_response_object())
    refers = '"$ref": ' in json.dumps(given)
    return {"output": part.model_response_str(wrap_if_error=False)} if refers else given


def holds_files(dialect: str, part: Any) -> bool:
    """Return whether an API gets the files of a result in it, as they are: Converse pictures alone."""
    if dialect == "bedrock":
        return all(item.media_type.startswith("image/") for item in part.files)
    return dialect == "anthropic" or (dialect == "openai_responses" and bool(part.files))


def _write_result(part: Any, dialect: str) -> str | list[dict[str, Any]]:
    """Return the content of a result, item by item. Only OpenAI's API is not told of a failure by a mark."""
    items = part.content_items(mode="str", wrap_if_error=dialect == "openai_responses")
    texts = [item for item in items if isinstance(item, str)]
    if len(items) == len(texts) == 1:
        return texts[0]
    written: list[dict[str, Any]] = contents_of(items, dialect)
    return written


def contents_of(content: Any, dialect: str) -> Any:
    """Return the contents of a prompt, or of a result's files, as an API gets them."""
    if isinstance(content, str):
        return content
    return [written for item in content if (written := _write_content(item, dialect)) is not None]


def _write_content(item: Any, dialect: str) -> dict[str, Any] | None:
    """Return one item of a prompt; None for a cache point."""
    if isinstance(item, str):
        return {"type": "text", "text": item}
    if is_cache_point(item):
        return None
    kind: str = getattr(item, "kind", "")
    if isinstance(text := getattr(item, "content", None), str):
        return {"type": "text", "text": text}
    if kind == "image-url":
        return _write_picture(item.url, item)
    if kind == "binary" and item.is_image:
        return _write_picture(item.data_uri, item)
    if kind == "binary" and item.is_audio:
        return {"type": "input_audio", "input_audio": {"data": item.base64, "format": item.format}}
    if kind == "binary":
        return _write_file(item, dialect)
    if kind == "uploaded-file":
        return {"type": "file", "file": {"file_id": item.file_id}}
    if kind == "document-url":
        return {"type": "file", "file": {"file_data": item.url}}
    named = kind.replace("-", "_") or type(item).__name__  # audio_url, video_url
    return {"type": named, named: {"url": getattr(item, "url", "")}}


def _write_picture(url: str, item: Any) -> dict[str, Any]:
    """Return a picture with the detail that OpenAI's models are asked for."""
    chosen: Mapping[str, Any] = item.vendor_metadata or {}
    return {
        "type": "image_url",
        "image_url": {"url": url, **{key: chosen[key] for key in ("detail",) if key in chosen}},
    }


def is_cache_point(item: Any) -> bool:
    """Return whether an item of a prompt is only a mark for the cache."""
    return getattr(item, "kind", "") == "cache-point"


def _write_file(item: Any, dialect: str) -> dict[str, Any]:
    """Return a file as its API gets it. Chat gets a text file as words between two marks, Claude as a document."""
    kind: str = item.media_type.split(";", 1)[0].strip()
    if dialect == "openai_chat" and _TEXTS.fullmatch(kind):
        first = f'-----BEGIN FILE id="{item.identifier}" type="{item.media_type}"-----'
        words = (first, item.data.decode(errors="replace"), f'-----END FILE id="{item.identifier}"-----')
        return {"type": "text", "text": "\n".join(words)}
    if dialect == "anthropic" and kind == "text/plain":
        source = {"type": "text", "media_type": kind, "data": item.data.decode(errors="replace")}
        return {"type": "document", "source": source}
    return {"type": "file", "file": {"file_data": item.data_uri}}


_TEXTS = re.compile(r"text/.*|application/(?:json|xml|toml|yaml|x-yaml)|.*\+(?:json|xml)")
"""The media types of texts (`is_text_like_media_type`)."""


def json_value(content: Any) -> Any:
    """Return a value as JSON can carry it."""
    return json.loads(json.dumps(content, default=str))


def content_of(response: Any, takes: Takes) -> dict[str, Any] | None:
    """Return a response as it is sent, with its thoughts, files and signatures; None if nothing of it is sent."""
    parts = [written for _, written in _write_parts(response, takes)]
    return {"role": "model", "parts": parts} if parts else None


def parts_with(response: Any, became: Sequence[tuple[Part, Part | None]], takes: Takes) -> Iterator[Any]:
    """Yield the parts of a response with what is left of its texts, its thoughts and the arguments of its calls."""
    left = {id(part): pair for (part, _), pair in zip(_write_parts(response, takes), became, strict=True)}
    for part in response.parts:
        old, new = left.get(id(part), (None, part))
        if new is old or new is part:
            yield part
        elif isinstance(new, str):
            yield dataclasses.replace(part, content=new)
        elif isinstance(new, Call):
            yield dataclasses.replace(part, args=json.loads(new.arguments))


def _write_parts(response: Any, takes: Takes) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each sent part with its form in the request. The signature of a thought goes with the next part."""
    pending: str | None = None
    called = False
    for part in response.parts:
        details: dict[str, Any] = part.provider_details or {}
        own: str | None = details.get("thought_signature")
        signature = own if own and takes(response, part) else pending
        pending = None
        if part.part_kind == "thinking" and part.signature and takes(response, part):
            pending = part.signature
        if (written := _write_part(part)) is None:
            continue
        if part.part_kind == "tool-call":
            signature, called = signature or (None if called else _NO_SIGNATURE), True
        yield part, {**written, "thought_signature": signature} if signature else written


def _write_part(part: Any) -> dict[str, Any] | None:
    match part.part_kind:
        case "text":
            return {"text": part.content}
        case "thinking":
            return {"text": part.content, "thought": True} if part.content else None
        case "tool-call":
            return {"function_call": {"name": part.tool_name, "args": part.args_as_dict(), "id": part.tool_call_id}}
        case "file":
            return {"inline_data": {"data": part.content.base64, "mime_type": part.content.media_type}}
        case "builtin-tool-call":
            return _write_own_words(part.args_as_json_str())
        case "builtin-tool-return":
            return _write_own_words(part.model_response_str())
        case _:
            return None


def _write_own_words(text: str) -> dict[str, Any]:
    """Return words of a hosted tool as a part of the server's, to price them."""
    return {"code_execution_result": {"outcome": "OUTCOME_OK", "output": text}}
