"""Bedrock Converse: its own form is sent unchanged and priced by the rules of the model's maker."""

from __future__ import annotations

import json
from functools import partial

import pytest

from assembler import Assembler, Context, count_request
from assembler.dialects import DIALECTS
from assembler.dialects.bedrock.dialect import Bedrock
from assembler.errors import ConversationError, ToolError, UnsupportedContentError
from assembler.verify import verify
from budgets import Budget, BudgetError, Grade
from tests.assembler.dialects.spoken import TOOLS, Dict, sent_again

bedrock, anthropic = DIALECTS["bedrock"], DIALECTS["anthropic"]
POINT = {"cachePoint": {"type": "default"}}
SPEC = {"toolSpec": {"name": "search", "inputSchema": {"json": {"type": "object"}}}}
again = partial(sent_again, bedrock)


def test_fields_that_only_bedrock_has_are_sent_unchanged() -> None:
    request = {
        "system": [{"text": "Rules."}, POINT],
        "messages": [
            {"role": "user", "content": [{"text": "q"}, POINT]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
                    {"toolUse": {"toolUseId": "t", "name": "search", "input": {"b": 1, "a": 2}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "t", "content": [{"json": {"a": 1}}], "status": "success"}},
                    {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://b/k"}}}},
                ],
            },
        ],
        "toolConfig": {"tools": [SPEC, POINT]},
    }
    assert json.dumps(again(request)) == json.dumps(request)


def test_the_result_of_a_failed_call_always_says_something() -> None:
    failed = {"type": "tool_result", "tool_use_id": "t", "content": " ", "is_error": True}
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "search", "input": {}}]},
        {"role": "user", "content": [failed]},
    ]
    request = Assembler(dialect=bedrock).add_capability(TOOLS).add_messages(history).build().request()
    answer = request["messages"][2]["content"][0]["toolResult"]
    assert answer["status"] == "error"
    assert answer["content"][0]["text"].strip()


@pytest.mark.parametrize(("name", "model"), [("openai_chat", "gpt-4o"), ("mistral", "mistral-large-latest")])
def test_a_message_of_cache_points_alone_costs_nothing_if_it_is_left_out(name: str, model: str) -> None:
    messages = [("user", "q"), ("assistant", "a"), {"role": "user", "content": [POINT]}, ("user", "r")]
    budget = Budget.for_model(model, max_output_tokens=1_000)
    context = Assembler(budget, dialect=name).add_messages(messages).build()
    assert context.count == count_request(context.request(), dialect=name, model=model)
    assert context.inside.notes


@pytest.mark.parametrize("points", range(1, 8))
def test_never_more_than_four_cache_points(points: int) -> None:
    messages: list[Dict] = []
    for number in range(points):
        messages += [
            {"role": "user", "content": [{"text": f"q{number}"}, POINT]},
            {"role": "assistant", "content": [{"text": "a"}]},
        ]
    messages.append({"role": "user", "content": [{"text": "last"}]})
    request = {"system": [{"text": "s"}, POINT], "messages": messages, "toolConfig": {"tools": [SPEC, POINT]}}
    sent = again(request)
    assert json.dumps(sent).count("cachePoint") == min(4, points + 2)
    assert POINT in sent["messages"][2 * points - 2]["content"]
    assert POINT in sent["system"]
    assert verify(sent, dialect="bedrock") == []


def test_a_cache_point_before_every_tool_is_an_error() -> None:
    with pytest.raises(ToolError, match="cache point"):
        bedrock.parse({"messages": [], "toolConfig": {"tools": [POINT, SPEC]}})


def test_a_cache_point_among_added_tools_keeps_its_place() -> None:
    user = {"role": "user", "content": [{"text": "q"}]}
    context = Assembler(dialect="bedrock").add_capability([SPEC, POINT]).add_messages([user]).build()
    assert context.request()["toolConfig"]["tools"] == [SPEC, POINT]
    assert "cachePoint" not in str(context.request("anthropic"))


SEARCHED: list[Dict] = [
    {"toolUse": {"toolUseId": "s", "name": "nova_grounding", "input": {"q": "w"}, "type": "server_tool_use"}},
    {"toolResult": {"toolUseId": "s", "content": [{"text": "found"}], "type": "nova_grounding_result"}},
]
GROUNDING: Dict = {"systemTool": {"name": "nova_grounding"}}


def test_a_search_by_nova_stays_in_its_message_beside_a_call_of_the_callers() -> None:
    """Converse returns such a result in a message of the assistant, which was refused."""
    call = {"toolUse": {"toolUseId": "c", "name": "ask", "input": {}}}
    answer = {"toolResult": {"toolUseId": "c", "content": [{"text": "r"}]}}
    history: list[Dict] = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [*SEARCHED, call]},
        {"role": "user", "content": [answer]},
    ]
    ask = {"toolSpec": {"name": "ask", "inputSchema": {"json": {"type": "object"}}}}
    context = Assembler(dialect=bedrock).add_capability([GROUNDING, ask]).add_messages(history).build()
    assert context.request()["messages"] == history
    assert verify(context.request(), dialect=bedrock) == []
    assert count_request(context.request(), dialect=bedrock) == context.count
    elsewhere = context.request("openai_chat")["messages"]
    assert [message["role"] for message in elsewhere] == ["user", "assistant", "tool"]
    assert "found" in str(elsewhere)
    assert "nova_grounding" not in str(elsewhere)


def test_a_server_typed_call_whose_result_is_elsewhere_must_be_answered_by_the_caller() -> None:
    use, answer = SEARCHED
    history = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [answer]},
    ]
    context = Assembler(dialect=bedrock).add_capability([GROUNDING]).add_messages(history).build()
    assert context.request()["messages"] == history
    assert verify(context.request(), dialect=bedrock) == []
    with pytest.raises(ConversationError, match="has no result"):
        Assembler(dialect=bedrock).add_capability([GROUNDING]).add_messages([*history[:2], history[0]]).build()


def test_a_search_by_nova_needs_a_tool_definition() -> None:
    history = [{"role": "user", "content": [{"text": "q"}]}, {"role": "assistant", "content": SEARCHED}]
    history.append({"role": "user", "content": [{"text": "on"}]})
    with pytest.raises(ConversationError, match="pass functions, or tools of this API's own"):
        Assembler(dialect=bedrock).add_messages(history).build().request()


def test_a_result_in_the_models_message_is_refused_unless_the_server_wrote_it() -> None:
    result = {"toolResult": {"toolUseId": "c", "content": [{"text": "r"}]}}
    call = {"toolUse": {"toolUseId": "c", "name": "ask", "input": {}}}
    history = [{"role": "user", "content": [{"text": "q"}]}, {"role": "assistant", "content": [call, result]}]
    history.append({"role": "user", "content": [{"text": "on"}]})
    assert {
        finding.rule for finding in verify({"messages": history, "toolConfig": {"tools": [GROUNDING]}}, dialect=bedrock)
    }
    with pytest.raises(ConversationError, match="in an assistant message"):
        Assembler(dialect=bedrock).add_capability([GROUNDING]).add_messages(history).build()


def test_a_message_of_nothing_but_a_cache_point_is_left_out() -> None:
    history = [{"role": "user", "content": [{"text": " "}, POINT]}, {"role": "user", "content": [{"text": "q"}]}]
    assert again({"messages": history})["messages"] == [{"role": "user", "content": [{"text": "q"}]}]


def test_claudes_reasoning_from_anthropic_is_sent_to_bedrock_and_other_reasoning_is_left_out() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    redacted = {"type": "redacted_thinking", "data": "x"}
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [thinking, redacted, {"type": "text", "text": "a", "cache_control": {}}]},
        {"role": "user", "content": "r"},
    ]
    context = Assembler(dialect=bedrock).add_messages(history).build()
    block = {"reasoningText": {"text": "hm", "signature": "c2ln"}}
    assert context.request()["messages"][1]["content"] == [{"reasoningContent": block}, {"text": "a"}]
    notes = " ".join(str(context.report).split())
    assert "1 reasoning part(s)" in notes
    assert "1 cache mark(s) of another API" in notes


def test_a_picture_by_url_is_refused_by_bedrock() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://x.example/y.png"}}
    with pytest.raises(UnsupportedContentError, match="bedrock"):
        Assembler(dialect=bedrock).add_messages([{"role": "user", "content": [picture]}]).build()


def test_a_history_with_calls_and_no_tools_is_refused() -> None:
    use = {"toolUse": {"toolUseId": "t", "name": "search", "input": {}}}
    result = {"toolResult": {"toolUseId": "t", "content": [{"text": "r"}]}}
    history = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    with pytest.raises(ConversationError, match="set_tools"):
        Assembler(dialect=bedrock).add_messages(history).build()


def test_claude_costs_the_same_on_bedrock_as_on_anthropic() -> None:
    there = {"messages": [{"role": "user", "content": [{"text": "What is 2+2?"}]}], "system": [{"text": "Be brief."}]}
    here = {"messages": [{"role": "user", "content": "What is 2+2?"}], "system": "Be brief."}
    model = "us.anthropic.claude-opus-4-6-v1:0"
    assert count_request(there, dialect=bedrock, model=model) == count_request(here, dialect=anthropic, model=model)
    assert count_request(there, dialect=bedrock) == count_request(here, dialect=anthropic)


@pytest.mark.parametrize(
    "model",
    [
        "amazon.nova-pro-v1:0",
        "meta.llama3-3-70b-instruct-v1:0",
        "mistral.mistral-large-2407-v1:0",
        "deepseek.r1-v1:0",
        "qwen.qwen3-32b-v1:0",
        "openai.gpt-oss-120b-1:0",
        "cohere.command-r-v1:0",
    ],
)
def test_any_other_model_is_estimated_with_a_margin(model: str) -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 20  # 10 tokens a sentence in every vocabulary
    request = {
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": text}]}],
        "toolConfig": {"tools": [SPEC], "toolChoice": {"auto": {}}},
    }
    count = count_request(request, dialect=bedrock, model=model)
    assert count.grade is Grade.ESTIMATED
    assert 200 <= count.tokens < 1_200
    assert count.upper >= 1.1 * count.tokens


def test_a_request_without_messages_is_an_error() -> None:
    with pytest.raises(ConversationError, match="list of messages"):
        bedrock.parse({})


@pytest.mark.parametrize("schema", [{}, {"json": {}}, {"json": {"properties": {}}}])
def test_a_schema_always_says_that_it_is_an_object(schema: Dict) -> None:
    spec = {"toolSpec": {"name": "search", "inputSchema": schema}}
    sent = again({"messages": [{"role": "user", "content": [{"text": "q"}]}], "toolConfig": {"tools": [spec]}})
    assert sent["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"]["type"] == "object"


@pytest.mark.parametrize(
    ("model", "asked", "key"),
    [
        ("anthropic.claude-sonnet-4-5", {"type": "enabled", "budget_tokens": 2_000}, "thinking"),
        ("us.amazon.nova-2-lite-v1:0", {"type": "enabled", "maxReasoningEffort": "low"}, "reasoningConfig"),
    ],
)
def test_thinking_that_a_dialect_declares_is_sent_and_its_hidden_prompt_priced(
    model: str, asked: Dict, key: str
) -> None:
    def context(dialect: Bedrock) -> Context:
        budget = Budget(8_000, model=model, max_output_tokens=4_000)
        return Assembler(budget, dialect=dialect).add_message({"role": "user", "content": "q"}).build()

    thinking = context(Bedrock(thinking=asked))
    request = thinking.request()
    assert request["additionalModelRequestFields"] == {key: asked}
    assert verify(request, dialect="bedrock") == []
    assert thinking.count == count_request(request, dialect=bedrock, model=model)
    assert thinking.count.upper > context(Bedrock()).count.upper


def test_thinking_of_no_known_type_is_refused_here_too() -> None:
    with pytest.raises(BudgetError, match="enabled"):
        Bedrock(thinking={"type": "on"})


SENT: dict[str, list[Dict]] = {
    "reasoning": [{"reasoningContent": {"reasoningText": {"text": "hm " * 60}}}],
    "sealed reasoning": [{"reasoningContent": {"redactedContent": b"abc" * 200}}],
    "a document's context": [
        {"document": {"format": "txt", "name": "n", "source": {"text": "a"}, "context": "hm " * 60}}
    ],
    "a block's context": [
        {"document": {"format": "txt", "name": "n", "source": {"content": [{"text": "a"}]}, "context": "hm " * 60}}
    ],
}


@pytest.mark.parametrize("sent", SENT)
@pytest.mark.parametrize(
    "model", ["amazon.nova-pro-v1:0", "meta.llama3-1-70b-instruct-v1:0", "mistral.mistral-large-2407-v1:0", "cohere.a"]
)
def test_what_no_makers_list_prices_is_in_the_bound_of_a_converse_request(model: str, sent: str) -> None:
    role = "assistant" if "reasoning" in sent else "user"

    def upper(*blocks: Dict) -> int:
        asked: list[Dict] = [{"role": "user", "content": [{"text": "q"}]}] if role == "assistant" else []
        turns: list[Dict] = [*asked, {"role": role, "content": [*blocks, {"text": "a"}]}, *asked]
        return count_request({"messages": turns}, dialect="bedrock", model=model).upper

    bare: list[Dict] = [
        {"document": {**held, "context": ""}} for block in SENT[sent] if (held := block.get("document"))
    ]
    assert upper(*SENT[sent]) > upper(*bare) + 50
