"""Finds the options of policies and strategies that a file can set, by their types.

A file can hold numbers, texts, true or false, the words of an `Enum` or a `Literal`, and lists of these. It cannot hold
a function or a store. An option that takes nothing else is left out, and a class that requires one cannot be named.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import ModuleType, NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import attrs

from assembler.cli.request_file.shapes import (
    Named,
    Reader,
    describe_type,
    list_of,
    one_of,
    read_any_text,
    read_number,
    read_true_or_false,
    read_whole_number,
)
from assembler.files.place import Place
from budgets.lazy_names import homes_in

_SCALARS: Mapping[object, tuple[Reader[Any], str]] = {
    bool: (read_true_or_false, "true or false"),
    int: (read_whole_number, "whole numbers"),
    float: (read_number, "numbers"),
    str: (read_any_text, "texts"),
}
"""The reader of each type, and the plural for its values."""

_LISTS = (frozenset, list, Sequence, Collection)


class NamedIn(Mapping[str, Named[Any]]):
    """The classes of a table that a file can name, by the name of the module that defines each.

    A class is loaded when it is looked up, since a file names few of them.
    """

    def __init__(self, table: ModuleType) -> None:
        self._table = table
        self._classes = {home.rpartition(".")[2]: name for name, home in homes_in(table).items()}

    def __getitem__(self, name: str) -> Named[Any]:
        options = named_options(getattr(self._table, self._classes[name]))
        if options is None:
            raise KeyError(name)
        return options

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._classes if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def named_options(made: type) -> Named[Any] | None:
    """The options of a class that a file can set. None if it requires another one."""
    readers = {name: reader_of(option) for name, option in types_of(made).items()}
    required = [field.name for field in _list_fields(made) if field.default is attrs.NOTHING]
    if any(readers[name] is None for name in required):
        return None
    return Named(made, {name: reader for name, reader in readers.items() if reader is not None}, required)


def types_of(made: type) -> dict[str, object]:
    """The options of an attrs class and their types, in its order. Empty for other classes."""
    written = SimpleNamespace(__annotations__={field.name: field.type for field in _list_fields(made)})
    return get_type_hints(written, vars(sys.modules[made.__module__]))


def _list_fields(made: type) -> list[attrs.Attribute[Any]]:
    return [field for field in attrs.fields(cast(Any, made)) if field.init] if attrs.has(made) else []


def reader_of(option: object) -> Reader[Any] | None:
    """The reader for values of a type. None if a file cannot hold them."""
    kinds, words = _list_members(option), words_of(option)
    scalars = [_SCALARS[each][0] for each in kinds if each in _SCALARS]
    lists = [found for each in kinds if (found := _make_list_reader(each)) is not None]
    if takes_words_alone(option):
        return one_of(words)
    if scalars and not words and not lists:
        return scalars[0]
    if lists and not words and not scalars:
        return lists[0]
    return _make_reader_of_several(words, scalars, lists) if words or scalars or lists else None


def words_of(option: object) -> dict[str, object]:
    """The words for values of a type: an `Enum`, a `Literal` or a protocol with built-in values."""
    return {word: value for each in _list_members(option) for word, value in _list_own_words(each).items()}


def takes_words_alone(option: object) -> bool:
    """Whether a file can hold no values of a type but its words."""
    others = [each for each in _list_members(option) if not _list_own_words(each)]
    return bool(words_of(option)) and all(each not in _SCALARS and _make_list_reader(each) is None for each in others)


def _list_own_words(option: object) -> Mapping[str, object]:
    if isinstance(option, type) and issubclass(option, enum.Enum):
        return {member.name.lower(): member for member in option}
    if get_origin(option) is Literal:
        return {word: word for word in get_args(option)}
    return _list_built_in_values(option) if isinstance(option, type) else {}


def _list_built_in_values(protocol: type) -> Mapping[str, object]:
    """The built-in values of a protocol, by the words that name them in files."""
    if protocol.__name__ != "Selection":  # which most files do not name, so it is not loaded
        return {}
    from assembler.strategies.sources.selection import Best, Everything, Greedy, Selection

    return {"greedy": Greedy(), "best": Best(), "everything": Everything()} if protocol is Selection else {}


def _list_members(option: object) -> list[object]:
    """The members of a union without None, or the type alone."""
    if get_origin(option) not in (Union, UnionType):
        return [option]
    return [each for each in get_args(option) if each is not NoneType]


def _make_list_reader(option: object) -> Reader[Any] | None:
    origin, inner = get_origin(option), get_args(option)[:1]
    if origin not in _LISTS or not inner or inner[0] not in _SCALARS:
        return None
    reader, what = _SCALARS[inner[0]]
    return list_of(reader, what=what)


def _make_reader_of_several(
    words: Mapping[str, object], scalars: Sequence[Reader[Any]], lists: Sequence[Reader[Any]]
) -> Reader[Any]:
    """A reader that takes one of these words, a list, or what the first scalar's reader takes."""

    def read(place: Place, value: object) -> Any:
        if isinstance(value, str) and value in words:
            return words[value]
        readers = lists if lists and describe_type(value) == "a list" else scalars
        if readers:
            return readers[0](place, value)
        raise place.error(f"expected {' or '.join([*words, *['a list'] * len(lists)])}, got {describe_type(value)}")

    return read
