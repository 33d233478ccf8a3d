"""Makes call ids legal for an API and unique in the conversation, for block APIs and Responses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from functools import lru_cache

import attrs

from assembler.conversation.call_queue import CallQueue, asked_by
from assembler.conversation.messages import Call, Message, Result
from assembler.errors import ConversationError

_SHORT = 256
"""The longest seed whose hash is remembered, so that a conversation that grows hashes only its new calls."""
_DIGITS = 24
"""Hexadecimal digits of a made id: 96 bits, so that two never collide by chance."""


@attrs.frozen
class IdRule:
    """The pattern of an API's call ids, and whether each call needs one."""

    legal: re.Pattern[str]
    needed: bool


class CallIds:
    """Assigns call ids in the order of one conversation. The same conversation always gets the same ids.

    A legal id that is not taken yet stays. Any other is replaced by one made from its hash, so that it stays the same
    when the history grows or is cut. A call without an id gets one made from its question, name and arguments. O(1) a
    call or result, however often an id repeats. Hashes of short ids are remembered.
    """

    __slots__ = ("_before", "_open_calls", "_opening", "_repeats", "_rule", "_taken")

    def __init__(self, rule: IdRule) -> None:
        self._rule = rule
        self._before: Set[str] = frozenset()
        self._taken: set[str] = set()
        self._repeats: dict[str, int] = {}
        self._open_calls: CallQueue[tuple[Call, str | None]] = CallQueue()
        self._opening: Message | None = None

    @property
    def open(self) -> tuple[Call, ...]:
        """The calls without an answer so far."""
        return tuple(call for call, _ in self._open_calls)

    @property
    def taken(self) -> frozenset[str]:
        """The ids assigned here so far."""
        return frozenset(self._taken)

    @property
    def repeats(self) -> dict[str, int]:
        """How often each id came that more than one call has, with those before."""
        return self._repeats

    def continue_from(self, before: Set[str], repeats: Mapping[str, int]) -> None:
        """Assign ids as if these had been assigned before, to calls that are all answered. O(repeats)."""
        self._before, self._repeats = before, dict(repeats)

    @property
    def has_open(self) -> bool:
        """Whether a call has no answer yet."""
        return bool(self._open_calls)

    def begin(self, message: Message) -> None:
        """Begin a turn with this message."""
        self._opening = message

    def ask(self, call: Call, place: int) -> str | None:
        """Assign an id to a call, unique so far; None if it has none and needs none."""
        call_id = self._choose_id(call, place)
        self._open_calls.add((call, call_id), asked_by(call.id, call.name))
        return call_id

    def answer(self, result: Result, index: int) -> tuple[Call, str | None]:
        """The call that a result answers, and its id. Raises `ConversationError` without such an open call."""
        found = self.find(result.call_id, result.name)
        if found is not None:
            return found
        raise ConversationError(
            "a result answers no open call; "
            "add its call, or let assembler.repair(messages) move the result to it or drop it",
            index=index,
            call_id=result.call_id,
        )

    def find(self, call_id: str | None, name: str | None) -> tuple[Call, str | None] | None:
        """Close the open call with this id or name, and return it with its assigned id; None if there is none."""
        return self._open_calls.answered(call_id, name)

    def _choose_id(self, call: Call, place: int) -> str | None:
        if call.id is None and not self._rule.needed:
            return None
        wanted = self._write_seed(call, place) if call.id is None else call.id
        legal = call.id is not None and self._rule.legal.fullmatch(wanted) is not None
        call_id = wanted if legal else made_id(wanted)
        # Ids stay taken, so the numbers tried for this id before need not be tried again.
        again = self._repeats.get(wanted, 1)
        while call_id in self._taken or call_id in self._before:
            again += 1
            call_id = made_id(f"{wanted}\0{again}")
        if again > 1:
            self._repeats[wanted] = again
        self._taken.add(call_id)
        return call_id

    def _write_seed(self, call: Call, place: int) -> str:
        question = "" if self._opening is None else "\0".join(p for p in self._opening.parts if isinstance(p, str))
        return f"{question}\0{place}\0{call.name}\0{call.arguments}"


def made_id(seed: str) -> str:
    """An id from a hash of `seed` that is legal in any block API."""
    return _remembered(seed) if len(seed) <= _SHORT else _hash_seed(seed)


def _hash_seed(seed: str) -> str:
    from hashlib import sha256  # imported late: most ids are legal and need no hash

    return f"call_{sha256(seed.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"


_remembered = lru_cache(maxsize=4_096)(_hash_seed)
