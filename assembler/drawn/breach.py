"""The ways to break a request of any API.

A breach changes a fresh request whose last exchange makes at least one call and ends with its results.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from assembler.drawn.engine import DrawFn, st
from assembler.drawn.spelling import SPELLINGS, Request, Spelling, parts_of

Breach: TypeAlias = Callable[[DrawFn, Request], None]
"""Changes a request in place, so that it breaks one rule and no other."""


@functools.cache
def _load_spellings() -> Mapping[str, tuple[Spelling, ...]]:
    """The spellings by the key of their histories, which several APIs may share."""
    keys = {spelling.history for spelling in SPELLINGS.values()}
    return {key: tuple(each for each in SPELLINGS.values() if each.history == key) for key in keys}


def _find_spellings(request: Request) -> tuple[Spelling, ...]:
    return next(_load_spellings()[key] for key in request if key in _load_spellings())


def history_of(request: Request) -> list[Request]:
    """The messages, contents or items of a request: the list itself."""
    listed: list[Request] = request[_find_spellings(request)[0].history]
    return listed


def nothing_said(_draw: DrawFn, request: Request) -> None:
    """Empty the history."""
    history_of(request).clear()


def before_a_question(message: Request) -> Breach:
    """Insert a message before one of the user's own."""

    def breach(draw: DrawFn, request: Request) -> None:
        history_of(request).insert(draw(st.sampled_from(questions_in(request))), copy.deepcopy(message))

    return breach


def pinned(draw: DrawFn, request: Request) -> None:
    """Add a key that is meant for this library, not for the API."""
    history_of(request)[draw(st.sampled_from(questions_in(request)))]["pinned"] = True


def first(message: Request) -> Breach:
    """Insert a message at the front of the conversation, after the system messages."""

    def breach(_draw: DrawFn, request: Request) -> None:
        history_of(request).insert(questions_in(request)[0], copy.deepcopy(message))

    return breach


def last(*messages: Request) -> Breach:
    """Append messages."""
    return lambda _draw, request: history_of(request).extend(copy.deepcopy(messages))


def step_again(_draw: DrawFn, request: Request) -> None:
    """Repeat the last step, with its calls and its results."""
    history = history_of(request)
    history.extend(copy_value(history[-2:]))


def gone(word: str) -> Breach:
    """Remove a message that `pick` finds by this word."""

    def breach(draw: DrawFn, request: Request) -> None:
        del history_of(request)[pick(draw, request, word)]

    return breach


def doubled(word: str) -> Breach:
    """Repeat a message that `pick` finds by this word."""

    def breach(draw: DrawFn, request: Request) -> None:
        history, place = history_of(request), pick(draw, request, word)
        history.insert(place, copy_value(history[place]))

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
        keys = frozenset[str]().union(*(spelling.ids for spelling in _find_spellings(request)))

        def renamed(value: Any, key: str = "") -> Any:
            if isinstance(value, str):
                return new + value.removeprefix(old) if key in keys and value.startswith(old) else value
            return changed_inside(value, renamed)

        history[:] = renamed(history)

    return breach


def changed_inside(value: Any, change: Callable[[Any, str], Any]) -> Any:
    """A dict or a list with each value changed, which `change` gets with its key, or any other value itself."""
    if isinstance(value, dict):
        return {name: change(item, name) for name, item in cast("Request", value).items()}
    return [change(item, "") for item in cast("list[object]", value)] if isinstance(value, list) else value


def questions_in(request: Request) -> list[int]:
    """The places of the user's own messages in the history, as the spellings with its key declare them."""
    asks = [spelling.asks for spelling in _find_spellings(request)]
    return [place for place, message in enumerate(history_of(request)) if any(asked(message) for asked in asks)]


def pick(draw: DrawFn, request: Request, *words: str) -> int:
    """Draw the place of a message that has one of these keys, types or roles."""
    found = [place for place, message in enumerate(history_of(request)) if _speaks(message, words)]
    return draw(st.sampled_from(found))


def _speaks(message: Request, words: tuple[str, ...]) -> bool:
    if message.get("role") in words:
        return True
    return any(each.get("type") in words or any(word in each for word in words) for each in parts_of(message))


def copy_value(value: Any) -> Any:
    """A copy that shares nothing with the request."""
    return json.loads(json.dumps(value))
