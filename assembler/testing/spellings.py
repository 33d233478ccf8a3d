"""Finds how an API spells a drawn conversation."""

from __future__ import annotations

from assembler.drawn.spelling import SPELLINGS, Request, Spelling
from assembler.validation import wrong
from assembler.verify import Named


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
