"""What a request costs as it is sent, where neighbouring messages go out as one.

Such a request is priced step by step: a step is what the model says, and all that follows until it speaks again. What
one step costs does not depend on the others, but for reasoning that is billed no more once a later question is asked.
So a step that goes out again as it went out last time keeps its price, whatever was cut before it or came after it.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from assembler.conversation.messages import Message
from assembler.dialects import Dialect
from assembler.pricing.pricer import MergingPricer, price_beginning, price_sent, priced_layout
from budgets import Count
from budgets.count import total

_OF_MODEL = frozenset({"assistant", "model", None})
"""Items of Responses say no role: right behind words of the user they are the model's."""
_OF_OTHERS = frozenset({"user", "tool"})
_OF_HEAD = frozenset({"system", "developer"})

_TRIES = 16
"""Places where known steps may stand that are looked at. Each is O(what stays), and many turns may say the same."""


@attrs.define(eq=False)
class Step:
    """One step of a request, priced."""

    messages: Sequence[Message]
    asks: int
    """The last of its messages before which reasoning is forgotten; -1 where there is none."""
    thinks: bool
    """Whether it costs less once its reasoning is forgotten."""
    forgotten: int
    """Of how many of its messages the reasoning is forgotten."""
    price: Count

    @classmethod
    def of(cls, messages: Sequence[Message], pricer: MergingPricer) -> Step:
        """A step as the last one in which somebody asks."""
        asks = max((place for place, message in enumerate(messages) if pricer.forgets(message)), default=-1)
        thinks = any(pricer.when_forgotten(message) is not message for message in messages)
        return cls(messages, asks, thinks, max(asks, 0), price_sent(pricer, messages, max(asks, 0)))

    def without(self, forgotten: int, pricer: MergingPricer) -> Step:
        """The step with the reasoning of so many of its messages forgotten."""
        price = price_sent(pricer, self.messages, forgotten)
        return Step(self.messages, self.asks, self.thinks, forgotten, price)


@attrs.define(eq=False)
class PricedRequest:
    """A request that was priced as it is sent, for a later one to go on from. Never changed."""

    beside: dict[str, Any]
    """Its keys but the list of its messages."""
    head: list[Any]
    """The system messages that the list begins with."""
    fixed: Count
    """What all but the steps costs."""
    entries: list[Any]
    """The list from there on."""
    starts: list[int]
    """Where its steps begin."""
    steps: list[Step]
    count: Count

    def end(self, step: int) -> int:
        """Where a step ends."""
        return self.starts[step + 1] if step + 1 < len(self.starts) else len(self.entries)


def price_request(
    dialect: Dialect, pricer: MergingPricer, request: dict[str, Any], known: PricedRequest | None
) -> PricedRequest:
    """The price of a request that the dialect wrote. O(what was not in the known one), and a comparison of the rest."""
    key = dialect.api.history
    listed: list[Any] = request[key]
    beside = {name: value for name, value in request.items() if name != key}
    heads = next((place for place, entry in enumerate(listed) if entry.get("role") not in _OF_HEAD), len(listed))
    head, entries = listed[:heads], listed[heads:] if heads else listed
    if known is not None and known.head == head and known.beside == beside:
        fixed = known.fixed
    else:
        fixed = priced_layout(pricer.when_sent(), dialect.parse({**beside, key: head}))
    starts, steps = list[int](), list[Step]()

    def read(start: int, stop: int) -> None:
        begins = [start, *(place for place in range(start + 1, stop) if _begins_step(entries, place)), stop]
        for first, last in itertools.pairwise(begins):
            starts.append(first)
            steps.append(Step.of(dialect.parse({key: entries[first:last]}).messages, pricer))

    place, kept = (0, range(0)) if known is None else _kept(known, entries)
    if place:
        read(0, place)
    if known is not None and kept:
        stop = place + known.end(kept[-1]) - known.starts[kept[0]]
        starts += [start + place - known.starts[kept[0]] for start in known.starts[kept[0] : kept[-1] + 1]]
        steps += known.steps[kept[0] : kept[-1] + 1]
        place = stop
    if place < len(entries):
        read(place, len(entries))
    _forget(steps, pricer)
    count = total([step.price for step in steps], fixed)
    if steps:
        count += price_beginning(pricer, steps[0].messages)
    return PricedRequest(beside, head, fixed, entries, starts, steps, count)


def _begins_step(entries: Sequence[Any], place: int) -> bool:
    """Whether the model speaks in an entry, and somebody else in the one before it."""
    of_model = entries[place].get("role") in _OF_MODEL
    return of_model and (place == 0 or entries[place - 1].get("role") in _OF_OTHERS)


def _ends_step(entries: Sequence[Any], place: int) -> bool:
    return place == len(entries) or _begins_step(entries, place)


def _forget(steps: list[Step], pricer: MergingPricer) -> None:
    """Put a step in the place of each in which more or less reasoning is forgotten than when it was priced."""
    thinking = [place for place, step in enumerate(steps) if step.thinks]
    if not thinking:
        return
    asked = max([place for place, step in enumerate(steps) if step.asks >= 0], default=-1)
    for place in thinking:
        step = steps[place]
        forgotten = len(step.messages) if place < asked else max(step.asks, 0)
        if step.forgotten != forgotten:
            steps[place] = step.without(forgotten, pricer)


def _kept(known: PricedRequest, entries: Sequence[Any]) -> tuple[int, range]:
    """Where steps of a known request stand among entries, and which of its steps: none where none does."""
    for place, step in itertools.islice(_candidates(known, entries), _TRIES):
        start = known.starts[step]
        most = min(len(entries) - place, len(known.entries) - start)
        # All of them, or all but those of the last step, which what came since may have changed.
        for same in (most, known.starts[-1] - start):
            if 0 < same <= most and entries[place : place + same] == known.entries[start : start + same]:
                last = bisect_right(known.starts, start + same) - 1
                last += known.end(last) == start + same
                while last > step and not _ends_step(entries, place + known.end(last - 1) - start):
                    last -= 1
                return place, range(step, last)
    return 0, range(0)


def _candidates(known: PricedRequest, entries: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Where known steps may stand: at the front, or behind what was cut from it or put back there."""
    if not known.entries:
        return
    yield 0, 0
    first = next((place for place in range(len(entries)) if _begins_step(entries, place)), None)
    if first is not None:
        yield from ((first, i) for i, start in enumerate(known.starts) if known.entries[start] == entries[first])
    if len(known.starts) > 1:
        second = known.entries[known.starts[1]]
        found = (place for place, entry in enumerate(entries) if entry == second)
        yield from ((place, 1) for place in found if _begins_step(entries, place))
