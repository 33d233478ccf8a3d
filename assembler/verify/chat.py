"""Reads and checks messages in Chat's form, which several dialects share: role, content, tool_calls, tool_call_id."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import attrs

from assembler.verify import shape
from assembler.verify.definitions import LEGAL, Definition, Legal, empty_tools, wrong_definitions, wrong_name
from assembler.verify.pairing import Turn, refs
from assembler.verify.place import Place, is_list
from assembler.verify.violation import Violation


@attrs.frozen(kw_only=True)
class ChatForm:
    """One dialect's form of Chat: the parts that each role may have, and the type of arguments."""

    parts: Mapping[str, Collection[str]]
    arguments: shape.Kind
    legal: Legal = LEGAL
    call_types: Collection[str] = ("function",)
    tool_types: Collection[str] = ("function",)

    @property
    def kinds(self) -> frozenset[str]:
        """Every type of parts, calls and tools that this API has."""
        return frozenset[str]().union(self.call_types, self.tool_types, *self.parts.values())


def wrong_messages(messages: Place, form: ChatForm) -> Iterator[Violation]:
    """Check the shape of a list of messages: types, roles, parts, calls and their names."""
    yield from shape.must_be_list(messages, shape.OBJECT)
    for message in messages.objects():
        role = message.at("role")
        yield from shape.must_be_one_of(role, form.parts.keys(), shape.S3, "role")
        yield from _wrong_content(message, form)
        if role.text == "tool":
            yield from shape.must_be(message.at("tool_call_id"), shape.TEXT)
        if role.text == "function" and "function" in form.parts:
            yield from wrong_name(message.at("name"), form.legal)
        if role.text == "assistant":
            yield from shape.may_be(message.at("tool_calls"), shape.LIST)
            yield from _wrong_calls(message, form)


def _wrong_content(message: Place, form: ChatForm) -> Iterator[Violation]:
    content, role = message.at("content"), message.at("role").text or ""
    # An assistant message with calls needs no content; a legacy function message may hold null.
    demand = shape.may_be if role in ("assistant", "function") else shape.must_be
    yield from demand(content, shape.TEXT_OR_LIST)
    if is_list(content.value):
        yield from shape.typed_parts(content, form.parts.get(role, ()))


def _wrong_calls(message: Place, form: ChatForm) -> Iterator[Violation]:
    older = message.at("function_call")
    if "function" in form.parts and not older.nothing:
        yield from wrong_name(older.at("name"), form.legal)
        yield from shape.must_be(older.at("arguments"), form.arguments)
    yield from shape.items_must_be(message.at("tool_calls"), shape.OBJECT)
    for call in message.at("tool_calls").objects():
        yield from shape.must_be(call.at("id"), shape.TEXT)
        kind = call.at("type")
        if not kind.absent or len(form.call_types) > 1:
            yield from shape.must_be_of_a_kind(kind, form.call_types, "call type")
        if kind.text == "custom":
            yield from wrong_name(call.at("custom").at("name"), form.legal)
            yield from shape.must_be(call.at("custom").at("input"), shape.TEXT)
        elif kind.text is None or kind.text in form.call_types or not call.at("function").absent:
            yield from wrong_name(call.at("function").at("name"), form.legal)
            yield from shape.must_be(call.at("function").at("arguments"), form.arguments)


def turns(messages: Place) -> list[Turn]:
    """Read the calls and answers of each message that is an object. Others are faults of shape."""
    return [_read_turn(message) for message in messages.objects()]


def _read_turn(message: Place) -> Turn:
    role = message.at("role").text or ""
    if role == "tool":
        answer = message.at("tool_call_id")
        return Turn(message, role, answers=refs([answer]))
    if role != "assistant":
        return Turn(message, role)
    asked = message.at("tool_calls")
    return Turn(message, role, calls=refs(call.at("id") for call in asked.objects()), asked=asked)


def wrong_tools(tools: Place, form: ChatForm) -> Iterator[Violation]:
    """Check the list of tools: its shape, the types of tools, and the functions."""
    yield from shape.may_be_list(tools, shape.OBJECT)
    for tool in tools.objects():
        yield from shape.must_be_of_a_kind(tool.at("type"), form.tool_types, "tool type")
    yield from empty_tools(tools, form.legal)
    functions = [tool.at("function") for tool in tools.objects() if tool.at("type").text in (None, "function")]
    found = (Definition(function.at("name"), function.at("parameters")) for function in functions)
    yield from wrong_definitions(found, form.legal)
