"""The protocols of policies: an `OverflowPolicy` drops whole turns, a `RewritingPolicy` changes messages in turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias, TypeGuard

from assembler.policies.passage import Change
from assembler.policies.policy_views import Passage, PricedTurns
from assembler.pricing.ledger import Cut
from budgets import Tokens


class OverflowPolicy(Protocol):
    """Decides what to leave out when the conversation costs more than the tokens left.

    Contract: the same ledger and tokens left give the same cut. Cutting the result again changes nothing. `first_kept`
    is the beginning of a turn. If the policy cannot reach the tokens left, it returns the smallest conversation that it
    is willing to keep. The pipeline then asks the next policy, or raises `ContextLengthError` with that size as
    `required`.
    """

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        """Decide which turns stay. The conversation may cost `tokens_left`, which is 0 or more."""
        ...


class RewritingPolicy(Protocol):
    """Proposes changes inside the turns that stay: a shorter message for a longer one, or a step that is dropped.

    Contract: pure, and the same message is always shortened to the same text. The pipeline takes a change only while
    the conversation is too large, only if it saves tokens, and never if it touches a pinned message.
    """

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        """The changes, in the order in which to make them. The pipeline takes them one by one, so find them lazily."""
        ...


Policy: TypeAlias = OverflowPolicy | RewritingPolicy
"""What `on_overflow` takes, alone or several in order."""


def is_rewriting(policy: object) -> TypeGuard[RewritingPolicy]:
    """Whether a policy rewrites messages. (`isinstance` with a protocol is slower than a whole cut.)"""
    return hasattr(policy, "rewrites")


def is_cutting(policy: object) -> TypeGuard[OverflowPolicy]:
    """Whether a policy drops whole turns."""
    return hasattr(policy, "cut") and not is_rewriting(policy)
