"""Mistral's chat API: what its usage says."""

from __future__ import annotations

from assembler.dialects.api import Api

API = Api(shape="mistral", usage=(("prompt_tokens",),))
"""Cached tokens are inside the number: Mistral API reference, read 2026-11."""
