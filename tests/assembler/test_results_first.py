"""User words between the answers of one step are sent where each API takes them, at the price that it bills."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ConversationError, TrimOldest, count_request, repair, verify
from assembler.dialects import DIALECTS
from budgets import Budget
from tests.scaled import scaled

Dict = dict[str, Any]
MODELS = [
    *(("openai_chat", model) for model in ("gpt-4o", "gpt-5", "llama-3.3-70b-versatile", "nobody-knows-this-model")),
    ("openai_responses", "gpt-5"),
    ("anthropic", "claude-sonnet-4-5"),
    ("bedrock", "anthropic.claude-sonnet-4-5"),
    ("gemini", "gemini-2.5-flash"),
    ("mistral", "mistral-large-latest"),
]
TOOL: Dict = {"name": "ask", "description": "Asks.", "parameters": {"type": "object", "properties": {}}}
words = st.text("ab {}", max_size=12)


def result(call: str, text: str) -> Dict:
    return {"type": "tool_result", "tool_use_id": call, "content": text}


@st.composite
def histories(draw: st.DrawFn) -> list[Dict]:
    """Steps whose answers come in several messages of the user's, some of which say something too."""
    history: list[Dict] = [{"role": "user", "content": "q"}]
    for step in range(draw(st.integers(1, 2))):
        calls = [f"c{step}x{place}" for place in range(draw(st.integers(1, 4)))]
        uses: list[Dict] = [{"type": "tool_use", "id": call, "name": "ask", "input": {}} for call in calls]
        history.append({"role": "assistant", "content": uses})
        answers: list[list[Dict]] = [[]]
        for call in calls:
            answers[-1].append(result(call, draw(words)))
            if draw(st.booleans()):
                answers[-1].append({"type": "text", "text": draw(words)})
            if draw(st.booleans()) and call != calls[-1]:
                answers.append([])
        history += [{"role": "user", "content": content} for content in answers]
        if draw(st.booleans()):
            history += [
                {"role": "assistant", "content": "so"},
                {"role": "user", "content": draw(words).strip() or "on"},
            ]
    return history


@scaled(1)
@given(history=histories(), place=st.integers(0, len(MODELS) - 1))
def test_a_step_is_answered_before_its_words_in_every_api_at_one_price(history: list[Dict], place: int) -> None:
    name, model = MODELS[place]
    assembler = Assembler(Budget(100_000, model=model), dialect=DIALECTS[name], on_overflow=TrimOldest())
    context = assembler.add_capability([TOOL]).add_messages(history).build()
    request = context.request()
    assert verify(request, dialect=name, model=model) == []
    counted = count_request(request, dialect=name, model=model)
    assert (context.count.tokens, context.count.upper) == (counted.tokens, counted.upper)


def parted() -> list[Dict]:
    uses: list[Dict] = [{"type": "tool_use", "id": call, "name": "ask", "input": {}} for call in "abc"]
    return [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": [result("a", "1"), {"type": "text", "text": "hold on"}]},
        {"role": "user", "content": [result("b", "2")]},
        {"role": "user", "content": [result("c", "3"), {"type": "text", "text": "and"}]},
    ]


@pytest.mark.parametrize("name", ["openai_chat", "mistral"])
def test_words_between_two_answers_are_sent_after_both_and_the_report_says_so(name: str) -> None:
    context = Assembler(dialect=name).add_capability([TOOL]).add_messages(parted()).build()
    sent = context.request()["messages"]
    contents = [message["content"] for message in sent if message["role"] in ("tool", "user")]
    assert contents == ["q", "1", "2", "3", "hold on", "and"]
    assert "1 message(s) of the user's between the answers of one step sent after them" in str(context.report)


def test_words_between_two_answers_of_chat_are_refused_and_repaired() -> None:
    calls = [{"id": call, "type": "function", "function": {"name": "ask", "arguments": "{}"}} for call in "ab"]
    history: list[Dict] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "user", "content": "hold on"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
    ]
    with pytest.raises(ConversationError, match="repair"):
        Assembler(dialect="openai_chat").add_messages(history).build()
    mended, _ = repair(history)
    request = Assembler(dialect="openai_chat").add_capability([TOOL]).add_messages(mended).build().request()
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "tool", "tool", "user"]
    assert verify(request, dialect="openai_chat") == []
