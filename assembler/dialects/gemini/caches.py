"""What Gemini's implicit cache serves."""

from __future__ import annotations

from assembler.dialects.prefix_cache import PrefixCache

_PAGE = "Gemini API docs, Context caching, 2026-10-13; no step is published"
_MAY = "Gemini API docs, Context caching, 2026-05-07; no step is published"

CACHES = (
    PrefixCache(r"gemini-2\.5", 2_048, 1, _PAGE),
    PrefixCache(r"gemini-(?:pro-|flash-)?[12]\.|gemini-(?:pro|exp)", None, 1, _PAGE),
    PrefixCache(r"gemini-3-flash", 1_024, 1, _MAY),
    PrefixCache(r"^$|gemini-(?!gemma)", 4_096, 1, _PAGE),
)
