"""What a file may say of a policy or a strategy, read from its class: the options whose type a file can spell.

A number, a text, true or false, a word of an `Enum` or a `Literal`, and lists of these are data. A function or a store
is not: an option that takes only such is left out, and a class that cannot be made without one has no name in files.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import ModuleType, NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import attrs

from assembler.cli.request_file.shapes import (
    Named,
    Reader,
    any_text,
    kind,
    list_of,
    number,
    one_of,
    true_or_false,
    whole,
)
from assembler.files.place import Place
from assembler.strategies.sources.selection import Best, Everything, Greedy, Selection

_SCALARS: Mapping[object, tuple[Reader[Any], str]] = {
    bool: (true_or_false, "true or false"),
    int: (whole, "whole numbers"),
    float: (number, "numbers"),
    str: (any_text, "texts"),
}
"""How a value of each type is read, and what several of them are called."""

_VALUES: Mapping[object, Mapping[str, object]] = {
    Selection: {"greedy": Greedy(), "best": Best(), "everything": Everything()},
}
"""The ready values of a contract, by the words that stand for them in files."""

_LISTS = (frozenset, list, Sequence, Collection)


def named_in(table: ModuleType) -> dict[str, Named[Any]]:
    """The classes of a table of built-in ones that a file can name, by the name of the module of each."""
    classes: Iterable[type] = (getattr(table, name) for name in dir(table))
    named = {made.__module__.rpartition(".")[2]: named_options(made) for made in classes}
    return {name: options for name, options in named.items() if options is not None}


def named_options(made: type) -> Named[Any] | None:
    """The options of a class that are data; None where it needs one that is none."""
    readers = {name: reader_of(option) for name, option in types_of(made).items()}
    required = [field.name for field in _fields(made) if field.default is attrs.NOTHING]
    if any(readers[name] is None for name in required):
        return None
    return Named(made, {name: reader for name, reader in readers.items() if reader is not None}, required)


def types_of(made: type) -> dict[str, object]:
    """The options of a class and their types, in its order; none of a class that is not one of attrs."""
    written = SimpleNamespace(__annotations__={field.name: field.type for field in _fields(made)})
    return get_type_hints(written, vars(sys.modules[made.__module__]))


def _fields(made: type) -> list[attrs.Attribute[Any]]:
    return [field for field in attrs.fields(cast(Any, made)) if field.init] if attrs.has(made) else []


def reader_of(option: object) -> Reader[Any] | None:
    """How a value of a type is read; None where no file can spell one."""
    kinds, words = _members(option), words_of(option)
    scalars = [_SCALARS[each][0] for each in kinds if each in _SCALARS]
    lists = [found for each in kinds if (found := _list_reader(each)) is not None]
    if takes_words_alone(option):
        return one_of(words)
    if scalars and not words and not lists:
        return scalars[0]
    if lists and not words and not scalars:
        return lists[0]
    return _one_of_several(words, scalars, lists) if words or scalars or lists else None


def words_of(option: object) -> dict[str, object]:
    """The words that stand for values of a type: of an `Enum`, a `Literal`, a contract with ready values."""
    return {word: value for each in _members(option) for word, value in _own_words(each).items()}


def takes_words_alone(option: object) -> bool:
    """Whether a file can spell no other value of a type than its words."""
    others = [each for each in _members(option) if not _own_words(each)]
    return bool(words_of(option)) and all(each not in _SCALARS and _list_reader(each) is None for each in others)


def _own_words(option: object) -> Mapping[str, object]:
    ready = _VALUES.get(option, {})
    if isinstance(option, type) and issubclass(option, enum.Enum):
        return {member.name.lower(): member for member in option}
    if get_origin(option) is Literal:
        return {word: word for word in get_args(option)}
    return ready


def _members(option: object) -> list[object]:
    """The types that a union is made of, None left out; any other type alone."""
    if get_origin(option) not in (Union, UnionType):
        return [option]
    return [each for each in get_args(option) if each is not NoneType]


def _list_reader(option: object) -> Reader[Any] | None:
    origin, inner = get_origin(option), get_args(option)[:1]
    if origin not in _LISTS or not inner or inner[0] not in _SCALARS:
        return None
    reader, what = _SCALARS[inner[0]]
    return list_of(reader, what=what)


def _one_of_several(
    words: Mapping[str, object], scalars: Sequence[Reader[Any]], lists: Sequence[Reader[Any]]
) -> Reader[Any]:
    """A reader of one of these words, a list, or whatever else the first scalar takes."""

    def read(place: Place, value: object) -> Any:
        if isinstance(value, str) and value in words:
            return words[value]
        readers = lists if lists and kind(value) == "a list" else scalars
        if readers:
            return readers[0](place, value)
        raise place.error(f"expected {' or '.join([*words, *['a list'] * len(lists)])}, got {kind(value)}")

    return read
