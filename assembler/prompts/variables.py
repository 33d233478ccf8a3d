"""The variable names of the source system's prompts."""

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
"""The twelve documented variables of the source system, and two more that its own prompt files use. They are also the
tags of `PromptFormatter`, in upper or lower case.

The source system does not document the tags, nor that a tag without a role is the system's: its
`prompt_formatters.py` (A2rchi, read 2026-11) behaves so.
"""

HISTORIES = frozenset({"history", "full_history"})
"""The variables with a conversation: a list of messages is written as a transcript, and a tag is read as messages."""
