"""The economy of a provider's prefix cache: what stays the same, what it may serve, where to mark it.

`context.prefix_hash`, `context.first_changed(previous)`, `context.cacheable`, `context.served_after(previous)`,
`context.request(cache_marks=CacheMarks())` and the report show what this package finds.
"""

from assembler.dialects.marking import CacheMarks, Marked, marked
from assembler.dialects.prefix_cache import PrefixCache
from assembler.report.cache.emitted import OPENING
from assembler.report.cache.estimate import rule_for
from assembler.report.cache.volatile import Volatile

__all__ = ["OPENING", "CacheMarks", "Marked", "PrefixCache", "Volatile", "marked", "rule_for"]
