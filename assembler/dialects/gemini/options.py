"""How generateContent asks for a structured answer and for a tool: Gemini API reference, read 2026-11."""

from __future__ import annotations

from typing import Any

from assembler.dialects.asked_for import asked_choice, bare_schema
from assembler.regions.layout import Layout


def options_of(layout: Layout) -> dict[str, Any]:
    """`response_json_schema` and `tool_config` of generateContent's config."""
    modes = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
    options: dict[str, Any] = {}
    if layout.output is not None:
        options["response_mime_type"] = "application/json"
        options["response_json_schema"] = bare_schema(layout.output)
    if (choice := asked_choice(layout)) is not None:
        mode = {"mode": modes[choice]} if choice in modes else {"mode": "ANY", "allowed_function_names": [choice]}
        options["tool_config"] = {"function_calling_config": mode}
    return options
