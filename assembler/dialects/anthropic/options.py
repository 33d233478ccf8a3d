"""How Messages asks for a structured answer and for a tool: Anthropic API reference, read 2026-11."""

from __future__ import annotations

from typing import Any

from assembler.dialects.asked_for import asked_choice, bare_schema
from assembler.regions.layout import Layout


def options_of(layout: Layout) -> dict[str, Any]:
    """`output_config.format` and `tool_choice` of Messages."""
    words = {"auto": "auto", "none": "none", "required": "any"}
    options: dict[str, Any] = {}
    if layout.output is not None:
        options["output_config"] = {"format": {"type": "json_schema", "schema": bare_schema(layout.output)}}
    if (choice := asked_choice(layout)) is not None:
        options["tool_choice"] = {"type": words[choice]} if choice in words else {"type": "tool", "name": choice}
    return options
