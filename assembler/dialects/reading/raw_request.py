"""Splits a provider's own request into regions and other keys, and joins the other keys with new regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

import attrs

from assembler.conversation.messages import Message
from assembler.conversation.messages.dicts import private_copy
from assembler.dialects.dialect import Dialect
from assembler.dialects.reading.parse_steps import UNREADABLE, unreadable
from assembler.dialects.reading.sdk_arguments import with_schemas, without_sdk_values
from assembler.dialects.writing.fields import own_fields
from assembler.errors import ConversationError
from assembler.regions.layout import Layout
from assembler.text.fields import fields_in, fields_of, items_of
from budgets import AssemblyError
from budgets.errors import OfTheCaller

TOOLS = frozenset({"tools", "functions", "toolConfig"})
"""The APIs' keys for tools, in the body or in its `config`."""
NO_KEYS: frozenset[str] = frozenset()


@runtime_checkable
class SpellingDialect(Dialect, Protocol):
    """A dialect whose `emit` also renders the request, as a chat template does."""

    def spell(self, layout: Layout) -> dict[str, Any]:
        """The request before it is rendered."""
        ...


@runtime_checkable
class FormedDialect(Dialect, Protocol):
    """A dialect whose requests have two forms: an SDK's arguments, and the body of the REST API."""

    def in_form_of(self, body: Mapping[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        """A request that this dialect emitted in the form of the body."""
        ...


@runtime_checkable
class ThinkingDialect(Dialect, Protocol):
    """A dialect of an API that refuses an option for thinking beside some messages."""

    def thinking_as_allowed(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body without an option for thinking that the API would refuse beside its messages."""
        ...


@runtime_checkable
class PrefillDialect(Dialect, Protocol):
    """A dialect of an API some of whose models go on with a message of the assistant's at the end."""

    def with_prefill(self, model: str) -> Dialect:
        """The dialect of requests that end with the assistant; the same one if the model takes none."""
        ...


@attrs.frozen(eq=False)
class RawRequest:
    """The body of an API's call. `body` is never changed, and no result shares a list or dict with it."""

    body: Mapping[str, Any]
    dialect: Dialect
    layout: Layout

    @classmethod
    def of(cls, body: Mapping[str, Any], dialect: Dialect) -> RawRequest:
        """Read a body. Raises `ConversationError` or `ToolError` if it cannot be read."""
        with OfTheCaller("request", ConversationError):
            return cls._read_body(body, dialect)

    @classmethod
    def _read_body(cls, body: Mapping[str, Any], dialect: Dialect) -> RawRequest:
        try:
            body = without_sdk_values(body)
            return cls(body, dialect, dialect.parse(with_schemas(body)))
        except AssemblyError:
            raise
        except UNREADABLE as error:  # of the dialect's own code, which may be the caller's
            problem = unreadable(error)
        raise problem

    def for_model(self, model: str | None) -> RawRequest:
        """The request in the dialect of its ending, if that depends on the model."""
        is_prefilled = any(message.role == "assistant" for message in self.layout.messages[-1:])
        if model is None or not is_prefilled or not isinstance(self.dialect, PrefillDialect):
            return self
        return attrs.evolve(self, dialect=self.dialect.with_prefill(model))

    @property
    def messages(self) -> list[object]:
        """The head and the conversation as the caller's own messages or items."""
        read = [*self.layout.head, *self.layout.messages]
        own = items_of(self.body.get("messages"))
        if own and len(own) == len(read):
            return [*own]  # reading and writing them again could change them
        head = [_restore_role(message) for message in self.layout.head]
        return [*head, *(entry for message in self.layout.messages for entry in _list_entries(message))]

    def copied(self) -> dict[str, Any]:
        """A deep copy of the body. Raises `ConversationError` if it contains itself or nests too deep."""
        try:
            with OfTheCaller("request", ConversationError):
                return own_fields(self.body)
        except RecursionError as error:
            problem = unreadable(error)
        raise problem

    def around(self, layout: Layout, as_they_came: frozenset[str]) -> dict[str, Any]:
        """The body with these regions in place of its own, except under the keys `as_they_came`.

        Thinking is left out where the API would refuse it beside the messages that stay.
        """
        written = (
            self.dialect.spell(layout)
            if isinstance(self.dialect, SpellingDialect)
            else cast("dict[str, Any]", private_copy(self.dialect.emit(layout).request))
        )
        if isinstance(self.dialect, FormedDialect):
            written = self.dialect.in_form_of(self.body, written)
        stays = self.layout.options.keys() | as_they_came
        body = _merge_bodies(_pick_keys(self.copied(), stays), _drop_keys(written, as_they_came))
        return self.dialect.thinking_as_allowed(body) if isinstance(self.dialect, ThinkingDialect) else body


def _restore_role(message: Message) -> object:
    """The original of a head message, with its role: Gemini's system instruction may have another, or none."""
    fields = fields_of(message.seen)
    return message.seen if fields is None or fields.get("role") == message.role else {**fields, "role": message.role}


def _list_entries(message: Message) -> list[object]:
    """The originals of a message: one dict, or the items of one turn of the model."""
    seen: object = message.seen
    return [*cast("list[object]", seen)] if isinstance(seen, list) else [seen]


def _pick_keys(body: Mapping[str, Any], keys: Any) -> dict[str, Any]:
    """The entries under these keys, also from nested dicts (`config`, `toolConfig`)."""
    kept: dict[str, Any] = {}
    for key, value in body.items():
        if key in keys:
            kept[key] = value
        elif inner := {name: each for name, each in fields_in(value).items() if name in keys}:
            kept[key] = inner
    return kept


def _drop_keys(value: Any, keys: Any) -> Any:
    """A dict without these keys, and any other value unchanged."""
    fields = fields_of(value)
    if fields is None:
        return value
    return {
        name: _drop_keys(each, keys) if name == "config" else each for name, each in fields.items() if name not in keys
    }


def _merge_bodies(body: dict[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in written.items():
        inside = body.get(key)
        are_dicts = isinstance(inside, dict) and isinstance(value, dict)
        body[key] = {**cast("dict[str, Any]", inside), **cast("dict[str, Any]", value)} if are_dicts else value
    return body
