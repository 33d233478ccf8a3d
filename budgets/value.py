"""Repr and equality of a frozen value, written once for all classes.

attrs generates and compiles both for each class: 1.6 of the 2.9 million instructions that a class costs (attrs 26.1,
cachegrind, 2026-11). A start makes about seventy classes, so that is a fifth of the import. Where values are compared
in an inner loop, the equality of `attrs.frozen` is better: it is faster.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import attrs


class Value:
    """The base of an `attrs.frozen(eq=False, repr=False)`: equal to another of its class with equal fields.

    `repr`, `eq` and `hash` of a field mean what they mean to attrs.
    """

    __slots__ = ()
    __attrs_attrs__: ClassVar[tuple[attrs.Attribute[Any], ...]]

    def __repr__(self) -> str:
        shown = (f"{field.name}={_spell_field(field, self)}" for field in self.__attrs_attrs__ if field.repr)
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            getattr(self, field.name) == getattr(other, field.name) for field in self.__attrs_attrs__ if field.eq
        )

    def __hash__(self) -> int:
        hashed = (field for field in self.__attrs_attrs__ if (field.eq if field.hash is None else field.hash))
        return hash((type(self), *(getattr(self, field.name) for field in hashed)))


def are_the_same(some: Sequence[object], others: Sequence[object]) -> bool:
    """Whether two sequences hold the very same objects: what was found for one is found for the other."""
    return len(some) == len(others) and all(map(operator.is_, some, others))


Field: TypeAlias = "attrs.Attribute[Any]"


def _spell_field(field: Field, value: Value) -> str:
    spell = field.repr if callable(field.repr) else repr
    return str(spell(getattr(value, field.name)))
