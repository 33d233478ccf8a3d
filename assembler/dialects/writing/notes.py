"""Counts what was folded or left out of a request, and words the notes on it."""

from __future__ import annotations

from collections import Counter

ANSWERS_FIRST = "message(s) of the user's between the answers of one step sent after them"
BRIDGE = "Understood."
"""The text of an assistant message between a tool's answer and the user, which Mistral requires: `Unexpected role
'user' after role 'tool'`, code 3230 (avante.nvim#2695). Mistral's own command-line agent writes the same text
(mistralai/mistral-vibe, read 2026-11)."""
BRIDGED = f"assistant message(s) {BRIDGE!r} put between a tool's answer and the user"
CITATIONS = "citation(s) or annotation(s) of a text left out"
FAILED = "mark(s) of a failed call left out"
FIELDS = "field(s) of another API left out"
MARKS = "cache mark(s) of another API left out"
REASONING = "reasoning part(s) of another model left out"
RENAMED = "call(s) of an illegal tool name renamed"
MEDIA_MOVED = "picture(s) or file(s) of tool results sent after the results, as the user's"
SIGNATURES = "signature(s) of another API left out"
SILENT = "empty assistant message(s) left out"
SPEAKERS = "name(s) of a speaker left out"
SURPLUS_MARKS = "cache mark(s) beyond the four that the API takes left out, the oldest first"


class Notes(Counter[str]):
    """The notes of a request, each with its number of occurrences."""

    def lines(self) -> tuple[str, ...]:
        """A line for each note, in the order of their first occurrence."""
        return tuple(f"{times} {what}" for what, times in self.items() if times)
