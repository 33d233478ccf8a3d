"""One row laid over an assembler, and what came of it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from assembler.assembler import Assembler
from assembler.errors import ConversationError, MarkupError, ToolError
from assembler.files.json_text import parse_json
from assembler.pipeline.emit import request_to_read
from budgets import AssemblyError, Count

REGIONS = ("instruction", "tools", "knowledge", "messages")
"""What a row may say; each as the `add_` of that region takes it."""

DOCUMENT = ("text", "type", "trusted", "source", "score", "metadata")
"""What a document of a row may say. Never a file: rows are data, and data opens nothing."""

KIND = "document"
"""The type of a document that came as a bare text."""


@attrs.frozen
class Record:
    """Writes a bad row down with its error, and goes on."""


@attrs.frozen
class Skip:
    """Leaves a bad row out. Fewer rows come out than went in."""


@attrs.frozen
class Raise:
    """Raises the first bad row's own error, with a note that names the row."""


OnError: TypeAlias = Record | Skip | Raise
"""What becomes of a row whose request cannot be built."""


@attrs.frozen
class Assembled:
    """A request as JSON text, what it costs, and how many messages were left out of it or shortened."""

    request: str = attrs.field(repr=False)
    count: Count
    dropped: int


@attrs.frozen
class Failed:
    """Why there is no request. `message` is the library's own text; of any other error the class alone is named."""

    kind: str
    message: str

    @classmethod
    def by(cls, error: Exception) -> Failed:
        """The failure of a row. An error that is not the library's may quote a prompt, and so is not repeated."""
        if isinstance(error, AssemblyError):
            return cls(type(error).__name__, str(error))
        return cls(type(error).__name__, "an error that is not the library's own; its text may quote the row")


def assemble_row(base: Assembler, row: Mapping[str, object]) -> Assembled:
    """The request of a row laid over the assembler, which stays as it was. Raises what building it raises."""
    plan = lay_over(base, row).build().inside
    return Assembled(compact(request_to_read(plan)), plan.count, plan.left_out)


def compact(value: object) -> str:
    """One line of JSON. Bytes, which some requests hold for an image, become base64, as the APIs' own JSON has them."""
    return _COMPACT.encode(value)


def _as_json(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    raise TypeError(type(value).__name__)


_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_as_json)


def lay_over(base: Assembler, row: Mapping[str, object]) -> Assembler:
    """A fork of the assembler with the regions of a row: knowledge is added to its own, the others replace them.

    A region that is left out or None stays the assembler's. Lists may come as their JSON text.
    """
    assembler = base.fork()
    if (instruction := row.get("instruction")) is not None:
        assembler.add_instruction(cast(str, instruction))
    if (tools := row.get("tools")) is not None:
        assembler.add_capability(_listed(tools, ToolError, "tools: expected a list of definitions"))
    if (knowledge := row.get("knowledge")) is not None:
        _add_knowledge(assembler, knowledge)
    if (messages := row.get("messages")) is not None:
        assembler.add_messages(_listed(messages, ConversationError, "messages: expected a list of messages"))
    return assembler


def _listed(value: object, kind: type[ConversationError | ToolError], expected: str) -> list[object]:
    try:
        found = _from_json(value)
    except ValueError as error:
        problem = f", got one in which {error}"
    else:
        if isinstance(found, list):
            return cast("list[object]", found)
        problem = f", got {_kind(value)}"
    raise kind(f"{expected} or its JSON text{problem}")


def _from_json(value: object) -> object:
    """The value of a JSON text; None of one that is no JSON. Raises ValueError for JSON that could be read two ways."""
    if not isinstance(value, str):
        return value
    try:
        return cast(object, parse_json(value))
    except (json.JSONDecodeError, RecursionError):
        return None


def _kind(value: object) -> str:
    return f"a text of {len(value)} characters" if isinstance(value, str) else type(value).__name__


def _add_knowledge(assembler: Assembler, value: object) -> None:
    try:
        found = _from_json(value)
    except ValueError as error:
        if str(value).lstrip()[:1] in ("[", "{"):  # `NaN` alone is a text like any other
            raise MarkupError(f"knowledge of the row: {error}", field="knowledge") from None
        found = None
    if found is None and isinstance(value, str):
        found = value  # a text that is no JSON: one document
    listed = cast("Sequence[object]", found) if isinstance(found, list) else [found]
    for place, document in enumerate(listed):
        fields = {"text": document, "type": KIND} if isinstance(document, str) else document
        if not isinstance(fields, dict):
            raise _wrong(place, f"expected a text or a mapping with {', '.join(DOCUMENT)}, got {_kind(document)}")
        _add_document(assembler, place, cast("dict[str, Any]", fields))


def _add_document(assembler: Assembler, place: int, fields: Mapping[str, Any]) -> None:
    given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    for name in given:
        if name not in DOCUMENT:
            raise _wrong(place, f"has a key that no document has; known are {', '.join(DOCUMENT)}")
    if "text" not in given:
        raise _wrong(place, "has no text")
    given.setdefault("type", KIND)
    assembler.add_knowledge(**given)


def _wrong(place: int, problem: str) -> MarkupError:
    return MarkupError(f"knowledge[{place}] of the row: {problem}", field=f"knowledge[{place}]")
