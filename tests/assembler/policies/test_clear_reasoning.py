"""`ClearReasoning` drops the thinking of past turns and never that of a running tool loop."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError, TrimOldest, verify
from assembler.policies import ClearReasoning
from budgets import Budget
from tests.assembler import by_hand
from tests.assembler.by_hand import History

from .build import built, check, left, sent, wanted
from .drawn import sessions

thoughtful = sessions("anthropic", marks=(0,))


def thought(history: History) -> int:
    """The tokens of all the thinking in a history."""
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


def test_a_message_of_thinking_alone_stays() -> None:
    thinking = {"type": "thinking", "thinking": "t" * 50, "signature": "s"}
    history: History = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [thinking]},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": ""}]},
        {"role": "user", "content": "n"},
    ]
    assert built(history, 101, ClearReasoning(0)) is None


SEAL = "Z0FB" * 120


def items(turns: int, after: dict[str, Any]) -> list[Any]:
    history: list[Any] = []
    for turn in range(turns):
        thought_of = {"type": "reasoning", "id": f"rs_{turn}", "summary": [], "encrypted_content": SEAL}
        history += [
            {"role": "user", "content": f"Question {turn}?"},
            thought_of,
            {**after, "id": f"{after['id']}_{turn}"},
            {
                "type": "message",
                "role": "assistant",
                "id": f"msg_{turn}",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Yes.", "annotations": []}],
            },
        ]
    return [*history, {"role": "user", "content": "And now?"}]


def items_left(history: list[Any], window: int) -> list[Any]:
    budget = Budget(window, max_output_tokens=10, model="gpt-5")
    assembler = Assembler(budget, dialect="openai_responses", on_overflow=[ClearReasoning(1), TrimOldest()])
    request = assembler.add_messages(history).build().request()
    assert verify(request, dialect="openai_responses") == []
    return request["input"]


def test_a_message_after_a_dropped_reasoning_item_loses_the_id_that_needs_it() -> None:
    answer = {"type": "message", "role": "assistant", "id": "m", "status": "completed", "content": []}
    answer["content"] = [{"type": "output_text", "text": "Hm.", "annotations": []}]
    history = items(4, answer)
    kept = items_left(history, 700)
    assert [item["content"] for item in kept if item.get("role") == "user"] == [
        item["content"] for item in history if item.get("role") == "user"
    ]
    thoughts = [item["id"] for item in kept if item.get("type") == "reasoning"]
    assert 0 < len(thoughts) < 4
    assert thoughts == [f"rs_{turn}" for turn in range(4 - len(thoughts), 4)]
    for turn in range(4):
        assert (f"m_{turn}" in [item.get("id") for item in kept]) is (f"rs_{turn}" in thoughts)
    assert history == items(4, answer)


def test_reasoning_stays_before_an_item_that_needs_its_id() -> None:
    search = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "q"}}
    kept = items_left(items(4, search), 1_000)
    thoughts = [place for place, item in enumerate(kept) if item.get("type") == "reasoning"]
    assert thoughts
    assert all(kept[place + 1]["type"] == "web_search_call" for place in thoughts)
    assert sum(item.get("type") == "web_search_call" for item in kept) == len(thoughts)


@pytest.mark.parametrize(
    "items",
    [
        [
            {"type": "function_call", "call_id": "c", "name": "ask", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "r"},
        ],
        [{"role": "assistant", "content": "a"}],
    ],
)
def test_reasoning_is_dropped_before_an_item_without_an_id(items: list[dict[str, Any]]) -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "t" * 400}]}
    asked = {"role": "user", "content": "q"}
    history = [asked, reasoning, *items, asked]
    assembler = Assembler(Budget(100, model="gpt-5"), dialect="openai_responses", on_overflow=ClearReasoning())
    context = assembler.add_messages(history).build()
    assert context.messages == [asked, *items, asked]
    assert not verify(context.request(), dialect="openai_responses")


def test_reasoning_stays_before_a_search_which_needs_its_id() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "t" * 4_000}]}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    asked = {"role": "user", "content": "q"}
    assembler = Assembler(Budget(100, model="gpt-5"), dialect="openai_responses", on_overflow=ClearReasoning())
    assembler.add_messages([asked, reasoning, search, {"role": "assistant", "content": "a"}, asked])
    with pytest.raises(ContextLengthError):
        assembler.build()


def test_the_report_says_that_reasoning_was_cleared() -> None:
    thinking = {"type": "thinking", "thinking": "x" * 90, "signature": "s"}
    history: History = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "answer"}]},
        {"role": "user", "content": "second"},
    ]
    context = built(history, by_hand.cost(history) - 1, ClearReasoning())
    assert context is not None
    assert "1 × reasoning cleared" in str(context.report)
