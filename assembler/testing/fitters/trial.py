"""One run of a fitter on one history and one window, and its result."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import attrs

Fit: TypeAlias = Callable[[list[Any], int], Iterable[Any]]
"""Takes `(messages, window)` and returns the messages that stay."""
CountMessages: TypeAlias = Callable[[list[Any]], int]
"""Returns the cost of a list of messages, in the unit of the window."""
Spell: TypeAlias = Callable[[list[dict[str, Any]]], Sequence[Any]]
"""Turns OpenAI Chat messages into the fitter's own, one for one."""
Places: TypeAlias = tuple[int | None, ...]
"""The places of the returned messages in the input, in order; None for one that was not in the input."""


@attrs.frozen(eq=False)
class Subject:
    """A fitter with everything that is needed to run it."""

    fit: Fit
    count: CountMessages
    spell: Spell
    refuses: tuple[type[Exception], ...]

    def spelled(self, messages: Sequence[dict[str, Any]]) -> list[Any]:
        """The messages in the fitter's form, new objects each time. Raises `ValueError` unless one for one."""
        spelled = list(self.spell(pickle.loads(pickle.dumps(list(messages)))))  # a tenth of what a deepcopy costs
        if len(spelled) != len(messages):
            raise ValueError(f"spell made {len(spelled)} messages of {len(messages)}; expected one for each")
        return spelled

    def cost(self, messages: Sequence[dict[str, Any]]) -> int:
        """The cost of these messages."""
        return self.count(self.spelled(messages))

    def run(self, messages: Sequence[dict[str, Any]], window: int) -> Trial:
        """Run the fitter on a fresh copy of these messages."""
        given = self.spelled(messages)
        pristine = self.spelled(messages)
        listed = list(given)
        try:
            kept = list(self.fit(listed, window))
        except self.refuses as error:
            return Trial(self, messages, window, refusal=error)
        except Exception as error:
            return Trial(self, messages, window, crash=error)
        changed = len(listed) != len(given) or any(now is not then for now, then in zip(listed, given, strict=True))
        return Trial(
            self,
            messages,
            window,
            kept=_find_places(kept, given, pristine),
            kept_cost=self.count(kept),
            changed=changed or given != pristine,
        )


def _find_places(kept: list[Any], given: list[Any], pristine: list[Any]) -> Places:
    """Find each kept message in the input: by identity, else the last equal one before those already found."""
    places: list[int | None] = []
    by_identity = {id(message): place for place, message in enumerate(given)}
    below = len(given)
    for message in reversed(kept):
        place = by_identity.get(id(message))
        if place is None:
            place = next((each for each in range(below - 1, -1, -1) if message == pristine[each]), None)
        below = below if place is None else min(below, place)
        places.append(place)
    return tuple(reversed(places))


@attrs.frozen(eq=False)
class Trial:
    """A history, a window, and what the fitter did: it kept messages, it refused, or it crashed.

    `kept` are indexes in `messages`, or None if it refused or crashed. `kept_cost` is what the kept ones cost by the
    given counter. `changed` is true if the fitter changed the list or the messages that it was given.
    """

    subject: Subject = attrs.field(repr=False)
    messages: Sequence[dict[str, Any]]
    window: int
    kept: Places | None = None
    kept_cost: int = 0
    changed: bool = False
    refusal: Exception | None = None
    crash: Exception | None = None

    @property
    def known(self) -> tuple[int, ...]:
        """The indexes of the kept messages, without those that the fitter added."""
        return tuple(place for place in self.kept or () if place is not None)

    @property
    def head(self) -> int:
        """How many messages at the front are system or developer messages."""
        roles = [message["role"] in ("system", "developer") for message in self.messages]
        return (*roles, False).index(False)

    @property
    def turns(self) -> list[range]:
        """The turns after the head. Each starts with a user message, except that messages before it form one too."""
        starts = [place for place in range(self.head, len(self.messages)) if self._begins_turn(place)]
        return [range(start, stop) for start, stop in zip(starts, [*starts[1:], len(self.messages)], strict=True)]

    def _begins_turn(self, place: int) -> bool:
        return place == self.head or self.messages[place]["role"] == "user"

    def cost(self, places: Iterable[int]) -> int:
        """What the messages at these indexes cost together."""
        return self.subject.cost([self.messages[place] for place in places])

    def again(self, window: int | None = None) -> Trial:
        """Fit the same messages again, in this window or another."""
        return self.subject.run(self.messages, self.window if window is None else window)

    def refitted(self) -> Trial:
        """Fit the kept messages again."""
        return self.subject.run([self.messages[place] for place in self.known], self.window)
