"""What a layout asks for beside its regions, in the words that several APIs share: an answer's schema, a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assembler.dialects.copies import own_fields
from assembler.regions.layout import Layout
from assembler.regions.output_schema import OutputSchema


def named_schema(output: OutputSchema) -> dict[str, Any]:
    """The schema under its name, with its description and `strict`."""
    fields: dict[str, Any] = {"name": output.name, "schema": own_fields(output.schema)}
    if output.description is not None:
        fields["description"] = output.description
    return fields | ({"strict": True} if output.strict else {})


def bare_schema(output: OutputSchema) -> dict[str, Any]:
    """The schema with its own description, for an API that has no other place for it."""
    described = {} if output.description is None else {"description": output.description}
    schema: dict[str, Any] = own_fields(output.schema)
    return {**described, **schema}


def asked_choice(layout: Layout) -> str | None:
    """The choice, if there is a tool that it can choose: a limit may have left its tool out."""
    known = {"auto", "none", "required", *(tool.name for tool in layout.tools)}
    return layout.choice if layout.tools and layout.choice in known else None


def choice_of(layout: Layout, named: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """`tool_choice` as OpenAI's two APIs say it: a word, or what `named` makes of a tool's name."""
    choice = asked_choice(layout)
    if choice is None:
        return {}
    return {"tool_choice": choice if choice in ("auto", "none", "required") else named(choice)}
