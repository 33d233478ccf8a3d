"""How Converse asks for a structured answer and for a tool: Amazon Bedrock API reference, read 2026-11."""

from __future__ import annotations

import json
from typing import Any

from assembler.dialects.asked_for import asked_choice, bare_schema
from assembler.regions.layout import Layout


def options_of(layout: Layout) -> dict[str, Any]:
    """`outputConfig` and `toolChoice` of Converse. `toolChoice` stands in `toolConfig`; there is no word for none."""
    words = {"auto": "auto", "required": "any"}
    options: dict[str, Any] = {}
    if layout.output is not None:
        named = {"name": layout.output.name, "schema": json.dumps(bare_schema(layout.output))}
        options["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": named}}}
    choice = asked_choice(layout)
    if choice is not None and choice != "none":
        options["toolChoice"] = {words[choice]: {}} if choice in words else {"tool": {"name": choice}}
    return options
