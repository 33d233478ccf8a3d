"""What a build says of itself in numbers and names, for spans and logs. Knows contexts and one error; holds no text.

Attributes stand under `context_assembler.`: what a provider billed is `gen_ai.usage.*` (OpenTelemetry semantic
conventions for generative AI, read 2026-11), and what we counted before the call must never be taken for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol, TypeAlias

from assembler.context import Context
from assembler.plan import Plan
from assembler.planned import Planned
from budgets import ContextLengthError, MissingExtraError, RegionCosts

NAMESPACE = "context_assembler."
"""How every attribute begins."""

Value: TypeAlias = str | int | float | bool
"""What a span takes as an attribute, lists aside."""


class Span(Protocol):
    """What is used of OpenTelemetry's span."""

    def set_attributes(self, attributes: Mapping[str, Value], /) -> None:
        """Note attributes."""
        ...


def attributes(told: Context | Plan | ContextLengthError) -> dict[str, Value]:
    """Tokens by region, the budget, what was kept and dropped; of an overflow what was needed and free. O(messages)."""
    match told:
        case Context():
            found = _of_plan(told._plan)  # pyright: ignore[reportPrivateUsage]
        case Plan():
            found = _of_plan(told)
        case ContextLengthError():
            found = {
                "required": told.required,
                "available": told.available,
                "excess": told.excess,
                **({} if told.smallest_window is None else {"smallest_window": told.smallest_window}),
                "context_window": told.budget.context_window,
                **_model(told.budget.model),
                **_regions(told.costs),
            }
        case _:
            raise TypeError(f"expected a Context, a Plan or a ContextLengthError, got {type(told).__name__}")
    return {NAMESPACE + name: value for name, value in found.items()}


def _of_plan(plan: Planned) -> dict[str, Value]:
    budget, dropped = plan.terms.budget, plan.dropped
    shortened = sum(1 for one in dropped if one.outcome == "shortened")
    found: dict[str, Value] = {
        "dialect": plan.terms.dialect.name,
        "tokens": plan.count.tokens,
        "upper": plan.count.upper,
        "grade": str(plan.count.grade),
        **_regions(plan.costs),
        "messages.kept": len(plan.kept) - shortened,
        "messages.shortened": shortened,
        "messages.dropped": len(dropped) - shortened,
        "documents.kept": len(plan.measured.rendered.sources),
        "documents.dropped": len(plan.measured.rendered.omitted),
        "tools": len(plan.measured.regions.tools),
    }
    if plan.what.decisions:
        found["policies"] = ", ".join(decision.policy for decision in plan.what.decisions)
    if budget is not None:
        found |= {"context_window": budget.context_window, "input_limit": budget.input_limit, **_model(budget.model)}
    return found


def _model(model: str | None) -> dict[str, Value]:
    return {} if model is None else {"model": model}


def _regions(costs: RegionCosts) -> dict[str, Value]:
    return {f"tokens.{region}": tokens for region, tokens in costs.as_dict().items()}


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
