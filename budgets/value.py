"""A base class with repr and equality for frozen values, which makes imports faster.

attrs generates and compiles both for each class, which takes 1.6 of the 2.9 million instructions of a class (attrs
26.1, cachegrind, 2026-11). About seventy classes are made at start, so this saves a fifth of the import. For values
that are compared in an inner loop, use the equality of `attrs.frozen`, which is faster.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import attrs


class Value:
    """A base for `attrs.frozen(eq=False, repr=False)`. Two values are equal if class and fields are.

    `repr`, `eq` and `hash` of a field work as in attrs.
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
    """Whether two sequences hold the same objects, by identity."""
    return len(some) == len(others) and all(map(operator.is_, some, others))


Field: TypeAlias = "attrs.Attribute[Any]"


def _spell_field(field: Field, value: Value) -> str:
    spell = field.repr if callable(field.repr) else repr
    return str(spell(getattr(value, field.name)))
