"""The economy of a provider's prefix cache: what stays the same, what it may serve, where to mark it.

`context.prefix_hash`, `context.first_changed(previous)`, `context.cacheable`, `context.served_after(previous)`,
`context.request(cache_marks=CacheMarks())` and the report are the faces of this room.
"""

from assembler.cache.emitted import OPENING
from assembler.cache.rules import RULES, PrefixCache, rule_for
from assembler.cache.volatile import Volatile
from assembler.marks.marking import CacheMarks, Marked, marked

__all__ = ["OPENING", "RULES", "CacheMarks", "Marked", "PrefixCache", "Volatile", "marked", "rule_for"]
