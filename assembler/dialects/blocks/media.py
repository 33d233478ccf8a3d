"""Reads the content of an image or a document in any API's form, so that another API's writer can write it.

It reads the forms that `assembler.pricing.media` reads. Nothing is fetched: a URL moves only to an API that takes URLs,
and a provider's stored file does not move.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
from collections.abc import Mapping
from typing import Any

import attrs

from assembler.conversation.messages import Media, Opaque
from assembler.dialects.writing.fields import own_fields
from assembler.errors import UnsupportedContentError
from assembler.pricing.media.reading import GIVEN, find_content, read_media

IMAGES = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
"""The image types that Anthropic and Bedrock accept, and Bedrock's names for them (API references, read 2026-11)."""
PDF = "application/pdf"


@attrs.frozen(repr=False)
class Inline:
    """Content in the part itself, as base64."""

    mime: str
    data: str

    @property
    def octets(self) -> bytes:
        """The decoded content. Raises `UnsupportedContentError` for invalid base64."""
        with contextlib.suppress(binascii.Error, ValueError):
            return base64.b64decode(self.data, validate=False)
        # Raised outside of the except, so that the codec's error, which holds the data, is not its context.
        raise UnsupportedContentError("a media part whose data is not base64; encode it again", kind=self.mime)


@attrs.frozen(repr=False)
class Link:
    """Content behind a URL."""

    url: str


def content_of(part: Media) -> Inline | Link | None:
    """A part's content or link; None for a provider's stored file, or text."""
    found = find_content(part.raw)
    if found.address is not None and "://" in found.address[:12]:
        return Link(found.address)
    mime = read_media(part).mime
    return None if mime is None or found.content is None else Inline(mime, found.content.as_base64())


def without_given(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a part without the keys by which callers give its size."""
    return {key: value for key, value in own_fields(raw).items() if key not in GIVEN}


def not_carried(part: Media | Opaque, dialect: str) -> UnsupportedContentError:
    """The error for a part that the API cannot carry in this form."""
    return UnsupportedContentError(
        f"{dialect} cannot carry a part of kind {part.kind!r} in this spelling; pass it as that API spells it, "
        "or leave it out",
        kind=part.kind,
    )


def not_a_text(kind: str) -> UnsupportedContentError:
    """The error for a system message that holds anything but text."""
    return UnsupportedContentError(
        f"a system message holds a part of kind {kind!r}; the API takes text there", kind=kind
    )
