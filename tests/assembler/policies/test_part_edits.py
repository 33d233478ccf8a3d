"""Several parts of one message are dropped at once, so that the message is rewritten only a few times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ClearToolResults, Offload, Policy, Refuse, Truncate
from assembler.policies.part_edits import AT_ONCE
from budgets import Budget
from tests.assembler import by_hand
from tests.assembler.by_hand import CLEARED, History
from tests.assembler.steps import asking, part, step
from tests.assembler.test_work import calls_of

from .build import built, sent

TOOL: dict[str, Any] = {"name": "search", "parameters": {"type": "object", "properties": {}}}


def asked(bodies: list[str], spelling: str = "anthropic") -> History:
    """One message with a call for each body, and one with all results."""
    return [asking(spelling, "q"), *step(spelling, bodies, apart=False)]


def as_texts(bodies: list[str]) -> History:
    return [{"role": "user", "content": [part("openai_chat", body) for body in bodies]}]


MAKERS: dict[str, Callable[[], Policy]] = {
    "clear": lambda: ClearToolResults(0),
    "truncate": lambda: Truncate(40),
    "offload": lambda: Offload({}, min_tokens=50, preview=2),
}


@pytest.mark.parametrize(
    ("dialect", "policy"),
    [*((name, policy) for name in ("anthropic", "bedrock", "gemini") for policy in MAKERS), ("mistral", "truncate")],
)
def test_twice_as_many_parts_of_one_message_take_about_twice_the_calls(dialect: str, policy: str) -> None:
    """Twice the results took four times the work: 256 took ClearToolResults 1.7 s and Truncate 8.5 s."""

    def work(parts: int) -> int:
        bodies = [f"{number} " + "word " * 40 for number in range(parts)]
        history = as_texts(bodies) if dialect == "mistral" else asked(bodies, dialect)

        def assembler(window: int, ladder: Policy) -> Assembler:
            budget = Budget(window, counter=len)
            return Assembler(budget, dialect=dialect, on_overflow=ladder).set_tools([TOOL]).set_messages(history)

        limit = assembler(1_000_000, Refuse()).build().count.upper * 4 // 5
        return calls_of(assembler(limit, MAKERS[policy]()).build)

    work(3)
    assert work(64) <= 2.4 * work(32)


@given(lengths=st.lists(st.integers(1, 40), min_size=17, max_size=60), excess=st.integers(1, 600))
def test_many_results_in_one_message_are_cleared_oldest_first_and_less_than_a_sixteenth_too_many(
    lengths: list[int], excess: int
) -> None:
    bodies = ["r" * length for length in lengths]
    limit = max(by_hand.cost(asked(bodies)) - excess, 1)
    long = [number for number, body in enumerate(bodies) if len(body) > len(CLEARED)]
    context = built(asked(bodies), limit, ClearToolResults(0))
    if context is None:
        assert by_hand.cost(asked(cleared_at(bodies, long))) > limit
        return
    contents = [block["content"] for block in sent(context)[-1]["content"]]
    gone = [number for number, text in enumerate(contents) if text != bodies[number]]
    assert gone == long[: len(gone)]
    assert contents == cleared_at(bodies, gone)
    assert by_hand.cost(sent(context)) <= limit
    step = -(-len(bodies) // AT_ONCE)
    assert by_hand.cost(asked(cleared_at(bodies, gone[:-step]))) > limit


def cleared_at(bodies: list[str], places: list[int]) -> list[str]:
    return [CLEARED if number in places else body for number, body in enumerate(bodies)]


@given(lengths=st.lists(st.integers(30, 80), min_size=17, max_size=40), excess=st.integers(1, 900))
def test_many_texts_in_one_message_are_shortened_longest_first(lengths: list[int], excess: int) -> None:
    bodies = [chr(ord("a") + number % 26) * length for number, length in enumerate(lengths)]
    history = as_texts(bodies)
    limit = max(by_hand.cost(history) - excess, 1)
    context = built(history, limit, Truncate(35))
    longest = sorted(range(len(bodies)), key=lambda number: (-lengths[number], number))
    if context is None:
        assert sum(max(length - 35, 0) for length in lengths) < excess
        return
    texts = [block["text"] for block in sent(context)[0]["content"]]
    gone = [number for number in range(len(bodies)) if texts[number] != bodies[number]]
    assert gone == sorted(longest[: len(gone)])
    assert all(len(texts[number]) == 35 for number in gone)
    assert sum(map(len, texts)) <= limit


def test_the_report_says_how_many_parts_were_changed_at_once() -> None:
    bodies = ["r" * 40] * 32
    context = built(asked(bodies), by_hand.cost(asked(bodies)) - 3 * 31, ClearToolResults(0))
    assert context is not None
    assert "2 × 2 tool results cleared" in str(context.report)
    texts = built(as_texts(bodies), 32 * 40 - 3 * 5, Truncate(35))
    assert texts is not None
    assert "2 × 2 texts shortened" in str(texts.report)


def test_many_equal_results_of_one_message_are_sent_once_and_stored() -> None:
    store: dict[str, str] = {}
    bodies = [f"{number % 2}" + "r" * 199 for number in range(40)]
    context = built(asked(bodies), 4_080, Offload(store, min_tokens=500))
    assert context is not None
    contents = [block["content"] for block in sent(context)[-1]["content"]]
    assert contents[:2] == bodies[:2]
    assert set(store.values()) == {body for body, text in zip(bodies, contents, strict=True) if text != body}
    assert "equal results sent once" in str(context.report)
