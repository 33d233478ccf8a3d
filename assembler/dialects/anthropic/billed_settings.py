"""Reads the settings of a call of Messages that have a price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assembler.dialects.anthropic import pricing as claude
from assembler.text.fields import fields_in, fields_of
from budgets import BudgetError

MODES = ("disabled", "enabled", "adaptive")


_CHOICES = ("auto", "none", "any", "tool")


def read_thinking(given: object) -> Mapping[str, Any] | None:
    """A copy of the call's `thinking`. Raises `BudgetError` for a type without a price."""
    asked = fields_of(given)
    if given is not None and read_known_type(given, MODES) is None:
        raise BudgetError(f"thinking: expected {{'type': …, …}}, its type one of {', '.join(MODES)}")
    return None if asked is None else dict(asked)


def read_choice(given: object) -> claude.Choice:
    """The call's `tool_choice`; `auto` for none, and for a type without a price."""
    fields = fields_in(given)
    return claude.Choice(
        type=read_known_type(given, _CHOICES) or "auto",
        name=name if isinstance(name := fields.get("name"), str) else "",
        alone=fields.get("disable_parallel_tool_use") is True,
    )


def read_known_type(given: object, known: Sequence[str]) -> Any:
    """The `type` of an option if it has a price, else None."""
    return word if (word := fields_in(given).get("type")) in known else None


def find_answer_format(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """`output_config.format`, or the older `output_format`, if it has a schema."""
    asked = fields_in(options, "output_config", "format") or fields_in(options, "output_format")
    return None if fields_of(asked.get("schema")) is None else asked
