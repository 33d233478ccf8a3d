"""How Mistral asks for a structured answer and for a tool: its API reference, read 2026-11."""

from __future__ import annotations

from typing import Any

from assembler.dialects.openai_chat.options import options_of as of_chat
from assembler.regions.layout import Layout


def options_of(layout: Layout) -> dict[str, Any]:
    """The same of Mistral, which says `any` for `required`."""
    options = of_chat(layout)
    if options.get("tool_choice") == "required":
        options["tool_choice"] = "any"
    return options
