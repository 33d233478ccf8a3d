"""Where a usage of generateContent says how many input tokens were billed: Gemini API reference, read 2026-11."""

from __future__ import annotations

FIELDS = (
    ("prompt_token_count", "tool_use_prompt_token_count"),
    ("promptTokenCount", "toolUsePromptTokenCount"),
)
"""One line for each spelling, whose fields are added. Cached tokens are inside the number."""
