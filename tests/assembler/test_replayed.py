"""How a replay of a low-water mark asks on while no policy makes the conversation small enough, and where it cuts."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, TrimOldest
from assembler.dialects import plain
from assembler.pipeline.ladder import Replayed, Trimmed
from assembler.policies import ClearToolResults, Policy, Truncate
from assembler.pricing.ledger import Cut
from budgets import Budget, ContextLengthError

KEPT = Trimmed(Cut(0, ""))


def test_failures_in_a_row_are_counted_from_the_length_of_the_first() -> None:
    reached = Replayed(0, 5, KEPT)
    once = reached.after_failure()
    assert (once.failures, once.failing_since) == (1, 5)
    again = Replayed(0, 9, KEPT, once.failures, once.failing_since).after_failure()
    assert (again.failures, again.failing_since) == (2, 5)


@pytest.mark.parametrize(
    ("failures", "since", "stop", "next_question"),
    [(1, 1, 1, 2), (31, 8, 400, 401), (32, 8, 408, 458), (32, 8, 16, 17), (32, 8, 15, 16), (40, 8, 32, 35)],
)
def test_a_question_follows_each_of_the_first_failures_and_then_each_eighth_of_their_messages(
    failures: int, since: int, stop: int, next_question: int
) -> None:
    assert Replayed(0, stop, KEPT, failures, since).next_question == next_question


@pytest.mark.parametrize("more", [[ClearToolResults(keep=0)], [Truncate(9)], []], ids=str)
@pytest.mark.parametrize("window", range(40, 90, 3))
def test_a_fresh_assembler_leaves_what_one_that_built_each_message_left(more: list[Policy], window: int) -> None:
    """Parallel results join a list, so that one more may cost what fills the window to the token."""

    def called(turn: int) -> list[dict[str, Any]]:
        names = [f"c{turn}{place}" for place in range(2)]
        calls = [{"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}} for name in names]
        results = [{"role": "tool", "tool_call_id": name, "content": "r" * (turn + 3)} for name in names]
        return [
            {"role": "user", "content": "q" * (turn % 4 + 1)},
            {"role": "assistant", "content": None, "tool_calls": calls},
            *results,
        ]

    def fresh() -> Assembler:
        return Assembler(Budget(window, counter=len), dialect=plain, on_overflow=[*more, TrimOldest(low_water=0.6)])

    history = [message for turn in range(5) for message in called(turn)]
    live = fresh()
    for stop, message in enumerate(history, 1):
        live.add_message(message)
        if stop % 4 not in (0, 1):  # calls without results
            continue
        answers = []
        for assembler in (live, fresh().add_messages(history[:stop])):
            try:
                answers.append(assembler.build().request())
            except ContextLengthError as error:
                answers.append(str(error))
        assert answers[0] == answers[1]
