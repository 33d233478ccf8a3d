"""The facts of generateContent: its implicit cache and its usage fields."""

from __future__ import annotations

from assembler.dialects.api import Api
from assembler.dialects.caching.prefixes import PrefixCache
from assembler.dialects.gemini.shape import SHAPE

_PAGE = "Gemini API docs, Context caching, 2026-10-13; no step is published"
_MAY = "Gemini API docs, Context caching, 2026-05-07; no step is published"

_CACHES = (
    PrefixCache(r"gemini-2\.5", 2_048, 1, _PAGE),
    PrefixCache(r"gemini-(?:pro-|flash-)?[12]\.|gemini-(?:pro|exp)", None, 1, _PAGE),
    PrefixCache(r"gemini-3-flash", 1_024, 1, _MAY),
    PrefixCache(r"^$|gemini-(?!gemma)", 4_096, 1, _PAGE),
)

API = Api(
    provider="gcp.gemini",
    shape=SHAPE.name,
    held=("cached_content", "cachedContent"),
    priced=(
        *("generation_config", "generationConfig", "tool_config", "toolConfig", "thinking_config", "thinkingConfig"),
        *("media_resolution", "mediaResolution"),
        *("response_schema", "responseSchema", "response_json_schema", "responseJsonSchema"),
    ),
    history="contents",
    caches=_CACHES,
    # The number includes cached tokens: Gemini API reference, read 2026-11.
    usage=(
        ("prompt_token_count", "tool_use_prompt_token_count"),
        ("promptTokenCount", "toolUsePromptTokenCount"),
    ),
)
