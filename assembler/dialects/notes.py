"""Counts what was folded or left out on the way to a request, and words the report's lines about it."""

from __future__ import annotations

from collections import Counter

ANSWERS_FIRST = "message(s) of the user's between the answers of one step sent after them"
BRIDGE = "Understood."
"""What an assistant message says that stands between a tool's answer and the user, where that is wanted: `Unexpected
role 'user' after role 'tool'`, code 3230 (avante.nvim#2695). The words are those of Mistral's own command-line agent
(mistralai/mistral-vibe, read 2026-11), for the same place."""
BRIDGED = f"assistant message(s) {BRIDGE!r} put between a tool's answer and the user"
CITATIONS = "citation(s) or annotation(s) of a text left out"
FIELDS = "field(s) of another API left out"
MARKS = "cache mark(s) of another API left out"
REASONING = "reasoning part(s) of another model left out"
RENAMED = "call(s) of an illegal tool name renamed"
SHOWN = "part(s) that tools' answers show sent beside the answers, as the user's"
SIGNATURES = "signature(s) of another API left out"
SILENT = "empty assistant message(s) left out"
SURPLUS_MARKS = "cache mark(s) beyond the four that the API takes left out, the oldest first"


class Notes(Counter[str]):
    """How often each thing was done, by the words for it."""

    def lines(self) -> tuple[str, ...]:
        """One line each, in the order in which they were first met."""
        return tuple(f"{times} {what}" for what, times in self.items() if times)
