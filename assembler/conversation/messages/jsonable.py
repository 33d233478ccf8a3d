"""Copies a message and checks that it can be sent: JSON's own types, finite numbers, text that UTF-8 can encode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from assembler.errors import ConversationError
from assembler.text.checked import checked_text
from budgets.errors import named_type

Keys: TypeAlias = frozenset[str]

_LEAVES = (bool, int, type(None))
_UNPRINTABLE = 10**640
"""`sys.int_info.str_digits_check_threshold`: every interpreter prints shorter numbers, however it is configured."""
_CONTENT = ("content", "parts")
_NO_KEYS: Keys = frozenset()
_SIGNATURES: Keys = frozenset(["signature", "thoughtSignature", "thought_signature"])
"""The fields that may hold bytes in a part with a type. The clients of its API do not encode them in any other."""
_ENCODED: Keys = frozenset(["bytes", "data", "redactedContent", *_SIGNATURES])
"""The fields of Bedrock's and Gemini's parts, which have no type, that may hold bytes. Their clients encode them."""


DEEPEST = 200
"""Our own limit for nested lists and dicts: far above the arguments of any tool, and low enough that comparing, copying
or pickling a message never reaches Python's limit of 1,000 frames."""


MOST = 1_000_000
"""Our own limit for the values in a message's lists and dicts. One that is held twice is sent twice, so forty of them
may stand for more values than a memory holds."""


def sendable_copy(fields: Mapping[str, Any], *, index: int) -> dict[str, Any]:
    """An equal copy of a message's fields that shares no list and no dict with them.

    Its texts and numbers are of Python's own types, because a subclass may have a method that lies or raises.

    Raises `ConversationError` for a value that JSON cannot express, for fields nested deeper than `DEEPEST` and for
    more than `MOST` values, and `MarkupError` for a lone surrogate. O(values), in one pass.
    """
    try:
        return _copy_dict(fields, index, _NO_KEYS, _ENCODED, DEEPEST, [MOST])
    except RecursionError:
        raise ConversationError("message is nested too deeply to be JSON", index=index) from None


def _copy_dict(
    fields: Mapping[str, Any], index: int, encoded: Keys, in_content: Keys, depth: int, allowance: list[int]
) -> dict[str, Any]:
    if not depth:
        raise RecursionError
    allowance[0] -= len(fields)
    if allowance[0] < 0:
        raise _make_size_error(index)
    copy = dict(fields)
    plain = True
    for key, value in copy.items():
        # Keys and most values are ASCII texts. Skipping them without a call halves the time.
        if type(key) is not str or not key.isascii():
            _check_key(key, index)
            plain = plain and type(key) is str
        if value is None or (type(value) is str and value.isascii()):
            continue
        allowed = in_content if key in _CONTENT else encoded
        if type(value) is bytes and key in allowed:
            continue
        if type(value) is dict:
            copy[key] = _copy_dict(value, index, allowed, allowed, depth - 1, allowance)  # pyright: ignore[reportUnknownArgumentType]
        else:
            copy[key] = _copy_value(value, index, allowed, depth - 1, allowance)
    return copy if plain else {str.__str__(key): value for key, value in copy.items()}


def _make_size_error(index: int) -> ConversationError:
    return ConversationError(
        f"the message holds more than {MOST} values; what a list or dict holds several times is sent several times",
        index=index,
    )


def _copy_value(value: Any, index: int, encoded: Keys, depth: int, allowance: list[int]) -> Any:
    if isinstance(value, dict):
        return _copy_dict(cast("dict[str, Any]", value), index, encoded, encoded, depth, allowance)
    if isinstance(value, list | tuple):
        if not depth:
            raise RecursionError
        items = cast("list[object] | tuple[object, ...]", value)
        allowance[0] -= len(items)
        if allowance[0] < 0:
            raise _make_size_error(index)
        copies = [
            _copy_item(item, index, encoded, depth - 1, allowance)  # pyright: ignore[reportUnknownArgumentType]
            if type(item) is dict
            else _copy_value(item, index, encoded, depth - 1, allowance)
            for item in items
        ]
        return copies if isinstance(value, list) else tuple(copies)
    if isinstance(value, str):
        return checked_text(value, field=f"conversation[{index}]")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ConversationError("a number in the message is not finite, which JSON cannot express", index=index)
        return float.__float__(value)  # a numpy float compares with a list item by item
    if isinstance(value, bytes):
        raise ConversationError(
            "the message holds bytes where its API takes none; give their base64 as a text", index=index
        )
    if not isinstance(value, _LEAVES):
        raise ConversationError(
            f"the message holds {named_type(value)}, which JSON cannot carry; pass plain data, or register_reader "
            "for a message class of your own",
            index=index,
        )
    if isinstance(value, int) and type(value) is not bool:
        number = int.__int__(value)
        if not -_UNPRINTABLE < number < _UNPRINTABLE:
            raise ConversationError("a number in the message has more digits than Python writes as JSON", index=index)
        return number
    return value


def _copy_item(item: dict[str, Any], index: int, encoded: Keys, depth: int, allowance: list[int]) -> dict[str, Any]:
    """Copy a part, or another dict in a list."""
    if encoded and type(item.get("type")) is str:
        encoded = _SIGNATURES
    return _copy_dict(item, index, encoded, encoded, depth, allowance)


def _check_key(key: object, index: int) -> None:
    if not isinstance(key, str):
        raise ConversationError("a key in the message is not a text, as JSON requires", index=index)
    checked_text(key, field=f"conversation[{index}]")
