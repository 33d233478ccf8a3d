"""Copies of JSON-like data that is copied again and again: what there is to copy is found out once."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import attrs

from assembler.conversation.messages.dicts import CONTAINERS, private_copy

_Link: TypeAlias = tuple[int, Any, int]
"""Which dict or list holds another, under which key, and which."""

_OUTERMOST = -1


@attrs.define(eq=False)
class _Inside:
    """The dicts and lists in one entry, by number, and which holds which: the entry itself is the last of them."""

    held: list[Any] = attrs.field(factory=list[Any])
    links: list[_Link] = attrs.field(factory=list[_Link])

    def look_into(self, value: Any, number: int) -> None:
        """Number what a dict or a list holds. A tuple is sent as a list."""
        pairs: Any = value.items() if type(value) is dict else enumerate(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        for key, inner in pairs:
            if type(inner) in CONTAINERS:
                self.held.append([*inner] if type(inner) is tuple else inner)
                self.links.append((number, key, len(self.held) - 1))
                self.look_into(self.held[-1], len(self.held) - 1)


@attrs.define(eq=False)
class Copies:
    """Fresh copies of a list of dicts that most often begins as the list before: each dict is looked into once.

    Every dict and list is copied by itself, in C, and put into the copy of the one that holds it: no step of ours for
    an entry that is made of texts. Never changed: threads may share it.
    """

    _entries: list[Any] = attrs.field(factory=list[Any])
    _nested: list[tuple[int, _Inside]] = attrs.field(factory=list[tuple[int, _Inside]])
    """The entries that hold dicts or lists, by their places."""
    _held: list[Any] = attrs.field(factory=list[Any])
    """What all of them hold, one after the other."""
    _in_entries: list[_Link] = attrs.field(factory=list[_Link])
    """What each entry holds itself, by the entry's place; `_in_held` is what that holds in turn."""
    _in_held: list[_Link] = attrs.field(factory=list[_Link])

    def reaching(self, entries: list[Any]) -> Copies:
        """The copies for a list that has grown, or lost its beginning. O(entries that are new)."""
        known, length = self._entries, len(self._entries)
        if length <= len(entries) and all(map(operator.is_, known, entries)):
            return self if length == len(entries) else self._with(entries, _looked_into(entries, length))
        before = {id(known[place]): inside for place, inside in self._nested}
        return _NOTHING._with(entries, _looked_into(entries, 0, before))

    def _with(self, entries: list[Any], nested: list[tuple[int, _Inside]]) -> Copies:
        if not nested:
            return Copies(entries, self._nested, self._held, self._in_entries, self._in_held)
        held, in_entries, in_held = [*self._held], [*self._in_entries], [*self._in_held]
        for place, inside in nested:
            first = len(held)
            held += inside.held
            for holder, key, number in inside.links:
                if holder == _OUTERMOST:
                    in_entries.append((place, key, first + number))
                else:
                    in_held.append((first + holder, key, first + number))
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
_UNKNOWN: dict[int, _Inside] = {}
_NOTHING = Copies()


def _looked_into(entries: list[Any], start: int, before: dict[int, _Inside] = _UNKNOWN) -> list[tuple[int, _Inside]]:
    """What is in the entries from `start` on that hold anything; `before` is what is known of some of them."""
    found: list[tuple[int, _Inside]] = []
    for place in range(start, len(entries)):
        entry, kind = entries[place], type(entries[place])  # pyright: ignore[reportUnknownVariableType]
        if kind is not dict or CONTAINERS.isdisjoint(map(type, entry.values())):
            continue
        inside = before.get(id(entries[place]))
        if inside is None:
            inside = _Inside()
            inside.look_into(entry, _OUTERMOST)
        found.append((place, inside))
    return found


class Copiers:
    """How each list of the last request was copied, by its key. A finished value replaces another: threads share it."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, Copies] = {}

    def fresh(self, request: dict[str, Any]) -> dict[str, Any]:
        """A copy of a request that shares no list and no dict with it. O(entries of its lists)."""
        copies: dict[str, Any] = {}
        for key, value in request.items():
            if type(value) is list:
                copies[key] = self._copied(key, value)  # pyright: ignore[reportUnknownArgumentType]
            elif type(value) is dict:
                copies[key] = self._copied(key, [value])[0]
            else:
                copies[key] = private_copy(value)
        return copies

    def _copied(self, key: str, entries: list[Any]) -> list[Any]:
        known = self._known[key] = self._known.get(key, _NOTHING).reaching(entries)
        return known.fresh()
