"""The facts of Mistral's chat API: its usage fields."""

from __future__ import annotations

from assembler.dialects.api import Api
from assembler.dialects.mistral.shape import SHAPE

API = Api(
    provider="mistral_ai", shape=SHAPE.name, priced=("response_format", "tool_choice"), usage=(("prompt_tokens",),)
)
"""The number includes cached tokens: Mistral API reference, read 2026-11."""
