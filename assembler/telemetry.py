"""What a build says of itself in numbers and names, for spans and logs.

Attributes stand under `context_assembler.`: what a provider billed is `gen_ai.usage.*` (OpenTelemetry semantic
conventions for generative AI, read 2026-11), and what we counted before the call must never be taken for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

from assembler.context import Context
from assembler.plan import Plan
from assembler.report.figures import Value, by_region, figures_of, model_named
from budgets import ContextLengthError, MissingExtraError

NAMESPACE = "context_assembler."
"""How every attribute begins."""


class Span(Protocol):
    """What is used of OpenTelemetry's span."""

    def set_attributes(self, attributes: Mapping[str, Value], /) -> None:
        """Note attributes."""
        ...


def attributes(told: Context | Plan | ContextLengthError) -> dict[str, Value]:
    """Tokens by region, the budget, what was kept and dropped; of an overflow what was needed and free. O(messages)."""
    match told:
        case Context():
            found = figures_of(told.inside)
        case Plan():
            found = figures_of(told.inside)
        case ContextLengthError():
            found = {
                "required": told.required,
                "available": told.available,
                "excess": told.excess,
                **({} if told.smallest_window is None else {"smallest_window": told.smallest_window}),
                "context_window": told.budget.context_window,
                **model_named(told.budget.model),
                **by_region(told.costs),
            }
        case _:
            raise TypeError(f"expected a Context, a Plan or a ContextLengthError, got {type(told).__name__}")
    return {NAMESPACE + name: value for name, value in found.items()}


def set_attributes(told: Context | Plan | ContextLengthError, *, span: Span | None = None) -> None:
    """Note on a span what a build says of itself; without one on OpenTelemetry's current span.

    Raises `MissingExtraError` where that is asked for and OpenTelemetry is not installed.
    """
    (_current_span() if span is None else span).set_attributes(attributes(told))


def _current_span() -> Span:
    try:
        trace: Any = import_module("opentelemetry.trace")
    except ImportError as error:
        raise MissingExtraError("opentelemetry", needed_for="assembler.telemetry") from error
    span: Span = trace.get_current_span()
    return span


__all__ = ["NAMESPACE", "Span", "Value", "attributes", "set_attributes"]
