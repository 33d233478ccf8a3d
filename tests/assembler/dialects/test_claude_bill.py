"""Claude's requests cost what was billed for them, and every generation obeys the same laws."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from assembler import Assembler, count_request
from assembler.conversation.messages.message import Call, Message, Opaque, Part, Result, Role, Thinking
from assembler.dialects import anthropic, bedrock
from assembler.dialects.anthropic import pricing as claude
from assembler.dialects.anthropic.families import FAMILIES, Family, family_of
from assembler.dialects.anthropic.system_text import price_system
from assembler.pricing.pricer import Has
from assembler.regions.tools.tool import Tool
from budgets import Budget, Count, Grade, claude_counter, tiktoken_counter, toktok_counter
from tests.assembler.decorated import PNG

SONNET = "claude-sonnet-4-5"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def words(text: str) -> int:
    return len(text.split())


def message(role: Role, *parts: Part) -> Message:
    return Message(role=role, parts=parts, raw=None, shape="test", seen=None)


def tool(name: str, description: str = "", **extra: Any) -> Tool:
    return Tool(name=name, description=description, parameters={}, raw=None, extra=extra)


# ── what was billed: public test recordings of crmne/ruby_llm, pydantic/pydantic-ai, tidyverse/ellmer (MIT), 2026-11 ──


@pytest.mark.parametrize(
    ("model", "text", "billed"),
    [
        ("claude-haiku-4-5-20251001", "What is the capital of France?", 14),
        ("claude-haiku-4-5-20251001", "Reply with exactly: FOUR", 13),
        ("claude-opus-4-6", "What is 2+2?", 14),
        ("claude-3-5-haiku-20241022", "Say hello there!", 11),
        ("claude-opus-4-7", "What is 2+2?", 18),
    ],
)
def test_a_question_costs_what_was_billed_for_it(model: str, text: str, billed: int) -> None:
    price = count_request({"messages": [{"role": "user", "content": text}]}, dialect=anthropic, model=model)
    assert price.tokens == billed
    assert price.upper <= billed + 4
    assert price.grade is Grade.BOUNDED


@pytest.mark.parametrize("place", [anthropic, bedrock])
def test_the_prompt_for_thinking_is_billed_in_every_place_that_enables_it(place: Any) -> None:
    wanted = {"type": "enabled", "budget_tokens": 1024}
    content: Any = "q" if place is anthropic else [{"text": "q"}]
    request: dict[str, Any] = {"messages": [{"role": "user", "content": content}]}
    key = {"thinking": wanted} if place is anthropic else {"additionalModelRequestFields": {"thinking": wanted}}
    plain = count_request(request, dialect=place, model=SONNET)
    assert count_request({**request, **key}, dialect=place, model=SONNET).tokens - plain.tokens == 29


@pytest.mark.parametrize(
    ("choice", "more"),
    [({"auto": {}}, 0), ({"any": {}}, 588 - 496), ({"tool": {"name": "search"}}, 590 - 496 + 1), (None, 0)],
)
def test_converse_bills_the_tool_that_must_be_called(choice: Any, more: int) -> None:
    config: dict[str, Any] = {"tools": [{"toolSpec": {"name": "search", "inputSchema": {"json": {"type": "object"}}}}]}
    request = {"messages": [{"role": "user", "content": [{"text": "q"}]}], "toolConfig": config}
    plain = count_request(request, dialect=bedrock, model=SONNET)
    asked = {**request, "toolConfig": {**config, "toolChoice": choice} if choice else config}
    assert count_request(asked, dialect=bedrock, model=SONNET).tokens - plain.tokens == more


SORTED: dict[str, Any] = {
    "properties": {"a": {"enum": ["x"], "type": "string"}, "b": {"type": "integer"}},
    "type": "object",
}
AS_WRITTEN: dict[str, Any] = {
    "type": "object",
    "properties": {"b": {"type": "integer"}, "a": {"type": "string", "enum": ["x"]}},
}


CITING: dict[str, Any] = {"citations": {"enabled": True}}
NOTE: dict[str, Any] = {"type": "text", "media_type": "text/plain", "data": "Grass is green."}
CITED_PARTS: dict[str, tuple[dict[str, Any], str]] = {
    "a document of Anthropic's": ({"type": "document", "source": NOTE, **CITING}, "anthropic"),
    "a search result of Anthropic's": (
        {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "a"}], **CITING},
        "anthropic",
    ),
    "a document of Converse's": (
        {"document": {"format": "txt", "name": "n", "source": {"text": "Grass is green."}, **CITING}},
        "bedrock",
    ),
    "a search result of Converse's": (
        {"searchResult": {"source": "s", "title": "t", "content": [{"text": "a"}], **CITING}},
        "bedrock",
    ),
}


@pytest.mark.parametrize(
    ("dialect", "model"),
    [
        ("anthropic", "claude-sonnet-4-5"),
        ("bedrock", "anthropic.claude-sonnet-4-5"),
        ("openai_chat", "anthropic/claude-sonnet-4.5"),
    ],
)
@pytest.mark.parametrize("part", CITED_PARTS)
def test_the_prompt_that_asks_for_citations_is_priced_where_it_is_sent(part: str, dialect: str, model: str) -> None:
    spelled, home = CITED_PARTS[part]

    def conversation(given: dict[str, Any]) -> int:
        asked = {"role": "user", "content": [given, {"text": "q"} if home == "bedrock" else {**TEXT, "text": "q"}]}
        return Assembler(Budget(100_000, model=model), dialect=dialect).add_message(asked).costs().conversation

    more = conversation(spelled) - conversation(_without_citations(spelled))
    assert (more > 500) == (dialect == home)


TEXT = {"type": "text"}


def _without_citations(part: dict[str, Any]) -> dict[str, Any]:
    held: dict[str, Any] = part.get("document") or part.get("searchResult") or part
    bare = {key: value for key, value in held.items() if key != "citations"}
    return bare if held is part else dict.fromkeys(part, bare)


@pytest.mark.parametrize("schema", [SORTED, AS_WRITTEN])
def test_a_definition_costs_its_json_with_its_keys_in_alphabetical_order(schema: dict[str, Any]) -> None:
    tools: list[dict[str, Any]] = [{"name": "look", "description": "Looks.", "input_schema": schema}]
    request: dict[str, Any] = {"messages": [{"role": "user", "content": "q"}]}
    plain, tooled = (
        count_request(one, dialect=anthropic, model=SONNET) for one in (request, {**request, "tools": tools})
    )
    shown = {"description": "Looks.", "name": "look", "parameters": SORTED}
    assert tooled.tokens - plain.tokens == 496 + 6 + claude_counter(SONNET)(json.dumps(shown))


@pytest.mark.parametrize("name", ["look", "_look", "__structured_output__", "", '"'])
def test_a_forced_tool_costs_its_name_counted_after_a_quotation_mark(name: str) -> None:
    count = claude_counter(SONNET)
    choice = claude.Choice(type="tool", name=name)
    family = family_of(SONNET)
    quoted = claude.price_tooling([tool(name)], family, count, choice=choice).tokens - family.prompts.named.tokens
    assert quoted == max(0, count(f'"{name}') - count('"'))


def test_converse_bills_the_prompt_that_asks_for_citations_of_a_search_result() -> None:
    found = {"title": "Ruby", "source": "https://example.com", "content": [{"text": "By Matsumoto."}]}
    asked: dict[str, Any] = {"toolUse": {"toolUseId": "t1", "name": "search", "input": {}}}

    def priced(**settings: object) -> int:
        result = {"toolResult": {"toolUseId": "t1", "content": [{"searchResult": {**found, **settings}}]}}
        turns: list[list[dict[str, Any]]] = [[{"text": "Who?"}], [asked], [result]]
        messages = [{"role": ("user", "assistant")[at % 2], "content": turn} for at, turn in enumerate(turns)]
        return count_request({"messages": messages}, dialect=bedrock, model=SONNET).tokens

    assert priced(citations={"enabled": True}) - priced() > 500 > priced(citations={"enabled": False}) - priced()


@pytest.mark.parametrize("schema", ['{"type": "object"}', "{", 5, None])
def test_converse_bills_an_answer_format_that_it_can_read(schema: Any) -> None:
    request: dict[str, Any] = {"messages": [{"role": "user", "content": [{"text": "q"}]}]}
    wanted = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"schema": schema}}}}
    plain = count_request(request, dialect=bedrock, model=SONNET)
    more = count_request({**request, "outputConfig": wanted}, dialect=bedrock, model=SONNET).tokens - plain.tokens
    assert more > 81 if schema == '{"type": "object"}' else more == 0


@pytest.mark.parametrize(
    ("model", "before", "running"),
    [("claude-sonnet-4-5", 0, 11), ("claude-3-7-sonnet-20250219", 0, 11), ("claude-opus-4-6", 34, 34)],
)
def test_past_reasoning_is_free_up_to_claude_4_5_and_billed_in_a_tool_loop(
    model: str, before: int, running: int
) -> None:
    family = family_of(model)
    thought, call = Thinking("what to do now", {}), Call("c", "look", "{}", given={})

    def more(*parts: Part) -> int:
        bare = claude.price_message(message("assistant", *parts), family, words)
        return claude.price_message(message("assistant", thought, *parts), family, words).tokens - bare.tokens

    assert more("said") == before
    assert more(call) == running


def test_unreadable_reasoning_is_estimated_if_it_is_billed() -> None:
    hidden = message("assistant", Thinking("", {"signature": "x" * 2_000}), "said")
    assert claude.price_message(hidden, family_of("claude-opus-4-7"), words).upper > 1_000
    assert claude.price_message(hidden, family_of(SONNET), words).upper < 10


@pytest.mark.parametrize(
    ("model", "sealed", "billed"),
    [
        ("claude-sonnet-4-6", 1_232, 305),
        ("claude-sonnet-4-6", 1_468, 379),
        ("claude-sonnet-4-6", 396, 39),
        ("claude-opus-4-7", 676, 182),
        ("claude-opus-4-7", 332, 39),
    ],
)
@pytest.mark.parametrize("text", ["", "a summary of it"])
def test_reasoning_costs_what_the_length_of_its_signature_tells(
    model: str, sealed: int, billed: int, text: str
) -> None:
    """Recorded by 0xPlaygrounds/rig: what the same requests cost with this reasoning and without."""
    seal = "s" * sealed
    raws: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": text, "signature": seal},
        {"type": "redacted_thinking", "data": seal},
        {"reasoningContent": {"reasoningText": {"text": text, "signature": seal}}},
        {"reasoningContent": {"redactedContent": seal}},
        {"reasoningContent": {"redactedContent": b"s" * (sealed * 3 // 4)}},
    ]
    family = family_of(model)
    bare = claude.price_message(message("assistant", "said"), family, words)
    for raw in raws:
        priced = claude.price_message(message("assistant", Thinking(text, raw), "said"), family, words)
        assert priced.tokens - bare.tokens == pytest.approx(billed, abs=3)
        assert priced.upper - bare.upper >= billed


# ── the laws ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-2.1", "claude-2"),
        ("claude-3-opus-20240229", "claude-3-opus"),
        ("claude-3-5-sonnet-20240620", "claude-3.5-sonnet-june"),
        ("claude-3-5-sonnet-20241022", "claude-3.5-sonnet"),
        ("claude-3-7-sonnet-latest", "claude-3.5-sonnet"),
        ("claude-sonnet-4-20250514", "claude-4"),
        ("claude-opus-4-1", "claude-4"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-4.5"),
        ("claude-sonnet-4-5@20250929", "claude-4.5"),
        ("anthropic/claude-opus-4.6", "claude-opus-4.6"),
        ("claude-sonnet-4-6", "claude-4.6"),
        ("claude-opus-4-7", "claude-4.7"),
        ("claude-opus-4-8", "claude-4.8"),
        ("claude-sonnet-5", "claude-5"),
        # The version may stand before the size, and some write it with a dot.
        ("claude-4.5-sonnet", "claude-4.5"),
        ("claude-4-6-opus", "claude-opus-4.6"),
        ("claude-4.6-sonnet", "claude-4.6"),
        ("claude-4-sonnet", "claude-4"),
        ("claude-sonnet-3.7", "claude-3.5-sonnet"),
        ("claude-opus-3", "claude-3-opus"),
        ("claude-5.0-opus", "claude-opus-5"),
        ("claude-5-sonnet", "claude-5"),
        ("claude-opus-5-20260701", "claude-opus-5"),
        ("~anthropic/claude-sonnet-latest", "claude-5-unrecorded"),
        ("claude-opus-6", "unknown"),
        ("glm-4.6", "unknown"),
        ("something-else", "unknown"),
        (None, "claude-5"),
    ],
)
def test_a_name_finds_its_generation(model: str | None, name: str) -> None:
    assert family_of(model).name == name


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_generation_names_its_evidence_and_a_counter_of_its_own(family: Family) -> None:
    assert family.evidence.read == "2026-11"
    assert claude_counter(family.generation).generation == family.generation
    assert family.prompts.any.tokens <= family.prompts.named.tokens


@pytest.mark.parametrize("counter", [None, tiktoken_counter(), tiktoken_counter("cl100k_base"), toktok_counter()])
@pytest.mark.parametrize("model", [SONNET, None])
def test_a_counter_of_openais_vocabularies_is_replaced_by_claudes(counter: Any, model: str | None) -> None:
    request = {"messages": [{"role": "user", "content": "ab" * 500}]}
    own = claude_counter("claude-3" if model else "claude-4.8")
    expected = count_request(request, dialect=anthropic, model=model, counter=own)
    assert count_request(request, dialect=anthropic, model=model, counter=counter) == expected


def test_the_budget_of_a_claude_model_counts_as_claude_does() -> None:
    budget = Budget.for_model("claude-sonnet-4-5")
    assert budget.token_counter.name == "reconstructed:claude-3"
    assert budget.token_counter is Budget.for_model("claude-opus-4-1").token_counter
    assert "reconstruction" in budget.token_counter.notes[0]
    assert Budget(9_000, model="us.anthropic.claude-opus-4-8-v1:0").token_counter.name == "reconstructed:claude-4.8"


def test_tools_add_a_hidden_prompt_once() -> None:
    family = family_of(SONNET)
    assert claude.price_tooling([], family, words) == Count(0)
    assert claude.price_tooling([tool("a")], family, words) == claude.price_tooling(
        [tool("a"), tool("b")], family, words
    )


def test_a_forced_tool_rules_out_the_price_of_thinking() -> None:
    family = family_of("claude-opus-4-6")
    forced = claude.price_options(family, words, Has.TOOLS, thinking="adaptive", choice=claude.Choice(type="any"))
    assert forced == Count(0)


def test_a_system_text_has_a_framing_beside_tools() -> None:
    family = family_of(SONNET)
    assert price_system(family, Has.TOOLS) == Count(0)
    assert price_system(family, Has.SYSTEM).tokens == 0
    assert price_system(family, Has.SYSTEM | Has.TOOLS).tokens == 1


def test_the_bound_of_thinking_beside_tools_includes_interleaving_which_only_a_header_enables() -> None:
    priced = claude.price_options(family_of(SONNET), words, Has.TOOLS, thinking="enabled")
    assert priced.upper - priced.tokens >= 148


def test_a_deferred_tool_is_free_until_it_is_loaded() -> None:
    family = family_of("claude-sonnet-4-6")
    assert claude.price_tool(tool("later", defer_loading=True), family, words) == Count(0)
    loaded = Result("1", (Opaque("tool_reference", {"type": "tool_reference", "tool_name": "later"}),))
    plain = Result("1", (Opaque("other", {"type": "tool_reference", "tool_name": "later"}),))
    dearer = claude.price_message(message("user", loaded), family, words)
    assert dearer.upper > claude.price_message(message("user", plain), family, words).upper


def test_an_empty_description_is_not_written() -> None:
    family = family_of(SONNET)
    assert claude.price_tool(tool("a", ""), family, len).tokens < claude.price_tool(tool("a", " "), family, len).tokens


def test_parallel_calls_name_their_tools_again() -> None:
    family = family_of(SONNET)
    call = Call("1", "look", "{}", given={})
    one = claude.price_message(message("assistant", call), family, words).tokens - family.message.tokens
    two = claude.price_message(message("assistant", call, call), family, words).tokens - family.message.tokens
    assert two == 2 * one + 24 - 2 * 4 + 2 * 1


def test_arguments_cost_the_same_as_an_object_and_as_json() -> None:
    family = family_of(SONNET)
    given = Call("1", "look", '{"a":1,"b":2}', given={"a": 1, "b": 2})
    read = Call("1", "look", '{"a":1,"b":2}')
    broken = Call("1", "look", '{"a":')
    prices = [claude.price_message(message("assistant", call), family, words) for call in (given, read, broken)]
    assert prices[0] == prices[1]
    assert prices[2].tokens < prices[1].tokens


def test_a_failed_result_costs_more_than_the_same_text() -> None:
    family = family_of(SONNET)
    fine, failed = (claude.price_message(message("user", Result("1", ("no",), error=e)), family, words) for e in (0, 1))
    assert failed.tokens - fine.tokens == 8


@pytest.mark.parametrize("model", [SONNET, "claude-opus-4-8"])
def test_results_cost_in_a_build_what_they_cost_in_the_request_that_is_sent(model: str) -> None:
    def call(name: str) -> dict[str, Any]:
        return {"id": name, "type": "function", "function": {"name": name, "arguments": '{"a": "x"}'}}

    answers = [{"role": "tool", "tool_call_id": name, "content": f"result {name}"} for name in "fg"]
    history: list[Any] = [("user", "q"), {"role": "assistant", "tool_calls": [call("f"), call("g")]}, *answers]
    for messages in (history, [*history, ("user", "and then?")]):
        tools = [{"name": name, "parameters": {"type": "object"}} for name in "fg"]
        base = Assembler(Budget(100_000, model=model), dialect=anthropic).add_capability(tools)
        context = base.add_messages(messages).build()
        assert count_request(context.request(), dialect=anthropic, model=model).tokens == context.count.tokens


@pytest.mark.parametrize(("model", "free"), [(SONNET, True), ("claude-opus-4-6", False)])
def test_reasoning_of_a_tool_loop_is_billed_until_the_next_question(model: str, free: bool) -> None:
    def history(*thoughts: Any) -> list[Any]:
        return [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [*thoughts, {"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]},
        ]

    def more(*later: Any) -> int:
        thought = {"type": "thinking", "thinking": "what shall I do now", "signature": "s"}
        tools = [{"name": "f", "input_schema": {"type": "object"}}]
        bodies = [{"tools": tools, "messages": [*history(*thoughts), *later]} for thoughts in ((thought,), ())]
        whole, bare = (count_request(body, dialect=anthropic, model=model).tokens for body in bodies)
        return whole - bare

    answered = [{"role": "assistant", "content": "done"}, {"role": "user", "content": "and now?"}]
    assert more() > 10
    assert more(*answered) == (0 if free else more())


def test_a_conversation_that_the_assistant_begins_costs_a_turn_before_it() -> None:
    """Recorded by activeagents/activeagent and pydantic/pydantic-ai: 12 more than the messages."""
    messages = [{"role": "assistant", "content": "one"}, {"role": "user", "content": "two"}]
    begun = count_request({"messages": messages}, dialect=anthropic, model=SONNET)
    asked = count_request({"messages": [messages[1], messages[0], messages[1]]}, dialect=anthropic, model=SONNET)
    assert begun.tokens - asked.tokens == 12 - (3 + 1)


SUMS = ["What is 3+2 ?", "What is 5+5 ?", "What is 5+7 ?"]
"""llmrb/llm (0BSD), spec/fixtures/cassettes/anthropic/chat, read 2026-11: with the words below billed 74."""
ASKED_LAST = (
    "Keep your answers short and concise, and provide three answers to the three questions. There should be one answer "
    "per line. An answer should be a number, for example: 5. Nothing else"
)


def test_user_words_after_user_words_cost_less_than_a_turn_of_their_own() -> None:
    asked = [{"role": "user", "content": text} for text in (*SUMS, ASKED_LAST)]
    price = count_request({"messages": asked}, dialect=anthropic, model="claude-sonnet-4-20250514")
    assert price.tokens == 74
    assert price.upper >= 74 + 3 * 2  # where they are turns of their own


@pytest.mark.parametrize(
    ("maker", "model", "least"), [("openai", "gpt-4o", 85 + 170), ("google", "gemini-2.5-flash", 258), ("any", "x", 6)]
)
def test_a_small_picture_for_another_makers_model_is_bounded_by_what_that_maker_bills(
    maker: str, model: str, least: int
) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    request = {"messages": [{"role": "user", "content": [{"type": "image", "source": source}]}]}
    price = count_request(request, dialect=anthropic, model=model)
    assert price.tokens >= least
    assert price.upper >= max(least, 2_600 if maker == "any" else 0)


def test_words_beside_a_picture_after_results_cost_more_than_a_turn_of_their_own() -> None:
    call = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
    found = {"type": "tool_result", "tool_use_id": "c", "content": "12"}
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    blocks = [{"type": "text", "text": "And this?"}, picture]
    start = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": [call]}]

    def priced(*messages: dict[str, Any]) -> Count:
        request = {"messages": [*start, *messages], "tools": [{"name": "look", "input_schema": {"type": "object"}}]}
        return count_request(request, dialect=anthropic, model=SONNET)

    apart = priced({"role": "user", "content": [found]}, {"role": "user", "content": blocks})
    assert apart == priced({"role": "user", "content": [found, *blocks]})


@pytest.mark.parametrize("together", [True, False])
def test_user_words_after_results_cost_more_than_a_turn_of_their_own(together: bool) -> None:
    call: dict[str, Any] = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
    found = {"type": "tool_result", "tool_use_id": "c", "content": "12"}
    block = {"type": "text", "text": "And now?"}
    results = [{"role": "user", "content": [found, block]}] if together else [{"role": "user", "content": [found]}]
    start: list[dict[str, Any]] = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": [call]}]

    def priced(*messages: dict[str, Any]) -> int:
        request = {"messages": [*start, *messages], "tools": [{"name": "look", "input_schema": {"type": "object"}}]}
        return count_request(request, dialect=anthropic, model=SONNET).tokens

    words_alone = claude_counter(SONNET)("And now?") + family_of(SONNET).message.tokens
    behind = results if together else [*results, {"role": "user", "content": [block]}]
    assert priced(*behind) == priced({"role": "user", "content": [found]}) + words_alone + 2


def test_the_billing_header_of_the_agent_sdk_is_in_the_bound_alone() -> None:
    header = {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.113.92d; cc_entrypoint=sdk-ts;"}
    asked = {"messages": [{"role": "user", "content": "q"}]}
    rest = [{"type": "text", "text": "You are a Claude agent."}]
    silent, loud = (
        count_request({**asked, "system": system}, dialect=anthropic, model=SONNET)
        for system in (rest, [header, *rest])
    )
    assert loud.tokens == silent.tokens
    assert loud.upper >= silent.upper + 20


@pytest.mark.parametrize("model", ["glm-4.6", "kimi-k2-0905", "claude-opus-6", "something-else"])
def test_an_unrecorded_model_on_converse_is_estimated_with_a_margin_for_another_template(model: str) -> None:
    request = {"messages": [{"role": "user", "content": "q"}], "tools": [{"name": "f", "input_schema": {}}]}
    price, newest = (count_request(request, dialect=anthropic, model=name) for name in (model, "claude-sonnet-5"))
    assert price.grade is Grade.ESTIMATED
    assert price.upper >= newest.upper + 700


@pytest.mark.parametrize("as_blocks", [False, True])
def test_blanks_at_the_beginning_of_the_system_text_are_counted_in_their_place(as_blocks: bool) -> None:
    # tidyverse/ellmer (MIT), a recorded request to claude-sonnet-4, billed 61 tokens, read 2026-11
    system = "\n  You are an expert R programmer who prefers the tidyverse.\n"
    asked = (
        "\n  How can I compute the mean and median of variables a, b, c, and so on,\n"
        "  all the way up to z, grouped by age and sex.\n"
    )
    request = {
        "system": [{"type": "text", "text": system}] if as_blocks else system,
        "messages": [{"role": "user", "content": asked}],
    }
    assert count_request(request, dialect="anthropic", model="claude-sonnet-4-20250514").tokens == 61
    built = Assembler(Budget(1_000, model="claude-sonnet-4-20250514"), dialect=anthropic).set_instruction(system)
    assert built.set_messages([{"role": "user", "content": asked}]).build().count.tokens == 61
