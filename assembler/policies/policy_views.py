"""The protocols that policies are given: `PricedTurns` for those that cut, `Passage` for those that rewrite."""

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
    """The turns of a conversation and their costs, for a policy that cuts. All tokens are upper bounds."""

    @property
    def first(self) -> int:
        """The first message that may stay: the first after the head, or a later one if the API does not read that."""
        ...

    @property
    def length(self) -> int:
        """The index after the last message."""
        ...

    @property
    def keepsakes(self) -> Keepsakes:
        """Where a policy stores what it cannot recompute, such as a summary that a model wrote."""
        ...

    def newest_first(self) -> Iterator[TurnCost]:
        """The turns, newest first. A turn is read and priced when the iteration reaches it."""
        ...

    def newest_turns(self, number: int, /) -> int:
        """The index where the `number` newest turns begin; `first` if there are fewer."""
        ...

    def newest_that_fit(self, tokens_left: Tokens, least: int, /) -> int:
        """The index where the newest turns begin that fit into `tokens_left`, and at least the `least` newest."""
        ...

    def kept(self, cut: Cut, /) -> Count:
        """The cost of what a cut keeps: all turns from `first_kept` on, pinned ones before it, and its summary."""
        ...

    def price(self, message: Message, /) -> Count:
        """The price of any message in this conversation."""
        ...

    def reading(self, index: int, /) -> Message:
        """The message at `index`, as it was added."""
        ...

    def objects(self, start: int, stop: int, /) -> list[object]:
        """The caller's messages from `start` to before `stop` whose turns are not pinned."""
        ...

    def timeline(self) -> Timeline:
        """The prices of the whole history, oldest first, for policies that replay it. O(messages not priced before)."""
        ...


class Passage(Protocol):
    """The messages that stay, for a policy that rewrites. It shows each change as soon as the change is taken."""

    @property
    def newest(self) -> int:
        """The index where the newest turn begins."""
        ...

    @property
    def length(self) -> int:
        """The index after the last message of the history, whether it stays or not."""
        ...

    def __iter__(self) -> Iterator[tuple[int, Message]]:
        """The messages that stay, oldest first, with their indexes. O(messages that stay)."""
        ...

    def newest_first(self) -> Iterator[tuple[int, Message]]:
        """The messages that stay, newest first, with their indexes. O(messages that are read)."""
        ...

    def turns(self) -> Iterator[list[int]]:
        """The turns that stay, oldest first, each as the indexes of its messages that stay. O(messages)."""
        ...

    def current(self, index: int, /) -> Message:
        """The message at `index` with the changes so far. A dropped message is shown as it was added."""
        ...

    def turn_from_the_end(self, number: int, /) -> int:
        """The index where the turn `number` from the end begins: 1 is the newest. The oldest turn if there are fewer.

        Dropped turns count too. O(number).
        """
        ...

    def turn_of(self, index: int, /) -> list[int]:
        """The indexes of the messages that stay in the turn of the message at `index`, oldest first. O(its turn)."""
        ...

    def tokens(self, message: Message, /) -> Tokens:
        """The upper bound of the cost of a message."""
        ...

    def count(self, text: str, /) -> Tokens:
        """The upper bound of what a text adds to a message."""
        ...

    def once(self, key: Hashable, source: object, make: Callable[[], T], /) -> T:
        """The result of `make`, called once for this history, policy, key and `source`.

        `source` is the message or part from which it is made: another policy may have changed it in this build.
        """
        ...
