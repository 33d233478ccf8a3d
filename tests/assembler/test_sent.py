"""What a request costs as it is sent, found on from any other request, is what it costs by itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ConversationError
from assembler.dialects import DIALECTS
from assembler.pipeline.sent import PricedRequest, price_request
from assembler.pricing.pricer import MergingPricer, priced_request
from budgets import Budget
from tests.scaled import scaled

from .policies import by_hand
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
def test_a_request_costs_the_same_from_whichever_request_its_price_goes_on(
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
        pricer: MergingPricer | None = context.inside.settings.merging
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


def test_turns_that_say_the_same_are_compared_no_more_often_each_in_a_long_request() -> None:
    """Each place where known steps might stand was tried, and all but the last were found wanting late."""
    assert comparisons(800) <= 3 * comparisons(400)
