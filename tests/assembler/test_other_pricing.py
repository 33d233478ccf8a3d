"""Prices for hidden or foreign tokenizers: sums and bounds hold, and samples match."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler.conversation.messages.message import Call, Media, Message, Opaque, Part, Result, Role, Thinking
from assembler.dialects.anthropic import families as claude_families
from assembler.dialects.anthropic import pricing as claude
from assembler.dialects.gemini import families as gemini_families
from assembler.dialects.gemini import pricing as gemini
from assembler.dialects.hosts import families as hosted_families
from assembler.dialects.hosts import harmony
from assembler.dialects.hosts import pricing as hosted
from assembler.dialects.hosts.families import FAMILIES
from assembler.dialects.mistral import families as mistral_families
from assembler.dialects.mistral import pricing as mistral
from assembler.dialects.openai.tool_text import count_unsettled, tool_text
from assembler.dialects.prices.tool_schemas import WRITTEN_AGAIN
from assembler.errors import UnsupportedContentError
from assembler.regions.tools.tool import Tool
from budgets import tiktoken_counter
from budgets.count import Count, Grade, total
from budgets.counters.by_model import shared_vocabulary
from budgets.errors import UnknownModelError
from tests.scaled import scaled

texts = st.text(
    st.one_of(
        st.characters(min_codepoint=9, max_codepoint=126),
        st.characters(),
        st.sampled_from("_\n\t é€жشกあ漢한😀"),
    ),
    max_size=60,
)
o200k = tiktoken_counter("o200k_base")


def words(text: str) -> int:
    return len(text.split())


def message(role: Role, *parts: Part) -> Message:
    return Message(role=role, parts=parts, raw=None, shape="test", seen=None)


def tool(name: str, description: str = "", parameters: dict[str, Any] | None = None, **extra: Any) -> Tool:
    return Tool(name=name, description=description, parameters=parameters or {}, raw=None, extra=extra)


# ── the stand-in ─────────────────────────────────────────────────────────────────────────────────────────────────────

STAND_INS = sorted({row.stand_in for row in FAMILIES if row.stand_in is not None}, key=repr)


@pytest.mark.parametrize("stand_in", STAND_INS)
def test_no_ceiling_is_below_the_typical_price(stand_in: hosted_families.StandIn) -> None:
    assert 0 < stand_in.typical <= stand_in.ceiling
    assert stand_in.flat >= 0


@scaled(0.3)
@given(parts=st.lists(texts, max_size=4), factor=st.floats(0.5, 2), above=st.floats(0, 1), flat=st.integers(0, 9))
def test_the_estimate_of_a_sum_is_the_sum_of_estimates_to_the_rounding(
    parts: list[str], factor: float, above: float, flat: int
) -> None:
    stand_in = hosted_families.StandIn(factor, factor + above, flat)
    together = hosted_families.price_texts(parts, words, stand_in)
    apart = total(hosted_families.price_texts([part], words, stand_in) for part in parts)
    assert abs(together.tokens - apart.tokens) <= (len(parts) + 1) / 2
    assert together.upper <= apart.upper
    assert together.upper >= together.tokens


@pytest.mark.parametrize(("model", "apart"), [("grok-2-1212", 1), ("command-a-plus-05-2026", 3), ("grok-3", 3)])
def test_a_number_costs_a_token_for_each_digit_where_a_vocabulary_splits_it(model: str, apart: int) -> None:
    """Recorded by crmne/ruby_llm (MIT): the coordinates of a city cost Grok 2 a token for each digit."""
    stand_in = hosted_families.family_of(model).stand_in
    price = hosted_families.price_texts(["at 52.5200, in 2026-08 or 7"], o200k, stand_in)
    pieces = [-(-len(digits) // apart) for digits in ("52", "5200", "2026", "08", "7")]
    assert price.tokens == sum(pieces) + len(["at", " ", ".", ",", " in", " ", "-", " or", " "])
    assert hosted_families.price_texts(["12345"], o200k, None) == Count(2)


def test_the_models_own_tokenizer_is_trusted() -> None:
    assert hosted_families.price_texts(["two words", "", "three more words"], words, None) == Count(5)


@pytest.mark.parametrize("stand_in", [None, *STAND_INS])
def test_no_text_costs_nothing(stand_in: hosted_families.StandIn | None) -> None:
    assert hosted_families.price_texts(["", ""], words, stand_in) == Count(0)


@pytest.mark.parametrize("model", ["llama-3.3-70b", "glm-4.6"])
def test_a_vocabulary_that_holds_another_needs_no_more_tokens_than_that(model: str) -> None:
    family = hosted_families.family_of(model)
    assert family.vocabulary == "cl100k_base"
    priced = hosted.price_text("The quick brown fox", family, words)
    assert (priced.tokens, priced.upper, priced.grade) == (4, 4, Grade.ESTIMATED)


# ── what providers billed: public test recordings of crmne/ruby_llm and pydantic/pydantic-ai (MIT), read 2026-11 ────

ONE_USER_MESSAGE = [
    ("gemini-2.5-flash", "What is the capital of France?", 8),
    ("gemini-2.0-flash", "What is the largest city in Mexico?", 8),
    ("gemini-3-pro-preview", "Hi", 2),
    ("mistral-small-latest", "What is the capital of France?", 22),
    ("mistral-large-latest", "How do I cross the street?", 10),
    ("deepseek-v4-flash", "Who is the creator of the programming language Ruby?", 14),
    ("openai/gpt-oss-120b", "What is 2+2? Reply with just the number.", 84),
    ("grok-4.3", "What is the capital of France?", 199),
]
BY_ANOTHER_SERVER = [("llama-3.3-70b-versatile", "hello", 48)]
"""One name, two servers: each bill was recorded, and most recordings of these models show another one."""


def price_of(model: str, text: str) -> Count:
    asked = message("user", text)
    if model.startswith("gemini"):
        kind = gemini_families.family_of(model)
        return gemini.price_message(asked, kind, shared_vocabulary("gemma"))
    if model.startswith("mistral"):
        sort = mistral_families.family_of(model)
        return sort.opening + mistral.price_message(asked, sort, shared_vocabulary("tekken"))
    host = hosted_families.family_of(model)
    count = shared_vocabulary(host.vocabulary)
    opening = hosted.price_request(host, count) + hosted.price_system(None, host, count)
    return opening + hosted.price_message(asked, host, count)


@pytest.mark.parametrize(("model", "text", "billed"), ONE_USER_MESSAGE)
def test_a_recorded_message_is_priced_within_two_tokens_and_under_its_bound(model: str, text: str, billed: int) -> None:
    price = price_of(model, text)
    assert abs(price.tokens - billed) <= 2
    assert billed <= price.upper
    assert price.grade is not Grade.EXACT


@pytest.mark.parametrize(("model", "text", "billed"), BY_ANOTHER_SERVER)
def test_the_bills_of_a_names_other_server_stay_within_the_bound(model: str, text: str, billed: int) -> None:
    price = price_of(model, text)
    assert price.tokens < billed <= price.upper


# ── Gemini ───────────────────────────────────────────────────────────────────────────────────────────────────────────

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def test_a_declaration_costs_2_0_its_words_one_for_each_type_and_each_required_key_again() -> None:
    family = gemini_families.family_of("gemini-2.0-flash")
    assert gemini.price_tool(tool("look"), family, words).tokens == words("look")
    assert gemini.price_tool(tool("look", "", CITY), family, words).tokens == words("look object city string city")


def test_a_reference_costs_what_it_refers_to_and_recursion_is_bounded_widely() -> None:
    family = gemini_families.family_of("gemini-2.5-flash")
    inline = {"type": "object", "properties": {"home": CITY}}
    referring = {"type": "object", "properties": {"home": {"$ref": "#/$defs/City"}}, "$defs": {"City": CITY}}
    assert gemini.price_tool(tool("a", "", referring), family, words) == gemini.price_tool(
        tool("a", "", inline), family, words
    )
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}
    recursive = gemini.price_tool(tool("a", "", {**tree, "$defs": {"T": tree}}), family, words)
    assert recursive.grade is Grade.ESTIMATED
    assert recursive.upper >= 1.5 * recursive.tokens


def test_a_schema_that_refers_to_itself_is_written_out_six_times() -> None:
    family = gemini_families.family_of("gemini-2.5-flash")
    definition = {"type": "object", "properties": {"kid": {"$ref": "#/$defs/T"}}}
    recursive = {"type": "object", "properties": {"kid": {"$ref": "#/$defs/T"}}, "$defs": {"T": definition}}
    by_hand: dict[str, Any] = {"type": "object", "properties": {"kid": {"$ref": "#/$defs/T6"}}, "$defs": {"T0": {}}}
    for level in range(1, 7):
        inner = {"type": "object", "properties": {"kid": {"$ref": f"#/$defs/T{level - 1}"}}}
        by_hand["$defs"][f"T{level}"] = inner
    written_out = gemini.price_tool(tool("a", "", by_hand), family, words)
    assert gemini.price_tool(tool("a", "", recursive), family, words).tokens == written_out.tokens


def test_schemas_that_refer_to_each_other_a_hundred_times_are_priced_at_once() -> None:
    family = gemini_families.family_of("gemini-2.5-flash")
    node = {"type": "object", "properties": {f"k{n}": {"$ref": "#/$defs/T"} for n in range(100)}}
    priced = gemini.price_tool(tool("a", "", {**node, "$defs": {"T": node}}), family, words)
    assert priced.tokens < 10**6


def test_definitions_that_double_with_each_reference_are_cut_off() -> None:
    def doubling(level: int) -> dict[str, Any]:
        return {"type": "object", "properties": {key: {"$ref": f"#/$defs/D{level}"} for key in "ab"}}

    definitions = {f"D{level}": doubling(level + 1) for level in range(40)}
    family = gemini_families.family_of("gemini-2.5-flash")
    priced = gemini.price_tool(tool("f", "", {**doubling(0), "$defs": definitions}), family, words)
    assert priced.upper < 40_000  # 2 ** 40 otherwise
    assert priced.grade is Grade.ESTIMATED


@pytest.mark.parametrize("word", ["enum", "anyOf", "oneOf", "allOf", "prefixItems", "properties", "items", "$defs"])
@pytest.mark.parametrize("wrong", [None, 5, "text", True, {"a": 1}, [1, None]])
def test_a_schema_keyword_with_an_unexpected_value_is_still_priced(word: str, wrong: object) -> None:
    family = gemini_families.family_of("gemini-2.5-flash")
    schema = {"type": "object", "properties": {"a": {word: wrong}}}
    assert gemini.price_tool(tool("f", "", schema), family, words).tokens > 0
    assert gemini.price_tool(tool("f", "", {"properties": {}, word: wrong}), family, words).tokens > 0


def test_a_chain_of_references_without_end_is_priced_as_far_as_schemas_may_be_nested() -> None:
    family = gemini_families.family_of("gemini-2.5-flash")
    definitions = {f"D{n}": {"$ref": f"#/$defs/D{n + 1}"} for n in range(5_000)}
    chain = {"type": "object", "properties": {"x": {"$ref": "#/$defs/D0"}}, "$defs": definitions}
    assert gemini.price_tool(tool("f", "", chain), family, words).grade is Grade.ESTIMATED


def referring(times: int, size: int) -> dict[str, Any]:
    """Properties that refer to one definition whose JSON text has `size` characters."""
    definition = {"enum": ["xyzzy"], "title": ""}
    definition["title"] = "t" * (size - len(json.dumps(definition)))
    assert len(json.dumps(definition)) == size
    properties = {f"p{n}": {"$ref": "#/$defs/D"} for n in range(times)}
    return {"type": "object", "properties": properties, "$defs": {"D": definition}}


class Counted:
    """A counter that remembers what it counted."""

    text = ""

    def __call__(self, text: str) -> int:
        self.text += text
        return 1


@pytest.mark.parametrize("size", [WRITTEN_AGAIN // 4, WRITTEN_AGAIN // 4 + 1])
def test_a_definition_is_repeated_up_to_its_allowance(size: int) -> None:
    for times in (3, 4, 5, 6, 7):
        written = min(times, 1 + WRITTEN_AGAIN // size)
        counted = Counted()
        referred = tool("f", "", referring(times, size))
        gemini.price_tool(referred, gemini_families.family_of(""), counted)
        assert counted.text.count("xyzzy") == written
        assert tool_text(referred).count('"xyzzy"') == written


def mesh(definitions: int) -> Tool:
    """Definitions that refer to three others each: 3 ** definitions texts, if each reference were written out."""
    named = {
        f"D{n}": {
            "type": "object",
            "properties": {f"p{k}": {"$ref": f"#/$defs/D{(3 * n + k) % definitions}"} for k in (1, 2, 3)},
        }
        for n in range(definitions)
    }
    return tool("f", "", {"type": "object", "properties": {"x": {"$ref": "#/$defs/D0"}}, "$defs": named})


def test_a_mesh_of_references_costs_what_it_sends_and_not_what_it_expands_to() -> None:
    small, large = mesh(40), mesh(400)
    assert len(tool_text(small)) < len(json.dumps(small.parameters))
    assert count_unsettled(small) < 4_000
    family = gemini_families.family_of("gemini-2.5-flash")
    for one in (small, large):
        assert gemini.price_tool(one, family, words).upper < 8 * len(json.dumps(one.parameters))
    assert len(tool_text(large)) < 12 * len(tool_text(small))
    assert count_unsettled(large) < 12 * count_unsettled(small)


@pytest.mark.parametrize("definitions", [{}, {"T": True}, {"T": None}, {"T": ["x"]}])
def test_a_reference_to_nothing_that_can_be_read_costs_its_place_alone(definitions: dict[str, Any]) -> None:
    family = gemini_families.family_of("gemini-2.5-flash")
    referring = {"type": "object", "properties": {"a": {"$ref": "#/$defs/T"}}, "$defs": definitions}
    empty = {"type": "object", "properties": {"a": {"$ref": "#/$defs/T"}}, "$defs": {"T": {}}}
    assert gemini.price_tool(tool("f", "", referring), family, words) == gemini.price_tool(
        tool("f", "", empty), family, words
    )


def test_every_keyword_of_a_schema_is_priced() -> None:
    family = gemini_families.family_of("gemini-2.5-flash")

    def price(schema: dict[str, Any]) -> int:
        return gemini.price_tool(tool("a", "", {"properties": {"n": schema}}), family, len).tokens

    plain = price({"type": "integer"}) - len("n: int | None = None")
    assert price({"anyOf": [{"type": "integer"}, {"type": "null"}]}) == plain + len("n: int | None = None")
    assert price({"type": "string", "default": 3, "enum": ["one"]}) == plain + len("n: Literal['one'] | None = 3")
    assert price({"type": "array", "items": {"type": "string"}}) == plain + len("n: list[str] | None = None")
    unwritten = {"type": "array", "additionalProperties": {"type": "string"}}
    assert price({**unwritten, "items": {"type": "string"}}) == price(unwritten) + family.items.tokens


def test_gemini_calls_and_answers_cost_their_words() -> None:
    family = gemini_families.family_of("gemini-2.0-flash")
    call = Call(None, "look", '{"city": ["Paris", 2]}')
    answer = Result(None, (), name="look", given={"return_value": "Mexico"})
    assert gemini.price_message(message("assistant", call), family, words).tokens == 4
    assert gemini.price_message(message("user", answer), family, words).tokens == 3
    assert gemini.price_message(message("user", Result(None, ("two words",))), family, words).tokens == 2
    assert gemini.price_message(message("assistant", Call(None, "look", "{")), family, words).tokens == 2


# ── Mistral and the hosts ────────────────────────────────────────────────────────────────────────────────────────────


def test_mistrals_control_tokens_match_its_template() -> None:
    family = mistral_families.family_of("mistral-large-latest")
    turns = [
        message("user", "a"),
        message("assistant", "b", Call("1", "look", "{}"), Call("2", "look", "{}")),
        message("tool", Result("1", ("c",))),
        message("tool", Result("2", ("d",))),
    ]
    # <s> [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [INST] [/INST] 2x [TOOL_CALLS] [ARGS] </s> 2x [TOOL_RESULTS] [/TOOL_RESULTS]
    controls = 1 + 2 + 2 + 4 + 1 + 4
    spoken = 1 + 1 + 1 + 4 + 1 + 1
    whole = family.opening + hosted.price_system("s", family, words)
    assert (whole + total(mistral.price_message(turn, family, words) for turn in turns)).tokens == controls + spoken


@pytest.mark.parametrize(
    ("pricing", "families", "model", "kind"),
    [
        (mistral, mistral_families, "mistral-large-latest", "video"),
        (hosted, hosted_families, "qwen3-32b", "hologram"),
        (hosted, hosted_families, "qwen3-32b", "document"),
    ],
)
def test_a_medium_that_no_api_takes_has_no_price(pricing: Any, families: Any, model: str, kind: str) -> None:
    with pytest.raises(UnsupportedContentError) as refused:
        pricing.price_message(message("user", Media(kind, {})), families.family_of(model), words)
    assert refused.value.kind == kind


def test_a_picture_for_mistral_is_estimated_with_a_bound() -> None:
    family = mistral_families.family_of("pixtral-large")
    price = mistral.price_message(message("user", Media("image", {})), family, words)
    assert price.grade is Grade.ESTIMATED
    assert price.upper > 4_000


def test_only_the_small_models_have_a_certain_settings_block() -> None:
    small, large = (mistral_families.family_of(name).opening for name in ("magistral-small", "mistral-large"))
    assert small.tokens - large.tokens == 12
    assert large.upper >= small.tokens


def test_an_unknown_host_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownModelError) as refused:
        hosted_families.family_of("some-new-model")
    assert "qwen-3" in refused.value.nearest


@pytest.mark.parametrize("model", ["grok-9", "groq/compound"])
def test_a_host_that_hides_its_prompt_gets_a_wide_bound(model: str) -> None:
    opening = hosted.price_request(hosted_families.family_of(model), words)
    assert opening.grade is Grade.ESTIMATED
    assert opening.upper > 3 * opening.tokens


def test_deepseeks_tools_bring_a_hidden_preamble() -> None:
    family = hosted_families.family_of("deepseek-chat")
    assert hosted.price_tools([tool("a")], family, words).tokens > 100
    assert hosted.price_tools([], family, words) == Count(0)


def test_words_beside_a_call_on_gpt_oss_are_in_the_bound_alone() -> None:
    thought, call = "<think>\nWhich one? The first.\n</think>", Call("1", "look", "{}")
    family = hosted_families.family_of("openai/gpt-oss-120b")
    bare = hosted.price_message(message("assistant", call), family, o200k)
    thinking = hosted.price_message(message("assistant", thought, call), family, o200k)
    assert thinking.tokens == bare.tokens
    assert thinking.upper >= bare.upper + o200k(thought)
    spoken = hosted.price_message(message("assistant", thought), family, o200k)
    assert spoken.tokens == family.saying.tokens + o200k(thought)
    price = hosted.price_message(message("assistant", "Now.", call), family, o200k)
    assert (price.tokens, price.upper) == (bare.tokens, bare.upper + o200k("Now."))


def test_gpt_oss_is_shown_tools_as_its_open_renderer_writes_them() -> None:
    parameters = {
        "type": "object",
        "title": "Unseen",
        "properties": {
            "city": {"type": "string", "title": "City", "description": "Where.", "minLength": 1},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
            "days": {"type": ["integer", "null"], "minimum": 1},
            "at": {"type": "array", "items": {"type": "object", "properties": {"lat": {"type": "number"}}}},
            "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["city"],
    }
    shown = harmony.declaration(Tool("look", "Looks it up.\n\nTwice.", parameters, {}))
    assert shown.splitlines() == [
        "// Looks it up.",
        "// ",
        "// Twice.",
        "type look = (_: {",
        "// City",
        "//",
        "// Where.",
        "city: string,",
        'unit?: "C" | "F", // default: C',  # as harmony's README shows it
        "days?: number | null,",
        "at?: {",
        "    lat?: number,",
        "    }[],",
        "any?: any,",
        "}) => any;",
        "",
    ]
    assert harmony.declaration(Tool("now", "", {}, {})) == "type now = () => any;\n\n"


def test_options_of_a_hosted_request_are_priced() -> None:
    family = hosted_families.family_of("deepseek-v4-flash")
    bare = hosted.price_request(family, words)
    assert hosted.price_request(family, words, api="responses").tokens == bare.tokens + 79
    assert hosted.price_request(family, words, answer_schema={}).tokens == bare.tokens + 20
    assert hosted.price_request(family, o200k, answer_schema={"type": "object"}).tokens > bare.tokens + 20


# ── all of them ──────────────────────────────────────────────────────────────────────────────────────────────────────

PROVIDERS = [
    (claude, claude_families, "claude-sonnet-4-5"),
    (claude, claude_families, "claude-opus-4-7"),
    (claude, claude_families, "claude-opus-4-8"),
    (gemini, gemini_families, "gemini-2.0-flash"),
    (gemini, gemini_families, "gemini-2.5-flash"),
    (gemini, gemini_families, "gemini-3-pro-preview"),
    (gemini, gemini_families, "google-vertex/gemini-2.5-flash"),
    (mistral, mistral_families, "mistral-small-latest"),
    (hosted, hosted_families, "deepseek-v4-flash"),
    (hosted, hosted_families, "qwen3-32b"),
]
parts = st.one_of(
    texts,
    st.builds(Call, st.just("1"), texts, st.just('{"a": "b"}')),
    st.builds(lambda text: Result("1", (text,), name="look"), texts),
    st.builds(lambda text: Thinking(text, {}), texts),
    st.builds(lambda text: Opaque("odd", {"text": text}), texts),
)
roles = st.sampled_from(["system", "developer", "user", "assistant", "tool"])


@pytest.mark.parametrize(("pricing", "families", "model"), PROVIDERS)
@scaled(0.3)
@given(role=roles, spoken=st.lists(parts, max_size=3), more=texts)
def test_a_longer_message_never_costs_less(
    pricing: Any, families: Any, model: str, role: Role, spoken: list[Part], more: str
) -> None:
    family = families.family_of(model)
    shorter = pricing.price_message(message(role, *spoken), family, words)
    longer = pricing.price_message(message(role, *spoken, more), family, words)
    assert 0 <= shorter.tokens <= longer.tokens <= longer.upper
    assert shorter.upper <= longer.upper
    assert shorter.grade <= longer.grade


@scaled(0.3)
@given(system=texts)
def test_a_system_text_costs_at_least_its_words(system: str) -> None:
    family = hosted_families.family_of("qwen3-32b")
    assert hosted.price_system(system, family, words).tokens >= words(system)
    assert hosted.price_text(system, family, words).tokens == words(system)
    assert hosted.price_system(None, family, words).tokens == 0


def test_gpt_oss_is_shown_examples_alternatives_and_null_as_harmony_writes_them() -> None:
    """By openai/harmony, src/encoding.rs, `json_schema_to_typescript` at f573ab5."""
    parameters = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where.", "examples": ["Rome", 7], "nullable": True},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "note": {"type": "string", "default": "none"},
            "limits": {"type": "object", "default": {"a": [1, 2]}},
            "day": {
                "description": "When.",
                "default": "today",
                "oneOf": [
                    {"type": "string", "description": "A date."},
                    {"type": "integer", "description": "Days from now.", "default": 0, "nullable": True},
                ],
            },
            "tags": {"type": "array", "items": True},
        },
        "required": ["city"],
    }
    assert harmony.declaration(Tool("look", "", parameters, {})) == (
        "type look = (_: {\n"
        "// Where.\n"
        "// Examples:\n"
        '// - "Rome"\n'
        "city: string | null,\n"
        'unit?: "c" | "f", // default: c\n'
        'note?: string, // default: "none"\n'
        'limits?: {\n    }, // default: {"a":[1,2]}\n'
        "// When.\n"
        '// default: "today"\n'
        "day?:\n"
        " | string\n"
        " | number | null // Days from now. default: 0\n"
        ",\n"
        "tags?: any[],\n"
        "}) => any;\n\n"
    )
