"""Copies of JSON-like data that is copied again and again: what there is to copy is found out once."""

from __future__ import annotations

import contextlib
import functools
import marshal  # plain data in and out of one process, several times faster than a walk of ours
from collections.abc import Callable
from typing import Any, cast

from assembler.conversation.messages.dicts import CONTAINERS, private_copy

_SMALL = 4_096
"""Bytes. Nested data up to this size is unpacked anew for each copy; the texts of larger data are better shared."""


def copier_of(value: Any) -> Callable[[], Any]:
    """What makes a fresh copy of `value`, which must not change meanwhile: as `private_copy` makes it."""
    whole: Any = value
    if type(value) is dict:
        fields = cast("dict[str, Any]", value)
        if CONTAINERS.isdisjoint(map(type, fields.values())):
            return fields.copy
    with contextlib.suppress(ValueError):  # a subclass of a text or a number
        packed = marshal.dumps(private_copy(whole))
        if len(packed) <= _SMALL:
            return functools.partial(marshal.loads, packed)
    return functools.partial(private_copy, whole)


_SPARE = 64
"""Entries beyond twice those of the request that are held before those of older requests are let go."""


class Copiers:
    """Fresh lists of dicts that most often hold the same dicts as the list before: each is looked into once.

    A dict that is met for the first time is copied step by step, as one that will not be met again. Threads may share
    this: an entry is a finished value, and a second finder writes the same.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Callable[[], Any] | None, object]] = {}
        """By identity: the copier, and the dict, held so that its identity stays its own."""

    def fresh(self, request: dict[str, Any]) -> dict[str, Any]:
        """A copy of a request that shares no list and no dict with it. O(entries of its lists)."""
        lists: list[list[Any]] = []
        copies: dict[str, Any] = {}
        for key, value in request.items():
            if type(value) is list:
                entries = cast("list[Any]", value)
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
            met = known.get(id(entry))
            if met is None:
                known[id(entry)] = (None, entry)
                copies.append(private_copy(entry))
                continue
            copier, _ = met
            if copier is None:
                copier = copier_of(entry)
                known[id(entry)] = (copier, entry)
            copies.append(copier())
        return copies
