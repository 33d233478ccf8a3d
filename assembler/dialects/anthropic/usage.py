"""Where a usage of Messages says how many input tokens were billed: Anthropic API reference, read 2026-11."""

from __future__ import annotations

FIELDS = (("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),)
"""One line for each spelling, whose fields are added. Cached tokens stand beside the number."""
