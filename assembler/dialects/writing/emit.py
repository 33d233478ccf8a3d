"""Emits a layout without other providers' hosted tools. Functions, and the API's own hosted tools, stay."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import attrs

from assembler.conversation.messages import Call, Message
from assembler.conversation.messages.custom_tools import with_functions
from assembler.conversation.messages.foreign_parts import assign_unknown_parts
from assembler.dialects.dialect import Dialect, Emission, GrowingDialect
from assembler.dialects.writing.lost_fields import fields_of_tools, marks_of_tools
from assembler.dialects.writing.notes import Notes
from assembler.regions.layout import Layout
from assembler.regions.tools.tool import as_function

LEFT_OUT = "tool(s) of another provider left out"
TOOL_MARKS = "cache mark(s) of another API on tools left out"
TOOL_FIELDS = "field(s) of another API on tools left out"
AS_FUNCTIONS = "custom tool(s) of OpenAI sent as functions of one text"


def emit_layout(dialect: Dialect, layout: Layout) -> Emission:
    """Return the dialect's request, without the tools that its API does not have. The notes list them."""
    shape = dialect.api.shape
    spelled = [as_function(tool, shape) for tool in layout.tools]
    kept = [tool for tool in spelled if tool.goes_to(shape)]
    foreign = len(spelled) - len(kept)
    custom = sum(1 for new, old in zip(spelled, layout.tools, strict=True) if new is not old)
    messages = _without_custom_calls(layout.messages, shape)
    marks = 0 if shape in _OF_NO_API else marks_of_tools(kept, shape)
    fields = 0 if shape in _OF_NO_API else fields_of_tools(kept, shape)
    if not (foreign or custom or marks or fields) and messages is layout.messages:
        return dialect.emit(layout)
    emission = dialect.emit(attrs.evolve(layout, tools=kept, messages=messages))
    notes = Notes({LEFT_OUT: foreign, AS_FUNCTIONS: custom, TOOL_MARKS: marks, TOOL_FIELDS: fields})
    return attrs.evolve(emission, notes=(*emission.notes, *notes.lines()))


def emit_elsewhere(dialect: Dialect, layout: Layout, home: Dialect) -> Emission:
    """Return another API's request for the layout of a request to the API of `home`.

    A part or a tool of an unknown type is assumed to be of `home`, so no other API gets it unchanged. If `home` is
    `plain` or a chat template, which are no APIs, nothing is assumed.
    """
    shape = home.api.shape
    if shape in _OF_NO_API or shape == dialect.api.shape:
        return emit_layout(dialect, layout)
    messages = [assign_unknown_parts(message, shape) for message in layout.messages]
    head = [assign_unknown_parts(message, shape) for message in layout.head]
    tools = [tool.claimed(shape) for tool in layout.tools]
    return emit_layout(dialect, attrs.evolve(layout, head=head, messages=messages, tools=tools))


_OF_NO_API = ("", "plain")


def emit_added(dialect: Dialect, before: Emission, added: Sequence[Message]) -> Emission | None:
    """Return the request `before` with the messages `added`; None if the whole layout must be emitted. O(added)."""
    if not added:
        return before
    if not _grows(type(dialect)):
        return None
    growing: Any = dialect
    emission: Emission | None = growing.emit_after(before, _without_custom_calls(added, dialect.api.shape))
    return emission


def _without_custom_calls(messages: Sequence[Message], shape: str) -> Sequence[Message]:
    """Return the messages with custom calls as calls of functions; the same sequence if there are none."""
    for message in messages:  # messages of the API's own shape are skipped before the costlier test
        if message.shape == shape or message.role != "assistant" or Call not in map(type, message.parts):
            continue
        if with_functions(message, shape) is not message:
            return [with_functions(message, shape) for message in messages]
    return messages


# Cached by class: `isinstance` with a protocol looks at every member.
@functools.cache
def _grows(kind: type) -> bool:
    return issubclass(kind, GrowingDialect)
