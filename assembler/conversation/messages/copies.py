"""Copies of JSON-like data that is copied again and again: what there is to copy is found out once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

from assembler.conversation.messages.dicts import CONTAINERS, private_copy

Copier = Callable[[], Any]


def copier_of(value: object) -> Copier:
    """What makes a fresh copy of a list or a dict, which must not change meanwhile: as `private_copy` makes it.

    Plain copies of what is flat, and a step of ours for each dict or list that holds another.
    """
    if type(value) is dict:
        fields = cast("dict[str, object]", value)
        nested = [(key, copier_of(item)) for key, item in fields.items() if type(item) in CONTAINERS]
        return functools.partial(_dict_with, fields, nested) if nested else fields.copy
    items = list(cast("list[object]", value))  # a tuple is sent as a list
    held = [(place, copier_of(item)) for place, item in enumerate(items) if type(item) in CONTAINERS]
    return functools.partial(_list_with, items, held) if held else items.copy


def _dict_with(fields: dict[str, object], nested: list[tuple[str, Copier]]) -> dict[str, object]:
    copy = fields.copy()
    for key, make in nested:
        copy[key] = make()
    return copy


def _list_with(items: list[object], held: list[tuple[int, Copier]]) -> list[object]:
    copy = items.copy()
    for place, make in held:
        copy[place] = make()
    return copy


_UNKNOWN: tuple[Copier | None, object] = (None, None)
_SPARE = 64
"""Entries beyond twice those of the request that are held before those of older requests are let go."""


class Copiers:
    """Fresh lists of dicts that most often hold the same dicts as the list before: each is looked into once.

    A dict that is met for the first time is copied step by step, as one that will not be met again. Threads may share
    this: an entry is a finished value, and a second finder writes the same.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Copier | None, object]] = {}
        """By identity: the copier, and the dict, held so that its identity stays its own."""

    def fresh(self, request: dict[str, Any]) -> dict[str, Any]:
        """A copy of a request that shares no list and no dict with it. O(entries of its lists)."""
        lists: list[list[Any]] = []
        copies: dict[str, Any] = {}
        for key, value in request.items():
            if type(value) is list:
                entries = cast("list[Any]", cast(object, value))
                lists.append(entries)
                copies[key] = self._entries(entries)
            else:
                copies[key] = private_copy(value)
        if len(self._known) > 2 * sum(map(len, lists)) + _SPARE:
            known = self._known
            self._known = {id(entry): known[id(entry)] for entries in lists for entry in entries if id(entry) in known}
        return copies

    def _entries(self, entries: list[Any]) -> list[Any]:
        known, copies = self._known, list[Any]()
        for entry in entries:
            copier, _ = known.get(id(entry)) or _UNKNOWN
            if copier is None:
                met = id(entry) in known and type(entry) in CONTAINERS
                copier = copier_of(entry) if met else functools.partial(private_copy, entry)
                known[id(entry)] = (copier if met else None, entry)
            copies.append(copier())
        return copies
