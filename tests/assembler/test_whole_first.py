"""A conversation that fits as it is sent is sent whole, whatever its messages cost one by one."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    ChatRegions,
    Context,
    ContextLengthError,
    ConversationError,
    Policy,
    Strategy,
    count_request,
)
from assembler.dialects import DIALECTS
from assembler.drawn.spelling import SPELLINGS
from assembler.policies import (
    ClearReasoning,
    ClearToolResults,
    KeepRelevant,
    Refuse,
    TrimOldest,
    TrimSteps,
    Truncate,
)
from budgets import Budget, Grade, TokenCountError
from tests.assembler.test_long_runs_of_items import FAR_APART, turn_of
from tests.scaled import scaled

from .drawn import STRATEGIES
from .policies.drawn import NAMES, sessions

Ladder = Policy | tuple[Policy, ...]
LADDERS: list[Ladder] = [
    TrimOldest(),
    TrimOldest(low_water=0.5),
    KeepRelevant(),
    TrimSteps(0),
    Truncate(9),
    (ClearToolResults(0), TrimOldest()),
    (TrimOldest(keep_turns=2), ClearReasoning(), Truncate(20)),
]
APIS = [
    ("openai_chat", "gpt-4o"),
    ("openai_chat", "gpt-4"),
    ("openai_responses", "gpt-5"),
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-opus-4-7"),
    ("bedrock", "anthropic.claude-sonnet-4-5"),
    ("bedrock", "amazon.nova-pro-v1:0"),
    ("bedrock", "meta.llama3-1-70b-instruct-v1:0"),
    ("bedrock", "mistral.mistral-large-2402-v1:0"),
    ("gemini", "gemini-2.5-pro"),
    ("gemini", "gemini-3-pro-preview"),
    ("mistral", "mistral-large-latest"),
]
APIS += [(name, SPELLINGS[name].models[0] or "gpt-4o") for name in {*DIALECTS} - {name for name, _ in APIS}]
TOOLS = [{"name": name, "description": "", "parameters": {"type": "object", "properties": {}}} for name in NAMES]

Message = dict[str, Any]
Knows = tuple[Strategy, Sequence[str]]
NOTHING: Knows = (ChatRegions(), ())


def assembled(
    api: tuple[str, str], window: int, ladder: Ladder, history: list[Any], knows: Knows = NOTHING
) -> Assembler:
    budget = Budget(window, model=api[1])
    made = Assembler(budget, dialect=DIALECTS[api[0]], on_overflow=ladder, strategy=knows[0])
    for place, text in enumerate(knows[1]):
        made.add_knowledge(text, type="rag", source=f"s{place}", score=1 - place / 100)
    return made.add_capability(TOOLS).add_messages(history)


def all_of_it(
    api: tuple[str, str], ladder: Ladder, history: list[Any], knows: Knows = NOTHING
) -> tuple[Context, Context]:
    """The request in the smallest window that takes the whole, by a count of the whole.

    Two tokens more for documents with estimated prices: around a question these are rounded up apart from the request.
    """
    whole = assembled(api, 1_000_000, ladder, history, knows).build()
    rounded = 2 if whole.count.grade is Grade.ESTIMATED and knows[1] else 0
    return whole, assembled(api, whole.count.upper + rounded, ladder, history, knows).build()


def answered(*bodies: str) -> list[Message]:
    """A question whose calls are answered with these texts."""
    calls = [
        {"id": f"c{place}", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        for place in range(len(bodies))
    ]
    results = [{"role": "tool", "tool_call_id": f"c{place}", "content": body} for place, body in enumerate(bodies)]
    return [
        {"role": "user", "content": "Run them."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *results,
    ]


ESCAPED = answered(json.dumps({"said": "你好" * 200}), "{}")
"""1,409 tokens alone, and 209 once the second result makes a list of both, in which JSON is data."""
SHORT = [{"role": "user", "content": "a"} for _ in range(200)]
"""Sent as one turn, which saves the framing of 199."""
SIGNED = [
    {"role": "user", "parts": [{"text": "Look it up."}]},
    {
        "role": "model",
        "parts": [
            {
                "functionCall": {"name": "search", "args": {}},
                "thoughtSignature": base64.b64encode(bytes(range(256)) * 12).decode(),
            }
        ],
    },
    {"role": "user", "parts": [{"functionResponse": {"name": "search", "response": {"found": 1}}}]},
    {"role": "model", "parts": [{"text": "Found."}]},
]
"""The signature is free once another question is asked."""
THEN = [{"role": "user", "content": "And then?"}]


@pytest.mark.parametrize("ladder", LADDERS, ids=str)
@pytest.mark.parametrize(
    ("api", "history"),
    [
        (("openai_chat", "gpt-4o"), [*ESCAPED, *ESCAPED, *THEN]),
        (("anthropic", "claude-sonnet-4-5"), SHORT),
        (("bedrock", "amazon.nova-pro-v1:0"), SHORT),
        (("gemini", "gemini-2.5-pro"), SHORT),
        (("gemini", "gemini-2.5-pro"), [*SIGNED, *SIGNED, *THEN]),
    ],
    ids=["escaped JSON", "short on Claude", "short on Nova", "short on Gemini", "signatures"],
)
def test_messages_that_cost_much_more_separately_than_together_all_stay(
    api: tuple[str, str], ladder: Ladder, history: list[Message]
) -> None:
    """Only a conversation that exceeds the tokens left by more than a quarter and 64 was counted as it is sent."""
    whole, context = all_of_it(api, ladder, history)
    assert not context.dropped
    assert context.request() == whole.request()


@scaled(0.5)
@given(data=st.data(), form=st.sampled_from(["openai", "anthropic"]), api=st.sampled_from(APIS))
def test_a_conversation_that_fits_as_it_is_sent_is_sent_unchanged(
    data: st.DataObject, form: str, api: tuple[str, str]
) -> None:
    history, ladder = [*data.draw(sessions(form, marks=(0,))), *THEN], data.draw(st.sampled_from(LADDERS))
    whole, context = all_of_it(api, ladder, history)
    assert context.request() == whole.request()


FACTS = [f"Fact number {number}. " * (3 + number % 4) for number in range(6)]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=range(len(STRATEGIES)))
@pytest.mark.parametrize("api", APIS, ids="{0[0]} {0[1]}".format)
def test_sources_are_chosen_by_what_the_request_costs_as_it_is_sent(api: tuple[str, str], strategy: Strategy) -> None:
    """A source was left out up to fifteen tokens before all fitted, because messages were priced separately."""
    messages = [{"role": "user", "content": text} for text in ("Hello.", "More.", "And what of fact number two?")]
    whole, context = all_of_it(api, Refuse(), messages, (strategy, FACTS))
    assert context.request() == whole.request()


@scaled(0.5)
@given(
    data=st.data(),
    form=st.sampled_from(["openai", "anthropic"]),
    api=st.sampled_from(APIS),
    strategy=st.sampled_from(STRATEGIES),
    facts=st.lists(st.text("ab \n", min_size=1, max_size=40).filter(str.strip), min_size=1, max_size=5, unique=True),
)
def test_all_sources_are_sent_if_the_whole_fits_with_them(
    data: st.DataObject, form: str, api: tuple[str, str], strategy: Strategy, facts: list[str]
) -> None:
    history, ladder = [*data.draw(sessions(form, marks=(0,))), *THEN], data.draw(st.sampled_from([*LADDERS, Refuse()]))
    whole, context = all_of_it(api, ladder, history, (strategy, facts))
    assert context.request() == whole.request()


@scaled(0.5)
@given(data=st.data(), form=st.sampled_from(["openai", "anthropic"]), api=st.sampled_from(APIS))
def test_each_further_message_fits_as_in_a_fresh_build(data: st.DataObject, form: str, api: tuple[str, str]) -> None:
    """A remembered overflow must not be applied to a conversation that costs less by then."""
    history = [*data.draw(sessions(form, marks=(0,))), *THEN]
    whole = assembled(api, 1_000_000, TrimOldest(), history).build()
    live = assembled(api, whole.count.upper, (TrimSteps(0), TrimOldest()), [])
    for message in history:
        try:
            live.add_message(message).build()
        except (ConversationError, ContextLengthError):
            continue
    assert live.build().request() == whole.request()


BOTH = answered(json.dumps({"said": "你好" * 20}), "{}")
MOVED = [
    {"role": "user", "content": "Run both."},
    {"type": "function_call", "call_id": "a", "name": "run", "arguments": "{}"},
    {"type": "function_call", "call_id": "b", "name": "run", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "a", "output": "yes"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One more."}]},
    {"type": "function_call_output", "call_id": "b", "output": "no"},
]
"""Chat is sent what the model said between two results before both, so that it costs less."""


@pytest.mark.parametrize(
    ("turns", "sure"),
    [(BOTH * 2, BOTH * 2), ([*MOVED, *THEN], THEN), ([*turn_of(FAR_APART), *THEN], THEN)],
    ids=["as they are sent", "moved", "a long run"],
)
def test_turns_may_fit_from_the_least_on_that_all_but_the_last_surely_cost(turns: list[Any], sure: list[Any]) -> None:
    def billed(history: list[Any]) -> int:
        return count_request({"messages": history}, dialect="openai_chat", model="gpt-4o").upper

    framing = 2 * billed(THEN) - billed(THEN * 2)
    least = billed(sure) - framing
    made = Assembler(Budget(100_000, model="gpt-4o"), dialect="openai_chat").add_messages([*turns, *THEN])
    ledger = made.plan().inside.ledger
    assert not ledger.may_fit(least - 1)
    assert ledger.may_fit(least)


def test_a_counter_that_fails_among_many_texts_is_named_with_the_message() -> None:
    def count(text: str) -> int:
        if text == "odd":
            raise ValueError("no such text")
        return len(text)

    made = Assembler(Budget(1_000, counter=count), dialect="plain", on_overflow=TrimOldest())
    for text in ("a", "odd", "b", "c", "d"):
        made.add_message(("user", text))
    with pytest.raises(TokenCountError, match=r"conversation\[1\]"):
        made.build()


GIVING_WAY: list[Ladder] = [
    TrimOldest(),
    KeepRelevant(),
    (ClearToolResults(0), TrimOldest()),
    (Truncate(9), TrimOldest()),
    (TrimSteps(0), TrimOldest()),
    (ClearReasoning(), ClearToolResults(0), TrimOldest()),
    (TrimOldest(keep_turns=2), ClearReasoning(), Truncate(20)),
]


@scaled(0.5)
@given(
    data=st.data(),
    form=st.sampled_from(["openai", "anthropic"]),
    api=st.sampled_from(APIS),
    ladder=st.sampled_from(GIVING_WAY),
    share=st.floats(0.3, 1),
)
def test_a_ladder_leaves_no_more_tokens_free_than_the_largest_turn_costs(
    data: st.DataObject, form: str, api: tuple[str, str], ladder: Ladder, share: float
) -> None:
    history = [*data.draw(sessions(form, marks=(0,))), *THEN]
    whole = assembled(api, 1_000_000, ladder, history).build()
    window = int(whole.count.upper * share)
    try:
        context = assembled(api, window, ladder, history).build()
    except (ContextLengthError, ConversationError):
        return
    if context.dropped:
        turns = assembled(api, 1_000_000, ladder, history).plan().inside.ledger.newest_first()
        assert window - context.count.upper <= max(turn.tokens for turn in turns) + 2
