"""Every policy drops a part without a price where it would drop any part. If the part must stay, the build raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from assembler import Assembler, Policy, UnsupportedContentError
from assembler.policies import (
    ClearReasoning,
    ClearToolResults,
    KeepRelevant,
    Refuse,
    Summarize,
    TrimOldest,
    TrimSteps,
    Truncate,
)
from budgets import Budget

Message = dict[str, Any]

FILM = {"type": "video", "source": {"type": "url", "url": "https://a.example/f.mp4"}}
LOOK: list[Message] = [
    {"role": "user", "content": [{"type": "text", "text": "Look at this."}, FILM]},
    {"role": "assistant", "content": "A manual of a washing machine."},
]
TALK = [
    message
    for number in range(6)
    for message in (
        {"role": "user", "content": f"question {number} " * 20},
        {"role": "assistant", "content": f"answer {number} " * 20},
    )
]
THEN = {"role": "user", "content": "And question 5 again?"}
HISTORY = [*LOOK, *TALK, THEN]

DROPPING: list[Policy | Sequence[Policy]] = [
    TrimOldest(),
    TrimOldest(low_water=0.5),
    TrimOldest(low_water="auto"),
    TrimOldest(note="Older turns are gone.", low_water=0.5),
    KeepRelevant(),
    KeepRelevant(low_water=0.5),
    Summarize(lambda messages, before, most: "They talked.", keep_turns=1),
    (ClearToolResults(0), TrimOldest()),
    (ClearReasoning(), TrimOldest(low_water=0.5)),
    (TrimOldest(keep_turns=3), KeepRelevant(), TrimSteps(0)),
]
POLICIES = [*DROPPING, Refuse(), Truncate(20), TrimOldest(pins={0})]


def assembled(window: int, policy: Policy | Sequence[Policy], history: Sequence[Message] = HISTORY) -> Assembler:
    budget = Budget(window, model="claude-sonnet-4-5", counter=len)
    return Assembler(budget, on_overflow=policy).add_messages(list(history))


@pytest.mark.parametrize("policy", DROPPING, ids=str)
def test_a_turn_that_is_dropped_at_any_price_needs_no_price(policy: Policy | Sequence[Policy]) -> None:
    """All policies but TrimOldest without a low-water mark asked for its price first."""
    context = assembled(900, policy).build()
    assert context.count.upper <= 900
    assert LOOK[0] not in context.messages
    assert THEN in context.messages
    assert context.dropped[0].message is LOOK[0]
    rows = [row for row in context.report.rows if row.region == "conversation"]
    assert sum(row.after for row in rows) == context.costs.conversation
    assert rows[0].before is None or rows[0].reason == "summary"
    assert all(step.first_kept > 1 for step in context.report.steps())


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_turn_without_a_price_that_may_stay_is_refused_with_its_place(policy: Policy | Sequence[Policy]) -> None:
    for window in (100_000, 900)[: 1 if policy in DROPPING else 2]:
        with pytest.raises(UnsupportedContentError, match="a video part") as caught:
            assembled(window, policy).build()
        assert caught.value.index == 0


@pytest.mark.parametrize("policy", DROPPING, ids=str)
def test_builds_refuse_it_until_it_is_dropped_and_then_equal_a_cold_build(
    policy: Policy | Sequence[Policy],
) -> None:
    live, built = assembled(900, policy, LOOK), 0
    for message in (*TALK, THEN):
        live.add_message(message)
        if message["role"] == "user":
            try:
                context = live.build()
            except UnsupportedContentError:
                assert not built
                continue
            built += 1
            assert LOOK[0] not in context.messages
    assert built
    if not isinstance(policy, Summarize):  # which asked for another summary on the way
        assert live.build().request() == assembled(900, policy).build().request()


def test_a_step_that_is_dropped_at_any_price_needs_no_price() -> None:
    """What the turn would have cost with that step is unknown."""
    called = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{n}", "name": "look", "input": {}}]}
        for n in range(3)
    ]
    answers: list[Any] = [[FILM], "short", "r" * 200]
    results = [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{n}", "content": answer}]}
        for n, answer in enumerate(answers)
    ]
    steps = [message for pair in zip(called, results, strict=True) for message in pair]
    tool = {"name": "look", "description": "", "input_schema": {"type": "object", "properties": {}}}
    made = assembled(900, TrimSteps(1), [{"role": "user", "content": "Look."}, *steps]).set_tools([tool])
    context = made.build()
    assert context.messages == [{"role": "user", "content": "Look."}, *steps[4:]]
    (row,) = [row for row in context.report.rows if row.region == "conversation"]
    assert (row.before, row.outcome) == (None, "shortened")
