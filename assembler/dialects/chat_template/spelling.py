"""Writes a layout as a chat template's messages. Counts no tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never, cast

import attrs

from assembler.conversation.call_queue import CallQueue, asked_by
from assembler.conversation.messages import Call, Media, Message, Opaque, Result, Thinking
from assembler.conversation.messages.dicts import PIN, private_copy
from assembler.conversation.messages.extra_fields import refusal_of
from assembler.conversation.messages.foreign_parts import adapt_and_note, is_mark
from assembler.conversation.messages.parts import CHAT_SHAPES
from assembler.conversation.messages.responses import in_steps
from assembler.conversation.messages.results_first import count_messages_between_results, results_first
from assembler.dialects.chat_template.folds import FOLDS, PART_SEAM, Line
from assembler.dialects.chat_template.render import TemplateMessage
from assembler.dialects.chat_template.traits import Traits
from assembler.dialects.openai.wire import tool_definition
from assembler.dialects.writing.lost_fields import find_missing, side_fields
from assembler.dialects.writing.notes import ANSWERS_FIRST, FAILED, Notes
from assembler.errors import UnsupportedContentError
from assembler.regions.layout import Layout
from assembler.text.fields import object_in

CHAT_TEMPLATE = "chat_template"
"""The shape of messages that were written for a template: they are passed on unchanged."""


@attrs.frozen
class Spelling:
    """The messages for a template, with notes on what was folded or is not shown."""

    lines: tuple[Line, ...]
    tools: tuple[TemplateMessage, ...]
    notes: tuple[str, ...]

    @property
    def messages(self) -> list[TemplateMessage]:
        """The messages without their origins."""
        return [line.sent for line in self.lines]


def spell_layout(layout: Layout, traits: Traits) -> Spelling:
    """Write a layout for a template with these traits. Raises `UnsupportedContentError` for non-texts. O(layout)."""
    messages = [*layout.head, *layout.messages]
    lines = [] if layout.system is None else [Line({"role": "system", "content": layout.system})]
    notes = _note_unshown(messages, len(layout.tools), traits)
    lines += _spell_lines(messages, traits, notes)
    for fold in FOLDS:
        lines = fold(lines, traits, notes)
    tools = tuple(private_copy(tool_definition(tool)) for tool in layout.tools if tool.api is None)
    return Spelling(tuple(lines), tools, notes.lines())


FIELDS_GIVEN = "field(s) that only the template may read given to it"

_OpenCalls = CallQueue[Call]


def _spell_lines(messages: Sequence[Message], traits: Traits, notes: Notes) -> list[Line]:
    open_calls: _OpenCalls = CallQueue()
    found: list[Line] = []
    notes[ANSWERS_FIRST] += count_messages_between_results(messages)
    for place, came in enumerate(results_first(in_steps(messages))):
        message = came if came.shape == CHAT_TEMPLATE else adapt_and_note(came, CHAT_TEMPLATE, notes)
        kind = message.shape
        if kind in (CHAT_TEMPLATE, *CHAT_SHAPES):
            _open_calls_of(open_calls, [part for part in message.parts if type(part) is Call])
            sent = [_copy_message(message, open_calls, traits)]
        else:
            notes[FAILED] += sum(part.error for part in message.parts if type(part) is Result)
            sent = list(_respell_message(message, open_calls, traits))
        found += [Line(one, place, as_it_came=kind == CHAT_TEMPLATE) for one in sent]
    held = side_fields(message for message in messages if message.shape != CHAT_TEMPLATE)
    lost = find_missing(held, [line.sent for line in found])
    for field in lost:
        notes[field.word] += field.times
    notes[FIELDS_GIVEN] += len(held) - len(lost)
    return found


def _copy_message(message: Message, open_calls: _OpenCalls, traits: Traits) -> TemplateMessage:
    sent: TemplateMessage = private_copy(message.seen)
    sent.pop(PIN, None)
    if sent.get("content") is None or refusal_of(sent) is not None:
        sent.pop("content", None)  # transformers drops it too
        if not traits.contentless or "refusal" in sent:  # no template reads `refusal`, so it becomes the content
            sent["content"] = PART_SEAM.join(_list_texts(message))
    if message.shape == CHAT_TEMPLATE:
        return sent
    answers = [part for part in message.parts if type(part) is Result]
    if "content" in sent and not isinstance(sent["content"], str):
        texts = [text for result in answers for text in _list_result_texts(result)] or _list_texts(message)
        sent["content"] = PART_SEAM.join(texts)
    sent["role"] = _choose_role(message, traits)
    for listed in sent.get("tool_calls") or ():
        function = listed.get("function")
        if isinstance(function, dict):
            function["arguments"] = _write_arguments(cast("dict[str, Any]", function).get("arguments"))
    for result in answers:
        name = _find_function(result, open_calls)
        if name is not None:
            sent.setdefault("name", name)
    return sent


def _respell_message(message: Message, open_calls: _OpenCalls, traits: Traits) -> Iterator[TemplateMessage]:
    """Each result as a message, then the texts and calls as one."""
    for part in message.parts:
        if type(part) is Result:
            name = _find_function(part, open_calls)
            sent: TemplateMessage = {"role": "tool", "content": PART_SEAM.join(_list_result_texts(part))}
            yield sent | ({} if name is None else {"name": name}) | _write_id(part.call_id, "tool_call_id")
    calls = [part for part in message.parts if type(part) is Call]
    texts = _list_texts(message)
    thoughts = [part.text for part in message.parts if type(part) is Thinking and part.text]
    if not (texts or calls or thoughts):
        return
    fields: TemplateMessage = {"role": _choose_role(message, traits), "content": PART_SEAM.join(texts)}
    if thoughts and traits.shows_reasoning:
        fields["reasoning_content"] = PART_SEAM.join(thoughts)
    if calls:
        _open_calls_of(open_calls, calls)
        fields["tool_calls"] = [_write_call(call) for call in calls]
    yield fields


def _choose_role(message: Message, traits: Traits) -> str:
    return "system" if message.role == "developer" and not traits.developer else message.role


def _list_texts(message: Message) -> list[str]:
    texts: list[str] = []
    for part in message.parts:
        match part:
            case str():
                texts.append(part)
            case Call() | Result() | Thinking():
                pass
            case Opaque():
                pass  # a cache mark: other opaque parts have become texts
            case Media(kind=kind):
                raise _make_carry_error(kind)
            case _ as never:
                assert_never(never)
    return texts


def _list_result_texts(result: Result) -> list[str]:
    for part in result.parts:
        if not isinstance(part, str) and not is_mark(part):
            raise _make_carry_error(part.kind)
    return [part for part in result.parts if isinstance(part, str)]


def _make_carry_error(kind: str) -> UnsupportedContentError:
    return UnsupportedContentError(
        f"a chat template carries text only, not a part of kind {kind!r}; leave it out of the conversation", kind=kind
    )


def _write_call(call: Call) -> TemplateMessage:
    arguments = call.given if call.given is not None else _write_arguments(call.arguments)
    function = {"name": call.name, "arguments": private_copy(arguments)}
    return _write_id(call.id, "id") | {"type": "function", "function": function}


def _write_arguments(written: object) -> object:
    """The arguments as an object, since a template would quote a JSON text again. Other texts stay texts."""
    if not isinstance(written, str):
        return written
    read = object_in(written)
    return written if read is None else read


def _write_id(call_id: str | None, key: str) -> TemplateMessage:
    return {} if call_id is None else {key: call_id}


def _open_calls_of(open_calls: _OpenCalls, calls: Sequence[Call]) -> None:
    for call in calls:
        open_calls.add(call, asked_by(call.id, call.name))


def _find_function(result: Result, open_calls: _OpenCalls) -> str | None:
    """The name of the function that a result answers."""
    call = open_calls.answered(result.call_id, result.name)
    return result.name if call is None else call.name


def _note_unshown(messages: Iterable[Message], tools: int, traits: Traits) -> Notes:
    """Notes on what the template silently leaves out."""
    kinds = [type(part) for message in messages for part in message.parts]
    unshown = {
        "tool(s)": 0 if traits.shows_tools else tools,
        "call(s)": 0 if traits.shows_calls else kinds.count(Call),
        "result(s)": 0 if traits.shows_results else kinds.count(Result),
        "reasoning part(s)": 0 if traits.shows_reasoning else kinds.count(Thinking),
    }
    return Notes({f"{what} left out: the template shows none": times for what, times in unshown.items()})
