"""Two spellings of a request that say the same cost the same, with the same grade and bound."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import count_request
from budgets import Count, Grade

Body = dict[str, Any]

SENTENCE = "words that a model would have to read"
ASKED: Body = {"messages": [{"role": "user", "content": "Hello there"}]}
TOOL: Body = {"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {"q": {}}}}
WITH_TOOL: Body = {**ASKED, "tools": [{"type": "function", "function": TOOL}]}
FORCED: Body = {**ASKED, "functions": [TOOL], "function_call": {"name": "find"}}
STRICT: Body = {"type": "function", "name": "find", "function": {**TOOL, "strict": False}}
BLOCKS: Body = {"messages": [{"role": "user", "content": [{"text": "Hello there"}]}]}
POINT: Body = {"cachePoint": {"type": "default"}}
SIGNED: Body = {"thought": True, "thoughtSignature": "c2ln" * 150}


def _converse(*ends: Body) -> Body:
    """Three messages of the user in a row: words, an answer, words."""
    use: Body = {"toolUse": {"toolUseId": "t", "name": "find", "input": {}}}
    answer: Body = {"toolResult": {"toolUseId": "t", "content": [{"text": "found"}]}}
    return {
        "messages": [
            {"role": "user", "content": [{"text": "Hello"}, *ends]},
            {"role": "user", "content": [{"text": "there"}, *ends]},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [answer, *ends]},
            {"role": "user", "content": [{"text": "And now?"}, *ends]},
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "find", "inputSchema": {"json": {"type": "object"}}}}]},
    }


def _signed(**beside: None) -> Body:
    answer = {"role": "model", "parts": [{**SIGNED, **beside}, {"text": "Hi"}]}
    return {
        "contents": [{"role": "user", "parts": [{"text": "Hello"}]}, answer, {"role": "user", "parts": [{"text": "?"}]}]
    }


RULED: Body = {"system_instruction": "Be brief."}


def _content(**fields: Any) -> Body:
    role = {"role": fields.pop("role")} if "role" in fields else {}
    return {"contents": [{**role, "parts": [{"text": "Hello there"}]}], **fields}


def _answered(**answer: Any) -> Body:
    asked = {"role": "user", "parts": [{"text": "Hello"}]}
    return {"contents": [asked, {"role": "model", **answer}, asked]}


CHUNK: Body = {"type": "text", "text": SENTENCE}


def _thought(chunks: object) -> Body:
    answer = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": chunks}, {"type": "text", "text": "Hi"}],
    }
    return {"messages": [*ASKED["messages"], answer, *ASKED["messages"]]}


def _beside(**fields: Any) -> tuple[Body, Body]:
    return ASKED, {**ASKED, **fields}


EQUAL: dict[str, tuple[str, str, tuple[Body, Body]]] = {
    "a forced function beside an absent tool choice": (
        "openai_chat",
        "gpt-4o",
        (FORCED, {**FORCED, "tool_choice": None}),
    ),
    "the key of a prompt cache": ("openai_chat", "gpt-4o", _beside(prompt_cache_key=SENTENCE)),
    "the name of an end user": ("openai_chat", "gpt-4o", _beside(safety_identifier=SENTENCE)),
    "stops of Converse": (
        "bedrock",
        "anthropic.claude-haiku-4-5",
        (BLOCKS, {**BLOCKS, "inferenceConfig": {"stopSequences": [SENTENCE]}}),
    ),
    "cache points of Converse": ("bedrock", "anthropic.claude-3-haiku-20240307-v1:0", (_converse(), _converse(POINT))),
    "an answer in text": ("mistral", "mistral-small-latest", _beside(response_format={"type": "text"})),
    "a signed part's other kinds": (
        "gemini",
        "gemini-3-flash-preview",
        (_signed(), _signed(text=None, functionCall=None)),
    ),
    "the role of a content, once null": ("gemini", "gemini-2.5-flash", (_content(), _content(role=None))),
    "an answer without parts": ("gemini", "gemini-2.5-flash", (_answered(parts=[]), _answered())),
    "a null system instruction": (
        "gemini",
        "gemini-2.5-flash",
        (_content(config=RULED), _content(config=RULED, system_instruction=None)),
    ),
    "parts in a tuple": (
        "gemini",
        "gemini-2.5-flash",
        (_answered(parts=[{"text": "Hi"}]), _answered(parts=({"text": "Hi"},))),
    ),
    "chunks of reasoning in a tuple": ("mistral", "mistral-small-latest", (_thought([CHUNK]), _thought((CHUNK,)))),
    "strict, once absent": (
        "openai_responses",
        "gpt-4o",
        ({"input": "Hi", "tools": [STRICT]}, {"input": "Hi", "tools": [{**STRICT, "strict": None}]}),
    ),
}


REFUSED: list[Body] = [
    {"content": None, "refusal": "I will not"},
    {"content": "", "refusal": "I will not"},
    {"content": [{"type": "refusal", "refusal": "I will not"}]},
]


@pytest.mark.parametrize("spelled", REFUSED)
def test_a_refusal_costs_its_text_and_is_never_called_exact(spelled: Body) -> None:
    """No recording has one."""

    def priced(answer: Body) -> Count:
        messages = [*ASKED["messages"], {"role": "assistant", **answer}, *ASKED["messages"]]
        return count_request({"messages": messages}, dialect="openai_chat", model="gpt-4o")

    price = priced({"content": "I will not"})
    assert price.grade is Grade.EXACT
    assert priced(spelled) == Count(price.tokens, Grade.BOUNDED, price.tokens + 3)


@pytest.mark.parametrize("case", EQUAL)
def test_spellings_that_say_the_same_cost_the_same(case: str) -> None:
    dialect, model, (one, other) = EQUAL[case]
    assert one != other
    assert count_request(other, dialect=dialect, model=model) == count_request(one, dialect=dialect, model=model)
