"""How Chat Completions asks for a structured answer and for a tool: OpenAI API reference, read 2026-11."""

from __future__ import annotations

from typing import Any

from assembler.dialects.asked_for import choice_of, named_schema
from assembler.regions.layout import Layout


def options_of(layout: Layout) -> dict[str, Any]:
    """`response_format` and `tool_choice` of Chat Completions."""
    form = (
        {}
        if layout.output is None
        else {"response_format": {"type": "json_schema", "json_schema": named_schema(layout.output)}}
    )
    return form | choice_of(layout, _chat_tool)


def _chat_tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}
