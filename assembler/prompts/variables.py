"""The names that a prompt of the source system may ask for."""

from __future__ import annotations

SUPPORTED_INPUT_VARIABLES: list[str] = [
    "question",
    "history",
    "documents",
    "context",
    "submission_text",
    "rubric_text",
    "summary",
    "analysis",
    "additional_comments",
    "condense_output",
    "retriever_output",
    "condensed_question",
    "full_history",
    "condensed_output",
]
"""The twelve variables that the source system documents and two more that its own prompt files use, and so the tags
that `PromptFormatter` touches, in any case.

That the tags are the variables, in any case, and that a tag without a role is the system's, is not written there: it
is how its `prompt_formatters.py` (A2rchi) behaves, read 2026-11.
"""

HISTORIES = frozenset({"history", "full_history"})
"""The variables that hold a conversation: a list of messages is written as a transcript, a tag read as messages."""
