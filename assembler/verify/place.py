"""A value somewhere in a request, and the path to it. Reads any JSON and never raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard, cast

import attrs


def is_object(value: object) -> TypeGuard[Mapping[object, object]]:
    """Whether a JSON encoder writes this value as an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a JSON encoder writes this value as a list."""
    return isinstance(value, list | tuple)


@attrs.frozen(slots=True)
class Place:
    """A value and the JSON path that leads to it. A key that is missing and one that holds null read alike."""

    path: str
    value: object = attrs.field(repr=False)

    def at(self, key: str) -> Place:
        """The value under a key: null where there is none, or where this is no object."""
        path = f"{self.path}.{key}" if self.path else key
        return Place(path, self.value.get(key) if is_object(self.value) else None)

    def holds_null(self, key: str) -> bool:
        """Whether an object has the key and nothing under it."""
        return is_object(self.value) and key in self.value and self.value[key] is None

    def first(self, *keys: str) -> Place:
        """The value under the first of several spellings of a key that holds one, else under the first spelling."""
        found = (place for key in keys if not (place := self.at(key)).absent)
        return next(found, self.at(keys[0]))

    def each(self) -> list[Place]:
        """The items of a list, with their indexes; none where this is no list."""
        if not is_list(self.value):
            return []
        return [Place(f"{self.path}[{index}]", item) for index, item in enumerate(self.value)]

    def objects(self) -> list[Place]:
        """The items of a list that are objects."""
        return [place for place in self.each() if is_object(place.value)]

    @property
    def absent(self) -> bool:
        """Whether there is nothing here: no such key, or null."""
        return self.value is None

    @property
    def empty(self) -> bool:
        """Whether this is a text, a list or an object with nothing in it. No other value is compared with anything."""
        return (isinstance(self.value, str) or is_list(self.value) or is_object(self.value)) and not self.value

    @property
    def nothing(self) -> bool:
        """Whether nothing is said here: null, no such key, or an empty value."""
        return self.absent or self.empty

    @property
    def text(self) -> str | None:
        """The value, if it is a string."""
        return self.value if isinstance(self.value, str) else None

    @property
    def size(self) -> int:
        """How many items or keys there are; 0 for anything that is neither a list nor an object."""
        return len(self.value) if is_list(self.value) or is_object(self.value) else 0

    @property
    def spoken(self) -> list[str]:
        """The keys of an object that hold something other than null, in order."""
        if not is_object(self.value):
            return []
        return [key for key, item in self.value.items() if isinstance(key, str) and item is not None]


def request_place(request: Mapping[str, object]) -> Place:
    """The root of a request: its path is empty. A mapping that is no dict is read as one."""
    return Place("", request if is_object(request) else _opened(request))


def _opened(request: object) -> object:
    return dict(cast("Mapping[object, object]", request)) if isinstance(request, Mapping) else request
