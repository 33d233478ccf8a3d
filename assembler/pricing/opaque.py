"""Prices a part that this library does not know: counts its words, and estimates its encrypted content.

No provider publishes what a server's own item or block costs when it is sent back. The model sees its words in some
form but never its ids; encrypted content is decrypted first, and images are billed as images. So every such price is an
estimate. Its bound is the whole JSON, one token for every two encrypted bytes, and the most expensive image.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.message import Media, Message, Opaque, Part, Result
from assembler.conversation.messages.parts import compact_json
from assembler.conversation.messages.stray_cache_marks import MARK_KEYS
from assembler.pricing.media.lengths import DEAREST_AUDIO, price_audio, price_video
from assembler.pricing.media.reading import read_media
from assembler.text.fields import fields_of, texts_in
from budgets.count import NOTHING, Count, Grade, TokenCounter, Tokens, total

__all__ = [
    "OpaqueWords",
    "add_words",
    "is_audio_or_video",
    "is_measured",
    "missing_length",
    "price_beside_words",
    "price_lasting",
    "price_opaque",
    "price_pages",
    "price_unread_parts",
    "read_opaque",
    "sealed_tokens",
]

_Raw: TypeAlias = Mapping[str, Any]

SEAL_BYTES_PER_TOKEN = (4, 2)
"""Encrypted bytes per token, typically and at least: the lengths of English in o200k_base. Base64 carries three bytes
in four characters, and the plain text is never longer than its encryption."""

PICTURE = Count(1_600, Grade.ESTIMATED, upper=6_500)
"""An image inside a part: about Claude's ceiling and most of OpenAI's tiles. The bound is four times that."""

PAGE = Count(3_000, Grade.ESTIMATED, upper=8_000)
"""A page of a PDF inside a part: its text and its image (Anthropic, "PDF support": 1,500 to 3,000 of text)."""

FRAMING: Tokens = 60
"""Part of the bound, for what a server writes around a part."""

REFERENCED = Count(250, Grade.ESTIMATED, upper=4_000)
"""A reference to a stored item: a guess, since the item is not in the request."""

_HIDDEN = frozenset(
    [
        *("id", "call_id", "tool_use_id", "container_id", "file_id", "approval_request_id", "fingerprint"),
        *("status", "type", "signature", "thought_signature", "thoughtSignature"),
    ]
)
"""Keys whose values no model sees. They only count towards the bound."""

_SEALED = frozenset(["encrypted_content", "encrypted_index", "encrypted_stdout", "redactedContent"])
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{200,}={0,2}")
"""No language has a word of 200 letters, so this is not text."""
_READ = frozenset(["code", "logs", "output", "stdErr", "stdOut", "stderr", "stdout", "text"])
"""Keys whose text a model reads, even if it is base64 that a program has printed."""

_REFERENCES = frozenset(["item_reference"])
_LASTING = ("audio", "video")
"""Blocks of Bedrock that are billed by their seconds."""
_LINKED = "document_url"
"""Mistral's chunk for a document by URL, data URLs included. It is billed by its pages."""
WINDOW_OF_MISTRAL: Tokens = 262_144
"""The largest window of its models (Mistral, "Known limitations", read 2026-11), which bounds a document by URL."""


@attrs.define
class _Findings:
    """What the walk over a part has found so far."""

    sealed: int = 0
    """Characters of encrypted text in base64."""
    hidden: int = 0
    """Characters that no model sees."""
    pictures: int = 0
    documents: Count = NOTHING


@attrs.frozen
class OpaqueWords:
    """The words of a part that a model may see, and a price for everything else in it."""

    text: str = attrs.field(repr=False)
    beyond: Count


def read_opaque(part: Opaque) -> OpaqueWords:
    """The words of a part as JSON, and a price for its ids, encrypted texts and media. O(its values)."""
    if part.kind in _REFERENCES:
        return OpaqueWords("", REFERENCED)
    if is_audio_or_video(part):
        return OpaqueWords("", _price_length(part))
    if part.kind == _LINKED:
        return OpaqueWords("", price_pages(part))
    found = _Findings()
    shown = _remove_unread(part.raw, found)
    typical, most = sealed_tokens(found.sealed)
    typical += PICTURE.tokens * found.pictures + found.documents.tokens
    most += PICTURE.upper * found.pictures + found.documents.upper
    beyond = Count(typical, Grade.ESTIMATED, upper=most + found.hidden + FRAMING)
    return OpaqueWords(compact_json(shown) if shown else "", beyond)


def sealed_tokens(characters: int) -> tuple[Tokens, Tokens]:
    """The tokens of an encrypted text of so many characters in base64, typically and at most."""
    octets = characters * 3 // 4
    return octets // SEAL_BYTES_PER_TOKEN[0], octets // SEAL_BYTES_PER_TOKEN[1]


def is_audio_or_video(part: Opaque) -> bool:
    """Whether this is an audio or video block of Bedrock."""
    return part.kind in _LASTING and isinstance(part.raw.get(part.kind), Mapping)


def is_measured(part: object) -> bool:
    """Whether this is a medium, whose size the caller may declare."""
    return isinstance(part, Media) or (isinstance(part, Opaque) and (part.kind == _LINKED or is_audio_or_video(part)))


def missing_length(part: object) -> str | None:
    """The key for the length of a medium that is neither in its content nor declared; None for all other parts."""
    if not isinstance(part, Media | Opaque) or not is_measured(part):
        return None
    kind = "document" if part.kind == _LINKED else part.kind
    key = _LENGTHS.get(kind)
    facts = read_media(Media(kind, part.raw))
    return key if key is not None and facts.text is None and getattr(facts, key) is None else None


_LENGTHS = {"document": "pages", "audio": "seconds", "video": "seconds"}
"""The keys by which callers declare the length of a medium. An image needs none: its dearest size is cheap."""


def price_pages(part: Media | Opaque) -> Count:
    """The price of a Mistral document by its pages: counted, declared by the caller, or else bounded by the window."""
    return _price_document(part.raw, WINDOW_OF_MISTRAL)


def _price_document(raw: _Raw, window: Tokens | None = None) -> Count:
    from assembler.pricing.media import unseen  # for documents alone

    return unseen.price_pages(read_media(Media("document", raw)), PAGE, window or unseen.LARGEST_WINDOW)


def _price_length(part: Opaque) -> Count:
    facts = read_media(Media(part.kind, part.raw))
    return price_video(facts) if part.kind == "video" else price_audio(facts, DEAREST_AUDIO)


def price_lasting(parts: Sequence[Part]) -> Count:
    """The price of Bedrock's audio and video among these parts, including those in results. O(parts)."""
    inner = [held for part in parts for held in (part.parts if isinstance(part, Result) else (part,))]
    return total(_price_length(part) for part in inner if isinstance(part, Opaque) and is_audio_or_video(part))


def add_words(part: Opaque, texts: list[str]) -> Count:
    """Append the words of a part to `texts`, and return the price of everything else in it. Skips a cache mark."""
    if is_mark(part):
        return NOTHING
    found = read_opaque(part)
    texts.append(found.text)
    return found.beyond


def price_opaque(part: Opaque, count: TokenCounter) -> Count:
    """The price of a part that is sent unchanged: an estimate, bounded for any spelling a server may use."""
    found = read_opaque(part)
    tokens = count(found.text) if found.text else 0
    return Count(tokens, upper=tokens + tokens // 4) + found.beyond


def price_unread_parts(message: Message, count: TokenCounter) -> Count:
    """The price of the parts of a system message that are not read, and that its API is sent as they came. O(parts)."""
    return total(price_opaque(part, count) for part in message.parts if isinstance(part, Opaque) and not is_mark(part))


def price_beside_words(parts: Sequence[Part], count: TokenCounter) -> Count:
    """The price of what is sent of these parts to their own API beside the words that another maker's list prices.

    A part without words has a price of its own, and other texts in it are in the bound. O(values).
    """
    return total(_price_beside_words(part, count) for part in parts if isinstance(part, Opaque))


def _price_beside_words(part: Opaque, count: TokenCounter) -> Count:
    from assembler.conversation.messages.part_as_text import text_for_other_apis  # few requests hold such parts
    from assembler.pricing.unread_keys import bound_of_texts

    if is_mark(part) or is_audio_or_video(part):
        return NOTHING
    words = text_for_other_apis(part)
    return (
        price_opaque(part, count) if words is None else bound_of_texts(t for t in texts_in(part.raw) if t not in words)
    )


def _remove_unread(value: object, found: _Findings) -> Any:
    """The value without what no model reads as text, which is recorded in `found`."""
    match value:
        case Mapping():
            return _remove_unread_fields(cast(_Raw, value), found)
        case str():
            return _remove_unread_text(value, found)
        case bytes():
            found.sealed += len(value) * 4 // 3
            return ""
        case Sequence():
            kept = [_remove_unread(item, found) for item in cast("Sequence[object]", value)]
            return [item for item in kept if item not in ("", None, {}, [])]
        case _:
            return value


def _remove_unread_fields(fields: _Raw, found: _Findings) -> dict[str, Any]:
    if _is_medium(fields):
        _count_medium(fields, found)
        return {}
    shown: dict[str, Any] = {}
    for key, held in fields.items():
        if key in MARK_KEYS:  # where to cache is never in the prompt
            continue
        if key == "image" and "source" in (fields_of(held) or ()):  # as Converse has it in a block of its own
            found.pictures += 1
        elif isinstance(held, str) and key in _SEALED:
            found.sealed += len(held)
        elif isinstance(held, str) and key in _HIDDEN:
            found.hidden += len(held) // 2 if _BASE64.fullmatch(held) else len(held)
        elif isinstance(held, str) and key in _READ and not held.startswith("data:"):
            shown |= {key: held} if held else {}
        elif (kept := _remove_unread(held, found)) not in ("", None, {}, []):
            shown[key] = kept
    return shown


def _remove_unread_text(text: str, found: _Findings) -> str:
    if text.startswith("data:"):
        found.pictures += 1
        return ""
    if _BASE64.fullmatch(text):
        found.sealed += len(text)
        return ""
    return text


def _is_medium(fields: _Raw) -> bool:
    """Whether this is an image or a document, with its content or by URL or file id; a text document is not."""
    source = fields_of(fields.get("source"))
    if source is None or fields.get("type") not in ("image", "document"):
        return False
    return source.get("type") not in ("text", "content")


def _count_medium(fields: _Raw, found: _Findings) -> None:
    if fields["type"] == "image":
        found.pictures += 1
        return
    found.documents += _price_document(fields)
