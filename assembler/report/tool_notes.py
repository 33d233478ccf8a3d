"""Finds calls of tools that are not offered, and names that are mistaken, for the report.

Both are legal in every API, and both go wrong later: a model goes on calling what it called before, and takes one name
for another. Holds names alone, and of those only such as an API would take.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from assembler.regions.tools.reading import NAME
from assembler.report.memory import TurnFacts

_NAMED = 5
"""Names that a line repeats; of further ones it says the number."""


def tool_notes(offered: Sequence[str], turns: Iterable[TurnFacts]) -> tuple[str, ...]:
    """A line for calls of tools that are not offered, and one for names that differ in case alone."""
    known = frozenset(offered)
    gone = dict.fromkeys([name for turn in turns for name in turn.called if name not in known])
    notes: list[str] = []
    if gone:
        notes.append(f"called, and not offered: {_listed(gone)}. A model may call again what it called before")
    if alike := _alike(tuple(offered)):
        notes.append(f"tools whose names differ in case alone: {_listed(alike)}. A model may take one for the other")
    return tuple(notes)


# The tools of a session stay.
@functools.lru_cache(maxsize=16)
def _alike(names: tuple[str, ...]) -> tuple[str, ...]:
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.casefold(), []).append(name)
    return tuple(name for same in folded.values() if len(same) > 1 for name in same)


def _listed(names: Collection[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(islice(_legal_names(names), _NAMED)) + more


def _legal_names(names: Collection[str]) -> Iterator[str]:
    for name in names:
        yield name if NAME.fullmatch(name) else f"a name of {len(name)} characters that no API takes"
