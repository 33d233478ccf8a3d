"""A server's item in a message's content costs a build what it costs in the request, whatever stands around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pytest

from assembler import Assembler, count_request
from budgets import Budget

Dict = dict[str, Any]
ITEMS: dict[str, Dict] = {
    "a search": {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "walrus"}},
    "a file search": {"type": "file_search_call", "id": "fs", "queries": ["q"], "results": [{"text": "It is big."}]},
    "code": {"type": "code_interpreter_call", "id": "ci", "container_id": "c", "code": "print(1)"},
    "a call of a server's": {"type": "mcp_call", "id": "m", "server_label": "s", "name": "f", "output": "hello"},
    "a reference": {"type": "item_reference", "id": "x"},
    "a new kind of call": {"type": "mystery_call", "id": "x", "words": "some words in here"},
    "a summary": {"type": "compaction", "id": "cmp", "encrypted_content": "gAAA" * 30},
    "reasoning": {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm so"}]},
    "loaded tools": {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "f"}]},
}
OWED: dict[str, Dict] = {
    "commands": {"type": "local_shell_call", "id": "l", "call_id": "l", "action": {"command": ["ls"]}},
    "a call": {"type": "function_call", "id": "fc", "call_id": "l", "name": "f", "arguments": "{}", "status": "s"},
    "an output": {"type": "function_call_output", "call_id": "l", "output": "what was found"},
}
"""Calls that the caller answers, and an answer."""
SAID: Dict = {"type": "text", "text": "Which one?"}
USER: Dict = {"role": "user", "content": "Go on."}
MODEL: Dict = {"role": "assistant", "content": "It is the walrus."}
STEP: list[Dict] = [
    {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "found"},
]
TOLD: list[Dict] = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "d", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "d", "content": "found"},
]
MODELS = ["gpt-5", "gpt-4o", "grok-4.3", "kimi-k2", "kimi-k2.5", "openrouter/z-ai/glm-4.6", "a-model-of-nobody"]


def contents(item: Dict) -> Iterator[list[Dict]]:
    yield [item]
    yield [item, SAID]
    yield [SAID, item]
    yield [SAID, item, SAID]
    yield [item, SAID, {**item, "id": "another"}]


def histories(item: Dict) -> Iterator[list[Dict]]:
    for content in contents(item):
        for role in ("user", "assistant", "system"):
            message = {"role": role, "content": content}
            yield [message, MODEL, USER]
            yield [USER, MODEL, message]
            yield [USER, MODEL, message, MODEL, USER]
            yield [USER, MODEL, message, *STEP, USER]
            yield [USER, message, *TOLD, USER]
            yield [USER, *TOLD, message, MODEL, USER]
            yield [USER, message, message, MODEL, MODEL, USER]


def prices_each_as_its_request(model: str, histories: Iterable[list[Dict]]) -> None:
    for history in histories:
        made = Assembler(Budget(1_000_000, model=model), dialect="openai_responses").add_messages(history)
        context = made.build()
        assert context.count == count_request(context.request(), dialect="openai_responses", model=model), history


@pytest.mark.parametrize("name", ITEMS)
@pytest.mark.parametrize("model", MODELS)
def test_an_item_costs_what_its_request_costs_at_every_place(name: str, model: str) -> None:
    """The bound was rounded with the texts around the item in a request, and without them in a build.

    Each history is tried under two or three of the models, and under all of them in the slow test.
    """
    prices_each_as_its_request(model, islice(histories(ITEMS[name]), MODELS.index(model) % 3, None, 3))


@pytest.mark.slow
@pytest.mark.parametrize("name", ITEMS)
@pytest.mark.parametrize("model", MODELS)
def test_an_item_costs_what_its_request_costs_at_every_place_under_every_model(name: str, model: str) -> None:
    prices_each_as_its_request(model, histories(ITEMS[name]))


@pytest.mark.parametrize("name", OWED)
@pytest.mark.parametrize("model", ["gpt-5", "gpt-4o"])
def test_a_call_or_an_output_in_a_content_costs_what_it_costs_as_an_item(name: str, model: str) -> None:
    """They were priced as parts of an unknown type, by their JSON."""
    for content in [*contents(OWED[name])][:4]:
        for role in ("user", "assistant") if name == "an output" else ("user",):  # an answer's must be answered
            history = [USER, MODEL, {"role": role, "content": content}, MODEL, USER]
            context = Assembler(Budget(90_000, model=model), dialect="openai_responses").add_messages(history).build()
            assert context.count == count_request(context.request(), dialect="openai_responses", model=model), history


@pytest.mark.parametrize("model", ["kimi-k2", "llama-3.3-70b-versatile"])
def test_a_system_message_that_is_not_sent_is_no_system_text(model: str) -> None:
    """A host adds its own text only where there is none: it was left out beside a message without content for Chat."""
    unsent = {"role": "system", "content": [ITEMS["a reference"]]}
    context = Assembler(Budget(9_000, model=model), dialect="openai_chat").add_messages([unsent, USER]).build()
    assert context.request() == {"messages": [USER]}
    assert context.count == count_request({"messages": [USER]}, dialect="openai_chat", model=model)


def test_what_stands_before_a_summary_in_the_same_answer_is_neither_sent_nor_priced() -> None:
    answer = {"role": "assistant", "content": [SAID, ITEMS["a summary"], {"type": "text", "text": "After it."}]}
    context = Assembler(dialect="openai_responses").add_messages([USER, answer, USER]).build()
    assert context.request()["input"] == [USER, ITEMS["a summary"], {"role": "assistant", "content": "After it."}, USER]
    assert context.count == count_request(context.request(), dialect="openai_responses")
    assert [left.index for left in context.dropped] == [1]
    assert context.report.notes == ("1 part(s) before a summary in the same answer left out",)
