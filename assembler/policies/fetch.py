"""`Fetch`: the tool with which a model reads a stored result back, in whole or in part."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, ClassVar, cast

import attrs

from assembler.validation import wrong
from budgets import BudgetError

FETCH = "fetch_result"
"""The name of the tool, by which its results are recognised."""

MOST_PLACES = 20
"""The most places that one search shows."""
_CHARACTERS_AROUND = 200
"""Characters that a search shows on each side of a match."""

_ID_ONLY: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "The id that stands in place of the result"},
        "start": {"type": "integer", "description": "First character to give back, counted from 0"},
        "stop": {"type": "integer", "description": "The character before which to stop"},
        "search": {"type": "string", "description": "Give back only the places that hold this text"},
    },
    "required": ["id"],
}


def a_store(owner: object, field: attrs.Attribute[Any], value: object) -> None:
    """A mapping that can be written to: a dict, one over sqlite, any `MutableMapping`."""
    if not isinstance(value, MutableMapping):
        raise BudgetError(wrong(f"{type(owner).__name__}.{field.name}", "a dict or another MutableMapping", value))


@attrs.frozen
class Fetch:
    """The tool `fetch_result` over a store: pass it to `set_tools`, and call it with the model's arguments.

    It always answers with text. If there is nothing to find, the text says so, and the loop continues.
    """

    store: MutableMapping[str, str] = attrs.field(validator=a_store, eq=id, repr=False)
    name: ClassVar[str] = FETCH
    description: ClassVar[str] = (
        "Gives back a tool result that was stored under an id: all of it, the characters from start to stop, "
        "or the places that hold a text."
    )
    parameters: ClassVar[Mapping[str, Any]] = _ID_ONLY

    def __call__(self, id: str, start: int | None = None, stop: int | None = None, search: str | None = None) -> str:
        """The stored text, its characters from `start` to before `stop`, or the places that contain `search`.

        A search ignores case. It shows the first 20 places, each with its position and 200 characters on either side.
        O(characters).
        """
        body = self.store.get(id) if isinstance(cast("object", id), str) else None
        if body is None:
            return "No result is stored under this id."
        first = _read_place(start, 0, len(body))
        part = body[first : _read_place(stop, len(body), len(body))]
        if not isinstance(cast("object", search), str) or not search:
            return part
        return _search_text(part, search, first) or f"None of these {len(part):,} characters hold this text."


def _read_place(given: object, otherwise: int, most: int) -> int:
    """The beginning or end of a range. Models pass numbers as texts, and numbers beyond the text."""
    try:
        return otherwise if given is None else min(max(int(cast("int", given)), 0), most)
    except (TypeError, ValueError, OverflowError):
        return otherwise


def _search_text(text: str, search: str, offset: int) -> str:
    sought, shown, end = re.compile(re.escape(search), re.IGNORECASE), list[str](), 0
    while len(shown) < MOST_PLACES and (place := sought.search(text, end)) is not None:  # behind what is shown already
        start, end = max(place.start() - _CHARACTERS_AROUND, end), place.end() + _CHARACTERS_AROUND
        shown.append(f"[from {offset + start}] {text[start:end]}")
    return "\n".join(shown)
