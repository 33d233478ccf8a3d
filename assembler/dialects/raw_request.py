"""A provider's own request taken apart into regions and the rest, and put together again around other regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

import attrs

from assembler.conversation.messages import Message
from assembler.conversation.messages.dicts import private_copy
from assembler.dialects.copies import own_fields
from assembler.dialects.dialect import Dialect
from assembler.dialects.reading import UNREADABLE, unreadable
from assembler.regions.layout import Layout
from assembler.text.fields import fields_in, fields_of, items_of
from budgets import AssemblyError

TOOLS = frozenset({"tools", "functions", "toolConfig"})
"""The keys under which the APIs have their tools, in the body or in its `config`."""
NO_KEYS: frozenset[str] = frozenset()


@runtime_checkable
class SpellingDialect(Dialect, Protocol):
    """A dialect whose request goes through one more step before it is sent: a template that writes a prompt."""

    def spell(self, layout: Layout) -> dict[str, Any]:
        """The request as it is before that step."""
        ...


@attrs.frozen(eq=False)
class RawRequest:
    """One body of an API's call. `body` is never changed, and nothing that is made of it shares a list or dict."""

    body: Mapping[str, Any]
    dialect: Dialect
    layout: Layout

    @classmethod
    def of(cls, body: Mapping[str, Any], dialect: Dialect) -> RawRequest:
        """Raises `ConversationError` or `ToolError` where the body cannot be read."""
        try:
            return cls(body, dialect, dialect.parse(body))
        except AssemblyError:
            raise
        except UNREADABLE as error:
            problem = unreadable(error)
        raise problem

    @property
    def messages(self) -> list[object]:
        """The head and the conversation, one entry a message or item, as they came."""
        read = [*self.layout.head, *self.layout.messages]
        own = items_of(self.body.get("messages"))
        if own and len(own) == len(read):
            return [*own]  # a dialect may have read more into them than they say
        head = [_with_its_role(message) for message in self.layout.head]
        return [*head, *(entry for message in self.layout.messages for entry in _entries(message))]

    def copied(self) -> dict[str, Any]:
        """The body as it came. Raises `ConversationError` for one that holds itself, or that nests without an end."""
        try:
            return own_fields(self.body)
        except RecursionError as error:
            problem = unreadable(error)
        raise problem

    def around(self, layout: Layout, as_they_came: frozenset[str]) -> dict[str, Any]:
        """The body with these regions in place of its own, but for the keys that go out `as_they_came`."""
        written = (
            self.dialect.spell(layout)
            if isinstance(self.dialect, SpellingDialect)
            else cast("dict[str, Any]", private_copy(self.dialect.emit(layout).request))
        )
        stays = self.layout.options.keys() | as_they_came
        return _merged(_only(self.copied(), stays), _without(written, as_they_came))


def _with_its_role(message: Message) -> object:
    """What a message of the head was read from, and whose it is: Gemini's system instruction need not say so."""
    fields = fields_of(message.seen)
    return message.seen if fields is None or "role" in fields else {**fields, "role": message.role}


def _entries(message: Message) -> list[object]:
    """What a message was read from: one dict, or the items of one turn of the model."""
    seen: object = message.seen
    return [*cast("list[object]", seen)] if isinstance(seen, list) else [seen]


def _only(body: Mapping[str, Any], keys: Any) -> dict[str, Any]:
    """The entries under these keys, here and one dict further in (`config`, `toolConfig`)."""
    kept: dict[str, Any] = {}
    for key, value in body.items():
        if key in keys:
            kept[key] = value
        elif inner := {name: each for name, each in fields_in(value).items() if name in keys}:
            kept[key] = inner
    return kept


def _without(value: Any, keys: Any) -> Any:
    """A dict without these keys; anything else as it is."""
    fields = fields_of(value)
    if fields is None:
        return value
    return {
        name: _without(each, keys) if name == "config" else each for name, each in fields.items() if name not in keys
    }


def _merged(body: dict[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in written.items():
        inside = body.get(key)
        both = isinstance(inside, dict) and isinstance(value, dict)
        body[key] = {**cast("dict[str, Any]", inside), **cast("dict[str, Any]", value)} if both else value
    return body
