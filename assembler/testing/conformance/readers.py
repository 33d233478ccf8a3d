"""Checks the reader and the writer of a message class: nothing is lost, changed or quoted on the way."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.assembler import Assembler
from assembler.context import Context
from assembler.conversation.messages import Call, Message, Part, Result, edited, read_message
from assembler.conversation.messages.edit import write_like
from assembler.conversation.messages.registered import AnyMessage, Reader, Writer, reading
from assembler.conversation.repair import repair
from assembler.errors import ConversationError, MessageTypeError
from assembler.testing.conformance.checking import (
    Checked,
    History,
    failure_of,
    list_histories,
    note_case,
    quotes,
    texts_of,
)
from assembler.verify import verify
from budgets import AssemblyError, BudgetError

_DIALECTS = ("openai_chat", "anthropic")
"""One dialect whose results are messages, and one whose results are parts of user messages."""
_SHORT = "(shortened)"
_SUMMARY: Mapping[str, Any] = {"role": "user", "content": "(a summary)"}
_QUOTED = 4
"""The shortest text by which a quotation is told from words that any error may hold."""

_PURE = "it gives an equal dict each time"
_READS = "it reads every message"
_UNCHANGED = "it changes nothing that it is given"
_WRITES = "the reader reads what the writer made as the same message"
_VALID = "its conversations are valid"
_QUOTES = "no error quotes a message"


def check_reader(
    kind: type[AnyMessage],
    reader: Reader[AnyMessage],
    writer: Writer[AnyMessage] | None = None,
    *,
    histories: Iterable[History],
) -> None:
    """Raise `ContractError` unless a reader of messages of class `kind`, and its writer, keep what the library expects.

    `histories` are whole conversations of such messages, as an API would take them, with everything that the class can
    hold: texts, media, calls, and the results of several calls. At least one message must be of the class.

    The reader gives the same dict twice and changes nothing. Every message holds something, and a build returns the
    very objects, in requests that `assembler.verify` accepts. What the library writes is of the class and is read back
    as it was meant: each message again, a shortened one, one that lacks a part, a summary, and the results that
    `repair` adds where the results of a step are missing. Without a writer these are dicts. An object with an attribute
    that is missing or of another type raises no error that quotes a text. The reader is registered during the check
    alone.
    """
    __tracebackhide__ = True
    checked = _CheckedReader(getattr(kind, "__name__", str(kind)), kind, reader, writer)
    if (failure := failure_of(checked.name, lambda: checked.check(histories))) is not None:
        raise failure


@attrs.define(eq=False)
class _CheckedReader(Checked):
    """A reader and a writer under check."""

    kind: type
    reader: Reader[Any]
    writer: Writer[Any] | None

    def check(self, histories: Iterable[History]) -> None:
        listed = list_histories(histories)
        if not any(isinstance(message, self.kind) for history in listed for message in history):
            raise BudgetError(
                "check_reader: no message of the class; pass histories=[…] with whole conversations of it"
            )
        with reading(self.kind, self.reader, writer=self.writer):
            for place, history in enumerate(listed):
                with note_case(f"histories[{place}]"):
                    self.check_history(history)

    def check_history(self, history: Sequence[object]) -> None:
        """Check one conversation."""
        before = [self._read_twice(message, index) for index, message in enumerate(history)]
        messages = [read_message(message, index) for index, message in enumerate(history)]
        self._check_returned(history, messages)
        for index, message in enumerate(messages):
            if isinstance(message.raw, self.kind):
                self._check_written(history, index, message)
        self._check_mended(history, messages)
        for index, message in enumerate(messages):
            if isinstance(message.raw, self.kind):
                self._check_quotes(history, index, message)
        if [self._read_twice(message, index) for index, message in enumerate(history)] != before:
            raise self.broken(_UNCHANGED, "a message of the history changed")

    def _read_twice(self, message: object, index: int) -> object:
        """Copy what the reader gives, and check that it is the same each time and says something."""
        if not isinstance(message, self.kind):
            return None
        try:
            first = copy.deepcopy(self.reader(message))
            again = self.reader(message)
        except Exception as error:
            raise self.broken(_READS, f"message {index} raised {type(error).__name__}") from error
        if first != again:
            raise self.broken(_PURE, f"two readings of message {index} differ")
        try:
            read = read_message(message, index)
        except ConversationError as error:
            raise self.broken(_READS, str(error)) from None
        if not any(part != "" for part in read.parts):
            raise self.broken(_READS, f"message {index} is read as empty; see the table of what a dict says")
        return first

    def _check_returned(self, history: Sequence[object], messages: Sequence[Message]) -> None:
        """Check that a build returns the objects themselves, and that its request is valid."""
        context = self._build_context(history, messages)
        if len(context.messages) != len(history) or any(
            one is not other for one, other in zip(context.messages, history, strict=True)
        ):
            raise self.broken("the messages of a context are the objects themselves", "others came out")

    def _build_context(self, history: Sequence[object], messages: Sequence[Message]) -> Context[Any]:
        """The context for the first dialect that takes what the messages hold, with checked requests for all."""
        names = {part.name for message in messages for part in message.parts if isinstance(part, Call)}
        tools: list[dict[str, Any]] = [
            {"name": name, "parameters": {"type": "object", "properties": {}}} for name in sorted(names)
        ]
        built = list[Context[Any]]()
        refused: ConversationError | None = None
        for dialect in _DIALECTS:
            try:
                context = Assembler(dialect=dialect).set_tools(tools).set_messages(history).build()
            except ConversationError as error:
                refused = error
                continue
            open_ended = dialect == "anthropic" and messages[-1].role == "assistant"  # newer models refuse that
            if not open_ended and (wrongs := verify(context.request(), dialect=dialect)):
                raise self.broken(_VALID, "; ".join(map(str, wrongs[:3])))
            built.append(context)
        if not built:
            raise self.broken(_VALID, str(refused)) from None
        return built[0]

    def _check_written(self, history: Sequence[object], index: int, message: Message) -> None:
        """Check what the library writes for a message: itself, a shortened one, one without a part, and a summary."""
        if self.writer is not None:
            for what, fields in (("again", message.seen), ("as a summary", _SUMMARY)):
                self._check_class(
                    self._call_and_explain(functools.partial(write_like, message.raw, dict(fields)), what), what
                )
        shorter = [_shorten_part(part) for part in message.parts]
        self._check_edited(history, index, message, shorter, f"message {index}, shortened")
        if len(message.parts) > 1:
            for place in range(len(message.parts)):
                fewer = [None if place == each else part for each, part in enumerate(message.parts)]
                made = self._call_and_explain(
                    functools.partial(edited, message, fewer), f"message {index} without a part"
                )
                self._check_class(made.raw, f"message {index} without a part")

    def _check_edited(
        self, history: Sequence[object], index: int, message: Message, parts: Sequence[Part], what: str
    ) -> None:
        made = self._call_and_explain(lambda: edited(message, parts), what)
        self._check_class(made.raw, what)
        changed = [*history[:index], made.raw, *history[index + 1 :]]
        self._build_context(changed, [read_message(each, place) for place, each in enumerate(changed)])
        if self.writer is not None and (written := read_message(made.raw, index)).parts != made.parts:
            kept, meant = len(written.parts), len(made.parts)
            raise self.broken(_WRITES, f"{what}: {kept} part(s) for {meant}, or other ones")

    def _call_and_explain(self, make: Callable[[], Any], what: str) -> Any:
        try:
            return make()
        except MessageTypeError as error:
            raise self.broken(_WRITES, f"{what}: {error}") from error.__cause__

    def _check_class(self, made: object, what: str) -> None:
        if self.writer is not None and not isinstance(made, self.kind):
            raise self.broken("what the writer makes is of the class", f"{what}: got {type(made).__name__}")

    def _check_mended(self, history: Sequence[object], messages: Sequence[Message]) -> None:
        """Check the results that `repair` adds after each message with calls, and for a step that lacks one result."""
        for index, message in enumerate(messages):
            asked = [part.id for part in message.parts if isinstance(part, Call)]
            if not asked or not isinstance(message.raw, self.kind):
                continue
            begun = history[: index + 1]
            mended, _ = self._call_and_explain(functools.partial(repair, begun), f"results for message {index}")
            added = mended[len(begun) :]
            for each in added:
                self._check_class(each, f"a result for message {index}")
            read = [read_message(each, place) for place, each in enumerate(mended)]
            answered = [part.call_id for each in read[len(begun) :] for part in each.parts if isinstance(part, Result)]
            if sorted(map(str, answered)) != sorted(map(str, asked)):
                raise self.broken(_WRITES, f"{len(asked)} results for message {index}: {len(answered)} are read")
            self._build_context(mended, read)

    def _check_quotes(self, history: Sequence[object], index: int, message: Message) -> None:
        """Check that no error quotes a text, with each attribute of a message missing or of another type."""
        texts = [text for text in texts_of(message) if len(text) >= _QUOTED]
        for twin in _damage_copies(message.raw):
            damaged = [*history[:index], twin, *history[index + 1 :]]
            try:
                Assembler(dialect="openai_chat").set_messages(damaged).build()
            except AssemblyError as error:
                if any(quotes(str(error), text) for text in texts):
                    problem = f"one of message {index} does; say what is wrong by types, names and numbers"
                    raise self.broken(_QUOTES, problem) from None


def _shorten_part(part: Part) -> Part:
    if isinstance(part, Result):
        return attrs.evolve(part, parts=(_SHORT,), given=None)
    return _SHORT if isinstance(part, str) else part


def _damage_copies(raw: object) -> Iterator[object]:
    """Copies of an object, each with one attribute that is None or of no known type; none if it has no fields."""
    names = [*getattr(raw, "__dict__", ())] or [
        name for base in type(raw).__mro__ for name in _list_slots(base) if hasattr(raw, name)
    ]
    for name in names:
        for value in (None, object()):
            try:
                twin = copy.copy(raw)
                object.__setattr__(twin, name, value)
            except Exception:  # a class may refuse copies or changes
                continue
            yield twin


def _list_slots(base: type) -> Sequence[str]:
    slots = cast("str | Sequence[str]", vars(base).get("__slots__", ()))
    return [slots] if isinstance(slots, str) else [name for name in slots if not name.startswith("__")]
