"""How a file names a strategy, and the cache marks: by name, with the options that are data.

strategy: cited_sources
strategy: {cited_sources: {order: edges_first, selection: best, max_tokens: 2000}}
cache_marks: {ttl: 1h}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assembler import CacheMarks, ChatRegions, CitedSources, Placement, Strategy
from assembler.cli.request_file.shapes import (
    Named,
    Reader,
    any_text,
    mapping,
    one_of,
    read_named,
    refuse_unknown,
    whole,
)
from assembler.dialects.marking import Lifetime
from assembler.files.place import Place
from assembler.strategies.sources.ordering import Order
from assembler.strategies.sources.selection import Best, Everything, Greedy

_PLACEMENTS = {placement.name.lower(): placement for placement in Placement}
_LIFETIME: Reader[Lifetime] = one_of({"5m": "5m", "1h": "1h"})
_SELECTIONS: Mapping[str, Any] = {"greedy": Greedy(), "best": Best(), "everything": Everything()}

STRATEGIES: Mapping[str, Named[Strategy]] = {
    "chat_regions": Named(ChatRegions, {"reminder": any_text, "placement": one_of(_PLACEMENTS)}),
    "cited_sources": Named(
        CitedSources,
        {
            "order": one_of({order.name.lower(): order for order in Order}),
            "selection": one_of(_SELECTIONS),
            "placement": one_of(_PLACEMENTS),
            "per_document": whole,
            "max_tokens": whole,
            "top_k": whole,
        },
    ),
}
"""Every strategy that a file can name, with the options that are data."""


def strategy(place: Place, value: object) -> Strategy:
    """What lays out the knowledge: a name, or a name with options."""
    return read_named(STRATEGIES, place, value, what="strategy", several="")


def cache_marks(place: Place, value: object) -> CacheMarks | None:
    """`true`, `false`, or a mapping with `ttl`."""
    if isinstance(value, bool):
        return CacheMarks() if value else None
    given = mapping(place, value, what="mapping with ttl, or true")
    refuse_unknown(place, given, ("ttl",))
    return CacheMarks(_LIFETIME(place.key("ttl"), given["ttl"])) if "ttl" in given else CacheMarks()
