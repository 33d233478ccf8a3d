"""How a file names what gives way: one line a policy.

on_overflow: trim_oldest
on_overflow: {trim_oldest: {low_water: 0.5, keep_turns: 1}}
on_overflow: [trim_oldest, refuse]          # a ladder, tried in order
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler import OverflowPolicy, Refuse, TrimOldest
from assembler.cli.spec.place import Place
from assembler.cli.spec.shapes import Reader, mapping, number, one_of, refuse_unknown, whole


@attrs.frozen
class _Named:
    """A policy's constructor, and how each of its options is read."""

    make: Callable[..., OverflowPolicy]
    options: Mapping[str, Reader[Any]] = attrs.field(factory=dict[str, Reader[Any]])

    def read(self, place: Place, value: object) -> OverflowPolicy:
        """The policy with the options in this mapping; with none, its own defaults."""
        given = {} if value is None else mapping(place, value, what="mapping of options")
        refuse_unknown(place, given, self.options)
        values = {name: self.options[name](place.key(name), item) for name, item in given.items() if item is not None}
        with place.answers_for():
            return self.make(**values)


POLICIES: Mapping[str, _Named] = {
    "refuse": _Named(Refuse),
    "trim_oldest": _Named(TrimOldest, {"low_water": number, "keep_turns": whole}),
}
"""Every policy that a file can name."""


def overflow(place: Place, value: object) -> Sequence[OverflowPolicy]:
    """What a file says gives way: a name, a name with options, or a list of these."""
    if not isinstance(value, list):
        return [_policy(place, value)]
    rungs = cast("list[object]", value)
    if not rungs:
        raise place.error(f"expected at least one of {', '.join(POLICIES)}")
    return [_policy(place.item(index), rung) for index, rung in enumerate(rungs)]


def _policy(place: Place, value: object) -> OverflowPolicy:
    if not isinstance(value, dict):
        return one_of(POLICIES)(place, value).read(place, None)
    given = mapping(place, cast("object", value), what="policy")
    if len(given) != 1:
        raise place.error(f"expected one policy with its options, got {len(given)} keys; a ladder is a list")
    [(name, options)] = given.items()
    return one_of(POLICIES)(place, name).read(place.key(name), options)
