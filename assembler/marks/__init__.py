"""Where a request is told to be cached: the marks of Anthropic and Bedrock, and the places that can carry one."""

from assembler.marks.marking import CacheMarks, Marked, marked

__all__ = ["CacheMarks", "Marked", "marked"]
