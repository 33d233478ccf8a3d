"""Matches results with calls in a history that may be broken. Changes no message.

`turns` defines the law of pairs. A result in its place answers its call. Any other result is matched with a call that
has none: the nearest before it, else the first after it. If a model's answer was cut into several messages, as a stream
comes, results without ids answer its calls in their order.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence

import attrs

from assembler.conversation.call_queue import NEXT, CallQueue, Key, answer_to, asked_by, by_id
from assembler.conversation.messages import Call, Message, Result
from assembler.conversation.turns import may_come_between
from assembler.text.fields import fields_of


@attrs.define(eq=False)
class PendingCall:
    """A call of `message` without a result in its place, and the loose result that it gets, or None."""

    call: Call
    message: Message
    place: int
    answer: LooseResult | None = None


@attrs.define(eq=False)
class LooseResult:
    """A result that answers no call in its place, and the call that it gets, or None."""

    result: Result
    place: int
    part: int
    alone: bool
    """Whether it is a message of its own in Chat's form, which can be told another call."""
    asked: PendingCall | None = None

    @property
    def is_misdirected(self) -> bool:
        """Whether it gets a call that it does not name as the call is named: by id, or, without one, by name."""
        return self.asked is not None and (self.result.call_id is None) != (self.asked.call.id is None)


@attrs.define
class Pairs:
    """The calls without a result at the end of a step, by the place of the message after it, and the loose results."""

    unanswered: dict[int, list[PendingCall]] = attrs.Factory(dict[int, list[PendingCall]])
    loose: dict[int, list[LooseResult]] = attrs.Factory(dict[int, list[LooseResult]])
    repeating: set[int] = attrs.Factory(set[int])
    """The places of messages with a call whose id is that of another open call."""

    @classmethod
    def of(cls, messages: Sequence[Message]) -> Pairs:
        """The pairs of a history. O(parts)."""
        pairs = cls()
        open_calls: CallQueue[PendingCall] = CallQueue()
        cut_off: list[PendingCall] = []  # calls without ids, each followed by another message of the model
        before: Message | None = None
        for place, message in enumerate(messages):
            if cut_off and message.role != "assistant":
                pairs._answer_cut_off(cut_off, open_calls, messages, place)
                cut_off = []
            answered = pairs._take_answers(place, message, open_calls)
            if not answered and message.has_only_results:
                continue  # all its results are loose
            if len(open_calls) and not may_come_between(message, before) and not answered:
                pairs.unanswered[place] = [*open_calls]
                if message.role == "assistant":
                    cut_off += [asked for asked in open_calls if asked.call.id is None]
                open_calls = CallQueue()
            if not _add_calls(message, place, open_calls):
                pairs.repeating.add(place)
                continue
            before = message
        pairs.unanswered[len(messages)] = [*open_calls]
        pairs._match_by_key()
        return pairs

    def _answer_cut_off(
        self,
        cut_off: Sequence[PendingCall],
        open_calls: Iterable[PendingCall],
        messages: Sequence[Message],
        place: int,
    ) -> None:
        """Match calls that the model's next message cut off with results from `place` on.

        Each open call needs one result. If there are more results without ids, the first ones answer the calls that
        were cut off. O(parts of these messages).
        """
        without_ids = [asked for asked in open_calls if asked.call.id is None]
        open_by_name = Counter[str | None](asked.call.name for asked in without_ids) + Counter({None: len(without_ids)})
        asked_by_name: dict[str | None, list[PendingCall]] = {None: [*cut_off]}
        for asked in cut_off:
            asked_by_name.setdefault(asked.call.name, []).append(asked)
        results: dict[str | None, list[LooseResult]] = {}
        for given in _find_results_without_ids(messages, place):
            name = given.result.name
            results.setdefault(name if name in asked_by_name or name in open_by_name else None, []).append(given)
        for name, named in sorted(results.items(), key=lambda found: found[0] is None):  # those under its name first
            unanswered = [asked for asked in asked_by_name.get(name, ()) if asked.answer is None]
            more = len(named) - open_by_name[name]
            for given, asked in zip(named, unanswered[-more:] if more > 0 else (), strict=False):
                _pair_up(given, asked)
                self.loose.setdefault(given.place, []).append(given)

    def _take_answers(self, place: int, message: Message, open_calls: CallQueue[PendingCall]) -> bool:
        """Match results with open calls; the others, and all in the model's messages, are loose. True if any fits."""
        answered = False
        matched = {given.part for given in self.loose.get(place, ())}
        for number, part in enumerate(message.parts):
            if type(part) is not Result or number in matched:
                continue
            if message.role != "assistant" and open_calls.answered(part.call_id, part.name) is not None:
                answered = True
            else:
                self.loose.setdefault(place, []).append(_loosen(part, message, place, number))
        return answered

    def _match_by_key(self) -> None:
        calls: dict[Key, list[PendingCall]] = {}
        for asked in (asked for step in self.unanswered.values() for asked in step if asked.answer is None):
            for key in asked_by(asked.call.id, asked.call.name):
                calls.setdefault(key, []).append(asked)
        results: dict[Key, list[LooseResult]] = {}
        for given in (given for loose in self.loose.values() for given in loose if given.asked is None):
            key = answer_to(given.result.call_id, given.result.name)
            results.setdefault(key if given.result.call_id is not None or key in calls else NEXT, []).append(given)
        nameless = results.pop(NEXT, [])
        for key, named in results.items():
            _match_nearest(named, calls.get(key, []))
        _match_nearest(nameless, [asked for asked in calls.get(NEXT, []) if asked.answer is None])
        self._match_misdirected()

    def _match_misdirected(self) -> None:
        """Match the rest: an answer by name with a call that has an id, and an answer by id with one that has none."""
        calls: dict[str | None, list[PendingCall]] = {}
        for asked in (asked for step in self.unanswered.values() for asked in step if asked.answer is None):
            calls.setdefault(None if asked.call.id is None else asked.call.name, []).append(asked)
        results: dict[str | None, list[LooseResult]] = {}
        for given in (given for loose in self.loose.values() for given in loose if given.alone and given.asked is None):
            name = given.result.name if given.result.call_id is None else None
            results.setdefault(name, []).append(given)
        for name, named in results.items():
            _match_nearest(named, calls.get(name, []))


def _find_results_without_ids(messages: Sequence[Message], place: int) -> Iterator[LooseResult]:
    """The results without ids in the message at `place`, and in those after it that hold results alone."""
    for at in range(place, len(messages)):
        message = messages[at]
        if message.role == "assistant" or (at > place and not message.has_only_results):
            return
        for number, part in enumerate(message.parts):
            if type(part) is Result and part.call_id is None:
                yield _loosen(part, message, at, number)


def _loosen(result: Result, message: Message, place: int, number: int) -> LooseResult:
    return LooseResult(result, place, number, message.role == "tool" and fields_of(message.seen) is not None)


def _match_nearest(results: Sequence[LooseResult], calls: Sequence[PendingCall]) -> None:
    """Match each result with the nearest call before it, else the first after it. O(results + calls)."""
    before: list[PendingCall] = []
    ahead = deque(calls)
    early: list[LooseResult] = []
    for given in results:
        while ahead and ahead[0].place <= given.place:
            before.append(ahead.popleft())
        if before:
            _pair_up(given, before.pop())
        else:
            early.append(given)
    for given, asked in zip(early, [*before, *ahead], strict=False):  # no call stands before an early result
        _pair_up(given, asked)


def _pair_up(given: LooseResult, asked: PendingCall) -> None:
    given.asked, asked.answer = asked, given


def _add_calls(message: Message, place: int, open_calls: CallQueue[PendingCall]) -> bool:
    """Add the calls of a message to the open ones. Returns False if an open call already has one of their ids."""
    calls = [part for part in message.parts if type(part) is Call]
    if any(call.id is not None and by_id(call.id) in open_calls for call in calls):
        return False
    for call in calls:
        open_calls.add(PendingCall(call, message, place), asked_by(call.id, call.name))
    return True
