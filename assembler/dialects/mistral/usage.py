"""Where a usage of Mistral's chat API says how many input tokens were billed: Mistral API reference, read 2026-11."""

from __future__ import annotations

FIELDS = (("prompt_tokens",),)
"""One line for each spelling, whose fields are added. Cached tokens are inside the number."""
