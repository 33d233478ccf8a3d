"""Readers of a framework's own message classes, by class: what a caller registers is read like any other message."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar, cast

from assembler.errors import MessageTypeError
from assembler.validation import wrong

AnyMessage = TypeVar("AnyMessage")
Reader: TypeAlias = Callable[[AnyMessage], Mapping[str, Any]]
"""Says what an object says, as a message of any spelling that is read: a dict of OpenAI's, of Anthropic's, …"""

_READERS: dict[type, Reader[Any]] = {}


def register_reader(kind: type[AnyMessage], reader: Reader[AnyMessage]) -> None:
    """Read objects of a class, and of its subclasses, by `reader`, in every assembler of the process.

    `reader` is pure: the same object gives an equal dict until its owner changes it. It is called when a message is
    first read and again to see whether it changed, so it should cost no more than the message is long. The objects
    themselves come out of `context.messages`; a message that a policy shortens comes out as the dict. Registering a
    class again replaces its reader. Raises `MessageTypeError` for what is no class or no function.
    """
    if not isinstance(cast(object, kind), type) or kind in (object, dict, list, tuple, str):
        raise MessageTypeError(wrong("kind", "a message class of your own", kind))
    if not callable(reader):
        raise MessageTypeError(wrong("reader", "a function from the message to its dict", reader))
    _READERS[kind] = reader


@contextmanager
def reading(kind: type[AnyMessage], reader: Reader[AnyMessage]) -> Generator[None]:
    """The same for as long as a `with` block lasts: for tests. What was registered before holds again after it."""
    before = _READERS.get(kind)
    register_reader(kind, reader)
    try:
        yield
    finally:
        if before is None:
            _READERS.pop(kind, None)
        else:
            _READERS[kind] = before


def is_registered(raw: object) -> bool:
    """Whether a class of the object's has a reader. O(its bases), nothing where none is registered."""
    return bool(_READERS) and any(kind in _READERS for kind in type(raw).__mro__)


def registered_fields(raw: object, index: int) -> Mapping[str, Any] | None:
    """What the reader of the object's nearest class says; None where no class of its has one. O(its bases).

    Raises `MessageTypeError` for a reader that gives no dict.
    """
    if not is_registered(raw):
        return None
    reader = next(_READERS[kind] for kind in type(raw).__mro__ if kind in _READERS)
    fields: object = reader(raw)
    if not isinstance(fields, Mapping):
        raise MessageTypeError(
            f"the reader of {type(raw).__name__} returned a {type(fields).__name__}; return the message as a dict",
            index=index,
        )
    return fields
