"""Reads YAML strictly and within limits: plain values, no duplicate keys, no alias bombs, and errors with lines.

Plain words are read by YAML 1.2's core schema (https://yaml.org/spec/1.2.2/#103-core-schema, read 2026-11), with `_`
allowed between digits: only `true` and `false` are booleans, and `no`, `on`, `1:30` and `2026-01-31` are texts. PyYAML
by default follows 1.1, in which these are False, True, 90 and a date. A value with one of these tags, such as
`!!int`, must be of the same schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from assembler.files.place import Place, SpecError, one_line, shown_key
from assembler.files.reading import MEBIBYTE, file_text
from budgets.errors import from_extra

if TYPE_CHECKING:
    import yaml

LONGEST = 4 * MEBIBYTE
"""The most bytes of a YAML file: people write it by hand, and put long documents and histories into other files."""

DEEPEST = 64
"""The deepest nesting: far above any schema, and far below the depth at which PyYAML's recursion ends the process."""

LARGEST = 32 * MEBIBYTE
"""The most bytes with all aliases expanded: more than a file of `LONGEST` bytes without aliases can have."""

PER_VALUE = 8
"""The bytes of a value on top of its characters: a pointer in the list that holds it."""

_PLAIN_WORDS = (
    ("int", r"[-+]?(?:0|[1-9][0-9_]*)\Z", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z", "-+.0123456789"),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", "tTfF"),
    ("null", r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    ("merge", r"<<\Z", "<"),
)
"""The types of plain words: the type's tag, its pattern, and the characters with which such a word begins."""


def read_yaml(path: Path, place: Place) -> Any:
    """Read the value of a YAML file; None if it is empty. Raises `SpecError` at `place`, or `MissingExtraError`."""
    return parse_yaml(file_text(path, place, limit=LONGEST), place)


def parse_yaml(text: str, place: Place) -> Any:
    """The value of a YAML text; None if it is empty. Raises `SpecError` at `place`, or `MissingExtraError`."""
    with from_extra("cli", needed_for="reading YAML"):
        import yaml

    loader = _make_loader()
    try:
        _refuse_bombs(yaml.parse(text, Loader=loader), place)
        return yaml.load(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        where = _name_line(error.problem_mark or error.context_mark)
        raise place.error(f"{where}expected YAML: {one_line(str(error.problem or error.context))}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise place.error(f"line {line}: expected YAML: {error.reason}") from None
    except ValueError as error:
        if isinstance(error, SpecError):
            raise
        # An integer with too many digits, or an invalid date. The text after `;` is Python's advice.
        raise place.error(f"expected YAML: {str(error).partition(';')[0]}") from None


def _make_loader() -> type[yaml.SafeLoader | yaml.CSafeLoader]:
    """A safe loader for YAML 1.2, as a new class, because PyYAML's own is shared by the whole process."""
    import yaml

    class CoreSchema(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own attribute, copied on write

    for kind, pattern, first in _PLAIN_WORDS:
        CoreSchema.add_implicit_resolver(_spell_tag(kind), re.compile(pattern), list(first))  # pyright: ignore[reportUnknownMemberType]
    for kind in ("int", "float", "bool", "null", "timestamp"):
        CoreSchema.add_constructor(_spell_tag(kind), _make_constructor(kind))  # pyright: ignore[reportUnknownMemberType]
    return CoreSchema


def _spell_tag(kind: str) -> str:
    return f"tag:yaml.org,2002:{kind}"


def _make_constructor(kind: str) -> Callable[[Any, Any], Any]:
    """Return PyYAML's constructor of a type, for texts of that type alone.

    For any other text, which needs a tag to come here, PyYAML's constructor raises an error of any class, whose text
    may quote the value, or returns another value.
    """
    import yaml

    construct: Callable[[Any, Any], Any] = yaml.SafeLoader.yaml_constructors[_spell_tag(kind)]
    kinds = (kind, "int") if kind == "float" else (kind,)  # `!!float 5` is a number in YAML 1.2 too
    patterns = [re.compile(pattern) for named, pattern, _ in _PLAIN_WORDS if named in kinds]
    patterns = patterns or [yaml.SafeLoader.timestamp_regexp]

    def constructed(loader: Any, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode) and not any(pattern.match(node.value) for pattern in patterns):
            problem = f"a value does not match its tag (!!{kind})"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return construct(loader, node)

    return constructed


@attrs.define
class _Collection:
    """A list or mapping while its events are read: its anchor, its weight so far, and a mapping's keys so far."""

    anchor: str | None = None
    keys: set[str] | None = None
    weight: int = PER_VALUE
    items: int = 0

    def take(self, value: str | None) -> bool:
        """Count an item. Returns True for a duplicate key. None stands for an item that is not a plain text."""
        is_key = self.items % 2 == 0
        self.items += 1
        if self.keys is None or value is None or not is_key:
            return False
        twin = value in self.keys
        self.keys.add(value)
        return twin


def _refuse_bombs(events: Iterable[yaml.Event], place: Place) -> None:
    """Raise for depth and aliases that would cost more to build than to read, and for duplicate keys.

    One pass over the events, without recursion. An alias has the weight of its target. O(events).
    """
    import yaml

    stack = [_Collection()]
    weights: dict[str, int] = {}
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            stack[-1].take(None)
            stack.append(_Collection(event.anchor, set() if isinstance(event, yaml.MappingStartEvent) else None))
            if len(stack) > DEEPEST + 1:  # the first is the file
                raise _make_error(place, event, f"expected at most {DEEPEST} lists and mappings inside one another")
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            ended = stack.pop()
            anchor, weight = ended.anchor, ended.weight
        elif isinstance(event, yaml.ScalarEvent):
            anchor, weight = event.anchor, PER_VALUE + len(event.value)
            if stack[-1].take(event.value):
                raise _make_error(place, event, f"key {shown_key(event.value)} given twice in one mapping")
        elif isinstance(event, yaml.AliasEvent):
            stack[-1].take(None)
            name = event.anchor or ""
            if name not in weights:
                raise _make_error(place, event, f"alias {shown_key(name)} has no complete anchor before it")
            anchor, weight = None, weights[name]
        else:
            continue
        if anchor is not None:
            weights[anchor] = weight
        stack[-1].weight += weight
        if stack[-1].weight > LARGEST:
            raise _make_error(place, event, f"expected at most {LARGEST // MEBIBYTE} MiB once aliases are written out")


def _make_error(place: Place, event: yaml.Event, problem: str) -> SpecError:
    return place.error(f"{_name_line(event.start_mark)}{problem}")


class _Mark(Protocol):
    """A place in a YAML text, from either of PyYAML's parsers: lines and columns from 0."""

    line: int
    column: int


def _name_line(mark: _Mark | None) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
