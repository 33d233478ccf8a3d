"""The facts about a medium on which its price depends."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from assembler.errors import ConversationError
from budgets.errors import named_type


class Source(enum.Enum):
    """Where a part's content is."""

    INLINE = "in the part itself, as base64 or bytes"
    URL = "at a URL, which is not opened"
    FILE = "in the provider's file store"
    TEXT = "in the part itself, as plain text or as parts of its own"
    UNKNOWN = "not found in the part"


LARGEST = 1 << 32
"""The largest width, height, length or number of pages that any of these file formats can state."""


def is_size(value: object) -> bool:
    """Whether a value is a number of pixels or pages: a whole number from 0 to `LARGEST`."""
    return isinstance(value, int) and is_length(value)


def is_length(value: object) -> bool:
    """Whether a value is a number of seconds: from 0 to `LARGEST`."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST  # NaN is not


MEASURES: Mapping[str, Callable[[object], bool]] = {
    "width": is_size,
    "height": is_size,
    "pages": is_size,
    "seconds": is_length,
}
"""The facts that a caller may declare, and a check for each."""


def _measure(_facts: MediaFacts, field: attrs.Attribute[Any], value: object) -> None:
    if value is not None and not MEASURES[field.name](value):
        raise ConversationError(
            f"{field.name} of a medium must be a number from 0 to {LARGEST}, {_name_wrong_value(value)}"
        )


def _name_wrong_value(value: object) -> str:
    return f"got {named_type(value)}" + (" beyond that" if isinstance(value, int | float) else "")


@attrs.frozen(kw_only=True)
class MediaFacts:
    """Pixels, pages, seconds and bytes of one part; None for what is neither in its head nor declared by the caller.

    `width` and `height` are as stored. A rotation in EXIF would swap them, but all prices here are symmetric.
    """

    kind: str
    mime: str | None = None
    width: int | None = attrs.field(default=None, validator=_measure)
    height: int | None = attrs.field(default=None, validator=_measure)
    pages: int | None = attrs.field(default=None, validator=_measure)
    seconds: float | None = attrs.field(default=None, validator=_measure)
    bytes: int | None = None
    source: Source = Source.UNKNOWN
    text: str | None = attrs.field(default=None, repr=False)
    """The text of a part that is a text of any type, which is priced as text."""

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height, or None unless both are known."""
        return None if self.width is None or self.height is None else (self.width, self.height)
