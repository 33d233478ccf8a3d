"""The two protocols that a policy sees: turns with their cost, and the messages of turns that stay."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Protocol, TypeVar

from assembler.conversation.messages import Message
from assembler.conversation.policy_memory import Keepsakes
from assembler.pricing.ledger import Cut, TurnCost
from assembler.pricing.timeline import Timeline
from budgets import Count, Tokens

T = TypeVar("T")


class PricedTurns(Protocol):
    """The turns of a conversation and what they cost, for a policy that cuts. All tokens are upper bounds."""

    @property
    def first(self) -> int:
        """The first message that may stay: the system and developer messages at the front stand before it."""
        ...

    @property
    def length(self) -> int:
        """The index after the last message."""
        ...

    @property
    def keepsakes(self) -> Keepsakes:
        """Where a policy leaves what it could not find again, such as a summary that a model wrote."""
        ...

    def newest_first(self) -> Iterator[TurnCost]:
        """The turns, newest first. A turn is read and priced when the iteration reaches it."""
        ...

    def newest_turns(self, number: int, /) -> int:
        """Where the `number` newest turns begin; `first` where there are not so many."""
        ...

    def newest_that_fit(self, tokens_left: Tokens, least: int, /) -> int:
        """Where the newest turns begin that cost at most so much, or the `least` newest, whichever begin earlier."""
        ...

    def kept(self, cut: Cut, /) -> Count:
        """The turns that a cut leaves: those from its first message on, the pinned ones before it, and its summary."""
        ...

    def price(self, message: Message, /) -> Count:
        """The price of any message in this conversation."""
        ...

    def reading(self, index: int, /) -> Message:
        """The message at `index`, as it came in."""
        ...

    def objects(self, start: int, stop: int, /) -> list[object]:
        """The caller's messages from `start` to before `stop` whose turns are not pinned."""
        ...

    def timeline(self) -> Timeline:
        """The whole history priced, oldest first: for policies that replay it. O(messages not priced before)."""
        ...


class Passage(Protocol):
    """The messages that still stay, for a policy that rewrites. It shows each change as soon as the change is taken."""

    @property
    def newest(self) -> int:
        """Where the newest turn begins."""
        ...

    @property
    def length(self) -> int:
        """The index after the last message of the history, whether it stays or not."""
        ...

    def __iter__(self) -> Iterator[tuple[int, Message]]:
        """The messages that stay, oldest first, with their indexes. O(messages that stay)."""
        ...

    def newest_first(self) -> Iterator[tuple[int, Message]]:
        """The messages that stay, newest first, with their indexes. O(messages that are asked for)."""
        ...

    def turns(self) -> Iterator[list[int]]:
        """The turns that stay, oldest first, each as the indexes of its messages that stay. O(messages)."""
        ...

    def current(self, index: int, /) -> Message:
        """The message at `index` as it stands now. A message that was dropped is shown as it came in."""
        ...

    def turn_from_the_end(self, number: int, /) -> int:
        """Where the turn `number` from the end begins, 1 for the newest; the oldest where there are not so many.

        Counts every turn of the history, those too that were dropped. O(number).
        """
        ...

    def turn_of(self, index: int, /) -> list[int]:
        """The indexes of the messages that stay of the turn of the message at `index`, oldest first. O(its turn)."""
        ...

    def tokens(self, message: Message, /) -> Tokens:
        """What a message costs, at most."""
        ...

    def count(self, text: str, /) -> Tokens:
        """What a text adds to a message, at most."""
        ...

    def once(self, key: Hashable, source: object, make: Callable[[], T], /) -> T:
        """What `make` gives, made once for this history, policy, key and `source`: old messages stay as they are.

        `source` is what it is made from: another policy may have changed that since, or not changed it this time.
        """
        ...
