"""What a Chat Completions body costs and whether the API would accept it, by independent code.

The recount is that of OpenAI's cookbook ("How to count tokens with tiktoken", the sections on chat messages and tool
calls, gpt-4o's figures, read 2026-11), with a call's name and arguments as texts. It shares the tokenizer alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from assembler import Assembler, Context, ContextLengthError, ConversationError, count_request, verify
from assembler.dialects import openai_chat
from budgets import tiktoken_counter

tokens = tiktoken_counter("o200k_base")
PER_MESSAGE, PRIMING, PER_NAME = 3, 3, 1
PER_TOOL, PROPERTIES, PER_PROPERTY, AFTER_TOOLS = 7, 3, 3, 12
AROUND_CALLS = 18
"""Tokens at most around one call and its result, which the cookbook does not tell: providers billed 7 to 16."""


def recount(body: Mapping[str, Any]) -> int:
    """Tokens of the messages and the tools, without what stands around calls."""
    return PRIMING + sum(map(_message, body["messages"])) + _tools(body.get("tools") or ())


def calls_in(body: Mapping[str, Any]) -> int:
    return sum(len(message.get("tool_calls") or ()) for message in body["messages"])


def assert_sendable(body: Mapping[str, Any], context: Context, base: Assembler) -> None:
    """The API takes the body; it fits by hand; and it is the very body that was priced."""
    assert verify(body, dialect=openai_chat) == []
    assert base.budget is not None
    assert recount(body) <= base.budget.input_limit
    assert context.count.upper <= base.budget.input_limit
    wire = {"messages": body["messages"], **({"tools": body["tools"]} if body.get("tools") else {})}
    assert count_request(wire, dialect=openai_chat, model="gpt-4o").tokens == context.by_rule.tokens
    assert recount(body) - 16 <= context.by_rule.tokens <= recount(body) + 16 + AROUND_CALLS * calls_in(body)


def _message(message: Mapping[str, Any]) -> int:
    content = message.get("content") or ""
    texts = [content] if isinstance(content, str) else [part["text"] for part in content]
    texts.append(message["role"])
    for call in message.get("tool_calls") or ():
        texts += [call["function"]["name"], call["function"]["arguments"]]
    named = PER_NAME + tokens(message["name"]) if "name" in message else 0
    return PER_MESSAGE + named + sum(map(tokens, texts))


def _tools(tools: Sequence[Mapping[str, Any]]) -> int:
    total = AFTER_TOOLS if tools else 0
    for tool in tools:
        function = tool["function"]
        total += PER_TOOL + tokens(f"{function['name']}:{function.get('description', '').rstrip('.')}")
        properties = function["parameters"].get("properties", {})
        total += PROPERTIES if properties else 0
        for name, schema in properties.items():
            about = schema.get("description", "").rstrip(".")
            total += PER_PROPERTY + tokens(f"{name}:{schema.get('type', '')}:{about}")
    return total


def assert_overflows(run: Callable[[], object]) -> None:
    """What comes out of the framework is this library's own error, with its arithmetic."""
    with pytest.raises(ContextLengthError) as caught:
        run()
    assert type(caught.value) is ContextLengthError
    assert caught.value.required > caught.value.available


def assert_newest_objects(sent: Sequence[object], history: Sequence[object]) -> None:
    """What was sent is some of the newest messages: the very objects."""
    assert 1 < len(sent) < len(history)
    assert all(a is b for a, b in zip(sent, history[-len(sent) :], strict=True))


def assert_orphaned(call_id: str, run: Callable[[], object]) -> None:
    """What comes out of the framework is this library's own error, which names the call."""
    with pytest.raises(ConversationError) as caught:
        run()
    assert caught.value.call_id == call_id
