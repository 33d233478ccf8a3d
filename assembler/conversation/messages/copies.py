"""Fast repeated copies of JSON-like data: the structure is analysed once."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import attrs

from assembler.conversation.messages.dicts import CONTAINERS, private_copy

_Link: TypeAlias = tuple[int, Any, int]
"""A holder, the key in it, and the dict or list held there, each by number."""


@attrs.define(eq=False)
class _Nested:
    """The dicts and lists in one entry, by number, and which holds which."""

    held: list[Any] = attrs.field(factory=list)
    outermost: list[tuple[Any, int]] = attrs.field(factory=list)
    """Those that the entry itself holds, with their keys."""
    links: list[_Link] = attrs.field(factory=list)
    """Those that another one holds."""

    @classmethod
    def of(cls, entry: dict[Any, Any]) -> _Nested:
        """Collect the dicts and lists in an entry."""
        inside = cls()
        for key, value in entry.items():
            if type(value) in CONTAINERS:
                inside.outermost.append((key, inside._number_container(value)))
        return inside

    def _number_container(self, value: Any) -> int:
        """Number a dict or list and everything inside it. A tuple becomes a list."""
        number = len(self.held)
        container: Any = [*value] if type(value) is tuple else value
        self.held.append(container)
        pairs: Any = container.items() if type(container) is dict else enumerate(container)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType, reportUnknownMemberType]
        for key, inner in pairs:
            if type(inner) in CONTAINERS:
                self.links.append((number, key, self._number_container(inner)))
        return number


@attrs.define(eq=False)
class Copies:
    """Makes fresh copies of a list of dicts that usually extends the last one. Each dict is analysed once.

    Every dict and list is copied shallowly, in C, and put into the copy of its holder. An entry that holds only texts
    needs no Python step. Never changed, so threads may share it.
    """

    _entries: list[Any] = attrs.field(factory=list)
    _nested: list[tuple[int, _Nested]] = attrs.field(factory=list)
    """The entries that hold dicts or lists, by their places."""
    _held: list[Any] = attrs.field(factory=list)
    """All dicts and lists inside the entries."""
    _in_entries: list[_Link] = attrs.field(factory=list)
    """Links from entries, by place. `_in_held` are links from dicts and lists inside them."""
    _in_held: list[_Link] = attrs.field(factory=list)

    def reaching(self, entries: list[Any]) -> Copies:
        """The analysis of a list that has grown or lost its beginning. O(new entries)."""
        known, length = self._entries, len(self._entries)
        if known is entries:
            return self
        if length <= len(entries) and all(map(operator.is_, known, entries)):
            return self if length == len(entries) else self._add_nested(entries, _find_nested(entries, length))
        start, stop = _find_shared(known, entries)
        moved = stop - length
        nested = [(place + moved, inside) for place, inside in self._nested if place + moved >= start]
        return _NOTHING._add_nested(entries, [*_find_nested(entries, 0, start), *nested, *_find_nested(entries, stop)])

    def _add_nested(self, entries: list[Any], nested: list[tuple[int, _Nested]]) -> Copies:
        if not nested:
            return Copies(entries, self._nested, self._held, self._in_entries, self._in_held)
        held, in_entries, in_held = [*self._held], [*self._in_entries], [*self._in_held]
        for place, inside in nested:
            first = len(held)
            held += inside.held
            in_entries += [(place, key, first + number) for key, number in inside.outermost]
            in_held += [(first + holder, key, first + number) for holder, key, number in inside.links]
        return Copies(entries, [*self._nested, *nested], held, in_entries, in_held)

    def fresh(self) -> list[Any]:
        """A copy of the entries that shares nothing with them that can change."""
        try:
            copies: list[Any] = list(map(_COPY, self._entries))
        except TypeError:  # an entry that is no dict
            return cast("list[Any]", private_copy(self._entries))
        made = [held.copy() for held in self._held]
        for holder, key, number in self._in_held:
            made[holder][key] = made[number]
        for place, key, number in self._in_entries:
            copies[place][key] = made[number]
        return copies


_COPY = cast("Callable[[dict[str, Any]], dict[str, Any]]", dict.copy)  # pyright: ignore[reportUnknownMemberType]
_NOTHING = Copies()


def _find_shared(known: list[Any], entries: list[Any]) -> tuple[int, int]:
    """The span in `entries` of the stretch that ends with the last known entry; (0, 0) if it is gone."""
    try:
        stop = [*map(id, entries)].index(id(known[-1])) + 1
    except (IndexError, ValueError):
        return 0, 0
    shared = itertools.takewhile(bool, map(operator.is_, reversed(known), reversed(entries[:stop])))
    return stop - len([*shared]), stop


def _find_nested(entries: list[Any], start: int, stop: int | None = None) -> list[tuple[int, _Nested]]:
    """The places and contents of the entries from `start` to before `stop` that hold dicts or lists."""
    found: list[tuple[int, _Nested]] = []
    for place, entry in enumerate(entries[start:stop], start):
        if type(entry) is dict and not CONTAINERS.isdisjoint(map(type, entry.values())):  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType, reportUnknownVariableType]
            found.append((place, _Nested.of(entry)))  # pyright: ignore[reportUnknownArgumentType]
    return found


class Copiers:
    """The analysis of each list of the last request, by its key. Threads may share it: values are replaced whole."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, Copies] = {}

    def fresh(self, request: dict[str, Any]) -> dict[str, Any]:
        """A copy of a request that shares no list and no dict with it. O(entries of its lists)."""
        copies: dict[str, Any] = {}
        for key, value in request.items():
            if type(value) is list:
                copies[key] = self._copy_entries(key, value)  # pyright: ignore[reportUnknownArgumentType]
            elif type(value) is dict:
                copies[key] = self._copy_entries(key, [value])[0]
            else:
                copies[key] = private_copy(value)
        return copies

    def _copy_entries(self, key: str, entries: list[Any]) -> list[Any]:
        known = self._known[key] = self._known.get(key, _NOTHING).reaching(entries)
        return known.fresh()
