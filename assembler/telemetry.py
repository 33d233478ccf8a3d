"""What a build says of itself in numbers and names, for spans and logs.

Attributes stand under `context_assembler.`: what a provider billed is `gen_ai.usage.*` (OpenTelemetry semantic
conventions for generative AI, read 2026-11), and what we counted before the call must never be taken for it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

from assembler.context import Context
from assembler.plan import Plan
from assembler.report.figures import Value, figures_of, figures_of_overflow
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
            found = figures_of_overflow(told)
        case _:
            raise TypeError(f"expected a Context, a Plan or a ContextLengthError, got {type(told).__name__}")
    return {NAMESPACE + name: value for name, value in found.items()}


def set_attributes(told: Context | Plan | ContextLengthError, *, span: Span | None = None) -> None:
    """Note on a span what a build says of itself; without one on OpenTelemetry's current span.

    Raises `MissingExtraError` where that is asked for and OpenTelemetry is not installed.
    """
    (_current_span() if span is None else span).set_attributes(attributes(told))


def note(told: Context | ContextLengthError) -> None:
    """The same on the span of a framework that traces; nothing where OpenTelemetry is not in use or nothing records."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is not None and (span := trace.get_current_span()).is_recording():
        set_attributes(told, span=span)


def _current_span() -> Span:
    try:
        trace: Any = import_module("opentelemetry.trace")
    except ImportError as error:
        raise MissingExtraError("opentelemetry", needed_for="assembler.telemetry") from error
    span: Span = trace.get_current_span()
    return span


__all__ = ["NAMESPACE", "Span", "Value", "attributes", "note", "set_attributes"]
