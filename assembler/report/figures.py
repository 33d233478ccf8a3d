"""The numbers and names of a decision for spans and logs, without any text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from assembler.pipeline.planned import Planned
from budgets import ContextLengthError, RegionCosts

Value: TypeAlias = str | int | float | bool | list[str]
"""A value that a span accepts as an attribute."""


def figures_of(plan: Planned) -> dict[str, Value]:
    """The tokens by region, the budget, and what was kept and dropped. O(messages)."""
    budget, dropped = plan.settings.budget, plan.dropped
    shortened = sum(message.outcome == "shortened" for message in dropped)
    omitted = [item for item in plan.measured.rendered.omitted if item.region == "knowledge"]
    found: dict[str, Value] = {
        "dialect": plan.settings.dialect.name,
        "tokens.total": plan.count.tokens,
        "upper": plan.count.upper,
        "grade": str(plan.count.grade),
        **by_region(plan.costs),
        "messages.kept": len(plan.kept) - shortened,
        "messages.shortened": shortened,
        "messages.dropped": len(dropped) - shortened,
        "documents.kept": len(plan.measured.rendered.sources),
        "documents.dropped": len(omitted),
        "tools": len(plan.measured.regions.tools),
    }
    if plan.trimmed.decisions:
        found["policies"] = [decision.policy for decision in plan.trimmed.decisions]
    if budget is not None:
        found |= {"context_window": budget.context_window, "input_limit": budget.input_limit}
        found |= model_named(budget.model)
    return found


def figures_of_overflow(error: ContextLengthError) -> dict[str, Value]:
    """The required and the available tokens."""
    found: dict[str, Value] = {
        "required": error.required,
        "available": error.available,
        "excess": error.excess,
        "context_window": error.budget.context_window,
        **model_named(error.budget.model),
        **by_region(error.costs),
    }
    return found if error.smallest_window is None else {**found, "smallest_window": error.smallest_window}


def model_named(model: str | None) -> dict[str, Value]:
    """The model's name, if there is one."""
    return {} if model is None else {"model": model}


def by_region(costs: RegionCosts) -> dict[str, Value]:
    """The tokens of each region."""
    return {f"tokens.{region}": tokens for region, tokens in costs.to_dict().items()}


def fields_of(found: Mapping[str, Value]) -> dict[str, Value]:
    """The figures under names that a log record accepts as attributes."""
    return {f"context_assembler_{name}".replace(".", "_"): value for name, value in found.items()}
