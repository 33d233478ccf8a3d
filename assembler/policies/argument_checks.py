"""Checks the arguments of policies. Each error says what to pass instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from assembler.text.checked import checked_text
from budgets import BudgetError
from budgets.numbers import shown


def a_share(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """None, or a share of the tokens left above 0 and up to 1."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise BudgetError(
            f"{type(policy).__name__}: {field.name} is a share of the tokens left, 0 < {field.name} <= 1, "
            f"got {shown(value)}; pass 0.5 for a half"
        )


def a_function(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """Something that can be called."""
    if not callable(value):
        raise BudgetError(f"{type(policy).__name__}: {field.name} is a function, got {type(value).__name__}")


def a_plain_function(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """A function that is not async: a score cannot be awaited."""
    from budgets.counters.awaited import refuse_async

    a_function(policy, field, value)
    refuse_async(value, f"{type(policy).__name__}: {field.name}")


def a_summarizer(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """A callable that takes the arguments of a summarizer, or None."""
    place = f"{type(policy).__name__}: {field.name}"
    if value is not None and not callable(value):
        raise BudgetError(f"{place}: expected a function, got {type(value).__name__}; write one: {_SUMMARIZER}")
    if value is not None and (names := not_called_with(value, 3)) is not None:
        raise BudgetError(f"{place} cannot be called with three arguments, but with {names}; write {_SUMMARIZER}")


_SUMMARIZER = "(dropped_messages, previous_summary, max_tokens) -> text"


def not_called_with(function: Callable[..., object], arguments: int) -> str | None:
    """The parameters of a function that cannot take that many arguments; None if it can.

    A callable without a readable signature is taken as it is.
    """
    import inspect

    try:
        signature = inspect.signature(function)
    except Exception:  # a builtin raises ValueError; a strange object may raise anything
        return None
    try:
        signature.bind(*range(arguments))
    except TypeError:
        return f"({', '.join(signature.parameters)})"
    return None


def a_text(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """A text that UTF-8 can encode. Raises `MarkupError` for anything else."""
    checked_text(value, field=f"{type(policy).__name__}.{field.name}")
