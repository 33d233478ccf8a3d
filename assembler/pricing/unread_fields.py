"""Bounds the text in fields of messages and their parts that are sent to their own API and that no one reads.

An API that does not know a field refuses it or ignores it; a host that does may show its text to the model. So such
text costs nothing but is in the bound, as that under unknown keys of a request. Each API declares the fields that it
knows (`Shape.known_fields`).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from assembler.conversation.messages.dicts import PIN
from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.message import Message, Opaque, Part, Result
from assembler.conversation.messages.parts import NEUTRAL
from assembler.conversation.messages.shapes import MESSAGE, PARTS, SHAPES, UNSENT, Known, all_shapes, fields_named
from assembler.pricing.opaque import is_measured
from assembler.pricing.unread_keys import bound_of_texts
from assembler.text.fields import fields_of, items_of
from budgets.count import Count


def price_fields_of_message(message: Message, shape: str) -> Count:
    """The bound of a message's unread fields and those of its parts, if the API of this shape is sent all of them.

    Exact, and nothing, for a message without such texts. Parts that are not read are priced as a whole elsewhere.
    """
    seen = fields_of(message.seen)
    search = _Search(shape, message.parts)
    for each in items_of(message.seen) if seen is None else (seen,):
        search.look_at_entry(each)
    return search.bound()


def price_fields_as_they_came(message: Message) -> Count:
    """The bound of a message's unread fields and those of its parts, where all are sent in whatever form they came."""
    if not has_a_content(message):
        return price_fields_of_message(message, "plain")
    seen = message.seen
    parts = [*items_of(seen.get("content")), *items_of(seen.get("tool_calls"))]  # its other fields have a price
    return price_fields_of_parts(parts, message.parts, "plain")


def has_a_content(message: Message) -> bool:
    """Whether a message has its parts under `content`, so that without its blocks it is one of no API's own form."""
    fields = fields_of(message.seen)
    return message.shape in (NEUTRAL, "openai") or (fields is not None and "content" in fields and "type" not in fields)


def price_fields_of_parts(parts: Iterable[object], read: Iterable[Part], shape: str) -> Count:
    """The bound of the unread fields of some parts alone, and of what they hold. `read` is what they were read as."""
    search = _Search(shape, read)
    for part in parts:
        search.look_at_part(part)
    return search.bound()


class _Search:
    """Collects the values of unread fields."""

    __slots__ = ("_found", "_kinds", "_named_by", "_unread")

    def __init__(self, shape: str, read: Iterable[Part]) -> None:
        self._kinds = SHAPES[shape].known_fields or _know_every_api()
        self._named_by = SHAPES[shape].named_by
        inner = itertools.chain.from_iterable(part.parts if type(part) is Result else (part,) for part in read)
        self._unread = {
            id(part.raw) for part in inner if type(part) is Opaque and not (is_measured(part) or is_mark(part))
        }
        self._found: list[object] = []

    def bound(self) -> Count:
        """The bound of the texts that were found."""
        return bound_of_texts(self._found)

    def look_at_entry(self, entry: object) -> None:
        """Search a message, or an item of Responses."""
        fields = fields_of(entry) or {}
        if "role" not in fields and "parts" not in fields:
            self.look_at_part(entry)
        elif id(entry) not in self._unread and (known := self._kinds.get(MESSAGE)) is not None:
            self._look_at(fields, known)

    def look_at_part(self, part: object) -> None:
        """Search a part, a call or an item."""
        fields = fields_of(part)
        kind = None if fields is None or id(part) in self._unread else self._find_kind(fields)
        if fields is not None and kind is not None:
            self._look_at(fields, self._kinds[kind])

    def _find_kind(self, fields: Mapping[str, Any]) -> str | None:
        named: object = fields.get("type")
        if self._named_by != "key" and isinstance(named, str) and named in self._kinds:
            return named
        if self._named_by == "type" or named is not None:
            return None
        return next((kind for kind in self._kinds if kind in fields), None)

    def _look_at(self, fields: Mapping[str, Any], known: Known) -> None:
        for key, held in fields.items():
            if key not in known:
                if UNSENT not in known and key != PIN:  # our own mark is never sent
                    self._found.append(held)
                continue
            inner = known[key]
            if inner is None:
                continue
            for each in (held,) if fields_of(held) is not None else items_of(held):
                if inner is PARTS:
                    self.look_at_part(each)
                elif (deeper := fields_of(each)) is not None:
                    self._look_at(deeper, inner)


@functools.cache
def _know_every_api() -> Mapping[str, Known]:
    """What any API knows of each kind of part, for one that is sent messages in whatever form they came."""
    kinds: dict[str, dict[str, Known | None]] = {}
    for shape in all_shapes():
        for kind, fields in shape.known_fields.items():
            kinds.setdefault(kind, {}).update({key: inner for key, inner in fields.items() if key != UNSENT})
    named = kinds["document"]["document"]  # `plain` counts its name too
    return {**kinds, **_OF_LANG_CHAIN, "document": {**kinds["document"], "document": {**(named or {}), "name": None}}}


_OF_LANG_CHAIN = {"tool_call": fields_named("name args"), "reasoning_content": fields_named("reasoning_content")}
