"""How Responses asks for a structured answer and for a tool: OpenAI API reference, read 2026-11."""

from __future__ import annotations

from typing import Any

from assembler.dialects.asked_for import choice_of, named_schema
from assembler.regions.layout import Layout


def options_of(layout: Layout) -> dict[str, Any]:
    """`text.format` and `tool_choice` of Responses."""
    form = {} if layout.output is None else {"text": {"format": {"type": "json_schema", **named_schema(layout.output)}}}
    return form | choice_of(layout, lambda name: {"type": "function", "name": name})
