"""Assembles the request of one row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs

from assembler.assembler import Assembler
from assembler.errors import ConversationError, MarkupError, ToolError
from assembler.files.json_text import bytes_as_base64, parse_json
from assembler.pipeline.emit import request_to_read
from assembler.regions.knowledge import document
from budgets import AssemblyError, Count
from budgets.numbers import with_noun

REGIONS = ("instruction", "tools", "knowledge", "messages")
"""The regions that a row may have, each in the form of the argument of its `set_` method, or of `add_knowledge`."""

DOCUMENT = ("text", "type", "trusted", "source", "score", "metadata")
"""The keys of a row's document. A file is not among them: rows must not open files."""

KIND = "document"
"""The type of a document that is only a text."""


@attrs.frozen
class Record:
    """Writes a bad row with its error, and continues."""


@attrs.frozen
class Skip:
    """Leaves a bad row out, so there are fewer output rows than input rows."""


@attrs.frozen
class Raise:
    """Raises the first bad row's own error, with a note that names the row."""


OnError: TypeAlias = Record | Skip | Raise
"""What to do with a row whose request cannot be built."""


@attrs.frozen
class Assembled:
    """A request as JSON text, its cost, and the number of messages that were dropped or shortened."""

    request: str = attrs.field(repr=False)
    count: Count
    dropped: int


@attrs.frozen
class Failed:
    """Why a row has no request. `message` is the library's own text; another error is named only by its class."""

    kind: str
    message: str

    @classmethod
    def by(cls, error: Exception) -> Failed:
        """The failure for an error. Another library's error is not quoted, because it may quote a prompt."""
        if isinstance(error, AssemblyError):
            return cls(type(error).__name__, str(error))
        return cls(type(error).__name__, "not the library's own error; its text is withheld, as it may quote the row")


def assemble_row(base: Assembler, row: Mapping[str, object]) -> Assembled:
    """The request of a row, built with a fork of the assembler. Raises the errors of the build."""
    plan = lay_over(base, row).build().inside
    return Assembled(write_line(request_to_read(plan)), plan.count, plan.left_out)


def write_line(value: object) -> str:
    """One line of JSON. Bytes, such as those of an image, become base64, as in the APIs' own JSON."""
    return _COMPACT.encode(value)


def as_utf_8(line: str) -> bytes:
    """The bytes of a line of JSON. In a line with a lone surrogate, every character beyond ASCII is escaped."""
    try:
        return line.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(line), separators=(",", ":")).encode()


_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=bytes_as_base64)


def lay_over(base: Assembler, row: Mapping[str, object]) -> Assembler:
    """A fork of the assembler with the regions of a row. Knowledge is added; other regions are replaced.

    A missing region, or None, keeps the assembler's. Lists may be JSON texts.
    """
    assembler = base.fork()
    if (instruction := row.get("instruction")) is not None:
        assembler.set_instruction(cast(str, instruction))
    if (tools := row.get("tools")) is not None:
        assembler.set_tools(_read_list(tools, ToolError, "tools: expected a list of definitions"))
    if (knowledge := row.get("knowledge")) is not None:
        _add_knowledge(assembler, knowledge)
    if (messages := row.get("messages")) is not None:
        assembler.set_messages(_read_list(messages, ConversationError, "messages: expected a list of messages"))
    return assembler


def _read_list(value: object, kind: type[ConversationError | ToolError], expected: str) -> list[object]:
    try:
        found = _parse_json(value)
    except ValueError as error:
        problem = f", got one in which {error}"
    else:
        if isinstance(found, list):
            return cast("list[object]", found)
        problem = f", got {_name_kind(value)}"
    raise kind(f"{expected} or its JSON text{problem}")


def _parse_json(value: object) -> object:
    """Parse a JSON text; None if it is not JSON. Raises ValueError for ambiguous JSON, such as duplicate keys."""
    if not isinstance(value, str):
        return value
    try:
        return cast(object, parse_json(value))
    except (json.JSONDecodeError, RecursionError):
        return None


def _name_kind(value: object) -> str:
    return f"a text of {with_noun(len(value), 'character')}" if isinstance(value, str) else type(value).__name__


def _add_knowledge(assembler: Assembler, value: object) -> None:
    try:
        found = _parse_json(value)
    except ValueError as error:
        if str(value).lstrip()[:1] in ("[", "{"):  # `NaN` alone is a text like any other
            raise MarkupError(f"knowledge of the row: {error}", field="knowledge") from None
        found = None
    if found is None and isinstance(value, str):
        found = value  # a text that is not JSON is one document
    listed = cast("Sequence[object]", found) if isinstance(found, list) else [found]
    for place, item in enumerate(listed):
        fields = {"text": item, "type": KIND} if isinstance(item, str) else item
        if not isinstance(fields, dict):
            raise _make_error(place, f"expected a text or a mapping with {', '.join(DOCUMENT)}, got {_name_kind(item)}")
        _add_document(assembler, place, cast("dict[str, Any]", fields))


def _add_document(assembler: Assembler, place: int, fields: Mapping[str, Any]) -> None:
    given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    for name in given:
        if name not in DOCUMENT:
            raise _make_error(place, f"has an unknown key; the known ones are {', '.join(DOCUMENT)}")
    if "text" not in given:
        raise _make_error(place, "has no text")
    given.setdefault("type", KIND)
    try:
        assembler.add_knowledge(**given)
    except AssemblyError:  # it counts the assembler's own documents too
        document(**given, place=f"knowledge[{place}]")
        raise


def _make_error(place: int, problem: str) -> MarkupError:
    return MarkupError(f"knowledge[{place}] of the row: {problem}", field=f"knowledge[{place}]")
