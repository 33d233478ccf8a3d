"""Readers and writers that callers register for their own message classes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar, cast

from assembler.errors import ConversationError, MessageTypeError
from assembler.validation import wrong
from budgets.counters.awaited import refuse_async
from budgets.errors import named_type

AnyMessage = TypeVar("AnyMessage")
Reader: TypeAlias = Callable[[AnyMessage], Mapping[str, Any]]
"""Turns an object into a message dict in any supported spelling, such as OpenAI's or Anthropic's."""

Writer: TypeAlias = Callable[[dict[str, Any]], AnyMessage]
"""Makes an object from such a dict as its reader returns, or from `{"role": "user", "content": text}` for a summary."""

_KNOWN: dict[type, tuple[Reader[Any], Writer[Any] | None]] = {}


def register_reader(
    kind: type[AnyMessage], reader: Reader[AnyMessage], *, writer: Writer[AnyMessage] | None = None
) -> None:
    """Read objects of a class, and of its subclasses, by `reader`, in every assembler of the process.

    `reader` is pure: the same object gives an equal dict until its owner changes it. It is called when a message is
    first read, and again to check whether it changed, so it should take no more than linear time. `context.messages`
    holds the objects themselves. A message that the library writes (a shortened one, a summary, a result that `repair`
    adds) is made by `writer`, or is a dict if there is none. Registering a class again replaces both. Raises
    `MessageTypeError` unless it gets a class and functions, and `BudgetError` for an async function.
    """
    if not isinstance(cast(object, kind), type):
        raise MessageTypeError(f"kind: expected a message class of your own, got an instance of {type(kind).__name__}")
    if kind in (object, dict, list, tuple, str):
        raise MessageTypeError(f"kind: expected a message class of your own, got {kind.__name__}; register a subclass")
    if not callable(reader):
        raise MessageTypeError(wrong("reader", "a function from the message to its dict", reader))
    if writer is not None and not callable(writer):
        raise MessageTypeError(wrong("writer", "a function from a dict to the message, or None", writer))
    refuse_async(reader, "reader")
    refuse_async(writer, "writer")
    _KNOWN[kind] = reader, writer


@contextmanager
def reading(
    kind: type[AnyMessage], reader: Reader[AnyMessage], *, writer: Writer[AnyMessage] | None = None
) -> Generator[None]:
    """Register a reader for the length of a `with` block, for tests. Afterwards the earlier one is used again."""
    before = _KNOWN.get(kind)
    register_reader(kind, reader, writer=writer)
    try:
        yield
    finally:
        if before is None:
            _KNOWN.pop(kind, None)
        else:
            _KNOWN[kind] = before


def is_registered(raw: object) -> bool:
    """Whether a class of the object has a reader. O(its bases); free if no reader is registered."""
    return bool(_KNOWN) and any(kind in _KNOWN for kind in type(raw).__mro__)


def registered_writer(raw: object) -> Writer[Any] | None:
    """The writer of the object's nearest registered class, or None. O(its bases)."""
    return None if not _KNOWN else next((_KNOWN[kind][1] for kind in type(raw).__mro__ if kind in _KNOWN), None)


def registered_fields(raw: object, index: int) -> Mapping[str, Any] | None:
    """The dict that the reader of the object's nearest registered class returns, or None. O(its bases).

    Raises `MessageTypeError` if the reader raises, or returns anything but a dict.
    """
    if not is_registered(raw):
        return None
    reader = next(_KNOWN[kind][0] for kind in type(raw).__mro__ if kind in _KNOWN)
    try:
        fields: object = reader(raw)
    except (ConversationError, MemoryError):
        raise
    except Exception as error:  # its text could quote the message, so it is only chained
        raised = type(error).__name__
        raise MessageTypeError(f"the reader of {type(raw).__name__} raised {raised}", index=index) from error
    if not isinstance(fields, Mapping):
        raise MessageTypeError(
            f"the reader of {type(raw).__name__} returned {named_type(fields)}; return the message as a dict",
            index=index,
        )
    return fields
