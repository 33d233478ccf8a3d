"""What the arguments of policies are held against, with the cure in the error."""

from __future__ import annotations

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
    """Something that can be called and answers at once: nobody awaits a score."""
    import inspect

    a_function(policy, field, value)
    for function in (value, getattr(value, "__call__", None)):  # noqa: B004 - the method of an object that is called
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise BudgetError(
                f"{type(policy).__name__}: {field.name} is async; pass a function that returns its answer"
            )


def a_summarizer(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """Something that can be called, or None."""
    if value is not None and not callable(value):
        raise BudgetError(
            f"{type(policy).__name__}: {field.name}: expected a function, got {type(value).__name__}; "
            "write one: (dropped_messages, previous_summary, max_tokens) -> text"
        )


def a_text(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """A text that UTF-8 can carry. Raises `MarkupError` for what is none."""
    checked_text(value, field=f"{type(policy).__name__}.{field.name}")
