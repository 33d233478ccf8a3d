"""Values in a request with their paths. Reading never raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

import attrs


def is_object(value: object) -> TypeGuard[Mapping[object, object]]:
    """Whether a JSON encoder writes this value as an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a JSON encoder writes this value as a list."""
    return isinstance(value, list | tuple)


@attrs.frozen(slots=True)
class Place:
    """A value and its JSON path. A missing key reads like null."""

    path: str
    value: object = attrs.field(repr=False)

    def at(self, key: str) -> Place:
        """The value under a key; null if there is none, or if this is not an object."""
        path = f"{self.path}.{key}" if self.path else key
        return Place(path, self.value.get(key) if is_object(self.value) else None)

    def holds_null(self, key: str) -> bool:
        """Whether an object has the key with the value null."""
        return is_object(self.value) and key in self.value and self.value[key] is None

    def first(self, *keys: str) -> Place:
        """The value under the first of several keys that has one, else under the first key."""
        found = (place for key in keys if not (place := self.at(key)).absent)
        return next(found, self.at(keys[0]))

    def each(self) -> list[Place]:
        """The items of a list, with their indexes; none if this is not a list."""
        if not is_list(self.value):
            return []
        return [Place(f"{self.path}[{index}]", item) for index, item in enumerate(self.value)]

    def objects(self) -> list[Place]:
        """The items of a list that are objects."""
        return [place for place in self.each() if is_object(place.value)]

    @property
    def absent(self) -> bool:
        """Whether the key is missing, or its value is null."""
        return self.value is None

    @property
    def empty(self) -> bool:
        """Whether it is an empty text, list or object. Other values are never compared."""
        return (isinstance(self.value, str) or is_list(self.value) or is_object(self.value)) and not self.value

    @property
    def nothing(self) -> bool:
        """Whether the key is missing, or its value is null or empty."""
        return self.absent or self.empty

    @property
    def text(self) -> str | None:
        """The value, if it is a string."""
        return self.value if isinstance(self.value, str) else None

    @property
    def size(self) -> int:
        """The number of items or keys; 0 for anything that is neither a list nor an object."""
        return len(self.value) if is_list(self.value) or is_object(self.value) else 0

    @property
    def keys(self) -> list[str]:
        """The keys of an object, in order."""
        return [key for key in self.value if isinstance(key, str)] if is_object(self.value) else []

    @property
    def filled_keys(self) -> list[str]:
        """The keys of an object with values other than null, in order."""
        if not is_object(self.value):
            return []
        return [key for key, item in self.value.items() if isinstance(key, str) and item is not None]


def request_place(request: Mapping[str, object]) -> Place:
    """The root of a request, with an empty path. Any mapping is read as a dict."""
    return Place("", dict(request) if isinstance(request, Mapping) else request)
