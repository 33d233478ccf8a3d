"""What a spelling of message dicts declares: how it is recognised, read, edited and answered.

A line in `spellings.pyi` declares one that several APIs share. An API's own is `SPELLING` in the `messages.py` of its
dialect's folder, and its shape is the dialect's name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from assembler.conversation.messages.message import Call, Message, Part
from budgets.lazy_names import FromFolders, in_order


@attrs.frozen(kw_only=True)
class DictSpelling:
    """One spelling of message dicts. Dicts of no declared spelling are read by their `role` and `content`."""

    shape: str
    """The `Message.shape` that `read` gives. A dialect with this shape may send `Message.seen` unchanged."""
    recognises: Callable[[Mapping[str, Any]], bool]
    """Whether a dict is in this spelling. A dict with a role and a text as `content` is never tried."""
    read: Callable[[Mapping[str, Any], int], Message]
    """The message of such a dict; the number is its index. Raises `ConversationError` if it is malformed."""
    edit: Callable[[dict[str, Any], Sequence[Part], Sequence[Part | None]], Sequence[Part | None]]
    """Change a dict that has these parts to hold the new ones. Returns the parts as the API reads them back."""
    answer: Callable[[Call, Message, str], dict[str, Any]]
    """A new message whose text is the result of a call in that message."""


@functools.cache
def _load_spellings() -> tuple[DictSpelling, ...]:
    from assembler.conversation.messages import spellings  # it imports this module

    return (*in_order(spellings),)


_OF_DIALECTS: Mapping[str, DictSpelling] = FromFolders("assembler.dialects", "messages", "SPELLING")


def spelling_of(fields: Mapping[str, Any]) -> DictSpelling | None:
    """The declared spelling of a dict: the first that recognises it. None for a role and a content."""
    return next((each for each in _load_spellings() if each.recognises(fields)), None)


def spelling_of_dialect(fields: Mapping[str, Any]) -> DictSpelling | None:
    """The spelling of a dict without a usual role: the first in a dialect's folder that recognises it. O(dialects)."""
    return next((each for each in _OF_DIALECTS.values() if each.recognises(fields)), None)


def spelling_with(shape: str) -> DictSpelling | None:
    """The spelling whose messages have this shape, or None."""
    declared = next((each for each in _load_spellings() if each.shape == shape), None)
    return declared or _OF_DIALECTS.get(shape)
