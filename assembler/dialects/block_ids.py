"""Ids of calls, legal for an API and unique in the conversation. Knows calls and answers; knows no spelling."""

from __future__ import annotations

import hashlib
import re

import attrs

from assembler.errors import ConversationError
from assembler.messages import Call, Message, Result
from assembler.turns import answers

_DIGITS = 24
"""Hexadecimal digits of a made id: 96 bits, so that two never meet by chance."""


@attrs.frozen
class IdRule:
    """Which ids an API takes, and whether each call needs one."""

    legal: re.Pattern[str]
    needed: bool


class CallIds:
    """The ids of one conversation, asked for in its order. The same conversation always gets the same ids.

    An id that the API takes and that nobody has yet stays byte for byte. Another is mapped by its hash, so that it
    stays the same however the history grows or is cut. A call without id is known by its question, name and arguments.
    """

    __slots__ = ("_opening", "_rule", "_taken", "_waiting")

    def __init__(self, rule: IdRule) -> None:
        self._rule = rule
        self._taken: set[str] = set()
        self._waiting: list[tuple[Call, str | None]] = []
        self._opening: Message | None = None

    @property
    def open(self) -> tuple[Call, ...]:
        """The calls that wait for their answer."""
        return tuple(call for call, _ in self._waiting)

    @property
    def waiting(self) -> bool:
        """Whether any call waits for its answer."""
        return bool(self._waiting)

    def begin(self, message: Message) -> None:
        """A turn begins with this message."""
        self._opening = message

    def ask(self, call: Call, place: int) -> str | None:
        """The id that a call goes by, unique so far; None where it has none and needs none."""
        call_id = self._named(call, place)
        self._waiting.append((call, call_id))
        return call_id

    def answer(self, result: Result, index: int) -> tuple[Call, str | None]:
        """The call that a result answers, and its id. Raises `ConversationError` if no open call is answered."""
        for pair in self._waiting:
            if answers(result, pair[0]):
                self._waiting.remove(pair)
                return pair
        raise ConversationError(
            "a result answers no open call; add its call, or let assembler.repair(messages) drop the result",
            index=index,
            call_id=result.call_id,
        )

    def _named(self, call: Call, place: int) -> str | None:
        if call.id is None and not self._rule.needed:
            return None
        wanted = self._seed(call, place) if call.id is None else call.id
        legal = call.id is not None and self._rule.legal.fullmatch(wanted) is not None
        call_id = wanted if legal else made_id(wanted)
        again = 1
        while call_id in self._taken:
            again += 1
            call_id = made_id(f"{wanted}\0{again}")
        self._taken.add(call_id)
        return call_id

    def _seed(self, call: Call, place: int) -> str:
        question = "" if self._opening is None else "\0".join(p for p in self._opening.parts if isinstance(p, str))
        return f"{question}\0{place}\0{call.name}\0{call.arguments}"


def made_id(seed: str) -> str:
    """A legal id for any API of blocks, from a hash of `seed`."""
    return f"call_{hashlib.sha256(seed.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"
