"""What an overflow policy is. It sees turns and tokens, never a message, and decides what gives way."""

from __future__ import annotations

from typing import Protocol

import attrs

from assembler.ledger import Ledger
from budgets import Tokens


@attrs.frozen
class Cut:
    """The verdict of a policy: the messages before `first_kept` go, all from there on stay."""

    first_kept: int
    reason: str


class OverflowPolicy(Protocol):
    """Decides what gives way when the conversation costs more than its room.

    Contract: pure (the same ledger and room give the same cut), idempotent, and `first_kept` is where a turn begins.
    A policy that cannot reach the room returns the smallest conversation that it is willing to keep: the pipeline
    goes on to the next policy, or raises `ContextLengthError` with that size as `required`.
    """

    def cut(self, ledger: Ledger, room: Tokens, /) -> Cut:
        """Which turns stay. `room` is what the conversation may cost, in tokens, 0 or more."""
        ...
