"""Notes for the report: calls of tools that are not offered, names easily confused, and regions over their cap.

The first two are legal in every API, and cause errors later: a model calls a missing tool again, or confuses two names.
The notes hold only names that an API would accept.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from assembler.regions.tools.reading import NAME
from budgets import Budget, Count, Tokens
from budgets.allotment import tokens_of

_NAMED = 5
"""The most names in a line; for more, the line has their number."""


def tool_notes(offered: Sequence[str], called: Iterable[str]) -> tuple[str, ...]:
    """A line for calls of tools that are not offered, and one for names that differ only in case.

    `called` has each name once.
    """
    known = frozenset(offered)
    unoffered = [name for name in called if name not in known]
    notes: list[str] = []
    if unoffered:
        notes.append(f"called but not offered: {_list_names(unoffered)}. A model may call such a tool again")
    if alike := _find_alike(tuple(offered)):
        notes.append(f"tools whose names differ only in case: {_list_names(alike)}. A model may confuse them")
    return tuple(notes)


def note_caps(capability: Count, knowledge: Count, budget: Budget | None) -> tuple[str, ...]:
    """A line if the tools or the documents cost more than their cap, because a selection keeps them all the same."""
    if budget is None or not budget.limits:
        return ()
    needed = "sends those that are needed, whatever they cost; shorten their definitions, or raise the cap"
    chosen = "keeps them, whatever they cost; keep no more than its tokens_left, or raise the cap"
    regions = (("capability", "tools", capability.upper, needed), ("knowledge", "documents", knowledge.upper, chosen))
    return tuple(
        f"the {items} that are sent cost up to {used} tokens, {used - cap} above their cap of {cap}: "
        f"the selection {why}"
        for region, items, used, why in regions
        if (cap := _find_cap(region, budget)) is not None and used > cap
    )


def _find_cap(region: str, budget: Budget) -> Tokens | None:
    limit = budget.limits.get(region)
    if limit is None or limit.cap is None:
        return None
    return tokens_of(limit.cap, budget.input_limit)


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
