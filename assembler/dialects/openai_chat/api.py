"""Chat Completions: what its cache serves, and what its usage says."""

from __future__ import annotations

from assembler.dialects.api import Api
from assembler.dialects.openai.caches import OF_CHAT

API = Api(shape="openai", caches=OF_CHAT, usage=(("prompt_tokens",),))
"""Cached tokens are inside the number: OpenAI API reference, read 2026-11."""
