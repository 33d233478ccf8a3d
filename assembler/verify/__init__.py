"""Checks requests against the rules of their APIs, independently of the dialects' code.

A dialect's rules are in the `rules.py` of its folder, as `CHECKER`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast

from assembler.validation import unknown_dialect, wrong
from assembler.verify import shape
from assembler.verify.checker import DIALECTS, Checker
from assembler.verify.foreign import S5, foreign_keys
from assembler.verify.jsonable import wrong_json
from assembler.verify.place import request_place
from assembler.verify.shape import OBJECT, S2, must_be
from assembler.verify.violation import Rule, Violation
from budgets import BudgetError
from budgets.errors import Evidence, OfTheCaller
from budgets.models import dialect_of


class Named(Protocol):
    """Anything with a dialect's name."""

    @property
    def name(self) -> str:
        """The dialect's name in `DIALECTS`."""
        ...


class _UnreadableError(Evidence):
    """An object in the request whose own methods raise. Never leaves this module."""


def verify(
    request: Mapping[str, Any], *, dialect: str | Named | None = None, model: str | None = None
) -> list[Violation]:
    """The violations of the API's rules in a request: `[]` for one that the API accepts, as far as is known.

    `request` is the keyword arguments of the API's call, as plain JSON; other values are violations (S2), never errors.
    A part, item or tool of a type that no API is known to have is a violation with `note`: the API may be newer than
    these rules, so it is no fault. So is what recorded requests show that the API accepts against its documentation.
    `model` matters for the rules that differ between models (A11, A16, G8, O5). `dialect` is a value of
    `assembler.dialects` or its name, by default that of `model` or of the body's model.

    Linear; no recursion. Raises `BudgetError` for a dialect without rules. Rules and error texts come from public issue
    threads, read 2026-11; none was checked against a live endpoint.
    """
    try:
        with OfTheCaller("request", _UnreadableError):
            return _find_violations(request, dialect, model)
    except _UnreadableError as error:
        return [S2.broken("", str(error))]


def _find_violations(request: Mapping[str, Any], dialect: str | Named | None, model: str | None) -> list[Violation]:
    checker = _find_checker(_name_model(request, model) if dialect is None else dialect)
    root = request_place(request)
    found = [*must_be(root, OBJECT), *wrong_json(root.value, bytes_under=checker.bytes_under)]
    if not isinstance(root.value, dict):
        return found
    if checker.words is not None:
        found += foreign_keys(root, checker.words, checker.turns, checker.parts)
    return [*found, *checker.check(root, model)]


def rules(dialect: str | Named) -> tuple[Rule, ...]:
    """Every rule that `verify` checks for a dialect, shape first. Raises `BudgetError` as `verify` does."""
    checker = _find_checker(dialect)
    return (*shape.RULES, *(() if checker.words is None else (S5,)), *checker.rules)


def _name_model(request: Mapping[str, Any], model: str | None) -> str:
    named: object = request.get("model") if model is None and isinstance(cast(object, request), Mapping) else model
    name = dialect_of(named) if isinstance(named, str) else None
    if name is None:
        raise BudgetError(f"no dialect: pass dialect=, one of {', '.join(DIALECTS)}, or a model whose API is known")
    return name


def _name_of(dialect: str | Named) -> str:
    with OfTheCaller("dialect", BudgetError):
        name: object = dialect if isinstance(dialect, str) else getattr(dialect, "name", None)
    if isinstance(name, str):
        return str.__str__(name)  # a subclass may have any methods
    expected = wrong("dialect", "a value of assembler.dialects or its name", dialect)
    raise BudgetError(f"{expected}; pass one of {', '.join(DIALECTS)}")


def _find_checker(dialect: str | Named) -> Checker:
    name = _name_of(dialect)
    checker = DIALECTS.get(name)
    if checker is None:
        own = "" if isinstance(dialect, str) else "; the rules of a dialect of yours go into rules.py, as CHECKER"
        raise unknown_dialect(name, DIALECTS, own)
    return checker


__all__ = ["DIALECTS", "Checker", "Named", "Rule", "Violation", "rules", "verify"]
