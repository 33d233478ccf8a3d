"""Amazon's Nova on Converse: hidden prompts are priced, and no count is graded exact."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assembler import Assembler, count_request
from assembler.dialects import bedrock
from budgets import Budget, Grade, tiktoken_counter

TOOLS = {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]}
CALL = {"toolUse": {"toolUseId": "c", "name": "look", "input": {"city": "Paris"}}}
RESULT = {"toolResult": {"toolUseId": "c", "content": [{"text": "sunny"}]}}


def cost(model: str, *messages: Any, **keys: Any) -> Any:
    listed = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(messages)]
    return count_request({"messages": listed, **keys}, dialect=bedrock, model=model)


@pytest.mark.parametrize(
    ("model", "opening", "tooling"),
    [
        ("us.amazon.nova-2-lite-v1:0", 47, 816 + 6),
        ("amazon.nova-micro-v1:0", 0, 348),
        ("us.amazon.nova-pro-v1:0", 0, 348),
    ],
)
def test_the_hidden_prompts_of_nova_are_priced(model: str, opening: int, tooling: int) -> None:
    """Recorded: 53 tokens for seven words on Nova 2, none beyond the text before it (97 recordings, 7 repositories)."""
    plain = cost(model, [{"text": "one two three"}])
    assert plain.tokens == opening + 3
    assert plain.grade is Grade.ESTIMATED
    assert (
        tooling + 10 <= cost(model, [{"text": "one two three"}], toolConfig=TOOLS).tokens - plain.tokens <= tooling + 40
    )


def test_the_tool_prompt_of_nova_2_is_that_of_its_servers_since_june_2026() -> None:
    """Recorded by crmne/ruby_llm (MIT) from June to August 2026: 816 beside a definition; 806 until April (25 rows)."""
    asked = [{"text": "q"}]
    with_tool = cost("us.amazon.nova-2-lite-v1:0", asked, toolConfig=TOOLS).tokens
    plain = cost("us.amazon.nova-2-lite-v1:0", asked).tokens
    definition = json.dumps({"name": "look", "description": "", "parameters": {"type": "object"}})
    assert abs(with_tool - plain - 816 - 6 - tiktoken_counter("o200k_base")(definition)) <= 3


def test_calls_results_reasoning_and_settings_of_nova_are_priced() -> None:
    model = "us.amazon.nova-2-lite-v1:0"
    asked = cost(model, [{"text": "q"}], toolConfig=TOOLS)
    done = cost(model, [{"text": "q"}], [CALL], [RESULT], toolConfig=TOOLS)
    assert done.tokens > asked.tokens + 16
    thinking = {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}}
    assert (
        cost(model, [{"text": "q"}], additionalModelRequestFields=thinking).tokens
        == cost(model, [{"text": "q"}]).tokens + 50
    )
    thought = {"reasoningContent": {"reasoningText": {"text": "two words"}}}
    mark = {"cachePoint": {"type": "default"}}
    price = cost(model, [{"text": "q"}, mark], [thought, {"text": "a"}], [{"text": "q"}])
    assert price.tokens == cost(model, [{"text": "q"}], [{"text": "a"}], [{"text": "q"}]).tokens + 2


def picture(width: int, height: int) -> dict[str, Any]:
    header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return {"image": {"format": "png", "source": {"bytes": header + b"\x08\x02\x00\x00\x00"}}}


@pytest.mark.parametrize(
    ("width", "height", "published"),
    [
        (900, 450, 800),
        (800, 400, 800),
        (900, 900, 1_300),
        (1_400, 900, 1_800),
        (1_800, 900, 2_400),
        (1_300, 1_300, 2_600),
    ],
)
def test_a_picture_costs_about_what_amazons_table_says(width: int, height: int, published: int) -> None:
    words = cost("amazon.nova-lite-v1:0", [{"text": "q"}])
    seen = cost("amazon.nova-lite-v1:0", [picture(width, height), {"text": "q"}])
    assert abs(seen.tokens - words.tokens - published) <= published * 0.1
    assert seen.upper - words.upper >= published * 1.5


def test_a_picture_or_document_of_unknown_size_costs_a_typical_one_and_is_bounded() -> None:
    words = cost("amazon.nova-lite-v1:0", [{"text": "q"}])
    unknown = {"image": {"format": "png", "source": {"bytes": b"x"}}}
    seen = cost("amazon.nova-lite-v1:0", [unknown, {"text": "q"}])
    # 900 by 900 pixels; at most 8,000 by 8,000, twice 250 and 0.00135 tokens a pixel.
    assert (seen.tokens - words.tokens, seen.upper - words.upper) == (1_300, 2 * (250 + 86_400))
    stored = {"document": {"format": "pdf", "name": "a", "source": {"s3Location": {"uri": "s3://a/b.pdf"}}}}
    seen = cost("amazon.nova-lite-v1:0", [stored, {"text": "q"}])
    assert (seen.tokens - words.tokens, seen.upper - words.upper) == (10 * 3_000, 1_050_000)


@pytest.mark.parametrize("model", ["amazon.nova-pro-v1:0", "meta.llama3-1-70b-instruct-v1:0"])
def test_escaped_arguments_cost_what_the_sent_object_costs(model: str) -> None:
    """The escaped text was priced, so turns were cut for tokens that are not billed."""
    tool = {"name": "look", "description": "", "parameters": {"type": "object", "properties": {}}}
    budget = Budget(10_000, model=model, counter=len)

    def conversation(arguments: str) -> int:
        call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": arguments}}
        history = [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "Seen."},
        ]
        made = Assembler(budget, dialect=bedrock).set_tools([tool]).add_messages(history)
        return made.plan().inside.conversation.upper

    assert conversation('{"q": "\\u4f60\\u597d"}') == conversation('{"q":"你好"}')
