"""Emits a layout without other providers' hosted tools. Functions, and the API's own hosted tools, stay."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assembler.conversation.messages import Call, Message
from assembler.conversation.messages.custom_tools import with_functions
from assembler.conversation.messages.part_owners import assign_unknown_parts
from assembler.dialects.dialect import Dialect, Emission, GrowingDialect
from assembler.dialects.writing.lost_fields import SideField, fields_of_tools, find_missing, lost_fields
from assembler.dialects.writing.notes import CITATIONS, FIELDS, MARKS, SIGNATURES, Notes
from assembler.regions.layout import Layout
from assembler.regions.tools.tool import as_function
from assembler.text.fields import fields_in

LEFT_OUT = "tool(s) of another provider left out"
TOOL_MARKS = "cache mark(s) of another API on tools left out"
TOOL_FIELDS = "field(s) of another API on tools left out"
AS_FUNCTIONS = "custom tool(s) of OpenAI sent as functions of one text"


def emit_layout(dialect: Dialect, layout: Layout) -> Emission:
    """The dialect's request, without the tools that its API does not have. The notes list them."""
    shape = dialect.api.shape
    spelled = [as_function(tool, shape) for tool in layout.tools]
    kept = [tool for tool in spelled if tool.goes_to(shape)]
    foreign = len(spelled) - len(kept)
    custom = sum(1 for new, old in zip(spelled, layout.tools, strict=True) if new is not old)
    messages = _replace_custom_calls(layout.messages, shape)
    if foreign or custom or messages is not layout.messages:
        emission = dialect.emit(attrs.evolve(layout, tools=kept, messages=messages))
    else:
        emission = dialect.emit(layout)
    notes = Notes({LEFT_OUT: foreign, AS_FUNCTIONS: custom, **_IN_ORDER})
    if (key := dialect.api.history) in emission.request:
        for field in lost_fields((*layout.head, *layout.messages), emission.request, key, emission.noted):
            notes[field.word] += field.times
    of_tools = [] if shape in OF_NO_API else fields_of_tools(kept)
    for field in find_missing(of_tools, [*_find_tools(emission.request), *emission.noted]) if of_tools else ():
        notes[TOOL_MARKS if field.word == MARKS else TOOL_FIELDS] += 1
    return emission.with_notes_of_library(notes) if any(notes.values()) else emission


def _find_tools(request: Mapping[str, Any]) -> list[object]:
    """The lists of tools in a request. Some APIs have them in a configuration."""
    return [tools for fields in (request, *map(fields_in, request.values())) if (tools := fields.get("tools"))]


def emit_elsewhere(dialect: Dialect, layout: Layout, home: Dialect) -> Emission:
    """Another API's request for the layout of a request to the API of `home`.

    A part or a tool of an unknown type is assumed to be of `home`, so no other API gets it unchanged. If `home` is
    `plain` or a chat template, which are no APIs, nothing is assumed.
    """
    shape = home.api.shape
    if shape in OF_NO_API or shape == dialect.api.shape:
        return emit_layout(dialect, layout)
    messages = [assign_unknown_parts(message, shape) for message in layout.messages]
    head = [assign_unknown_parts(message, shape) for message in layout.head]
    tools = [tool.claimed(shape) for tool in layout.tools]
    return emit_layout(dialect, attrs.evolve(layout, head=head, messages=messages, tools=tools))


OF_NO_API = ("", "plain")


def emit_added(dialect: Dialect, before: Emission, added: Sequence[Message]) -> Emission | None:
    """The request `before` with the messages `added`; None if the whole layout must be emitted. O(added)."""
    if not added:
        return before
    if not _can_grow(type(dialect)):
        return None
    growing: Any = dialect  # a cast is a call, in every build
    own = before.without_notes_of_library() if before.of_library else before
    grown: Emission | None = growing.emit_after(own, _replace_custom_calls(added, dialect.api.shape))
    if grown is None:
        return None
    key = dialect.api.history
    for message in added:
        if message.side_fields != () and key in grown.request:
            tail = {key: grown.request[key][len(before.request[key]) :]}
            return _add_lost_fields(grown, before, lost_fields(added, tail, key))
    return grown.with_notes_of_library(Notes(before.of_library)) if before.of_library else grown


def _add_lost_fields(grown: Emission, before: Emission, lost: Sequence[SideField]) -> Emission:
    """A request with the library's notes on its beginning and on the fields that its end has lost."""
    notes = Notes(before.of_library or _IN_ORDER)
    for field in lost:
        notes[field.word] += field.times
    return grown.with_notes_of_library(notes)


_IN_ORDER = dict.fromkeys((CITATIONS, SIGNATURES, FIELDS, MARKS, TOOL_MARKS, TOOL_FIELDS), 0)
"""The order of the notes, in whichever order they come up."""


def _replace_custom_calls(messages: Sequence[Message], shape: str) -> Sequence[Message]:
    """The messages with custom calls as calls of functions; the same sequence if there are none."""
    for message in messages:  # messages of the API's own shape are skipped before the costlier test
        if message.shape == shape or message.role != "assistant" or Call not in map(type, message.parts):
            continue
        if with_functions(message, shape) is not message:
            return [with_functions(message, shape) for message in messages]
    return messages


# Cached by class: `isinstance` with a protocol looks at every member.
@functools.lru_cache(maxsize=64)
def _can_grow(kind: type) -> bool:
    return issubclass(kind, GrowingDialect)
