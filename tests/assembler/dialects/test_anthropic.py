"""Anthropic Messages: its own form is sent unchanged, with at most four cache marks, and priced as billed."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assembler import Assembler, Context, count_request
from assembler.dialects import DIALECTS
from assembler.dialects.anthropic.dialect import Anthropic
from assembler.dialects.blocks.turns import Ending
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.verify import verify
from budgets import Budget, BudgetError, Count, Grade, approximate_counter
from tests.assembler.dialects.spoken import TOOLS, Dict, sent_again

anthropic = DIALECTS["anthropic"]
MARK = {"type": "ephemeral"}
again = partial(sent_again, anthropic)


def test_fields_that_only_anthropic_has_are_sent_unchanged() -> None:
    request = {
        "system": [{"type": "text", "text": "Rules.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "q", "cache_control": MARK, "citations": None}]},
            {
                "content": [
                    {"type": "thinking", "thinking": "", "signature": "Zm9v", "future": [1]},
                    {"type": "redacted_thinking", "data": "YmFy"},
                    {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}},
                    {"type": "text", "text": "so ", "citations": [{"type": "char_location"}]},
                    {
                        "type": "tool_use",
                        "id": "t1",
                        "name": "search",
                        "input": {"b": 1, "a": 2},
                        "caller": {"type": "direct"},
                    },
                ],
                "role": "assistant",
                "future": {"x": 1},
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": [{"type": "text", "text": "r"}, {"type": "tool_reference", "tool_name": "f"}],
                        "cache_control": MARK,
                    },
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "d"},
                        "title": "t",
                    },
                ],
            },
        ],
        "tools": [{"name": "search", "input_schema": {"type": "object"}, "cache_control": MARK, "strict": True}],
    }
    assert json.dumps(again(request)) == json.dumps(request)


def test_an_appended_answer_loses_the_fields_that_a_request_must_not_have() -> None:
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "tool_use", "id": "t", "name": "search", "input": {}}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1},
    }
    result = {"type": "tool_result", "tool_use_id": "t", "content": "r"}
    history = [{"role": "user", "content": "q"}, answer, {"role": "user", "content": [result]}]
    request = Assembler(dialect=anthropic).add_capability(TOOLS).add_messages(history).build().request()
    assert request["messages"][1] == {"role": "assistant", "content": answer["content"]}


def test_a_lone_system_text_is_a_text_and_several_are_blocks() -> None:
    question = {"role": "user", "content": "q"}
    only = Assembler(dialect=anthropic).add_instruction("one").add_messages([question]).build().request()
    both = [{"role": "system", "content": "two"}, {"role": "developer", "content": "three"}, question]
    several = Assembler(dialect=anthropic).add_instruction("one").add_messages(both).build().request()
    assert only["system"] == "one"
    assert [block["text"] for block in several["system"]] == ["one", "two", "three"]


def test_a_system_message_with_a_picture_is_refused() -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://x.example/y.png"}}
    history = [{"role": "system", "content": [picture]}, {"role": "user", "content": "q"}]
    with pytest.raises(UnsupportedContentError, match="system message"):
        Assembler(dialect=anthropic).add_messages(history).build()


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.booleans(), st.booleans(), st.booleans())
@settings(deadline=None)
def test_never_more_than_four_marks_and_the_newest_stays(
    marked: list[bool], system: bool, tool: bool, inside: bool
) -> None:
    def block(index: int, wanted: bool) -> Dict:
        return {"type": "text", "text": f"t{index}", **({"cache_control": MARK} if wanted else {})}

    inner = {"type": "tool_result", "tool_use_id": "c", "content": [block(0, inside)]}
    messages: list[Dict] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "search", "input": {}}]},
        {"role": "user", "content": [inner]},
    ]
    for index, wanted in enumerate(marked):
        messages += [{"role": "assistant", "content": "a"}, {"role": "user", "content": [block(index, wanted)]}]
    request = {
        "system": [block(0, system)],
        "messages": messages,
        "tools": [{"name": "search", "input_schema": {"type": "object"}, **({"cache_control": MARK} if tool else {})}],
    }
    sent = again(request)
    assert verify(sent, dialect="anthropic") == []
    asked = sum(marked) + system + tool + inside
    text = json.dumps(sent)
    assert text.count("cache_control") == min(asked, 4)
    newest = max((index for index, wanted in enumerate(marked) if wanted), default=None)
    if newest is not None:
        assert sent["messages"][3 + 2 * newest + 1]["content"][0]["cache_control"] == MARK
    if asked > 4:
        assert any("cache mark" in note for note in anthropic.emit(anthropic.parse(request)).notes)
    if system and asked - 1 - sum(marked) <= 3:
        assert ("cache_control" in sent["system"][0]) is True


def test_a_history_with_calls_and_no_tools_is_refused() -> None:
    step = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]},
    ]
    with pytest.raises(ConversationError, match="set_tools"):
        Assembler(dialect=anthropic).add_messages(step).build()


def test_a_prefill_is_sent_only_if_declared_and_without_trailing_blanks() -> None:
    prefilling = attrs.evolve(Anthropic(), ending=Ending.ANY)
    history = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "It is \n"}]
    request = Assembler(dialect=prefilling).add_messages(history).build().request()
    assert request["messages"][-1] == {"role": "assistant", "content": "It is"}
    assert verify(request, dialect="anthropic", model="claude-3-5-sonnet") == []
    history[-1] = {"role": "assistant", "content": [{"type": "text", "text": "It is "}]}
    request = Assembler(dialect=prefilling).add_messages(history).build().request()
    assert request["messages"][-1]["content"] == [{"type": "text", "text": "It is"}]


@pytest.mark.parametrize("asked", [{"type": "enabled", "budget_tokens": 2_000}, {"type": "adaptive"}])
def test_thinking_that_a_dialect_declares_is_sent_and_its_hidden_prompt_priced(asked: dict[str, Any]) -> None:
    def context(dialect: Anthropic) -> Context:
        budget = Budget.for_model("claude-sonnet-4-5", max_output_tokens=4_000)
        return Assembler(budget, dialect=dialect).add_message({"role": "user", "content": "q"}).build()

    thinking = context(Anthropic(thinking=asked))
    body = {"model": "claude-sonnet-4-5", **thinking.request()}
    assert body["thinking"] == asked
    assert thinking.count == count_request(body, dialect=anthropic)
    assert thinking.count.upper > context(Anthropic()).count.upper


@pytest.mark.parametrize("wrong", ["enabled", {}, {"type": "on"}])
def test_thinking_of_no_known_type_is_refused(wrong: Any) -> None:
    with pytest.raises(BudgetError, match="enabled"):
        Anthropic(thinking=wrong)


def test_claudes_reasoning_from_bedrock_is_sent_to_anthropic() -> None:
    block = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}}
    history = [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [block, {"text": "a"}]},
        {"role": "user", "content": [{"text": "r"}]},
    ]
    request = Assembler(dialect=anthropic).add_messages(history).build().request()
    assert request["messages"][1]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def test_a_schema_always_says_that_it_is_an_object() -> None:
    bare = [{"name": "a", "input_schema": {}}, {"name": "b", "parameters": {"properties": {}}}, {"name": "c"}]
    layout = anthropic.parse({"messages": [{"role": "user", "content": "q"}], "tools": [bare[0]]})
    own = anthropic.emit(layout).request["tools"]
    request = Assembler(dialect=anthropic).add_capability(bare[1:]).add_message(("user", "q")).build().request()
    assert [tool["input_schema"]["type"] for tool in [*own, *request["tools"]]] == ["object"] * 3


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, 30),
        ({"thinking": {"type": "disabled"}}, 0),
        ({"tool_choice": {"type": "any"}}, 588 - 496),
        ({"tool_choice": {"type": "tool", "name": "search"}}, 590 - 496 + 1),
        ({"tool_choice": {"type": "tool", "name": "search", "disable_parallel_tool_use": True}}, 592 - 496 + 1),
        ({"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, 288 - 496),
        ({"tool_choice": {"type": "any"}, "thinking": {"type": "enabled"}}, 588 - 496),
        ({"output_config": {"task_budget": {"type": "tokens", "total": 20_000}}}, 35),
        ({"output_config": {"effort": "low"}}, 0),
        ({"temperature": 1, "metadata": {"user_id": "u"}, "tool_choice": {"type": "auto"}}, 0),
    ],
)
def test_an_option_costs_what_its_recordings_say(options: Dict, more: int) -> None:
    request = {"messages": [{"role": "user", "content": "q"}], "tools": [{"name": "search", "input_schema": {}}]}
    plain = count_request(request, dialect=anthropic, model="claude-sonnet-4-5")
    asked = count_request({**request, **options}, dialect=anthropic, model="claude-sonnet-4-5")
    assert asked.tokens - plain.tokens == more


def test_a_message_that_enables_citations_pays_for_their_prompt_once() -> None:
    """1 recording, crmne/ruby_llm: 508 tokens beyond texts and framing."""

    def priced(*settings: Dict) -> Count:
        found = [
            {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}], **more}
            for more in settings
        ]
        history = [
            {"role": "user", "content": [*found, {"type": "text", "text": "q"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": found}]},
        ]
        tools = [{"name": "f", "input_schema": {"type": "object"}}]
        return count_request({"messages": history, "tools": tools}, dialect=anthropic, model="claude-haiku-4-5")

    silent: Dict = {}
    disabled: Dict = {"citations": {"enabled": False}}
    cited: Dict = {"citations": {"enabled": True}}
    extra = priced(cited).tokens - priced(disabled).tokens
    assert abs(extra - 2 * 508) <= 2, "two messages"
    assert priced(cited, cited).tokens - priced(disabled, disabled).tokens <= extra + 2
    assert priced(silent).tokens < priced(disabled).tokens < priced(silent).tokens + 40


@pytest.mark.parametrize("key", ["output_format", "output_config"])
def test_an_answer_schema_is_billed_as_indented_json_and_a_prompt(key: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    wanted = {"type": "json_schema", "schema": schema}
    request: Dict = {"messages": [{"role": "user", "content": "q"}]}
    asked = {**request, key: wanted if key == "output_format" else {"format": wanted}}
    plain = count_request(request, dialect=anthropic, counter=words).tokens
    extra = count_request(asked, dialect=anthropic, counter=words).tokens - plain
    assert extra == 81 + 1 + len(json.dumps(schema, indent=2).split())  # the newest model: a lone one costs one more


def test_pieces_of_the_system_text_cost_together_what_the_text_costs() -> None:
    base = Assembler(dialect=anthropic).add_instruction("Rule. " * 40)
    for number in range(20):
        base.add_knowledge(f"Fact number {number}: Ünïcode and {number * 7919}.", type="rag")
    context = base.add_message(("user", "q")).build()
    counted = count_request(context.request(), dialect=anthropic)
    assert context.count.tokens == counted.tokens
    assert counted.upper <= context.count.upper <= counted.upper + 21 + 1, "a token for each piece"


def words(text: str) -> int:
    return len(text.split())


def test_an_unknown_counter_is_taken_for_claudes_own() -> None:
    request: Dict = {"messages": [{"role": "user", "content": "one two three"}]}
    assert count_request(request, dialect=anthropic, counter=words).tokens == 4 + 2 + 3
    assert count_request(request, dialect=anthropic, counter=words).grade is Grade.BOUNDED
    assert count_request(request, dialect=anthropic, counter=approximate_counter()).grade is Grade.ESTIMATED


def test_a_plain_text_document_is_priced_as_its_text() -> None:
    def document(text: str) -> Any:
        part = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}}
        return count_request({"messages": [{"role": "user", "content": [part]}]}, dialect=anthropic, counter=words)

    assert document("a b c d").tokens - document("a").tokens == 3


def test_a_picture_in_a_result_is_priced_and_converted() -> None:
    from tests.assembler.dialects.test_blocks import PICTURES

    step = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "search", "input": {}}}]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c",
                    "content": [{**PICTURES["anthropic"], "width": 9, "height": 9}],
                }
            ],
        },
    ]
    context = (
        Assembler(Budget(context_window=9_000, model="claude-sonnet-4-5"))
        .add_capability(TOOLS)
        .add_messages(step)
        .build()
    )
    (result,) = context.request()["messages"][2]["content"]
    assert result["content"] == [PICTURES["anthropic"]]
    with_text = count_request(
        {"messages": [{"role": "user", "content": [PICTURES["anthropic"]]}]}, dialect=anthropic, counter=words
    )
    assert with_text.tokens == 4 + 2 + 1


def test_a_request_without_messages_is_an_error() -> None:
    with pytest.raises(ConversationError, match="list of messages"):
        anthropic.parse({"messages": "q"})


def test_the_url_of_a_picture_is_converted() -> None:
    part = {"type": "image_url", "image_url": {"url": "https://x.example/y.png"}}
    request = Assembler(dialect=anthropic).add_messages([{"role": "user", "content": [part]}]).build().request()
    assert request["messages"][0]["content"] == [
        {"type": "image", "source": {"type": "url", "url": "https://x.example/y.png"}}
    ]


def test_a_cache_mark_on_a_tool_of_another_form_stays() -> None:
    tool = {**TOOLS[0], "cache_control": MARK}
    request = Assembler(dialect=anthropic).add_capability([tool]).add_message(("user", "q")).build().request()
    assert request["tools"][0]["cache_control"] == MARK


def test_a_mark_on_a_tools_text_in_chats_form_goes_to_the_result_which_the_api_caches() -> None:
    """Gateways take it there. It was left out without a note."""
    texts = [{"type": "text", "text": text, "cache_control": {"type": "ephemeral", "ttl": "1h"}} for text in ("a", "b")]
    call = {"id": "c", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
    made = Assembler(dialect="anthropic").add_capability([{"name": "ask", "parameters": {"type": "object"}}])
    made.add_message({"role": "user", "content": "q"})
    made.add_message({"role": "assistant", "content": None, "tool_calls": [call]})
    context = made.add_message({"role": "tool", "tool_call_id": "c", "content": texts}).build()
    (result,) = context.request()["messages"][-1]["content"]
    assert result["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert result["content"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert context.notes() == ("1 cache mark(s) of another API left out",)
    assert verify(context.request(), dialect="anthropic") == []


@pytest.mark.parametrize("kind", ["tool_addition", "tool_removal"])
def test_a_system_message_in_the_middle_that_adds_or_removes_a_tool_is_sent_and_priced(kind: str) -> None:
    """Two recorded requests add a tool so. It was left out as a part that a system text cannot hold."""
    block = {"type": kind, "tool": {"type": "tool_reference", "name": "refund"}}
    history = [{"role": "user", "content": "Refund it."}, {"role": "system", "content": [block]}]
    request = {"messages": history, "max_tokens": 9}
    count = count_request(request, dialect="anthropic", model="claude-opus-4-8")
    without = count_request({**request, "messages": history[:1]}, dialect="anthropic", model="claude-opus-4-8")
    assert count.upper >= without.upper + 60
    assembler = Assembler(dialect="anthropic").add_messages([*history, {"role": "user", "content": "Go on."}])
    assert block in assembler.build().request()["messages"][0]["content"]


@pytest.mark.parametrize("model", ["claude-9", "a-model-of-nobody", "claude-sonnet-4-5", None])
def test_a_text_costs_as_much_as_a_list_of_that_text(model: str | None) -> None:
    """The bound of an unknown vocabulary was left out for messages of one text, which are priced in one call."""
    counts: Any = [
        count_request({"messages": [{"role": "user", "content": content}]}, dialect=anthropic, model=model)
        for content in ("What is it?", [{"type": "text", "text": "What is it?"}])
    ]
    assert counts[0] == counts[1]


SEARCHES: Dict = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND: Dict = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def test_a_turn_that_the_server_paused_is_sent_back_as_it_is_and_no_other_answer_may_end_a_conversation() -> None:
    asking = Assembler(Budget.for_model("claude-sonnet-5")).add_capability(
        [{"type": "web_search_20250305", "name": "web_search"}]
    )
    asking.add_message({"role": "user", "content": "q"}).build().request()
    paused: Dict = {"role": "assistant", "content": [{"type": "text", "text": "I search."}, SEARCHES]}
    ended: Dict = {"role": "assistant", "content": [SEARCHES, FOUND, {"type": "text", "text": "So."}]}
    for assembler in (asking.fork().add_message(paused), asking.fork().set_messages([*asking.messages, paused])):
        context = assembler.build()
        request = context.request()
        assert request["messages"][-1] == paused
        assert verify(request, dialect="anthropic", model="claude-sonnet-5") == []
        assert context.count == count_request(request, dialect="anthropic", model="claude-sonnet-5")
    with pytest.raises(ConversationError, match="ends with a user message"):
        asking.fork().add_message(ended).build()
