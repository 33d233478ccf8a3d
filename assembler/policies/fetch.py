"""The tool by which a model gets back what was put into a store: whole, a range, or where it says something."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from itertools import islice
from typing import Any, ClassVar, cast

import attrs

from assembler.validation import wrong
from budgets import BudgetError

FETCH = "fetch_result"
"""The name of the tool: a result of it is known by that name."""

_PLACES = 20
"""Places that one search shows."""
_AROUND = 200
"""Characters that a search shows on each side of what it found."""

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
        """The stored text, byte for byte; the characters from `start` to before `stop`; or where it says `search`.

        Neighbouring ranges join to the whole. A search tells no upper from lower case, and shows the first 20 places
        with 200 characters around each and where it stands. O(characters).
        """
        body = self.store.get(id) if isinstance(cast("object", id), str) else None
        if body is None:
            return "No result is stored under this id."
        first = _place(start, 0, len(body))
        part = body[first : _place(stop, len(body), len(body))]
        if not isinstance(cast("object", search), str) or not search:
            return part
        return _search_text(part, search, first) or f"None of these {len(part):,} characters hold this text."


def _place(given: object, otherwise: int, most: int) -> int:
    """Where a range begins or ends: models write numbers as texts, and beyond both ends."""
    try:
        return otherwise if given is None else min(max(int(cast("int", given)), 0), most)
    except (TypeError, ValueError, OverflowError):
        return otherwise


def _search_text(text: str, search: str, offset: int) -> str:
    shown: list[str] = []
    end = 0
    for place in islice(re.finditer(re.escape(search), text, re.IGNORECASE), 100 * _PLACES):
        if place.start() < end:
            continue  # stands in what was shown already
        start, end = max(place.start() - _AROUND, end), place.end() + _AROUND
        shown.append(f"[from {offset + start}] {text[start:end]}")
        if len(shown) == _PLACES:
            break
    return "\n".join(shown)
