"""Finds calls of tools that are not offered, and tool names that are easily confused, for the report.

Both are legal in every API, and both cause errors later: a model calls a missing tool again, or confuses two names. The
notes hold only names that an API would accept.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from assembler.regions.tools.reading import NAME

_NAMED = 5
"""The most names in a line; for more, the line has their number."""


def tool_notes(offered: Sequence[str], called: Iterable[str]) -> tuple[str, ...]:
    """A line for calls of tools that are not offered, and one for names that differ only in case.

    `called` has each name once.
    """
    known = frozenset(offered)
    gone = [name for name in called if name not in known]
    notes: list[str] = []
    if gone:
        notes.append(f"called but not offered: {_list_names(gone)}. A model may call such a tool again")
    if alike := _find_alike(tuple(offered)):
        notes.append(f"tools whose names differ only in case: {_list_names(alike)}. A model may confuse them")
    return tuple(notes)


# Cached: a session's tools rarely change.
@functools.lru_cache(maxsize=16)
def _find_alike(names: tuple[str, ...]) -> tuple[str, ...]:
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.casefold(), []).append(name)
    return tuple(name for same in folded.values() if len(same) > 1 for name in same)


def _list_names(names: Collection[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    shown = (
        name if NAME.fullmatch(name) else f"a name of {len(name)} characters that no API takes"
        for name in islice(names, _NAMED)
    )
    return ", ".join(shown) + more
