"""How a file names what gives way: one line a policy.

on_overflow: trim_oldest
on_overflow: {trim_oldest: {low_water: 0.5, keep_turns: 1}}
on_overflow: [{clear_tool_results: {keep: 3}}, trim_oldest]          # a ladder, tried in order
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast, get_args

import attrs

from assembler import ClearReasoning, ClearToolResults, KeepRelevant, Policy, Refuse, TrimOldest, TrimSteps, Truncate
from assembler.cli.request_file.shapes import Reader, any_text, list_of, mapping, number, one_of, refuse_unknown, whole
from assembler.files.place import Place
from assembler.policies.truncate import Where


@attrs.frozen
class _Named:
    """A policy's constructor, how each of its options is read, and which it cannot do without."""

    make: Callable[..., Policy]
    options: Mapping[str, Reader[Any]] = attrs.field(factory=dict[str, Reader[Any]])
    required: Collection[str] = ()

    def read(self, place: Place, value: object) -> Policy:
        """The policy with the options in this mapping; what is left out has the policy's own defaults."""
        given = {} if value is None else mapping(place, value, what="mapping of options")
        refuse_unknown(place, given, self.options)
        values = {name: self.options[name](place.key(name), item) for name, item in given.items() if item is not None}
        for name in self.required:
            if name not in values:
                raise place.key(name).error("missing, and required")
        with place.answers_for():
            return self.make(**values)


POLICIES: Mapping[str, _Named] = {
    "refuse": _Named(Refuse),
    "trim_oldest": _Named(TrimOldest, {"low_water": number, "keep_turns": whole, "note": any_text}),
    "keep_relevant": _Named(KeepRelevant, {"keep_turns": whole, "low_water": number}),
    "trim_steps": _Named(TrimSteps, {"keep": whole}),
    "clear_tool_results": _Named(
        ClearToolResults, {"keep": whole, "placeholder": any_text, "exclude": list_of(any_text, what="names of tools")}
    ),
    "clear_reasoning": _Named(ClearReasoning, {"keep": whole}),
    "truncate": _Named(
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
    if not isinstance(value, dict):
        return one_of(POLICIES)(place, value).read(place.key(str(value)), None)
    given = mapping(place, cast("object", value), what="policy")
    if len(given) != 1:
        raise place.error(f"expected one policy with its options, got {len(given)} keys; a ladder is a list")
    [(name, options)] = given.items()
    return one_of(POLICIES)(place, name).read(place.key(name), options)
