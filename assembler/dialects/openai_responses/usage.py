"""Where a usage of Responses says how many input tokens were billed: OpenAI API reference, read 2026-11."""

from __future__ import annotations

FIELDS = (("input_tokens",),)
"""One line for each spelling, whose fields are added. Cached tokens are inside the number."""
