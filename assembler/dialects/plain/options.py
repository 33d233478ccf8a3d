"""How a plain request asks for a structured answer."""

from __future__ import annotations

from typing import Any

from assembler.dialects.asked_for import named_schema
from assembler.regions.layout import Layout


def options_of(layout: Layout) -> dict[str, Any]:
    """`output_schema`: the name, the description and the schema."""
    return {} if layout.output is None else {"output_schema": named_schema(layout.output)}
