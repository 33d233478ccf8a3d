"""Models billed by a chat template on a host: found by name, summed by the rules, and bounded."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, count_request
from assembler.dialects import openai_chat
from assembler.dialects.hosts import families as hosted_families
from assembler.dialects.hosts.upstream import hosted_pricer
from budgets import Budget, Count, Grade, UnknownModelError, tiktoken_counter
from budgets.counters.open_models import open_model_counter

from ..drawn import histories

HOSTED = (
    "deepseek-v4-flash",
    "meta-llama/llama-4-maverick",
    "llama3-8b-8192",
    "qwen/qwen3-32b",
    "openai/gpt-oss-120b",
    "command-a-03-2025",
)
OTHERS = ("gpt-4o", "gpt-5", "o3-mini", "claude-opus-4-8", "mistral-large-latest", "novel-1", None)
USER = {"role": "user", "content": "q"}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}


def own(text: str) -> int:
    return len(re.findall(r"\w+|[^\w]+", text))


def tokens(model: str, *messages: dict[str, Any], **options: Any) -> int:
    request = {"messages": list(messages), **options}
    return count_request(request, dialect=openai_chat, model=model, counter=own).tokens


@pytest.mark.parametrize("model", HOSTED)
def test_a_hosted_model_has_its_own_price_list(model: str) -> None:
    assert hosted_pricer(model, own) is not None
    assert hosted_pricer(model.upper(), own) is not None


@pytest.mark.parametrize("model", OTHERS)
def test_any_other_model_has_none_of_these_price_lists(model: str | None) -> None:
    assert hosted_pricer(model, own) is None


@given(
    st.sampled_from(["deepseek", "llama", "qwen", "gpt-oss", "grok", "compound", "command", "gpt-4o", "o1", "x"]),
    st.text(),
)
def test_a_name_is_hosted_if_and_only_if_a_template_is_listed_for_it(stem: str, rest: str) -> None:
    try:
        hosted_families.family_of(stem + rest)
        listed = True
    except UnknownModelError:
        listed = False
    assert (hosted_pricer(stem + rest, own) is not None) is listed


def test_the_sum_of_a_request_is_that_of_the_published_table() -> None:
    """docs/how-it-counts-hosts.md: opening, a message, the texts."""
    assert tokens("deepseek-v4-flash", USER) == 3 + 1 + 1
    assert tokens("deepseek-v4-flash", USER, {"role": "assistant", "content": "a b"}, USER) == 3 + 2 * 2 + 3 + 3
    assert tokens("llama3-8b-8192", {"role": "system", "content": "s"}, USER) == 5 + 6 + 6
    assert tokens("llama-3.3-70b-versatile", {"role": "system", "content": "s"}, USER) == 30 + 1 + 6
    assert tokens("llama-3.3-70b-versatile", USER) == 30 + 6
    assert tokens("moonshotai/kimi-k2-instruct", USER) == 3 + 18 + 5
    assert tokens("moonshotai/kimi-k2-instruct", {"role": "system", "content": "s"}, USER) == 3 + 5 + 5
    assert tokens("openai/gpt-oss-120b", USER) == 67 + 4 + 1


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("deepseek/deepseek-chat", "deepseek-chat"),
        ("deepseek/deepseek-chat-v3-0324", "deepseek-v3"),
        ("deepseek/deepseek-chat-v3.1:free", "deepseek-v3.1"),
        ("deepseek/deepseek-v3.2-exp", "deepseek-chat"),
        ("deepseek-reasoner", "deepseek-chat"),
        ("grok-4-0709", "grok-4"),
        ("grok-4", "grok-4"),
        ("grok-4-1-fast-reasoning", "grok-4-fast"),
        ("grok-4.5-fast", "grok-4-unrecorded"),
        ("grok-4.3-latest", "grok-4.3"),
        ("gpt-oss-20b", "gpt-oss"),
        ("deepseek-r1-0528", "deepseek-v3"),
        ("kimi-k2-0905", "kimi-k2"),
        ("qwen3-max", "qwen-3"),
    ],
)
def test_a_version_in_the_name_decides_the_generation(model: str, family: str) -> None:
    assert hosted_families.family_of(model).name == family


def test_a_schema_that_a_host_hides_is_in_the_bound_alone() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    request = {"messages": [USER], "response_format": wanted}
    bare = count_request({"messages": [USER]}, dialect=openai_chat, model="openai.gpt-oss-20b-1:0", counter=own)
    counted = count_request(request, dialect=openai_chat, model="openai.gpt-oss-20b-1:0", counter=own)
    assert counted.tokens == bare.tokens
    assert counted.upper >= bare.upper + own('{"type": "object"}')


def test_command_frames_a_turn_of_calls_once_whatever_their_number() -> None:
    def turn(*ids: str) -> int:
        calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
        results = [{"role": "tool", "tool_call_id": one, "content": "r"} for one in ids]
        called = tokens("command-a-03-2025", USER, {"role": "assistant", "tool_calls": calls}, *results)
        return called - tokens("command-a-03-2025", USER)

    pair = 21 + 33 + own("f") + own("{}") + own('{"content": "r"}')
    assert turn("a") == 5 + 12 + pair
    assert turn("a", "b") == turn("a") + pair


def test_command_on_bedrock_is_billed_for_the_words_alone() -> None:
    asked = {"role": "user", "content": [{"text": "to be or not to be"}]}
    counted = count_request({"messages": [asked]}, dialect="bedrock", model="cohere.command-r-v1:0", counter=own)
    assert counted.tokens == own("to be or not to be") < counted.upper


def test_tools_that_may_not_be_called_are_free_if_the_template_leaves_them_out() -> None:
    bare = tokens("deepseek-v4-flash", USER)
    assert tokens("deepseek-v4-flash", USER, tools=[TOOL], tool_choice="none") == bare
    assert tokens("deepseek-v4-flash", USER, tools=[TOOL]) > bare + 221
    assert tokens("llama3-8b-8192", USER, tools=[TOOL], tool_choice="none") > tokens("llama3-8b-8192", USER)


@pytest.mark.parametrize("spelled", ["response_format", "text"])
def test_an_answer_schema_costs_its_text_in_either_form(spelled: str) -> None:
    schema = {"type": "object"}
    wanted: dict[str, Any] = {
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
        "text": {"format": {"type": "json_schema", "name": "x", "schema": schema}},
    }
    bare = tokens("grok-4.3", USER)
    assert tokens("grok-4.3", USER, **{spelled: wanted[spelled]}) == bare + 11 + own('{"type": "object"}')
    assert tokens("grok-4.3", USER, response_format={"type": "json_object"}) == bare + 11
    assert tokens("grok-4.3", USER, response_format={"type": "text"}) == bare


@given(histories(), st.sampled_from(HOSTED))
def test_a_build_costs_what_its_request_costs(history: list[dict[str, Any]], model: str) -> None:
    context = Assembler(Budget(10**6, model=model, counter=own), dialect=openai_chat).add_messages(history).build()
    counted = count_request(context.request(), dialect=openai_chat, model=model, counter=own)
    assert (counted.tokens, counted.upper) == (context.count.tokens, context.count.upper)
    assert counted.tokens <= counted.upper


def test_several_results_of_a_message_are_priced_as_messages_and_a_name_is_bounded() -> None:
    pricer = hosted_pricer("qwen/qwen3-32b", own)
    assert pricer is not None
    one, two = (
        [{"type": "tool_result", "tool_use_id": str(place), "content": "r"} for place in range(results)]
        for results in (1, 2)
    )
    from assembler.conversation.messages import read_message

    single, double = (pricer.message(read_message({"role": "user", "content": parts}, 0)) for parts in (one, two))
    assert double.tokens == 2 * single.tokens
    named = pricer.message(read_message({**USER, "name": "ann"}, 0))
    plain = pricer.message(read_message(USER, 0))
    assert (named.tokens, named.upper) == (plain.tokens, plain.upper + 1 + 2)


def test_a_model_is_counted_by_its_own_vocabulary_or_estimated_with_another() -> None:
    request = {"messages": [{"role": "user", "content": "SOME_CAPITALS 12345"}]}
    default = count_request(request, dialect=openai_chat, model="deepseek-v4-flash")
    assert count_request(request, dialect=openai_chat, model="deepseek-v4-flash", counter=tiktoken_counter()) == default
    assert default.grade is Grade.BOUNDED
    guessed = count_request(request, dialect=openai_chat, model="llama-3.3-70b", counter=tiktoken_counter())
    assert guessed.grade is Grade.ESTIMATED
    counted = count_request(request, dialect=openai_chat, model="llama-3.3-70b", counter=own)
    assert counted.grade is Grade.BOUNDED


ADDING: dict[str, Any] = {"role": "assistant", "content": None}
SUM = {"role": "tool", "tool_call_id": "1", "content": "3"}


def pictured(width: int, height: int) -> dict[str, Any]:
    picture = {"type": "image_url", "image_url": {"url": "https://a.test/p.png"}, "width": width, "height": height}
    return {"role": "user", "content": [{"type": "text", "text": "q"}, picture]}


@pytest.mark.parametrize("model", ["grok-4", "llama-4-scout", "kimi-k2.5", "gemma-3-27b-it", "qwen2.5-vl-72b-instruct"])
def test_a_picture_is_estimated_by_its_patches(model: str) -> None:
    def picture(message: dict[str, Any]) -> tuple[int, int]:
        seen, bare = (
            count_request({"messages": [one]}, dialect=openai_chat, model=model, counter=own) for one in (message, USER)
        )
        assert seen.grade is Grade.ESTIMATED
        return seen.tokens - bare.tokens, seen.upper - bare.upper

    assert picture(pictured(1, 1)) == (256, 2_600)
    assert picture(pictured(1_120, 560)) == (40 * 20, 2_600)
    assert picture(pictured(2_800, 1_401)) == (100 * 51, 2 * 100 * 51)
    assert picture(pictured(9_000, 9_000)) == (16_384, 16_384)
    unseen = {
        "role": "user",
        "content": [
            *pictured(1, 1)["content"][:1],
            {"type": "image_url", "image_url": {"url": "https://a.test/p.png"}},
        ],
    }
    assert picture(unseen) == (1_000, 16_384)


def called(arguments: str) -> dict[str, Any]:
    return {
        **ADDING,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}],
    }


@pytest.mark.parametrize(("model", "hidden"), [("grok-4.3", 301), ("grok-3-mini", 0)])
def test_the_bound_of_grok_4_3_includes_what_was_hidden_behind_reasoning_that_is_sent_back(
    model: str, hidden: int
) -> None:
    answer = {"role": "assistant", "content": "yes"}
    thought = {**answer, "reasoning_content": "The question is: q?"}
    bare, with_thought = (
        count_request({"messages": [USER, one, USER]}, dialect=openai_chat, model=model, counter=own)
        for one in (answer, thought)
    )
    assert with_thought.tokens == bare.tokens
    assert hidden <= with_thought.upper - bare.upper < hidden + 150


def test_the_order_of_a_definitions_keys_is_nothing_to_a_template_that_sorts_them() -> None:
    """5 of 7 recordings of Groq and 18 of Together and Azure fit definitions with sorted keys alone, as Jinja's own
    `tojson` writes them.
    """
    schemas: list[dict[str, Any]] = [{"type": "object", "properties": {"at": {"type": "array", "items": {}}}}]
    schemas.append({"properties": {"at": {"items": {}, "type": "array"}}, "type": "object"})
    for model in ("qwen/qwen3-32b", "DeepSeek-V3.1"):
        both = [
            count_request({"messages": [USER], "tools": [definition]}, dialect=openai_chat, model=model)
            for definition in [{"type": "function", "function": {"name": "look", "parameters": one}} for one in schemas]
        ]
        assert both[0] == both[1]


@pytest.mark.parametrize("model", ["grok-4-1-fast-non-reasoning", "azure/grok-4-1-fast-non-reasoning"])
def test_the_calls_of_a_turn_share_a_token_of_groks(model: str) -> None:
    """10 recordings of crmne/ruby_llm (MIT), of three calls at once."""
    call = called("{}")["tool_calls"][0]
    one, two = (
        {"role": "assistant", "content": None, "tool_calls": calls} for calls in ([call], [call, {**call, "id": "d"}])
    )
    assert tokens(model, USER, two, SUM, {**SUM, "tool_call_id": "d"}) - tokens(model, USER, one, SUM) == (
        tokens(model, USER, one, SUM) - tokens(model, USER) - 6 - 1
    )


def test_a_past_call_of_qwen_costs_cerebras_what_the_open_template_writes() -> None:
    groq, cerebras = (tokens(model, USER, called("{}"), SUM) for model in ("qwen/qwen3-32b", "qwen-3-32b"))
    assert groq - cerebras == 8  # two recordings of one project


def test_a_qwen_that_always_thinks_has_its_thought_begun() -> None:
    """Its open template ends in `<think>` and a line break: 4 recordings of one project show both tokens."""
    instruct, thinking = (tokens(f"qwen-3-235b-a22b-{kind}-2507", USER) for kind in ("instruct", "thinking"))
    assert thinking == instruct + 2


@pytest.mark.parametrize(("model", "each"), [("glm-4.6", 4), ("grok-3-mini", 6)])
def test_a_template_that_tags_arguments_bills_each_of_a_past_call(model: str, each: int) -> None:
    none, two = (tokens(model, USER, called(text), SUM) for text in ("[7, 7, 7]", '{"a": 7, "b": 7}'))
    assert two == none + 2 * each - own("[7, 7, 7]") + own('{"a": 7, "b": 7}')
    assert tokens(model, USER, called("{not json"), SUM) < two
    assert tokens("qwen3-32b", USER, called("{1: 2"), SUM) == tokens("qwen3-32b", USER, called('{"1": 2}'), SUM) - 1


@pytest.mark.parametrize(
    ("model", "opening"),
    [
        ("grok-2-1212", 2),
        ("grok-3-mini-high", 3),
        ("x-ai/grok-4-0709", 680),
        ("grok-4-fast-reasoning", 152),
        ("grok-4-1-fast-non-reasoning", 164),
        ("grok-code-fast-1", 200),
        ("grok-4.3", 188),
    ],
)
def test_every_generation_of_grok_has_a_hidden_prompt_of_its_own(model: str, opening: int) -> None:
    assert tokens(model, USER) == opening + 4 + 1


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("llama3-70b-8192", "llama-3"),
        ("meta-llama/Meta-Llama-3-8B-Instruct-Turbo", "llama-3"),
        ("llama-3.1-8b-instant", "llama-3.1"),
        ("us.meta.llama3-3-70b-instruct-v1:0", "llama-3-bedrock"),
        ("llama-3.3-70b-versatile", "llama-3.3"),
        ("accounts/fireworks/models/llama-v3p1-8b-instruct", "llama-3-open"),
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo-Free", "llama-3-open"),
        ("ollama/llama3.2", "llama-3-open"),
        ("llama3.1-8b", "llama-3.1"),
        ("deepseek-r1-distill-llama-70b", "deepseek-r1-distilled"),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek-v3.1"),
        ("deepseek-v3.2-exp", "deepseek-chat"),
        ("grok-4.20", "grok-4-unrecorded"),
        ("zai/glm-4.6", "glm-4.5"),
        ("accounts/fireworks/models/glm-4p6", "glm-4.5"),
        ("zai-glm-4.7", "glm"),
        ("glm-5.1", "glm-5-unrecorded"),
        ("glm-4-plus", "glm-4"),
        ("THUDM/glm-4-9b-chat", "glm-4"),
        ("openrouter/qwen/qwen-2.5-72b-instruct", "qwen-2.5"),
        ("openrouter/meta-llama/llama-4-scout", "llama-4-fp8"),
        ("azure/Kimi-K2.5", "kimi-k2.5"),
        ("openrouter/moonshotai/kimi-k2.5", "kimi-k2.5"),
        ("openrouter/moonshotai/kimi-k2-0905", "kimi-k2"),
    ],
)
def test_a_model_name_finds_its_own_generation(model: str, family: str) -> None:
    assert hosted_families.family_of(model.lower()).name == family


def deepseek(model: str = "deepseek-v4-flash", **options: Any) -> Count:
    return count_request({"messages": [USER], **options}, dialect=openai_chat, model=model)


ON, OFF = {"type": "enabled"}, {"type": "disabled"}
EFFORT = (
    "Reasoning Effort: Absolute maximum with no shortcuts permitted.\nYou MUST be very thorough in your thinking and "
    "comprehensively decompose the problem to resolve the root cause, rigorously stress-testing your logic against all "
    "potential paths, edge cases, and adversarial scenarios.\nExplicitly write out your entire deliberation process, "
    "documenting every intermediate step, considered alternative, and rejected hypothesis to ensure absolutely no "
    "assumption is left unchecked.\n\n"
)
"""What DeepSeek V4's open encoder of 2026-07-31 puts before a request to think with high effort (MIT, read 2026-11)."""


def test_thinking_costs_the_words_that_the_encoder_puts_before_the_request() -> None:
    words = open_model_counter("deepseek-v4-flash")(EFFORT)
    assert deepseek(tools=[TOOL], thinking=ON).tokens == deepseek(tools=[TOOL]).tokens + words
    assert deepseek(thinking=ON).tokens == deepseek(thinking=OFF).tokens
    assert deepseek(thinking=ON).upper >= deepseek(thinking=OFF).tokens + words


def test_a_model_that_thinks_unasked_has_the_words_for_it_in_its_bound() -> None:
    """Recorded by 0xPlaygrounds/rig (MIT): a request without `thinking` was billed 89, of which 79 are these words."""
    asked = {"role": "user", "content": "Reply with exactly: identity probe"}
    counted = count_request({"messages": [asked]}, dialect=openai_chat, model="deepseek-v4-flash")
    assert counted.tokens == 89 - 79
    assert counted.upper >= 89
    assert deepseek("deepseek-chat").upper < deepseek("deepseek-chat").tokens + 79


@pytest.mark.parametrize("effort", ["none", "minimal", "low"])
def test_little_effort_costs_no_words(effort: str) -> None:
    least = deepseek(tools=[TOOL], thinking=OFF)
    assert deepseek(tools=[TOOL], thinking=OFF) == deepseek(tools=[TOOL], thinking=ON, reasoning_effort=effort) == least


def test_the_price_of_responses_includes_the_words_unless_thinking_is_disabled() -> None:
    def items(**options: Any) -> int:
        request = {"input": [USER], **options}
        return count_request(request, dialect="openai_responses", model="deepseek-v4-flash").tokens

    assert items() == deepseek().tokens + 79
    assert items(reasoning={"effort": "none"}) == items(thinking=OFF) == deepseek().tokens


@pytest.mark.parametrize("model", ["deepseek-v4-flash", "grok-3-mini", "glm-5", "qwen/qwen3-32b"])
def test_reasoning_of_a_past_answer_is_in_the_bound_alone(model: str) -> None:
    bare = {"role": "assistant", "content": "Three."}
    thought = {**bare, "reasoning_content": "One and two are three, so I will say three. " * 5}
    silent, loud = (
        count_request({"messages": [USER, one, USER]}, dialect=openai_chat, model=model) for one in (bare, thought)
    )
    assert loud.tokens == silent.tokens
    assert loud.upper >= silent.upper + 50


@pytest.mark.parametrize("model", ["qwen3:8b", "llama3.2", "deepseek-v3", "kimi-k2"])
def test_texts_before_and_after_a_result_are_two_items_on_responses(model: str) -> None:
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "a", "content": "r"}
    before, after = ({"type": "text", "text": text} for text in ("before", "after"))
    history = [
        USER,
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [before, answer, after]},
    ]
    context = Assembler(Budget(10_000, model=model), dialect="openai_responses").add_messages(history).build()
    assert count_request(context.request(), dialect="openai_responses", model=model) == context.count


def test_an_unsent_empty_text_beside_a_call_changes_no_grade() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history = [
        USER,
        {"role": "assistant", "content": "", "tool_calls": [call]},  # Responses is sent the call alone
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
    ]
    budget = Budget(10_000, model="gpt-oss-20b")
    context = Assembler(budget, dialect="openai_responses").add_messages(history).build()
    assert context.count.grade is Grade.BOUNDED
    assert context.count == count_request(context.request(), dialect="openai_responses", model="gpt-oss-20b")


def test_gpt_oss_gets_declarations_of_tools_and_kimi_gets_json() -> None:
    harmony, json_text = (
        tokens(model, USER, tools=[TOOL]) - tokens(model, USER) for model in ("openai/gpt-oss-20b", "kimi-k2-instruct")
    )
    assert harmony <= 27 + own("// d\ntype f = () => any;") + 3
    assert json_text > 20 + own('{"name": "f", "description": "d", "parameters": {"type": "object"}}') - 3


WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "the city"}},
            "required": ["city"],
        },
    },
}
CALLING = {"name": "get_weather", "arguments": '{"city": "Florence, Italy"}'}
ASKED: list[dict[str, Any]] = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "What is the weather in Florence, Italy?"},
]
ANSWERED: list[dict[str, Any]] = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": CALLING}]},
    {"role": "tool", "tool_call_id": "c", "content": "40 C"},
]
RENDERED: list[tuple[str, list[dict[str, Any]], list[dict[str, Any]], int]] = [
    ("zai/glm-4.5", ASKED[1:], [], 14),
    ("zai/glm-4.5", ASKED, [], 20),
    ("zai/glm-4.6", ASKED, [WEATHER], 184),
    ("zai/glm-4.6", ASKED + ANSWERED, [WEATHER], 213),
    ("zai/glm-4.7", ASKED[1:], [], 14),
    ("zai/glm-4.7", ASKED, [], 19),
    ("zai/glm-5", ASKED, [WEATHER], 179),
    ("zai/glm-5", ASKED + ANSWERED, [WEATHER], 199),
]
"""GLM's open templates (zai-org/GLM-4.5 and -4.7, chat_template.jinja), rendered and counted by cl100k_base, with each
tag as one token, as `added_tokens_decoder` has them."""


@pytest.mark.parametrize(("model", "messages", "tools", "rendered"), RENDERED)
def test_a_request_to_glm_costs_what_its_open_template_renders(
    model: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]], rendered: int
) -> None:
    count = count_request({"messages": messages, "tools": tools}, dialect=openai_chat, model=model)
    assert abs(count.tokens - rendered) <= 1
    assert rendered <= count.upper
    assert count.grade is Grade.ESTIMATED


@pytest.mark.parametrize("model", ["deepseek/deepseek-chat-v3.1", "qwen/qwen3-32b", "z-ai/glm-4.6"])
def test_an_open_model_on_a_gateway_that_chooses_the_host_has_a_wider_bound(model: str) -> None:
    request = {"messages": ASKED + ANSWERED, "tools": [WEATHER]}
    known, any_host = (
        count_request(request, dialect=openai_chat, model=name) for name in (model, f"openrouter/{model}")
    )
    assert any_host.tokens == known.tokens
    assert any_host.upper >= known.upper + 40
    assert any_host.grade is Grade.ESTIMATED
