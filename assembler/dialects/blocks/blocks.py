"""What the APIs of blocks share: turns of one role, results first, legal call ids.

Anthropic Messages, Bedrock Converse and Gemini take turns of blocks: all results of a step stand together in the turn
right after its calls, nothing is empty, the user begins. Rules and 400 texts: the APIs' references and public issue
threads, read 2026-11; `assembler.verify` holds every one of them apart from this code.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, cast

import attrs

from assembler.conversation.messages import Call, Media, Message, Opaque, Result, Thinking
from assembler.conversation.messages.dicts import private_copy
from assembler.conversation.messages.parts import NEUTRAL, compact_json
from assembler.conversation.messages.responses import in_steps
from assembler.conversation.messages.unread import told
from assembler.conversation.turns import opens_turn, unanswered
from assembler.dialects.blocks.ids import CallIds, IdRule
from assembler.dialects.copies import own_fields
from assembler.dialects.dialect import Dialect, Emission
from assembler.dialects.notes import FIELDS, RENAMED, Notes
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.regions.layout import Layout

Raw: TypeAlias = Mapping[str, Any]
Block: TypeAlias = dict[str, Any]
Side: TypeAlias = Literal["user", "assistant"]

MOST_MARKS = 4
"""Cache marks in one request. `A maximum of 4 blocks with cache_control may be provided. Found 5.`:
Anthropic.SDK#50; Bedrock's service has the same limit."""


BLANK = "(no text)"
"""What a message of the user's says that holds nothing but blanks, where an answer follows it: these APIs take neither
a blank text nor an answer without a question. Ours."""

NO_ERROR_TEXT = "The tool failed without a message."
"""What the result of a failed call says where it says nothing. Bedrock: `The content field at
messages.<n>.content.0.toolResult cannot be empty when status value is error.` Anthropic's is held to the same."""


def fields_of(value: object) -> Raw | None:
    """The value as a mapping, if it is one."""
    if type(value) is dict:  # nearly always, and the abstract class is slow to ask
        return cast(Raw, value)
    return cast(Raw, value) if isinstance(value, Mapping) else None


_DOUBTFUL = re.compile(r"NaN|Infinity|\\u[dD]|[0-9][eE]|[0-9]{300}")
"""What a JSON text must hold for `json.loads` to make of it what JSON cannot carry."""


class Ending(enum.Enum):
    """What a conversation may end with."""

    USER = "a user message or tool results"
    ANY = "any role"


class Writer(Protocol):
    """How one API writes the parts of a message. `raw` is the part as it came, where it came as a dict.

    Every block is the caller's own, or None for what is left out; then `notes` says so.
    """

    @property
    def ids(self) -> IdRule:
        """The ids that the API takes; others are mapped."""
        ...

    @property
    def notes(self) -> Notes:
        """Where what is left out is noted."""
        ...

    def frame(self, message: Message) -> Block:
        """The message's own keys in their order, the places of role and content kept; `{}` for another spelling."""
        ...

    def text(self, text: str, raw: Raw | None, shape: str) -> Block | None:
        """A text."""
        ...

    def call(self, call: Call, call_id: str | None, raw: Raw | None) -> Block:
        """A call, under the id that it goes by here."""
        ...

    def result(self, result: Result, call: Call, call_id: str | None, raw: Raw | None) -> Block:
        """The answer to `call`."""
        ...

    def other(self, part: Thinking | Media | Opaque, shape: str) -> Block | None:
        """Reasoning, media, and what this library does not read. Raises `UnsupportedContentError`."""
        ...


@attrs.define
class Turn:
    """Consecutive messages of one side: their results, then everything else."""

    side: Side
    frame: Block
    """The own keys of the messages that hold the results; of all, where there are none."""
    results: list[Block] = attrs.field(factory=list[Block])
    blocks: list[Block] = attrs.field(factory=list[Block])
    rest: Block = attrs.field(default=attrs.Factory(lambda self: self.frame, takes_self=True))
    """The own keys of the messages that hold everything else."""
    text: str | None = None
    """The one text of a lone message, where its content is that text."""

    def keys(self) -> Block:
        """The own keys of all its messages."""
        return {**self.frame, **self.rest}

    def absorb(self, other: Turn) -> None:
        """Take in the next message of the same side."""
        if other.blocks and not self.blocks:
            self.rest = other.frame
        else:
            held = self.rest if other.blocks else self.frame
            held |= {key: value for key, value in other.frame.items() if key not in held}
        self.results += other.results
        self.blocks += other.blocks
        self.text = None


def turns_of(messages: Sequence[Message], writer: Writer, ids: CallIds, before: Sequence[Turn] = ()) -> list[Turn]:
    """The messages as turns that alternate and that the user begins. O(parts).

    What has nothing to say is left out, and what stands before the first user message; system messages are the user's.
    A blank message of the user's that an answer follows says `BLANK`, so that the answer keeps its turn. Raises
    `ConversationError` for a result without its call and for a call without its result. They come after `before`.
    """
    turns = [*before]
    blank: Turn | None = None
    for index, message in enumerate(in_steps(messages)):
        if ids.waiting and message.role != "assistant" and not _carries_results(message):
            raise unanswered(ids.open, index)
        turn = _spoken(message, index, writer, ids)
        if not (turn.results or any("cachePoint" not in block for block in turn.blocks)):
            writer.notes["empty message(s) left out"] += 1
            asks = message.role == "user" and (not turns or turns[-1].side == "assistant")
            blank = turn if asks else blank
            continue
        if blank is not None and turn.side == "assistant":
            turns.append(_said_blank(blank, writer))
        if not turns and blank is None and not opens_turn(message):
            writer.notes["message(s) before the first user message left out"] += 1
        elif turns and turns[-1].side == turn.side:
            turns[-1].absorb(turn)
        else:
            turns.append(turn)
        blank = None
    if ids.waiting:
        raise unanswered(ids.open, None)
    return turns


def _said_blank(turn: Turn, writer: Writer) -> Turn:
    """A turn of nothing but blanks, with what stands in for them."""
    _keep(turn.blocks, writer.text(BLANK, None, NEUTRAL))
    writer.notes["empty message(s) left out"] -= 1
    writer.notes[f"blank message(s) of the user's sent as {BLANK!r}"] += 1
    return turn


def refuse_ending(turns: Sequence[Turn], dialect: str, ending: Ending) -> None:
    """Raise `ConversationError` unless there is a turn, and the last one is of a kind that the API takes there."""
    if not turns:
        raise ConversationError(f"{dialect} needs a user message with something in it; add one to the conversation")
    if turns[-1].side == "assistant" and ending is Ending.USER:
        raise ConversationError(
            f"{dialect} needs a conversation that ends with a user message or tool results, and this one ends with the "
            "assistant's; add the user's message, or leave the last one out. Until then plan().report tells its cost"
        )


def turns_to_send(dialect: Dialect, layout: Layout, writer: Writer, ids: CallIds, ending: Ending) -> list[Turn]:
    """The turns of a request. Raises `ConversationError` where nothing can be sent yet."""
    turns = turns_of(told(layout.messages, dialect.api.shape, writer.notes), writer, ids)
    refuse_ending(turns, dialect.name, ending)
    return turns


def turns_to_add(
    dialect: Dialect, before: Emission, added: Sequence[Message], writer: Writer, ids: CallIds, ending: Ending
) -> list[Turn] | None:
    """The turns that come after a request that ends with the user's. O(messages that were added).

    None where they cannot be told by themselves: where they do not begin with the model's, repeat the id of a call, or
    need one that is made from the question; where something in the request or in them had to be noted; and where no
    API would take them, so that whoever spells the whole says why.
    """
    if before.notes or added[0].role != "assistant" or (writer.ids.needed and any(map(_names_no_call, added))):
        return None
    try:
        heard = told(added, dialect.api.shape, writer.notes)
        turns = turns_of(heard, writer, ids, (Turn("user", {}),))[1:]
        refuse_ending(turns, dialect.name, ending)
    except ConversationError:
        return None
    apart = turns[0].side == "assistant" and ids.taken.isdisjoint(before.call_ids)
    return turns if apart and not any(writer.notes.values()) else None


def _names_no_call(message: Message) -> bool:
    return any(type(part) is Call and part.id is None for part in message.parts)


def refuse_undefined_tools(turns: Sequence[Turn], layout: Layout) -> None:
    """Raise `ConversationError` where tools were called and none is defined."""
    if not layout.tools and any(turn.results for turn in turns):
        raise ConversationError(
            "the history calls tools and none is defined, which the API refuses: pass them to add_capability(tools)"
        )


def _carries_results(message: Message) -> bool:
    return any(type(part) is Result for part in message.parts)


def _spoken(message: Message, index: int, writer: Writer, ids: CallIds) -> Turn:
    """One message as a turn of its own."""
    turn = Turn("assistant" if message.role == "assistant" else "user", writer.frame(message))
    text = message.parts[0] if message.shallow else None
    if type(text) is str:  # most messages: a role and a text
        _keep(turn.blocks, writer.text(text, None, message.shape))
        turn.text = text if turn.blocks else None
        if message.role == "user":
            ids.begin(message)
        elif message.role != "assistant":
            _note(message, turn, writer.notes)
        return turn
    beside = parts_as_they_came(message)
    if opens_turn(message):
        ids.begin(message)
    for place, part in enumerate(message.parts):
        spelled = fields_of(beside[place]) if place < len(beside) else None
        match part:
            case str():
                _keep(turn.blocks, writer.text(part, spelled, message.shape))
            case Call():
                turn.blocks.append(writer.call(part, ids.ask(part, place), spelled))
            case Result():
                call, call_id = ids.answer(part, index)
                turn.results.append(writer.result(part, call, call_id, spelled))
            case _:
                _keep(turn.blocks, writer.other(part, message.shape))
    if not beside and len(message.parts) == len(turn.blocks) == 1 and type(message.parts[0]) is str:
        turn.text = message.parts[0]
    _note(message, turn, writer.notes)
    return turn


def _note(message: Message, turn: Turn, notes: Notes) -> None:
    if message.beside:
        notes[FIELDS] += len(message.beside)
    if message.name is not None:
        notes["name(s) of a speaker left out"] += 1
    if message.role in ("system", "developer") and turn.blocks:
        notes["system message(s) inside the conversation sent as the user's"] += 1


def _keep(blocks: list[Block], block: Block | None) -> None:
    if block is not None:
        blocks.append(block)


def parts_as_they_came(message: Message) -> Sequence[object]:
    """The caller's own parts, in step with `message.parts`; empty where the content is no list of parts."""
    seen = fields_of(message.seen)
    if seen is None or (message.role == "tool" and message.shape != "gemini"):
        return ()
    listed: object = seen.get("parts" if message.shape == "gemini" else "content")
    return cast("Sequence[object]", listed) if isinstance(listed, list | tuple) else ()


def _no_text(part: object) -> UnsupportedContentError:
    """The error for a system message that holds anything but text."""
    kind = part.kind if isinstance(part, Media | Opaque) else type(part).__name__.lower()
    return UnsupportedContentError(
        f"a system message holds a part of kind {kind!r}; the API takes text there", kind=kind
    )


def system_texts(system: str | None, head: Sequence[Message], writer: Writer) -> list[Block]:
    """A block for each system text, and for each cache mark that the API takes. Raises `UnsupportedContentError`."""
    blocks: list[Block] = []
    if system is not None:
        _keep(blocks, writer.text(system, None, NEUTRAL))
    for message in head:
        beside = parts_as_they_came(message)
        for place, part in enumerate(message.parts):
            if isinstance(part, str):
                _keep(blocks, writer.text(part, fields_of(beside[place]) if beside else None, message.shape))
            elif isinstance(part, Opaque):
                _keep(blocks, writer.other(part, message.shape))
            else:
                raise _no_text(part)
    return blocks


def framed(message: Message, own: str, content: str, hidden: Iterable[str]) -> Block:
    """`Writer.frame` for an API that calls its shape `own` and the key of its parts `content`."""
    fields = fields_of(message.seen)
    if message.shape not in (own, NEUTRAL) or fields is None:
        return {}
    if message.shape != own:
        return {key: None for key in fields if key in ("role", content)}
    return {
        key: None if key in ("role", content) else private_copy(value)
        for key, value in fields.items()
        if key not in hidden
    }


def arguments_of(call: Call, notes: Notes) -> dict[str, Any]:
    """The arguments as an object. A JSON text that is none (models write such) goes out whole, as one argument."""
    if call.given is not None:
        return own_fields(call.given)
    if not call.arguments.strip():
        return {}
    try:
        read: Any = json.loads(call.arguments)
        if _DOUBTFUL.search(call.arguments):
            compact_json(read).encode()  # refuses NaN, infinity and lone surrogates, which json.loads lets through
    except (ValueError, RecursionError):
        read = call.arguments
    if isinstance(read, dict):
        return cast("dict[str, Any]", read)
    if read is None:
        return {}
    notes["call(s) whose arguments are no JSON object sent with them as one text"] += 1
    return {"arguments": call.arguments}


def legal_name(name: str, legal: re.Pattern[str], notes: Notes) -> str:
    """A tool's name in a history, legal: models make up names. The same name always becomes the same one."""
    if legal.fullmatch(name):
        return name
    notes[RENAMED] += 1
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name if re.match("[a-zA-Z_]", name) else f"_{name}")[:64]


def surplus_marks(tools: Sequence[Any], system: Sequence[Any], messages: Sequence[Any]) -> list[Any]:
    """The cache marks to drop so that `MOST_MARKS` stay: those of old messages first, the newest mark last.

    A mark holds everything before it, so an old one is of use only as far as a later one misses.
    """
    ordered = [*messages[:-1], *tools, *system, *messages[-1:]]
    return ordered[: max(0, len(ordered) - MOST_MARKS)]
