"""What Gemini bills, by generation and host, in cases written for these tests with the sums of recorded bills."""

from __future__ import annotations

import json
from typing import Any

import pytest

import assembler
from assembler.dialects import gemini
from budgets import Count, Grade
from budgets.counters.by_model import counter_for


def words(text: str) -> int:
    """A Gemma that has one token for each word."""
    return len(text.split())


def billed(model: str, **request: Any) -> Count:
    contents = request.pop("contents", [{"role": "user", "parts": [{"text": "Hi"}]}])
    return assembler.count_request({"contents": contents, **request}, dialect=gemini, model=model, counter=words)


def declared(schema: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    declaration: dict[str, Any] = {"name": "look", **fields}
    if schema is not None:
        declaration["parameters"] = schema
    return {"tools": [{"functionDeclarations": [declaration]}]}


def one_property(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"city": {"type": "string", **fields}}, "required": ["city"]}


GOOGLE_2_5, GOOGLE_2, GOOGLE_3 = "gemini-2.5-flash", "gemini-2.0-flash", "gemini-3-pro-preview"
VERTEX_2_5, VERTEX_3 = "google-vertex/gemini-2.5-flash", "vertex_ai/gemini-3-pro-preview"

# Words of the tool and of its schema, then what stands around them.
DECLARATIONS: list[tuple[str, dict[str, Any], int]] = [
    (GOOGLE_3, declared(), 1 + 5),
    (GOOGLE_3, declared(description="Looks"), 2 + 5 + 5),
    (GOOGLE_3, declared({"type": "object", "properties": {}}, description="Looks"), 2 + 5 + 5 + 8),
    (GOOGLE_3, declared(one_property()), 2 + 5 + 8 + 4 + 11),
    (GOOGLE_3, declared(one_property(description="Where")), 3 + 5 + 8 + 4 + 11 + 5),
    (GOOGLE_3, declared(one_property(title="City Name")), 2 + 5 + 8 + 4 + 11 + 5 + 2),
    (GOOGLE_3, declared(one_property(enum=["Rome", "Paris"])), 4 + 5 + 8 + 4 + 11 + 2 * 4),
    (GOOGLE_3, declared({**one_property(), "description": "A place"}), 2 + 5 + 8 + 4 + 11 + 5 + 2),
    (GOOGLE_3, declared(response={"type": "object"}), 1 + 5 + 24),
    (GOOGLE_2_5, declared(), 1 + 18),
    (GOOGLE_2_5, declared(one_property()), 2 + 18 + 10),
    (GOOGLE_2_5, declared(one_property(description="Where")), 3 + 18 + 9),
    (GOOGLE_2_5, declared({**one_property(), "required": []}), 2 + 18 + 10 + 4),
    (GOOGLE_2_5, declared(one_property(title="City Name")), 2 + 18 + 10),
    (GOOGLE_2, declared(), 1),
    (GOOGLE_2, declared(one_property()), 2 + 1 + 2),
    (VERTEX_2_5, declared(), 1),
    (VERTEX_2_5, declared(one_property(description="Where")), 3 + 1 + 2),
    (VERTEX_3, declared(one_property()), 2 + 1 + 2),
]


@pytest.mark.parametrize(("model", "tools", "tokens"), DECLARATIONS)
def test_a_declaration_costs_its_words_and_a_framing_for_each_element(
    model: str, tools: dict[str, Any], tokens: int
) -> None:
    with_it, without = billed(model, **tools), billed(model)
    assert with_it.tokens - without.tokens == tokens
    assert with_it.grade > Grade.EXACT


@pytest.mark.parametrize(
    ("model", "each"), [(GOOGLE_2_5, 1), (GOOGLE_3, 1), (GOOGLE_2, 0), (VERTEX_2_5, 0), (VERTEX_3, 0)]
)
def test_a_content_and_the_system_instruction_cost_one_token_each_but_not_on_vertex(model: str, each: int) -> None:
    asked = {"role": "user", "parts": [{"text": "One two"}]}
    answered = {"role": "model", "parts": [{"text": "Three"}]}
    assert billed(model, contents=[asked, answered, asked]).tokens == 5 + 3 * each
    system = {"parts": [{"text": "Be brief"}]}
    assert billed(model, contents=[asked], systemInstruction=system).tokens == 4 + 2 * each


CALL = {"functionCall": {"name": "look", "args": {"city": "Rome", "days": 2}}}
RESULT = {"functionResponse": {"name": "look", "response": {"sky": "blue"}}}


def conversation(**signed: str) -> list[dict[str, Any]]:
    asked = {"role": "user", "parts": [{"text": "Hi"}]}
    return [asked, {"role": "model", "parts": [{**CALL, **signed}]}, {"role": "user", "parts": [RESULT]}]


@pytest.mark.parametrize(
    ("asked", "tool", "arguments", "response", "tokens"),
    [
        # crmne/ruby_llm (MIT), spec/fixtures/vcr_cassettes/chat_function_calling_gemini_…, read 2026-11
        (
            ["What's the best language to learn?"],
            {"description": "Gets the best language to learn", "name": "best_language_to_learn"},
            {},
            {"content": [{"text": "Ruby"}], "name": "best_language_to_learn"},
            90,
        ),
        # llmrb/llm (0BSD), spec/fixtures/cassettes/gemini/chat/llm_chat_stream_tool.yml, read 2026-11
        (
            ["You are a bot that can run UNIX system commands", "Hey, run the 'date' command"],
            {
                "description": "Runs system commands",
                "name": "system",
                "parameters": {
                    "properties": {"command": {"type": "string"}},
                    "required": ["command"],
                    "type": "object",
                },
            },
            {"command": "date"},
            {"success": True},
            78,
        ),
    ],
)
def test_a_response_is_billed_as_its_json_text(
    asked: list[str], tool: dict[str, Any], arguments: dict[str, Any], response: dict[str, Any], tokens: int
) -> None:
    contents = [
        *({"role": "user", "parts": [{"text": text}]} for text in asked),
        {"role": "model", "parts": [{"functionCall": {"name": tool["name"], "args": arguments}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": tool["name"], "response": response}}]},
    ]
    request = {"contents": contents, "tools": [{"functionDeclarations": [tool]}]}
    assert assembler.count_request(request, dialect=gemini, model=GOOGLE_2_5).tokens == tokens


@pytest.mark.parametrize(("model", "framing"), [(GOOGLE_2_5, 3 + 7 + 2 * 3 + 4), (GOOGLE_2, 0), (VERTEX_2_5, 0)])
def test_a_call_costs_its_arguments_and_a_result_its_text(model: str, framing: int) -> None:
    said = 1 + 5 + 3  # Hi; look city Rome days 2; look sky blue
    assert billed(model, contents=conversation()).tokens == said + framing


@pytest.mark.parametrize(
    ("model", "typical"), [(GOOGLE_3, 205 - 30), (VERTEX_3, 205 - 30), (VERTEX_2_5, 160 - 20), (GOOGLE_2_5, 0)]
)
def test_the_signature_of_a_call_is_billed_by_its_length_where_the_generation_reads_it(
    model: str, typical: int
) -> None:
    signed, bare = (
        billed(model, contents=conversation(thoughtSignature="s" * 1_000)),
        billed(model, contents=conversation()),
    )
    assert signed.tokens - bare.tokens == typical
    assert signed.upper - bare.upper >= 200  # the server reads some and not others: the bound holds both


@pytest.mark.parametrize(("model", "forgets"), [(GOOGLE_2_5, True), (GOOGLE_3, False), (VERTEX_2_5, False)])
def test_a_signature_before_the_last_question_is_free_in_2_5_at_google(model: str, forgets: bool) -> None:
    more: list[dict[str, Any]] = [
        {"role": "model", "parts": [{"text": "Blue"}]},
        {"role": "user", "parts": [{"text": "Sure?"}]},
    ]
    signed = billed(model, contents=[*conversation(thoughtSignature="s" * 1_000), *more])
    assert (signed.upper == billed(model, contents=[*conversation(), *more]).upper) is forgets


def test_a_short_signature_never_costs_less_than_nothing() -> None:
    signed, bare = (
        billed(GOOGLE_3, contents=conversation(thoughtSignature="s")),
        billed(GOOGLE_3, contents=conversation()),
    )
    assert signed.tokens == bare.tokens


@pytest.mark.parametrize("model", [GOOGLE_2, GOOGLE_2_5, GOOGLE_3, VERTEX_2_5])
def test_the_placeholder_for_a_missing_signature_is_free(model: str) -> None:
    unsigned = billed(model, contents=conversation(thoughtSignature="skip_thought_signature_validator"))
    assert unsigned == billed(model, contents=conversation())


def test_a_part_of_a_signature_alone_is_free() -> None:
    signed = {"thought": True, "thoughtSignature": "s" * 1_000}
    asked = {"role": "user", "parts": [{"text": "Hi"}]}
    said, bare = ([asked, {"role": "model", "parts": [{"text": "Yes"}, *more]}, asked] for more in ([signed], []))
    assert billed(GOOGLE_3, contents=said).tokens == billed(GOOGLE_3, contents=bare).tokens


ANSWER = {"type": "OBJECT", "title": "Weather", "properties": {"sky": {"type": "STRING", "description": "Its colour"}}}


@pytest.mark.parametrize(
    ("model", "tokens"), [(GOOGLE_2, 1 + 1 + 2 + 3), (GOOGLE_2_5, 0), (GOOGLE_3, 0), (VERTEX_2_5, 0)]
)
def test_the_schema_of_an_answer_is_billed_by_2_0_only(model: str, tokens: int) -> None:
    with_it = billed(model, generationConfig={"responseSchema": ANSWER})
    assert with_it.tokens - billed(model).tokens == tokens
    assert billed(model, config={"response_schema": ANSWER}).tokens == with_it.tokens
    as_json = billed(model, generationConfig={"responseJsonSchema": ANSWER})
    assert as_json.tokens == billed(model).tokens


@pytest.mark.parametrize("key", ["responseSchema", "responseJsonSchema"])
def test_the_bound_on_vertex_includes_the_schema_of_an_answer(key: str) -> None:
    plain, asked = billed(VERTEX_2_5), billed(VERTEX_2_5, generationConfig={key: ANSWER})
    assert asked.upper - plain.upper > 30


def test_one_part_in_place_of_a_list_is_read_and_sent_as_a_list() -> None:
    alone = {"role": "user", "parts": {"text": "One two"}}
    listed = {"role": "user", "parts": [{"text": "One two"}]}
    system = {"parts": {"text": "Be brief"}}
    count = billed(GOOGLE_2_5, contents=[alone], systemInstruction=system)
    assert count == billed(GOOGLE_2_5, contents=[listed], systemInstruction={"parts": [{"text": "Be brief"}]})
    assert gemini.emit(gemini.parse({"contents": [alone]})).request["contents"] == [listed]
    assert alone["parts"] == {"text": "One two"}


def test_a_content_with_no_part_is_counted() -> None:
    asked = {"role": "user", "parts": [{"text": "Hi"}]}
    assert billed(GOOGLE_2_5, contents=[asked, {"role": "model", "parts": []}, asked]).tokens >= 2


def test_the_types_of_a_schema_may_be_the_numbers_of_the_wires_enum() -> None:
    numbered: dict[str, Any] = {
        "type": 6,
        "properties": {"city": {"type": 1}, "days": {"type": 5, "items": {"type": 3}}},
        "required": [],
    }
    worded: dict[str, Any] = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "array", "items": {"type": "integer"}}},
        "required": [],
    }
    assert billed(GOOGLE_2_5, **declared(numbered)) == billed(GOOGLE_2_5, **declared(worded))
    assert gemini.parse({"contents": "Hi", **declared(numbered)}).tools[0].parameters == worded


@pytest.mark.parametrize("prefix", ["vertex/", "vertex_ai/", "google-vertex/", "google_vertexai/", "google-vertex:"])
def test_the_prefix_of_vertex_selects_its_prices(prefix: str) -> None:
    assert billed(f"{prefix}gemini-2.5-flash", **declared()) == billed(VERTEX_2_5, **declared())


@pytest.mark.parametrize("key", ["parametersJsonSchema", "parameters_json_schema"])
def test_2_0_is_billed_for_the_arguments_of_a_tool_in_geminis_own_schema_and_not_in_a_json_schema(key: str) -> None:
    shown, hidden, none = (
        billed(GOOGLE_2, **declared(description="Looks up", **fields))
        for fields in ({"parameters": one_property()}, {key: one_property()}, {})
    )
    assert hidden.tokens == none.tokens < shown.tokens
    assert hidden.upper == shown.upper


@pytest.mark.parametrize(("model", "each"), [(GOOGLE_2, 1), (GOOGLE_2_5, 5)])
def test_a_number_that_a_call_carries_is_one_token_on_2_0_whatever_its_digits(model: str, each: int) -> None:
    def carrying(amount: object) -> int:
        call = {"functionCall": {"name": "pay", "args": {"amount": amount}}}
        turns = [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": [call]}]
        request = {"contents": turns}
        return assembler.count_request(request, dialect=gemini, model=model, counter=len).tokens

    assert carrying(10_000) - carrying("") == each


def test_geminis_own_search_is_billed_apart_from_the_prompt() -> None:
    plain, searching = billed(GOOGLE_2_5), billed(GOOGLE_2_5, tools=[{"google_search": {}}])
    assert searching.tokens == plain.tokens
    assert searching.upper >= plain.upper + 1_000
    assert searching.grade is Grade.ESTIMATED


PATTERN = "^[0-9]{5}(-[0-9]{4})?$"
UNRECORDED: dict[str, dict[str, Any]] = {
    "const": {"const": "the only value of this property"},
    "pattern": {"type": "string", "pattern": PATTERN},
    "examples": {"type": "string", "examples": ["Paris, France", "Rome, Italy"]},
    "not": {"not": {"type": "string", "description": "The name of the town where the customer lives."}},
}


@pytest.mark.parametrize("model", [GOOGLE_2, GOOGLE_2_5, GOOGLE_3])
@pytest.mark.parametrize("keyword", UNRECORDED)
def test_the_bound_includes_the_text_of_a_keyword_that_no_recording_has(keyword: str, model: str) -> None:
    schema = UNRECORDED[keyword]
    bare = {key: held for key, held in schema.items() if key == "type"}
    asked, plain = (
        assembler.count_request(
            {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
            | declared({"type": "object", "properties": {"a": held}}),
            dialect=gemini,
            model=model,
        )
        for held in (schema, bare)
    )
    assert asked.grade is Grade.ESTIMATED
    assert asked.upper - plain.upper >= counter_for(model)(json.dumps(schema[keyword]))


def test_a_description_that_is_null_is_no_word() -> None:
    assert billed(GOOGLE_2_5, **declared(one_property(description=None))) == billed(
        GOOGLE_2_5, **declared(one_property())
    )


@pytest.mark.parametrize("key", ["response_json_schema", "responseJsonSchema"])
def test_what_a_function_returns_costs_the_same_in_each_spelling(key: str) -> None:
    plain, told = billed(GOOGLE_2_5, **declared()), billed(GOOGLE_2_5, **declared(response=one_property()))
    assert plain.tokens < told.tokens
    assert billed(GOOGLE_2_5, **declared(**{key: one_property()})) == told
