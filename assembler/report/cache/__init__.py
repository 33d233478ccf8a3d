"""What a provider's prefix cache can serve of a request, and what changes the prefix.

For `context.prefix_hash`, `context.first_changed(previous)`, `context.cacheable`, `context.served_after(previous)` and
the report.
"""

from assembler.dialects.caching.marks import CacheMarks, Marked, marked
from assembler.dialects.caching.prefixes import PrefixCache
from assembler.report.cache.entries import OPENING
from assembler.report.cache.estimate import rule_for
from assembler.report.cache.volatile import Volatile

__all__ = ["OPENING", "CacheMarks", "Marked", "PrefixCache", "Volatile", "marked", "rule_for"]
