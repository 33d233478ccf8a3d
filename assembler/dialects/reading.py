"""What every dialect does first with a request: find its messages, read them, and set the other keys apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from assembler.conversation.messages import Message, read_message
from assembler.errors import ConversationError


def listed_messages(request: Mapping[str, Any], expected: str) -> list[object]:
    """The entries under `messages`. Raises `ConversationError`, which names what was `expected`, for anything else."""
    listed = request.get("messages")
    if not isinstance(listed, list | tuple):
        raise ConversationError(f"request has no list of messages; expected {expected}")
    return [*cast("list[object]", listed)]


def read_messages(listed: Iterable[object]) -> list[Message]:
    """Each entry as a message. Raises `ConversationError` naming the place."""
    return [read_message(raw, index) for index, raw in enumerate(listed)]


def options_in(request: Mapping[str, Any], owned: Collection[str]) -> dict[str, Any]:
    """The keys of a request that belong to no region."""
    return {key: value for key, value in request.items() if key not in owned}


UNREADABLE = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)
"""What a dialect's code raises for a request whose fields are not what it expects."""


def unreadable(error: Exception) -> ConversationError:
    """What such an error says of the request: the missing key, or which function of the dialect could not go on.

    A key is named where the code itself spells it. Any other may be a text of the request, which no error quotes. To be
    raised outside of the `except`, as the first error may quote the request too.
    """
    from traceback import walk_tb  # most requests can be read

    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    function = next((code.co_name for code in reversed(codes) if not code.co_name.startswith("<")), "parse")
    missing: object = error.args[0] if isinstance(error, KeyError) and error.args else None
    if isinstance(missing, str) and missing in codes[-1].co_consts:
        return ConversationError(f"request cannot be read: {function}() finds no {missing!r} where the API has one")
    problem = f"{type(error).__name__} in {function}()"
    return ConversationError(f"request cannot be read ({problem}): its fields are not of the types that the API names")
