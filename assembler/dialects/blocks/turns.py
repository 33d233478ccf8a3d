"""Writes a conversation as turns of blocks, for Anthropic Messages, Bedrock Converse and Gemini.

In these APIs roles alternate and the user begins, all results of a step are in the turn right after its calls, and
nothing is empty. Rules and texts of 400 errors: the APIs' references and public issue threads, read 2026-11.
`assembler.verify` checks all of them with separate code.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import attrs

from assembler.conversation.compaction import api_of, summary_apart
from assembler.conversation.messages import Call, Message, Result, user_message
from assembler.conversation.messages.parts import NEUTRAL
from assembler.conversation.messages.responses import in_steps
from assembler.conversation.messages.stray_cache_marks import MARK_KEYS
from assembler.conversation.turns import opens_turn, unanswered_error
from assembler.dialects.blocks.writer import Block, Writer, parts_as_they_came
from assembler.dialects.dialect import Dialect, Emission
from assembler.dialects.writing.notes import SPEAKERS, Notes
from assembler.errors import ConversationError
from assembler.regions.layout import Layout
from assembler.text.fields import fields_of

Side: TypeAlias = Literal["user", "assistant"]

MOST_MARKS = 4
"""Cache marks in one request. `A maximum of 4 blocks with cache_control may be provided. Found 5.`:
Anthropic.SDK#50; Bedrock's service has the same limit."""


BLANK = "(no text)"
"""Our text for a blank user message that an answer follows: these APIs accept neither a blank text nor an answer
without a question."""


class Ending(enum.Enum):
    """What a conversation may end with."""

    USER = "a user message or tool results"
    ANY = "any role"


@attrs.define
class Turn:
    """Consecutive messages of one side: their results, then everything else."""

    side: Side
    frame: Block
    """The own keys of the messages with results; of all messages if there are no results."""
    results: list[Block] = attrs.field(factory=list[Block])
    blocks: list[Block] = attrs.field(factory=list[Block])
    rest: Block = attrs.field(default=attrs.Factory(lambda self: self.frame, takes_self=True))
    """The own keys of the messages with everything else."""
    text: str | None = None
    """The text, if the turn is one message whose content is a plain text."""

    def says_something(self) -> bool:
        """Whether the turn holds anything but cache marks."""
        return bool(self.results) or any("cachePoint" not in block for block in self.blocks)

    def keys(self) -> Block:
        """The own keys of all its messages."""
        return {**self.frame, **self.rest}

    def absorb(self, other: Turn) -> None:
        """Add the next message of the same side."""
        if other.blocks and not self.blocks:
            self.rest = other.frame
        else:
            keys = self.rest if other.blocks else self.frame
            keys |= {key: value for key, value in other.frame.items() if key not in keys}
        self.results += other.results
        self.blocks += other.blocks
        self.text = None


def turns_of(messages: Sequence[Message], writer: Writer, before: Sequence[Turn] = ()) -> list[Turn]:
    """Write the messages as alternating turns that begin with the user and follow `before`. O(parts).

    Empty messages, and messages before the first user message, are left out. System messages become the user's. A blank
    user message that an answer follows becomes `BLANK`, so that the answer is not lost. Raises `ConversationError` for
    a result without its call and for a call without its result.
    """
    turns, ids = [*before], writer.ids
    blank: Turn | None = None
    for index, message in enumerate(messages):
        if message.role != "assistant" and ids.has_open and not _carries_results(message):
            raise unanswered_error(ids.open, index)
        turn = _write_turn(message, index, writer)
        if turn.text is None and not turn.says_something():
            writer.notes["empty message(s) left out"] += 1
            asks = message.role == "user" and (not turns or turns[-1].side == "assistant")
            blank = turn if asks else blank
            continue
        if blank is not None and turn.side == "assistant":
            turns.append(_fill_blank_turn(blank, writer))
        if not turns and blank is None and not opens_turn(message):
            writer.notes["message(s) before the first user message left out"] += 1
        elif turns and turns[-1].side == turn.side:
            turns[-1].absorb(turn)
        else:
            turns.append(turn)
        blank = None
    if ids.has_open:
        raise unanswered_error(ids.open, None)
    return turns


def _fill_blank_turn(turn: Turn, writer: Writer) -> Turn:
    """Put `BLANK` into a blank turn."""
    _append_if_any(turn.blocks, writer.text(BLANK, None, NEUTRAL))
    writer.notes["empty message(s) left out"] -= 1
    writer.notes[f"blank message(s) of the user's sent as {BLANK!r}"] += 1
    return turn


def refuse_ending(turns: Sequence[Turn], dialect: str, ending: Ending) -> None:
    """Raise `ConversationError` unless there is a turn, and the API accepts the last one there."""
    if not turns:
        raise ConversationError(f"{dialect} needs a user message with something in it; add one to the conversation")
    if turns[-1].side == "assistant" and ending is Ending.USER:
        raise ConversationError(
            f"{dialect} needs a conversation that ends with a user message or tool results, and this one ends with the "
            "assistant's; add the user's message, or leave the last one out. Until then plan().report shows its cost"
        )


def turns_to_send(dialect: Dialect, layout: Layout, writer: Writer, ending: Ending) -> list[Turn]:
    """The turns of a request. Raises `ConversationError` for a conversation that cannot be sent yet."""
    messages = in_steps(layout.messages)
    turns = turns_of(_put_summary_first(messages, writer.adapt(messages), writer), writer)
    refuse_ending(turns, dialect.name, ending)
    return turns


def _put_summary_first(messages: Sequence[Message], adapted: list[Message], writer: Writer) -> list[Message]:
    """Put the text of a summary at the beginning, if another API's server wrote it, into messages of the user's.

    As the model's it would be left out there, and with it all that the conversation was about.
    """
    if len(messages) < 2 or messages[0].role != "assistant" or api_of(messages[0]) in (None, writer.shape):
        return adapted
    texts, rest = summary_apart(messages[0], adapted[0])
    writer.notes["summary of another API's server sent as the user's words"] += bool(texts)
    return [*map(user_message, texts), *([rest] if rest.parts else []), *adapted[1:]]


def turns_to_add(
    dialect: Dialect, before: Emission, added: Sequence[Message], writer: Writer, ending: Ending
) -> list[Turn] | None:
    """The added turns for a request that ends with a user turn. O(messages that were added).

    None if the whole request must be written again: the new turns do not begin with the model's, they need a call id
    made from the question, something was noted in the request or in them, or they are invalid, so that writing the
    whole raises the error.
    """
    if (
        before.notes
        or added[0].role != "assistant"
        or (writer.id_rule.needed and any(map(_has_call_without_id, added)))
    ):
        return None
    writer.ids.continue_from(before.call_ids, before.id_repeats)
    try:
        turns = turns_of(writer.adapt(in_steps(added)), writer, (Turn("user", {}),))[1:]
        refuse_ending(turns, dialect.name, ending)
    except ConversationError:
        return None
    return turns if turns[0].side == "assistant" and not any(writer.notes.values()) else None


def _has_call_without_id(message: Message) -> bool:
    return any(type(part) is Call and part.id is None for part in message.parts)


def refuse_undefined_tools(turns: Sequence[Turn], layout: Layout) -> None:
    """Raise `ConversationError` if the history calls tools and the request defines none that the API accepts."""
    if not layout.tools and any(turn.results or any("toolUse" in block for block in turn.blocks) for turn in turns):
        raise ConversationError(
            "the history calls tools, but the request defines none for this API, which refuses calls without tools: "
            "pass functions, or tools of this API's own, to set_tools(tools), and keep one where a limit selects"
        )


def _carries_results(message: Message) -> bool:
    return any(type(part) is Result for part in message.parts)


def _write_turn(message: Message, index: int, writer: Writer) -> Turn:
    """Write one message as a turn."""
    ids = writer.ids
    frame = writer.frame(message)
    turn = Turn("assistant" if message.role == "assistant" else "user", frame, rest=frame)
    text = message.parts[0] if message.shallow else None
    if type(text) is str:  # most messages: a role and a text
        _append_if_any(turn.blocks, writer.text(text, None, message.shape))
        turn.text = text if turn.blocks else None
        if message.role == "user":
            ids.begin(message)
        elif message.role != "assistant":
            _note_folds(message, turn, writer.notes)
        return turn
    as_they_came = parts_as_they_came(message)
    if opens_turn(message):
        ids.begin(message)
    for place, part in enumerate(message.parts):
        spelled = fields_of(as_they_came[place]) if place < len(as_they_came) else None
        match part:
            case str():
                _append_if_any(turn.blocks, writer.text(part, spelled, message.shape))
            case Call():
                turn.blocks.append(writer.call(part, ids.ask(part, place), spelled))
            case Result():
                call, call_id = ids.answer(part, index)
                if message.role == "tool" and not as_they_came:
                    spelled = fields_of(message.seen)  # its texts may have marks
                turn.results.append(writer.result(part, call, call_id, spelled))
            case _:
                _append_if_any(turn.blocks, writer.other(part, message.shape))
    _remove_marks(turn, writer)
    if not as_they_came and len(turn.blocks) == 1 and message.text is not None:
        turn.text = message.text
    _note_folds(message, turn, writer.notes)
    return turn


def _remove_marks(turn: Turn, writer: Writer) -> None:
    """Remove stray cache marks from the blocks. Only results hold further blocks with them."""
    for block in turn.results:
        writer.unmarked(block)
    for block in turn.blocks:
        if not MARK_KEYS.isdisjoint(block):
            writer.unmarked(block)


def _note_folds(message: Message, turn: Turn, notes: Notes) -> None:
    notes[SPEAKERS] += message.name is not None
    if message.role in ("system", "developer") and turn.blocks:
        notes["system message(s) inside the conversation sent as the user's"] += 1


def _append_if_any(blocks: list[Block], block: Block | None) -> None:
    if block is not None:
        blocks.append(block)


def system_and_messages(
    dialect: Dialect, layout: Layout, writer: Writer, ending: Ending, as_message: Callable[[Turn], Block]
) -> dict[str, Any]:
    """The beginning of a request: `system`, if there is one, and `messages`.

    Raises `ConversationError` for a conversation that cannot be sent yet, and for calls of tools without definitions.
    """
    turns = turns_to_send(dialect, layout, writer, ending)
    refuse_undefined_tools(turns, layout)
    system = writer.system_field(layout.system, writer.adapt(layout.head))
    beginning = {"system": system} if system else {}
    return {**beginning, "messages": [as_message(turn) for turn in turns]}


def with_added(before: Emission, key: str, added: Iterable[Block], writer: Writer) -> Emission:
    """The request with what the writer wrote behind its list under `key`. The old request stays as it is."""
    grown = {**before.request, key: [*before.request[key], *added]}
    return Emission(grown, before.notes, before.call_ids | writer.ids.taken, id_repeats=writer.ids.repeats)


def surplus_marks(tools: Sequence[Any], system: Sequence[Any], messages: Sequence[Any]) -> list[Any]:
    """The cache marks to drop so that `MOST_MARKS` stay: those of old messages first, the newest mark last.

    A mark covers everything before it, so an old one helps only if the later ones miss.
    """
    ordered = [*messages[:-1], *tools, *system, *messages[-1:]]
    return ordered[: max(0, len(ordered) - MOST_MARKS)]
