"""A request's price continued from any other request equals its price on its own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ConversationError
from assembler.dialects import DIALECTS
from assembler.pipeline.price_as_sent import PricedRequest, price_request
from assembler.pricing.pricer import MergingPricer, priced_request
from budgets import Budget
from tests.scaled import scaled

from . import by_hand
from .by_hand import Tally
from .policies.drawn import NAMES, sessions

APIS = [
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-opus-4-7"),
    ("bedrock", "anthropic.claude-sonnet-4-5"),
    ("gemini", "gemini-2.5-pro"),
    ("mistral", "mistral-large-latest"),
    ("openai_responses", "gpt-5"),
    ("openai_responses", "grok-4"),
    ("openai_chat", "gpt-4o"),
]
TOOLS = [{"name": name, "description": "", "parameters": {"type": "object", "properties": {}}} for name in NAMES]
places = st.integers(0, 9)
views = st.lists(st.tuples(places, places, places, st.booleans()), min_size=2, max_size=5)
"""Of each request: its first turn, its last, how many messages the last lacks, and whether a text in it is another."""


def viewed(turns: list[list[Any]], first: int, last: int, less: int, edited: bool) -> list[Any]:
    first %= len(turns)
    chosen = turns[first : first + 1 + last % (len(turns) - first)]
    messages = [message for turn in chosen for message in turn]
    messages = messages[: max(len(messages) - less % len(chosen[-1]), 1)]
    if edited:
        place = (first + last + less) % len(messages)
        if isinstance(messages[place]["content"], str):
            messages[place] = {**messages[place], "content": "another text altogether"}
    return messages


@pytest.mark.parametrize("form", ["openai", "anthropic"])
@scaled(0.3)
@given(data=st.data(), api=st.sampled_from(APIS), asked=views, instructed=st.booleans())
def test_a_request_costs_the_same_from_whichever_earlier_request_its_price_continues(
    form: str, data: st.DataObject, api: tuple[str, str], asked: list[tuple[int, int, int, bool]], instructed: bool
) -> None:
    dialect, known = DIALECTS[api[0]], None
    turns = by_hand.turns_of(data.draw(sessions(form, max_turns=5, marks=(0,))))
    for view in asked:
        assembler = Assembler(Budget(1_000_000, model=api[1]), dialect=dialect).add_capability(TOOLS)
        assembler.add_instruction("Be brief." if instructed else None)
        try:
            context = assembler.add_messages(viewed(turns, *view)).build()
        except ConversationError:  # calls that wait for their answers
            continue
        pricer: MergingPricer | None = context.inside.settings.merging_pricer
        if pricer is None:
            return
        request = context.unmarked()
        found: PricedRequest = price_request(dialect, pricer, request, known)
        assert found.count == priced_request(pricer, dialect.parse(request)) == context.count
        known = found


class Watched(dict[str, str]):
    """An entry that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Watched.compared += 1
        return super().__eq__(other)

    __hash__ = None


def comparisons(turns: int) -> int:
    """How often entries are compared: all turns but the middle one say the same, and the oldest quarter has gone."""
    words = ["ping"] * turns
    words[turns // 2] = "odd"
    entries = [Watched(role=role, content=word) for word in words for role in ("user", "assistant")]
    dialect = DIALECTS["anthropic"]
    pricer = dialect.pricer("claude-sonnet-4-5", len)
    assert isinstance(pricer, MergingPricer)
    known = price_request(dialect, pricer, {"messages": entries}, None)
    added = [Watched(role="user", content="new"), Watched(role="assistant", content="ping")]
    Watched.compared = 0
    price_request(dialect, pricer, {"messages": [*entries[turns // 2 :], *added]}, known)
    return Watched.compared


def test_equal_turns_are_compared_no_more_often_each_in_a_long_request() -> None:
    """All places at which known steps might begin were compared, most of them far before they differed."""
    assert comparisons(800) <= 3 * comparisons(400)


AGAIN = {
    "messages that came": ("q0 a0 q1 a1 q2", "q0 a0 q1 a1 q2 a2 q3", "a2 q3"),
    "the first answer": ("q0", "q0 a0 q1", "a0 q1"),
    "nothing new": ("q0 a0 q1 a1", "q0 a0 q1 a1", ""),
    "a turn that went": ("q0 a0 q1 a1 q2 a2", "q1 a1 q2 a2", "q1"),
    "turns that went and some that came": ("q0 a0 q1 a1 q2 a2 q3", "q2 a2 q3 a3 q4", "q2 a3 q4"),
    "a turn that came back": ("q2 a2 q3 a3", "q1 a1 q2 a2 q3 a3", "q1 a1 q2"),
    "a turn that came back before another": ("q2 a2", "q1 a1 q2 a2", "q1 a1 q2"),
    "words in front": ("q1 a1 q2 a2", "s0 q1 a1 q2 a2", "s0 q1"),
    "a step that grew": ("q0 a0 q1", "q0 a0 q1 q2 a2", "a0 q1 q2 a2"),
    "another ending": ("q0 a0 q1 a1 q2", "q0 a0 q1 a1 q3", "a1 q3"),
    "a step that ended earlier": ("q0 a0 q1 q2", "q0 a0 q1", "a0 q1"),
    "other words": ("q0 a0 q1 a1", "q5 a5 q6 a6", "q5 a5 q6 a6"),
}
"""Of each request and the one after it: what is priced anew. A step is what the model says and what follows it."""


@pytest.mark.parametrize(("before", "now", "priced"), AGAIN.values(), ids=list(AGAIN))
def test_a_step_that_is_sent_again_is_not_priced_again(before: str, now: str, priced: str) -> None:
    def request(words: str) -> dict[str, Any]:
        messages = [(word, "assistant" if word.startswith("a") else "user") for word in words.split()]
        return {
            "system": "Be brief.",
            "messages": [{"role": role, "content": f"say {word}"} for word, role in messages],
        }

    tally, dialect = Tally(), DIALECTS["anthropic"]
    pricer = dialect.pricer("claude-sonnet-4-5", tally)
    assert isinstance(pricer, MergingPricer)
    known = price_request(dialect, pricer, request(before), None)
    tally.asked()
    found = price_request(dialect, pricer, request(now), known)
    asked = " ".join(tally.asked())
    assert [word for word in now.split() if word in asked] == priced.split()
    assert "brief" not in asked
    assert found.count == priced_request(pricer, dialect.parse(request(now)))
    alone = price_request(dialect, pricer, request(now), None)
    assert (found.starts, found.entries, found.head) == (alone.starts, alone.entries, alone.head)
    assert [step.price for step in found.steps] == [step.price for step in alone.steps]


def test_a_step_that_forgot_its_reasoning_remembers_it_once_the_question_has_gone() -> None:
    def thought(number: int) -> dict[str, Any]:
        thinking = {"type": "thinking", "thinking": "long and deep " * 9, "signature": "c2ln"}
        call = {"type": "tool_use", "id": f"c{number}", "name": "search", "input": {}}
        return {"role": "assistant", "content": [thinking, call]}

    def answer(number: int) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{number}", "content": "found"}]}

    begun = [{"role": "user", "content": "q"}, thought(0), answer(0), thought(1), answer(1)]
    asked = [*begun, {"role": "assistant", "content": "a"}, {"role": "user", "content": "then?"}]
    dialect = DIALECTS["anthropic"]
    pricer = dialect.pricer("claude-sonnet-4-5", len)
    assert isinstance(pricer, MergingPricer)
    known, costs = None, list[int]()
    for messages in (begun, asked, begun, asked):
        known = price_request(dialect, pricer, {"messages": messages}, known)
        assert known.count == priced_request(pricer, dialect.parse({"messages": messages}))
        costs.append(known.count.tokens)
    assert costs[0] == costs[2] > costs[1] == costs[3]
