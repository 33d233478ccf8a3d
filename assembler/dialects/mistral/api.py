"""The facts of Mistral's chat API: its usage fields."""

from __future__ import annotations

from assembler.dialects.api import Api

API = Api(
    provider="mistral_ai", shape="mistral", priced=("response_format", "tool_choice"), usage=(("prompt_tokens",),)
)
"""The number includes cached tokens: Mistral API reference, read 2026-11."""
