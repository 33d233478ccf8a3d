"""Whether a message can be sent at all: JSON's own types, finite numbers, text that UTF-8 carries. Reads no meaning."""

from __future__ import annotations

import math

from assembler.errors import ConversationError
from assembler.text import refuse_surrogates

_LEAVES = (bool, int, type(None))
_MEDIA = (*_LEAVES, bytes)
"""Inside content bytes may stand: Bedrock's and Gemini's media, which their clients encode."""


def refuse_unsendable(fields: dict[str, object], *, index: int) -> None:
    """Raise `ConversationError`, or `MarkupError` for a lone surrogate, at the first value that no request can hold.

    O(values), without recursion.
    """
    content = {key: value for key, value in fields.items() if key in ("content", "parts")}
    _walk({key: value for key, value in fields.items() if key not in content}, _LEAVES, index)
    _walk(content, _MEDIA, index)


def _walk(fields: dict[str, object], leaves: tuple[type, ...], index: int) -> None:
    waiting: list[object] = [fields]
    while waiting:
        value = waiting.pop()
        kind: type[object] = type(value)
        if isinstance(value, str):
            if not value.isascii():
                refuse_surrogates(value, field=f"conversation[{index}]")
        elif isinstance(value, dict):
            waiting.extend(value)  # pyright: ignore[reportUnknownArgumentType]
            waiting.extend(value.values())  # pyright: ignore[reportUnknownArgumentType]
            if not all(isinstance(key, str) for key in value):  # pyright: ignore[reportUnknownVariableType]
                raise ConversationError("a key in the message is no text; JSON takes no other", index=index)
        elif isinstance(value, list | tuple):
            waiting.extend(value)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise ConversationError("a number in the message is not finite; JSON has no word for it", index=index)
        elif not isinstance(value, leaves):
            raise ConversationError(
                f"the message holds a {kind.__name__}, which JSON cannot carry; pass plain data", index=index
            )
