"""Reads a strategy and cache marks from request files: by name, with options that are data.

strategy: cited_sources
strategy: {cited_sources: {order: edges_first, selection: best, max_tokens: 2000}}
cache_marks: {ttl: 1h}
"""

from __future__ import annotations

from collections.abc import Mapping

from assembler import CacheMarks, Strategy
from assembler.cli.request_file.options import NamedIn
from assembler.cli.request_file.shapes import Named, Reader, one_of, read_mapping, read_named, refuse_unknown
from assembler.dialects.caching.marks import Lifetime
from assembler.files.place import Place
from assembler.strategies import built_in

_LIFETIME: Reader[Lifetime] = one_of({"5m": "5m", "1h": "1h"})

STRATEGIES: Mapping[str, Named[Strategy]] = NamedIn(built_in)
"""Every strategy that a file can name, with the options that are data."""


def read_strategy(place: Place, value: object) -> Strategy:
    """Read a strategy: a name, or a name with options."""
    return read_named(STRATEGIES, place, value, what="strategy", several="")


def read_cache_marks(place: Place, value: object) -> CacheMarks | None:
    """Read cache marks: `true`, `false`, or a mapping with `ttl`."""
    if isinstance(value, bool):
        return CacheMarks() if value else None
    given = read_mapping(place, value, what="mapping with ttl, or true")
    refuse_unknown(place, given, ("ttl",))
    return CacheMarks(_LIFETIME(place.key("ttl"), given["ttl"])) if "ttl" in given else CacheMarks()
