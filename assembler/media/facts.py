"""What is known of an image, a document, a sound: the input of every media price. Knows no price."""

from __future__ import annotations

import enum

import attrs


class Source(enum.Enum):
    """Where a part's content is."""

    INLINE = "in the part itself, as base64 or bytes"
    URL = "behind an address that nobody here opens"
    FILE = "in the provider's file store"
    TEXT = "in the part itself, as plain text or as parts of its own"
    UNKNOWN = "nowhere that this library looks"


@attrs.frozen(kw_only=True)
class MediaFacts:
    """Pixels, pages, seconds and bytes of one part; None for what its head does not tell and the caller did not say.

    `width` and `height` are as stored: a rotation in EXIF would swap them, and every price here is symmetric in them.
    """

    kind: str
    mime: str | None = None
    width: int | None = None
    height: int | None = None
    pages: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    source: Source = Source.UNKNOWN
    text: str | None = attrs.field(default=None, repr=False)
    """The text of a part that is plain text after all: it is priced as text."""

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height, where both are known."""
        return None if self.width is None or self.height is None else (self.width, self.height)
