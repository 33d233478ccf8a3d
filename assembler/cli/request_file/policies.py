"""How a file names what gives way: one line a policy.

on_overflow: trim_oldest
on_overflow: {trim_oldest: {low_water: 0.5, keep_turns: 1}}
on_overflow: [{clear_tool_results: {keep: 3}}, trim_oldest]          # a ladder, tried in order
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast, get_args

from assembler import ClearReasoning, ClearToolResults, KeepRelevant, Policy, Refuse, TrimOldest, TrimSteps, Truncate
from assembler.cli.request_file.shapes import Named, any_text, list_of, number, number_or, one_of, read_named, whole
from assembler.files.place import Place
from assembler.policies.truncate import Where

POLICIES: Mapping[str, Named[Policy]] = {
    "refuse": Named(Refuse),
    "trim_oldest": Named(TrimOldest, {"low_water": number_or("auto"), "keep_turns": whole, "note": any_text}),
    "keep_relevant": Named(KeepRelevant, {"keep_turns": whole, "low_water": number}),
    "trim_steps": Named(TrimSteps, {"keep": whole}),
    "clear_tool_results": Named(
        ClearToolResults, {"keep": whole, "placeholder": any_text, "exclude": list_of(any_text, what="names of tools")}
    ),
    "clear_reasoning": Named(ClearReasoning, {"keep": whole}),
    "truncate": Named(
        Truncate, {"max_tokens": whole, "where": one_of({one: one for one in get_args(Where)})}, required=["max_tokens"]
    ),
}
"""Every policy that a file can name: those whose options are data. `Summarize` takes a function,
pins may be one, and `Offload` takes a store."""


def overflow(place: Place, value: object) -> Sequence[Policy]:
    """What a file says gives way: a name, a name with options, or a list of these."""
    if not isinstance(value, list):
        return [_policy(place, value)]
    rungs = cast("list[object]", value)
    if not rungs:
        raise place.error(f"expected at least one of {', '.join(POLICIES)}")
    return [_policy(place.item(index), rung) for index, rung in enumerate(rungs)]


def _policy(place: Place, value: object) -> Policy:
    return read_named(POLICIES, place, value, what="policy", several="; a ladder is a list")
