"""The thinking of past turns gives way; an active loop's never does."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler.policies import ClearReasoning
from budgets import BudgetError

from . import by_hand
from .build import built, check, left, sent, wanted
from .by_hand import History
from .drawn import sessions

thoughtful = sessions("anthropic", marks=(0,))


def thought(history: History) -> int:
    """What all the thinking in a history costs."""
    return sum(len(block.get("thinking", "")) for message in history for block in by_hand.blocks(message))


@given(thoughtful, st.integers(0, 3), st.data())
def test_thinking_goes_oldest_first_and_only_as_far_as_needed(history: History, keep: int, data: st.DataObject) -> None:
    limit = max(by_hand.cost(history) - data.draw(st.integers(0, thought(history) + 1)), 1)
    assert left(history, limit, ClearReasoning(keep)) == wanted(by_hand.without_thinking(history, limit, keep))


@given(thoughtful, st.integers(0, 2), st.data())
def test_the_newest_turn_and_every_signature_that_stays_are_untouched(
    history: History, keep: int, data: st.DataObject
) -> None:
    before = copy.deepcopy(history)
    limit = max(by_hand.cost(history) - data.draw(st.integers(1, max(thought(history), 1))), 1)
    context = built(history, limit, ClearReasoning(keep))
    assert history == before
    if context is None:
        return
    check(context, history, limit)
    newest = by_hand.starts(history)[-1]
    assert all(kept is given for kept, given in zip(context.messages[newest:], history[newest:], strict=True))
    for original, message in zip(history, sent(context), strict=True):
        assert message["content"]
        for block in by_hand.blocks(message):
            assert block in original["content"]


def test_a_message_that_is_nothing_but_thinking_stays() -> None:
    thinking = {"type": "thinking", "thinking": "t" * 50, "signature": "s"}
    history: History = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [thinking]},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": ""}]},
        {"role": "user", "content": "n"},
    ]
    assert built(history, 101, ClearReasoning(0)) is None


@pytest.mark.parametrize("bad", [-1, 0.5, True, None])
def test_a_number_that_is_none_is_refused_at_once(bad: Any) -> None:
    with pytest.raises(BudgetError, match="ClearReasoning"):
        ClearReasoning(bad)
