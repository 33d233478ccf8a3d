"""Reads the facts of a medium from a provider's own part.

It reads the parts of OpenAI (`image_url`, `input_image`, `input_audio`, `file`, `input_file`), Anthropic (`image`,
`document`), Gemini (`inline_data`, `file_data`), Mistral (`audio_url`, `document_url`), Bedrock Converse (`image`,
`document`, `video`, `audio`) and MCP (`data` with `mimeType`); API references read 2026-11.

If the content cannot be read, the caller may declare its size by keys beside the provider's own, on the outer dict:
`{"type": "image_url", "image_url": {"url": "https://…"}, "width": 1024, "height": 768}`, and likewise `pages` and
`seconds`. These keys are this library's own. The content itself takes precedence over them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import attrs

from assembler.conversation.messages.message import Media
from assembler.errors import ConversationError, MessageTypeError
from assembler.pricing.media.facts import LARGEST, MEASURES, MediaFacts, Source
from assembler.pricing.media.window import Base64Text, PlainBytes, Window
from assembler.text.fields import fields_in
from assembler.validation import must_be
from budgets.errors import named_type

_Raw: TypeAlias = Mapping[str, Any]

GIVEN = tuple(MEASURES)
"""The keys that the caller may add. A dialect must not send them."""


@attrs.frozen(repr=False)
class Found:
    """Where the content of a part is, and the type that the part states."""

    source: Source
    content: Window | None = None
    mime: str | None = None
    text: str | None = None
    address: str | None = None


def read_media(part: Media) -> MediaFacts:
    """The known facts of a part. Opens no URL and no file; decodes the first bytes of an image, all of a PDF or a text.

    Raises `ConversationError` for a `width`, `height`, `pages` or `seconds` that is not a number above 0, and
    `MessageTypeError` for anything but a media part.
    """
    must_be("part", cast(object, part), (Media,), "a Media part", MessageTypeError)
    given = _read_given(part.raw)
    found = find_content(part.raw)
    content, mime = found.content, found.mime
    if content is None:
        return MediaFacts(kind=part.kind, mime=mime, source=found.source, text=found.text, **given)
    if mime is not None and _is_text(mime):
        text = content.at(0, len(content)).decode(errors="replace")
        return MediaFacts(kind=part.kind, mime=mime, bytes=len(content), source=found.source, text=text, **given)
    betrayed, measured = _measure(content, mime)
    known = {key: value for key, value in measured.items() if value is not None}
    return MediaFacts(
        kind=part.kind, mime=betrayed or mime, bytes=len(content), source=found.source, **{**given, **known}
    )


def _measure(content: Window, mime: str | None) -> tuple[str | None, dict[str, Any]]:
    """The type of a content if it shows, and its size, pages or seconds if they can be read."""
    from assembler.pricing.media.pdf import pdf_pages  # few requests hold a medium
    from assembler.pricing.media.pixels import image_size
    from assembler.pricing.media.seconds import mp4_seconds, wav_seconds

    image, size = image_size(content)
    if size is not None:
        return image, {"width": size[0], "height": size[1]}
    if content.at(0, 5) == b"%PDF-" or mime == "application/pdf":
        return "application/pdf", {"pages": pdf_pages(content.at(0, len(content)))}
    if (seconds := wav_seconds(content)) is not None:
        return "audio/wav", {"seconds": seconds}
    return image, {"seconds": mp4_seconds(content)}


def _is_text(mime: str) -> bool:
    return mime.startswith("text/") or mime in _TEXTS


_TEXTS = frozenset(
    f"application/{name}"
    for name in ("javascript", "json", "x-javascript", "x-ndjson", "x-python", "x-yaml", "xml", "yaml")
)
"""The types of texts whose names do not begin with `text/`."""


def _read_given(raw: _Raw) -> dict[str, Any]:
    """The numbers that the caller declared, checked."""
    given: dict[str, Any] = {}
    for key, holds in MEASURES.items():
        value: object = raw.get(key)
        if value is None:
            continue
        if not holds(value) or value == 0:
            raise ConversationError(
                f"{key} of a media part must be a number above 0 and at most {LARGEST}, got {named_type(value)}"
            )
        given[key] = value
    return given


def find_content(raw: _Raw) -> Found:
    """The content of a part, from the first of the known keys that it has."""
    for key, reader in _PLACES:
        inner: object = raw.get(key)
        if inner is not None:
            return reader(raw, inner)
    return Found(Source.UNKNOWN)


def _read_address(address: object, mime: str | None = None) -> Found:
    """A URL, with its content if it is a data URL."""
    if not isinstance(address, str):
        return Found(Source.UNKNOWN, mime=mime)
    if address[:5].lower() != "data:":
        return Found(Source.URL, mime=mime, address=address)
    head, comma, body = address.partition(",")
    named = head[5:].partition(";")[0].lower() or mime
    if not comma or not head.lower().endswith(";base64"):
        return Found(Source.UNKNOWN, mime=named)
    return Found(Source.INLINE, Base64Text.of(body), named)


def _read_data(data: object, mime: object) -> Found:
    """Base64 or bytes, or a URL in their place, recognised by its colon."""
    named = mime.lower() if isinstance(mime, str) else None
    if isinstance(data, str):
        return _read_address(data, named) if ":" in data[:12] else Found(Source.INLINE, Base64Text.of(data), named)
    if isinstance(data, bytes | bytearray | memoryview):
        return Found(Source.INLINE, PlainBytes(bytes(cast(bytes, data))), named)
    return Found(Source.UNKNOWN, mime=named)


def _read_openai_url(raw: _Raw, inner: object) -> Found:
    """`image_url`: an object with `url` (Chat Completions), or the URL itself (Responses, Mistral)."""
    return _read_address(inner if isinstance(inner, str) else fields_in(inner).get("url"))


def _read_url(raw: _Raw, inner: object) -> Found:
    return _read_address(inner)


def _read_stored(raw: _Raw, inner: object) -> Found:
    return Found(Source.FILE)


def _read_openai_audio(raw: _Raw, inner: object) -> Found:
    """OpenAI's object with data and format, or Mistral's base64 or URL."""
    if isinstance(inner, str):
        return _read_data(inner, None)
    audio = fields_in(inner)
    form: object = audio.get("format")
    return _read_data(audio.get("data"), f"audio/{form}" if isinstance(form, str) else None)


def _read_openai_file(raw: _Raw, inner: object) -> Found:
    file = fields_in(inner)
    return _read_file_data(file, file["file_data"]) if "file_data" in file else Found(Source.FILE)


def _read_file_data(raw: _Raw, inner: object) -> Found:
    """OpenAI's `file_data`: a data URL, or base64 whose type only the file name tells. Gemini's is an object."""
    if not isinstance(inner, str | bytes):
        return _read_gemini_file(raw, inner)
    name: object = raw.get("filename")
    named = (mime for end, mime in _DOCUMENTS.items() if isinstance(name, str) and name.lower().endswith(end))
    return _read_data(inner, next(named, None))


def _read_source(raw: _Raw, inner: object) -> Found:
    """Anthropic's `source`, and Bedrock's inside `image`, `document` or `video`."""
    source = fields_in(inner)
    mime: object = source.get("media_type")
    named = mime if isinstance(mime, str) else None
    if source.get("type") == "text" or isinstance(source.get("text"), str):
        text: object = source.get("text", source.get("data"))
        return Found(Source.TEXT, mime=named or "text/plain", text=text if isinstance(text, str) else None)
    if "content" in source:
        return Found(Source.TEXT, mime=named)
    for key in ("data", "bytes"):
        if key in source:
            return _read_data(source[key], named)
    if "url" in source:
        return _read_address(source["url"], named)
    return Found(Source.FILE if "file_id" in source or "s3Location" in source else Source.UNKNOWN, mime=named)


def _read_bedrock(raw: _Raw, inner: object) -> Found:
    block = fields_in(inner)
    form: object = block.get("format")
    found = _read_source(raw, block.get("source"))
    named = _BEDROCK_MIME.get(form) if isinstance(form, str) else None
    return attrs.evolve(found, mime=found.mime or named)


def _read_gemini_inline(raw: _Raw, inner: object) -> Found:
    blob = fields_in(inner)
    return _read_data(blob.get("data"), blob.get("mime_type", blob.get("mimeType")))


def _read_gemini_file(raw: _Raw, inner: object) -> Found:
    blob = fields_in(inner)
    mime: object = blob.get("mime_type", blob.get("mimeType"))
    return Found(Source.FILE, mime=mime if isinstance(mime, str) else None)


def _read_mcp(raw: _Raw, inner: object) -> Found:
    return _read_data(inner, raw.get("mimeType", raw.get("mime_type", raw.get("media_type"))))


_DOCUMENTS: Mapping[str, str] = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".txt": "text/plain",
    ".xml": "text/xml",
}
"""The types of documents by the end of their name."""

_BEDROCK_MIME: Mapping[str, str] = {
    **{name: f"image/{name}" for name in ("png", "jpeg", "gif", "webp")},
    **{name: f"video/{name}" for name in ("mp4", "mov", "mkv", "webm")},
    **{name[1:]: mime for name, mime in _DOCUMENTS.items()},
}

# Specific keys first: `source` and `data` are in the parts of several providers.
_PLACES: tuple[tuple[str, Callable[[_Raw, object], Found]], ...] = (
    ("image_url", _read_openai_url),
    ("input_audio", _read_openai_audio),
    ("audio_url", _read_openai_url),
    ("video_url", _read_openai_url),
    ("document_url", _read_url),
    ("file_data", _read_file_data),
    ("file_url", _read_url),
    ("file", _read_openai_file),
    ("inline_data", _read_gemini_inline),
    ("inlineData", _read_gemini_inline),
    ("fileData", _read_gemini_file),
    ("source", _read_source),
    ("image", _read_bedrock),
    ("document", _read_bedrock),
    ("video", _read_bedrock),
    ("audio", _read_bedrock),
    ("data", _read_mcp),
    ("base64", _read_mcp),
    ("url", _read_url),
    ("file_id", _read_stored),
)
