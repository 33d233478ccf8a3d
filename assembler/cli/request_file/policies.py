"""Reads policies from request files: each by the name of its module, with options that are data.

on_overflow: trim_oldest
on_overflow: {trim_oldest: {low_water: 0.5, keep_turns: 1}}
on_overflow: [{clear_tool_results: {keep: 3}}, trim_oldest]          # a ladder, tried in order
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from assembler import Policy
from assembler.cli.request_file.options import NamedIn
from assembler.cli.request_file.shapes import Named, read_named
from assembler.files.place import Place
from assembler.policies import built_in

POLICIES: Mapping[str, Named[Policy]] = NamedIn(built_in)
"""Every policy that a file can name. `Summarize` needs a function, and `Offload` a store."""


def read_ladder(place: Place, value: object) -> Sequence[Policy]:
    """Read a policy or a ladder: a name, a name with options, or a list of these."""
    if not isinstance(value, list):
        return [_read_policy(place, value)]
    rungs = cast("list[object]", value)
    if not rungs:
        raise place.error(f"expected at least one of {', '.join(POLICIES)}")
    return [_read_policy(place.item(index), rung) for index, rung in enumerate(rungs)]


def _read_policy(place: Place, value: object) -> Policy:
    return read_named(POLICIES, place, value, what="policy", several="; a ladder is a list")
