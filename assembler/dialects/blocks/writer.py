"""Writes the parts of a message as blocks. Each API has a subclass."""

from __future__ import annotations

import abc
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, assert_never, cast

from assembler.conversation.messages import Call, Media, Message, Opaque, Result, Thinking
from assembler.conversation.messages.dicts import PIN, private_copy
from assembler.conversation.messages.extra_fields import OF_CHAT
from assembler.conversation.messages.foreign_parts import adapt_and_note
from assembler.conversation.messages.parts import NEUTRAL, compact_json
from assembler.conversation.messages.stray_cache_marks import MARK_KEYS, NONE_TAKEN, TakenMarks
from assembler.dialects.blocks.ids import CallIds, IdRule
from assembler.dialects.blocks.media import not_a_text
from assembler.dialects.writing.fields import own_fields
from assembler.dialects.writing.notes import REASONING, RENAMED, SPEAKERS, Notes
from assembler.errors import UnsupportedContentError
from assembler.text.fields import fields_of, items_of, json_in

Raw: TypeAlias = Mapping[str, Any]
Block: TypeAlias = dict[str, Any]

NO_ERROR_TEXT = "The tool failed without a message."
"""Our text for an empty result of a failed call. Bedrock: `The content field at
messages.<n>.content.0.toolResult cannot be empty when status value is error.` Anthropic gets the same text."""

_DOUBTFUL = re.compile(r"NaN|Infinity|\\u[dD]|[0-9][eE]|[0-9]{300}")
"""One of these is in every text from which `json.loads` makes a value that JSON cannot carry."""


class Writer(abc.ABC):
    """Writes the parts of one request's messages for one API, assigns call ids, and notes what is left out.

    `raw` is the caller's dict of a part, or None. Each method returns a new block, or None for a part that is left out,
    with a note.
    """

    shape: ClassVar[str]
    """The name of the API's own shape of messages."""
    content: ClassVar[str] = "content"
    """The key of a message's parts."""
    marks: ClassVar[TakenMarks] = NONE_TAKEN
    """The cache marks that the API has as keys."""
    id_rule: ClassVar[IdRule]
    tool_name: ClassVar[re.Pattern[str]]
    """The pattern of legal tool names."""

    def __init__(self) -> None:
        self.notes = Notes()
        self.ids = CallIds(self.id_rule)

    @abc.abstractmethod
    def text(self, text: str, raw: Raw | None, shape: str) -> Block | None:
        """Write a text."""

    @abc.abstractmethod
    def call(self, call: Call, call_id: str | None, raw: Raw | None) -> Block:
        """Write a call with its assigned id."""

    @abc.abstractmethod
    def result(self, result: Result, call: Call, call_id: str | None, raw: Raw | None) -> Block:
        """Write the result of `call`."""

    @abc.abstractmethod
    def thinking(self, part: Thinking, shape: str) -> Block | None:
        """Write reasoning of the API's own models; None for other models'."""

    @abc.abstractmethod
    def media(self, part: Media) -> Block:
        """Write an image, a document or a sound. Raises `UnsupportedContentError`."""

    def opaque(self, part: Opaque) -> Block | None:
        """Copy a part that this library does not read; None for Bedrock's cache mark."""
        if "cachePoint" in part.raw:
            return None
        return own_fields(part.raw) or None

    def other(self, part: Thinking | Media | Opaque, shape: str) -> Block | None:
        """Write reasoning, media, or a part that this library does not read. Raises `UnsupportedContentError`."""
        match part:
            case Thinking():
                block = self.thinking(part, shape)
                self.notes[REASONING] += block is None
                return block
            case Media():
                return self.media(part)
            case Opaque():
                return self.opaque(part)
            case _ as never:
                assert_never(never)

    def adapt(self, messages: Iterable[Message]) -> list[Message]:
        """Adapt the foreign parts of messages to this API, and note what is left out."""
        return [
            message  # most messages are one text and need no adapting
            if message.text is not None and not message.extra_fields
            else adapt_and_note(message, self.shape, self.notes)
            for message in messages
        ]

    def frame(self, message: Message) -> Block:
        """The message's own keys in order, with the positions of role and content; `{}` for another shape.

        The keys of a Chat message are left out: frameworks write them beside another API's blocks, and the API refuses
        them.
        """
        seen = message.seen
        if message.shape == NEUTRAL and message.shallow and len(seen) == 2 and "role" in seen and self.content in seen:
            return dict.fromkeys(seen)
        fields = fields_of(seen)
        if message.shape not in (self.shape, NEUTRAL) or fields is None:
            return {}
        if message.shape != self.shape:
            return {key: None for key in fields if key in ("role", self.content)}
        return {
            key: None if key in ("role", self.content) else private_copy(value)
            for key, value in fields.items()
            if key != PIN and key not in MARK_KEYS and key not in OF_CHAT
        }

    def system(self, system: str | None, head: Sequence[Message]) -> list[Block]:
        """A block for each system text, and for each cache mark that the API accepts.

        Reasoning is left out with a note. Raises for other parts.
        """
        blocks = [] if system is None else [self.text(system, None, NEUTRAL)]
        for message in head:
            self.notes[SPEAKERS] += message.name is not None
            as_they_came = parts_as_they_came(message)
            for place, part in enumerate(message.parts):
                if isinstance(part, str):
                    fields = fields_of(as_they_came[place]) if as_they_came else None
                    blocks.append(self.text(part, fields, message.shape))
                elif isinstance(part, Opaque) and part.kind not in _AMONG_MESSAGES:
                    blocks.append(self.opaque(part))
                elif type(part) is Thinking:
                    self.notes[REASONING] += 1
                else:
                    raise _refuse_non_text(part)
        return [self.unmarked(block) for block in blocks if block is not None]

    def system_field(self, system: str | None, head: Sequence[Message]) -> str | list[Block] | None:
        """The `system` field, or None for a request without one. Raises for parts that it cannot hold."""
        return self.system(system, head) or None

    def unmarked(self, block: Block) -> Block:
        """Remove from a written block, and from a result's parts, the cache marks that the API does not have there."""
        self.marks.drop_from_part(block)
        return block

    def named(self, call: Call) -> str:
        """A legal name for a call's tool, because models make up names. Equal names stay equal."""
        if self.tool_name.fullmatch(call.name):
            return call.name
        self.notes[RENAMED] += 1
        return _make_name_legal(call.name)

    def answered(self, call: Call) -> str:
        """The name for the call's result, the same as `named` returns but without a note."""
        return call.name if self.tool_name.fullmatch(call.name) else _make_name_legal(call.name)


def _make_name_legal(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name if re.match("[a-zA-Z_]", name) else f"_{name}")[:64]


_AMONG_MESSAGES = ("tool_addition", "tool_removal")
"""The blocks that Claude takes in a system message among the others, and not in the `system` field."""


def _refuse_non_text(part: Call | Result | Thinking | Media | Opaque) -> UnsupportedContentError:
    """The error for a system message that holds anything but text."""
    return not_a_text(part.kind if isinstance(part, Media | Opaque) else type(part).__name__.lower())


def parts_as_they_came(message: Message) -> Sequence[object]:
    """The caller's own parts, one for each of `message.parts`; empty if the content is not a list of parts."""
    seen = fields_of(message.seen)
    if seen is None or (message.role == "tool" and "content" in seen):
        return ()
    return items_of(seen.get("content" if "content" in seen else "parts"))


def arguments_of(call: Call, notes: Notes) -> dict[str, Any]:
    """The arguments as an object. A text that is not a JSON object is sent whole, as one argument."""
    if call.given is not None:
        return own_fields(call.given)
    if not call.arguments.strip():
        return {}
    try:
        read: Any = json_in(call.arguments)
        if _DOUBTFUL.search(call.arguments):
            compact_json(read)  # refuses NaN and infinity
    except ValueError:
        read = call.arguments
    if isinstance(read, dict):
        return cast("dict[str, Any]", read)
    if read is None:
        return {}
    notes["call(s) whose arguments are no JSON object sent with them as one text"] += 1
    return {"arguments": call.arguments}
