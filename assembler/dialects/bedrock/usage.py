"""Where a usage of Converse says how many input tokens were billed: Amazon Bedrock API reference, read 2026-11."""

from __future__ import annotations

FIELDS = (("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),)
"""One line for each spelling, whose fields are added. Cached tokens stand beside the number."""
