"""How each API spells a drawn conversation: one file an API, one line here. Shares no code with the dialects."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.testing.spellings.anthropic import ANTHROPIC
from assembler.testing.spellings.bedrock import BEDROCK
from assembler.testing.spellings.chat import MISTRAL, OPENAI_CHAT, PLAIN
from assembler.testing.spellings.gemini import GEMINI
from assembler.testing.spellings.responses import OPENAI_RESPONSES
from assembler.testing.spellings.spelling import Named, Request, Spelling
from assembler.validation import wrong

_KNOWN = (ANTHROPIC, BEDROCK, GEMINI, MISTRAL, OPENAI_CHAT, OPENAI_RESPONSES, PLAIN)
SPELLINGS: Mapping[str, Spelling] = {spelling.name: spelling for spelling in _KNOWN}
"""Every spelling, by the name of its dialect."""


def spelling_of(dialect: str | Named) -> Spelling:
    """The spelling of a dialect, by its name or by any value that has one. Raises `ValueError` for one without."""
    name: object = dialect if isinstance(dialect, str) else getattr(dialect, "name", None)
    if not isinstance(name, str):
        known = f"one of {', '.join(SPELLINGS)}, by name or as a value"
        raise ValueError(wrong("dialect", known, dialect))  # noqa: TRY004 - as for a name that is not known
    if name not in SPELLINGS:
        raise ValueError(f"no conversations are drawn for the dialect {name!r}; known: {', '.join(SPELLINGS)}")
    return SPELLINGS[name]


__all__ = ["SPELLINGS", "Named", "Request", "Spelling", "spelling_of"]
