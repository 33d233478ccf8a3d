"""Which result answers which call in a history that may be broken. Reads messages; changes none.

The law of pairs itself is in `turns`. A result in its place answers as the law says. Any other is given to a call that
nobody answers in its place: the nearest before it, else the first after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Call, Message, Result
from assembler.conversation.turns import goes_on


@attrs.define(eq=False)
class Asked:
    """A call of `message`, and the answer that it gets from elsewhere: None where there is none."""

    call: Call
    message: Message
    place: int
    answer: Given | None = None


@attrs.define(eq=False)
class Given:
    """A result that answers no call where it stands, by the places of its message and in it; and the call it gets."""

    result: Result
    place: int
    part: int
    asked: Asked | None = None


@attrs.define
class Pairs:
    """The calls that wait when a step ends, by the place of the message that ends it, and the loose results."""

    unanswered: dict[int, list[Asked]] = attrs.Factory(dict[int, list[Asked]])
    loose: dict[int, list[Given]] = attrs.Factory(dict[int, list[Given]])
    repeating: set[int] = attrs.Factory(set[int])
    """The places of items whose call has the id of another call that waits."""

    @classmethod
    def of(cls, messages: Sequence[Message]) -> Pairs:
        """The pairs of a history. O(parts) in all but the calls without ids of one step."""
        pairs = cls()
        waiting = _Waiting()
        before: Message | None = None
        for place, message in enumerate(messages):
            answered = pairs._heard(place, message, waiting)
            if not answered and message.answers_only:
                continue  # nothing of it stays here
            if waiting.any and not goes_on(message, before) and (message.role == "assistant" or not answered):
                pairs.unanswered[place] = waiting.closed()
            if not waiting.ask(message, place):
                pairs.repeating.add(place)
                continue
            before = message
        pairs.unanswered[len(messages)] = waiting.closed()
        pairs._give()
        return pairs

    def _heard(self, place: int, message: Message, waiting: _Waiting) -> bool:
        """Whether any result of the message answers a call that waits; the others are loose."""
        answered = False
        for number, part in enumerate(message.parts):
            if type(part) is not Result:
                continue
            if waiting.take(part) is not None:
                answered = True
            else:
                self.loose.setdefault(place, []).append(Given(part, place, number))
        return answered

    def _give(self) -> None:
        """Give the loose results to the calls without an answer."""
        calls: dict[object, list[Asked]] = {}
        for asked in (asked for step in self.unanswered.values() for asked in step):
            calls.setdefault(_key(asked.call.id, asked.call.name), []).append(asked)
        results: dict[object, list[Given]] = {}
        for given in (given for loose in self.loose.values() for given in loose):
            results.setdefault(_key(given.result.call_id, given.result.name), []).append(given)
        for key, named in results.items():
            _match(named, calls.get(key, []))
        without = [asked for key, named in calls.items() if isinstance(key, _Name) for asked in named]
        _match(results.get(_Name(None), []), sorted(filter(_is_free, without), key=_place))


def _match(results: Sequence[Given], calls: Sequence[Asked]) -> None:
    """Each result to the nearest call before it, else to the first after it. Both in order. O(results + calls)."""
    before: list[Asked] = []
    ahead = deque(calls)
    early: list[Given] = []
    for given in results:
        while ahead and ahead[0].place <= given.place:
            before.append(ahead.popleft())
        if before:
            _pair(given, before.pop())
        else:
            early.append(given)
    for given, asked in zip(early, [*before, *ahead], strict=False):  # no call stands before an early result
        _pair(given, asked)


def _pair(given: Given, asked: Asked) -> None:
    given.asked, asked.answer = asked, given


@attrs.frozen
class _Name:
    """What a call without an id, and its result, are known by."""

    name: str | None


def _key(call_id: str | None, name: str | None) -> object:
    return _Name(name) if call_id is None else call_id


def _is_free(asked: Asked) -> bool:
    return asked.answer is None


class _Waiting:
    """The calls of the current step that wait for an answer."""

    __slots__ = ("_by_id", "_nameless")

    def __init__(self) -> None:
        self._by_id: dict[str, Asked] = {}
        self._nameless: list[Asked] = []

    @property
    def any(self) -> bool:
        return bool(self._by_id or self._nameless)

    def ask(self, message: Message, place: int) -> bool:
        """Let the calls of a message wait; False if one has the id of a call that already waits."""
        calls = [part for part in message.parts if type(part) is Call]
        if any(call.id in self._by_id for call in calls):
            return False
        for call in calls:
            asked = Asked(call, message, place)
            if call.id is None:
                self._nameless.append(asked)
            else:
                self._by_id[call.id] = asked
        return True

    def take(self, result: Result) -> Asked | None:
        """The call that a result answers, which waits no longer."""
        if result.call_id is not None:
            return self._by_id.pop(result.call_id, None)
        named = (asked for asked in self._nameless if result.name in (None, asked.call.name))
        found = next(named, None)
        if found is not None:
            self._nameless.remove(found)
        return found

    def closed(self) -> list[Asked]:
        """All that wait, in order; nothing waits afterwards."""
        waiting = sorted([*self._by_id.values(), *self._nameless], key=_place)
        self._by_id, self._nameless = {}, []
        return waiting


def _place(asked: Asked) -> int:
    return asked.place
