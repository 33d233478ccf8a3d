"""How each API spells a drawn conversation: `drawn.py` in its folder, which shares no code with the dialect."""

from __future__ import annotations

from collections.abc import Mapping

from assembler.drawn.spelling import Request, Spelling
from assembler.validation import wrong
from assembler.verify import Named
from budgets.later import FromFolders

SPELLINGS: Mapping[str, Spelling] = FromFolders("assembler.dialects", "drawn", "SPELLING")
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
