"""The first steps of every `parse`: find the messages, read them, and collect the other keys."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, cast

from assembler.conversation.messages import Message, read_message
from assembler.errors import ConversationError
from budgets.errors import named_type
from budgets.lazy_names import FromFolders


class _Api(Protocol):
    @property
    def history(self) -> str: ...


_APIS: Mapping[str, _Api] = FromFolders("assembler.dialects", "api", "API")
"""The declarations of each API, by dialect."""


def listed_messages(request: Mapping[str, Any], expected: str) -> list[object]:
    """The list under `messages`. Raises `ConversationError`, which names what was `expected`, without one."""
    listed = request.get("messages")
    if not isinstance(listed, list | tuple):
        raise no_history(request, "list of messages", expected)
    return [*cast("list[object]", listed)]


def no_history(request: Mapping[str, Any], sought: str, expected: str) -> ConversationError:
    """The error for a request without its history. It names the dialects that a request with its keys is for."""
    others = {name: api.history for name, api in _APIS.items() if api.history not in sought.split()}
    found = [name for name, key in others.items() if request.get(key) is not None]
    keys = " and ".join(sorted({others[name] for name in found}))
    step = f"; a request with {keys} is one for {' or '.join(found)}: pass that as the dialect" if found else ""
    return ConversationError(f"request has no {sought}; expected {expected}{step}")


def read_messages(listed: Iterable[object]) -> list[Message]:
    """Read each entry as a message. Raises `ConversationError` naming the place."""
    return [read_message(raw, index) for index, raw in enumerate(listed)]


def system_in(request: Mapping[str, Any]) -> str | Sequence[Any]:
    """`system`: a text or a list of blocks, empty if missing. Raises `ConversationError` for other types."""
    system: object = request.get("system")
    if system is None:
        return ()
    if not isinstance(system, str | list | tuple):
        raise ConversationError(f"system is {named_type(system)}; expected a text or a list of blocks")
    return cast("str | Sequence[Any]", system)


def options_in(request: Mapping[str, Any], owned: Collection[str]) -> dict[str, Any]:
    """The entries of a request whose keys are not in `owned`."""
    return {key: value for key, value in request.items() if key not in owned}


UNREADABLE = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)
"""The errors that a dialect's code raises for a request with fields of unexpected types."""


def unreadable(error: Exception) -> ConversationError:
    """A `ConversationError` that names the missing key, or the function of the dialect that failed.

    A key is named only if it occurs in the dialect's code. Any other may be a text of the request, which no error
    quotes. Raise the result outside of the `except`, because the original error may quote the request too.
    """
    from traceback import walk_tb  # most requests can be read

    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    function = next((code.co_name for code in reversed(codes) if not code.co_name.startswith("<")), "parse")
    missing: object = error.args[0] if isinstance(error, KeyError) and error.args else None
    if isinstance(missing, str) and missing in codes[-1].co_consts:
        return ConversationError(f"request cannot be read: {function}() finds no {missing!r} where the API has one")
    problem = f"{type(error).__name__} in {function}()"
    return ConversationError(f"request cannot be read ({problem}): its fields are not of the types that the API names")
