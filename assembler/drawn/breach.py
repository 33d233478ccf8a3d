"""The ways to break a request of any API.

A breach changes a fresh request whose last exchange makes at least one call and ends with its results.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from assembler.drawn.engine import DrawFn, st
from assembler.drawn.spelling import SPELLINGS, Request

Breach: TypeAlias = Callable[[DrawFn, Request], None]
"""Changes a request in place, so that it breaks one rule and no other."""


@functools.cache
def _histories() -> frozenset[str]:
    return frozenset(spelling.history for spelling in SPELLINGS.values())


def history_of(request: Request) -> list[Request]:
    """The messages, contents or items of a request: the list itself."""
    return next(request[key] for key in request if key in _histories())


def nothing_said(_draw: DrawFn, request: Request) -> None:
    """Empty the history."""
    history_of(request).clear()


def before_a_question(message: Request) -> Breach:
    """Insert a message before one of the user's own."""

    def breach(draw: DrawFn, request: Request) -> None:
        history = history_of(request)
        places = [place for place, each in enumerate(history) if is_question(each)]
        history.insert(draw(st.sampled_from(places)), copy.deepcopy(message))

    return breach


def pinned(draw: DrawFn, request: Request) -> None:
    """Add a key that is meant for this library, not for the API."""
    questions = [message for message in history_of(request) if is_question(message)]
    draw(st.sampled_from(questions))["pinned"] = True


def first(message: Request) -> Breach:
    """Insert a message at the front of the conversation, after the system messages."""

    def breach(_draw: DrawFn, request: Request) -> None:
        history = history_of(request)
        head = next(place for place, each in enumerate(history) if each.get("role") != "system")
        history.insert(head, copy.deepcopy(message))

    return breach


def last(*messages: Request) -> Breach:
    """Append messages."""
    return lambda _draw, request: history_of(request).extend(copy.deepcopy(messages))


def step_again(_draw: DrawFn, request: Request) -> None:
    """Repeat the last step, with its calls and its results."""
    history = history_of(request)
    history.extend(same(history[-2:]))


def gone(word: str) -> Breach:
    """Remove a message that `pick` finds by this word."""

    def breach(draw: DrawFn, request: Request) -> None:
        del history_of(request)[pick(draw, request, word)]

    return breach


def doubled(word: str) -> Breach:
    """Repeat a message that `pick` finds by this word."""

    def breach(draw: DrawFn, request: Request) -> None:
        history, place = history_of(request), pick(draw, request, word)
        history.insert(place, same(history[place]))

    return breach


def changed(word: str, change: Callable[[Request], object]) -> Breach:
    """Change a message that `pick` finds by this word in place."""

    def breach(draw: DrawFn, request: Request) -> None:
        change(history_of(request)[pick(draw, request, word)])

    return breach


def without(key: str) -> Breach:
    """Remove a key of the request."""

    def breach(_draw: DrawFn, request: Request) -> None:
        del request[key]

    return breach


def with_ids(old: str, new: str) -> Breach:
    """Replace the prefix `old` of every id by `new`, in calls and answers."""

    def breach(_draw: DrawFn, request: Request) -> None:
        history = history_of(request)
        history[:] = _renamed(history, old, new)

    return breach


def _renamed(value: Any, old: str, new: str) -> Any:
    kind = cast("type[object]", type(value))
    if kind is dict:
        return {key: _renamed_id(key, item, old, new) for key, item in value.items()}
    return [_renamed(item, old, new) for item in value] if kind is list else value


def _renamed_id(key: str, value: Any, old: str, new: str) -> Any:
    if key in _ID_KEYS and isinstance(value, str) and value.startswith(old):
        return new + value.removeprefix(old)
    return _renamed(value, old, new)


_ID_KEYS = frozenset({"id", "tool_call_id", "tool_use_id", "toolUseId", "call_id"})
_RESULTS = ("tool_result", "toolResult", "function_response")


def is_question(message: Request) -> bool:
    """True if a message is the user's and holds no results."""
    if message.get("role") != "user":
        return False
    return not any(kind in block or block.get("type") == kind for block in _blocks(message) for kind in _RESULTS)


def pick(draw: DrawFn, request: Request, *words: str) -> int:
    """Draw the place of a message that has one of these keys, types or roles."""
    found = [place for place, message in enumerate(history_of(request)) if _speaks(message, words)]
    return draw(st.sampled_from(found))


def _speaks(message: Request, words: tuple[str, ...]) -> bool:
    if message.get("role") in words or message.get("type") in words or any(word in message for word in words):
        return True
    return any(block.get("type") in words or any(word in block for word in words) for block in _blocks(message))


def _blocks(message: Request) -> list[Request]:
    """Return the parts of a message that are objects; none if its content is a text."""
    parts: Any = message.get("content") or message.get("parts") or ()
    return [cast("Request", part) for part in parts if isinstance(part, dict)]


def same(value: Any) -> Any:
    """Return a copy that shares nothing with the request."""
    return json.loads(json.dumps(value))
