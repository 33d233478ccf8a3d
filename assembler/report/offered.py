"""What a report says of the tools beside their prices: calls of tools that are not offered, names that are mistaken.

Both are legal in every API, and both go wrong later: a model goes on calling what it called before, and takes one name
for another. Holds names alone, and of those only such as an API would take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from assembler.conversation.history import Span
from assembler.conversation.messages import Call
from assembler.pipeline.planned import Planned
from assembler.regions.tools.reading import NAME
from assembler.report.remembered import ended_turns

_NAMED = 5
"""Names that a line repeats; of further ones it says the number."""


def tool_notes(plan: Planned) -> tuple[str, ...]:
    """A line for calls of tools that are not offered, and one for names that differ in case alone. O(messages that
    stay), of which turns that have ended are read once.
    """
    offered = [tool.name for tool in plan.measured.regions.tools]
    known = frozenset(offered)
    closed = ended_turns(plan).called
    called = dict.fromkeys(name for turn in plan.turns for name in closed.get(turn) or _called(plan, turn))
    gone = [name for name in called if name not in known]
    notes: list[str] = []
    if gone:
        notes.append(f"called, and not offered: {_listed(gone)}. A model may call again what it called before")
    if alike := _alike(offered):
        notes.append(f"tools whose names differ in case alone: {_listed(alike)}. A model may take one for the other")
    return tuple(notes)


def _called(plan: Planned, turn: Span) -> tuple[str, ...]:
    """The names that the calls of a turn go by, each once."""
    closed = ended_turns(plan).called
    found = closed.get(turn)
    if found is None:
        messages = plan.sight.messages(*turn)
        found = tuple(dict.fromkeys(p.name for message in messages for p in message.parts if type(p) is Call))
        if turn[1] < plan.sight.length:
            closed[turn] = found
    return found


def _alike(names: Collection[str]) -> list[str]:
    """The names of which there is another that differs in case alone."""
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.casefold(), []).append(name)
    return [name for same in folded.values() if len(same) > 1 for name in same]


def _listed(names: Collection[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(islice(_spoken(names), _NAMED)) + more


def _spoken(names: Collection[str]) -> Iterator[str]:
    for name in names:
        yield name if NAME.fullmatch(name) else f"a name of {len(name)} characters that no API takes"
