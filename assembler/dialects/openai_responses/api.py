"""The facts of the Responses API: content that the server adds, its cache and its usage fields."""

from __future__ import annotations

from assembler.dialects.api import Api
from assembler.dialects.openai_chat.api import OF_OPENAI

STORED = ("previous_response_id", "conversation", "prompt")
"""With one of these keys the server adds stored items to the request, and bills them."""

API = Api(
    provider="openai",
    shape="responses",
    held=STORED,
    priced=("text", "tool_choice", "reasoning", "thinking"),
    history="input",
    caches=OF_OPENAI,
    usage=(("input_tokens",),),
)
"""The number includes cached tokens: OpenAI API reference, read 2026-11."""
