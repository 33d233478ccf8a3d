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

EMPTY = {"type": "object"}

# Words of the tool and of its schema, then what stands around them. 2.5 and 3 are priced so where no recording shows
# how they write a declaration, such as one with a `response`.
DECLARATIONS: list[tuple[str, dict[str, Any], int]] = [
    (GOOGLE_3, declared(response=EMPTY), 1 + 5 + 24),
    (GOOGLE_3, declared(description="Looks", response=EMPTY), 2 + 5 + 5 + 24),
    (GOOGLE_3, declared({"type": "object", "properties": {}}, description="Looks", response=EMPTY), 2 + 5 + 5 + 8 + 24),
    (GOOGLE_3, declared(one_property(), response=EMPTY), 2 + 5 + 8 + 4 + 11 + 24),
    (GOOGLE_3, declared(one_property(description="Where"), response=EMPTY), 3 + 5 + 8 + 4 + 11 + 5 + 24),
    (GOOGLE_3, declared(one_property(title="City Name"), response=EMPTY), 2 + 5 + 8 + 4 + 11 + 5 + 2 + 24),
    (GOOGLE_3, declared(one_property(enum=["Rome", "Paris"]), response=EMPTY), 4 + 5 + 8 + 4 + 11 + 2 * 4 + 24),
    (GOOGLE_3, declared({**one_property(), "description": "A place"}, response=EMPTY), 2 + 5 + 8 + 4 + 11 + 5 + 2 + 24),
    (GOOGLE_3, declared(response=EMPTY), 1 + 5 + 24),
    (GOOGLE_2_5, declared(response=EMPTY), 1 + 18 + 5),
    (GOOGLE_2_5, declared(one_property(), response=EMPTY), 2 + 18 + 10 + 5),
    (GOOGLE_2_5, declared(one_property(description="Where"), response=EMPTY), 3 + 18 + 9 + 5),
    (GOOGLE_2_5, declared({**one_property(), "required": []}, response=EMPTY), 2 + 18 + 10 + 4 + 5),
    (GOOGLE_2_5, declared(one_property(title="City Name"), response=EMPTY), 2 + 18 + 10 + 5),
    (GOOGLE_2, declared(), 1),
    (GOOGLE_2, declared(one_property()), 2 + 1 + 2),
    (GOOGLE_2, declared({**one_property(), "required": []}), 2 + 1 + 1),
    (GOOGLE_2, declared(one_property(type="array", items={"type": "string"})), 2 + 1 + 1 + 1 + 1),
    (GOOGLE_2, declared({**EMPTY, "properties": {"a b": {"type": "string"}}, "required": ["a b"]}), 3 + 1 + 1 + 2),
    (VERTEX_2_5, declared({**EMPTY, "properties": {"a b": {"type": "string"}}, "required": ["a b"]}), 3 + 1 + 1 + 2),
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
    system = {"role": "user", "parts": [{"text": "Be brief"}]}
    assert billed(model, contents=[asked], systemInstruction=system).tokens == 4 + 2 * each


@pytest.mark.parametrize(("model", "each"), [(GOOGLE_2_5, 1), (GOOGLE_3, 1), (GOOGLE_2, 0), (VERTEX_2_5, 0)])
def test_an_entry_without_a_role_is_billed_for_none(model: str, each: int) -> None:
    def spoken(**role: str) -> Count:
        entry = {**role, "parts": [{"text": "One two"}]}
        return billed(model, contents=[entry], systemInstruction=entry)

    with_role, without = spoken(role="user"), spoken()
    assert with_role.tokens - without.tokens == 2 * each
    assert without.upper == with_role.upper
    as_text = billed(model, contents="One two", config={"system_instruction": "One two"})
    assert as_text.tokens == with_role.tokens  # the SDK makes a content of the user's of each
    in_parts = billed(model, contents="One two", config={"system_instruction": {"parts": [{"text": "One two"}]}})
    assert as_text.tokens - in_parts.tokens == each


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


@pytest.mark.parametrize("model", [GOOGLE_2, VERTEX_2_5])
def test_a_call_costs_its_arguments_and_a_result_its_text(model: str) -> None:
    tokens = 1 + 5 + 3  # Hi; look city Rome days 2; look sky blue
    assert billed(model, contents=conversation()).tokens == tokens


def in_characters(model: str, **request: Any) -> int:
    """What a request costs by a counter to which each character is a token."""
    contents = request.pop("contents", [{"role": "user", "parts": [{"text": "Hi"}]}])
    body = {"contents": contents, **request}
    return assembler.count_request(body, dialect=gemini, model=model, counter=len).tokens


def test_2_5_is_shown_a_call_in_python_and_a_response_as_json() -> None:
    call = """print(default_api.look(city = "Rome", days = 2, now = true))"""
    response = """{"look_response": {"sky": "It\\'s blue"}}"""
    turns: list[dict[str, Any]] = [
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "look", "args": {"city": "Rome", "days": 2, "now": True}}}],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"sky": "It's blue"}}}]},
    ]
    asked = {"role": "user", "parts": [{"text": "Hi"}]}
    more = in_characters(GOOGLE_2_5, contents=[asked, *turns]) - in_characters(GOOGLE_2_5)
    assert more == 2 + len(call) + len(response)


PLACE: dict[str, Any] = {
    "type": "OBJECT",
    "description": "Where to look",
    "properties": {"town": {"type": "STRING", "description": "Its name"}, "zip": {"type": "INTEGER"}},
    "required": ["town"],
}
LOOK: dict[str, Any] = {
    "type": "OBJECT",
    "properties": {
        "place": PLACE,
        "days": {"type": "ARRAY", "items": {"type": "NUMBER"}},
        "unit": {"type": "STRING", "enum": ["C", "F"], "default": "C"},
        "deep": {"anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "null"}]},
    },
    "required": ["place", "deep"],
}
BLANK = " "
LOOK_IN_PYTHON = f"""@dataclasses.dataclass(kw_only=True)
class LookUpPlace:
    \"\"\"Where to look

    Attributes:
        town: Its name
        zip:{BLANK}
    \"\"\"
    town: str
    zip: int | None = None
def look_up(
    place: LookUpPlace,
    days: list[float] | None = None,
    unit: Literal['C', 'F'] | None = 'C',
    deep: str | bool,
) -> dict:
    \"\"\"Looks.

    Twice.

    Args:
        place: Where to look
        days:{BLANK}
        unit:{BLANK}
        deep:{BLANK}
    \"\"\"
"""


def test_2_5_is_shown_a_tool_as_a_function_in_python() -> None:
    tools = declared(LOOK, name="look_up", description="Looks.\n\nTwice.")
    assert in_characters(GOOGLE_2_5, **tools) - in_characters(GOOGLE_2_5) == len(LOOK_IN_PYTHON)


LOOK_MARKED = (
    "<declaration:look_up{description:<Looks<,parameters:{"
    "properties:{place:{description:<Where to look<,"
    "properties:{town:{description:<Its name<,type:<STRING<},zip:{type:<INTEGER<}},required:[<town<],type:<OBJECT<},"
    "days:{items:{type:<NUMBER<},type:<ARRAY<},unit:{enum:[<C<,<F<],title:<Unit<,type:<STRING<}},"
    "required:[<place<],type:<OBJECT<}}<"
)
"""Each `<` stands for one control token."""


def test_3_is_shown_a_tool_in_marked_text() -> None:
    unit = {"type": "STRING", "enum": ["C", "F"], "title": "Unit"}
    properties = {"place": PLACE, "days": LOOK["properties"]["days"], "unit": unit}
    schema = {"type": "OBJECT", "properties": properties, "required": ["place"]}
    tools = declared(schema, name="look_up", description="Looks")
    assert in_characters(GOOGLE_3, **tools) - in_characters(GOOGLE_3) == len(LOOK_MARKED)


@pytest.mark.parametrize("model", [GOOGLE_2_5, GOOGLE_3])
def test_a_tool_that_refers_to_itself_or_is_deep_is_still_bounded(model: str) -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    refers = {"type": "object", "properties": {"first": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(40):
        deep = {"type": "object", "properties": {"a": deep}}
    plain = billed(model)
    for schema in (refers, deep):
        assert billed(model, **declared(schema)).upper > plain.upper + 40


def test_definitions_that_refer_to_one_another_are_not_written_without_end() -> None:
    shared = {
        f"D{level}": {
            "type": "object",
            "properties": {f"p{i}": {"$ref": f"#/$defs/D{level + 1}"} for i in range(3)},
        }
        for level in range(40)
    }
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": shared | {"D40": PLACE}}
    assert billed(GOOGLE_2_5, **declared(schema)).upper < 100_000


WEATHER = {
    "type": "OBJECT",
    "properties": {
        "latitude": {"type": "STRING", "description": "Latitude (e.g., 52.5200)"},
        "longitude": {"type": "STRING", "description": "Longitude (e.g., 13.4050)"},
    },
    "required": ["latitude", "longitude"],
}


@pytest.mark.parametrize(
    ("model", "asked", "system", "tool", "tokens"),
    [
        # Mirascope/mirascope (MIT), python/tests/e2e/output/cassettes/test_structured_output/tool/…, read 2026-11
        (
            GOOGLE_2_5,
            "Please recommend the most popular book by Patrick Rothfuss",
            "Always respond to the user's query using the __mirascope_formatted_output_tool__ tool for structured "
            "output.",
            {
                "name": "__mirascope_formatted_output_tool__",
                "description": "Use this tool to extract data in Book format for a final response.\n"
                "A book with a rating. The title should be in all caps!",
                "parameters": {
                    "type": "OBJECT",
                    "properties": {
                        "title": {"type": "STRING", "title": "Title"},
                        "author": {
                            "type": "OBJECT",
                            "title": "Author",
                            "description": "The author of a book.",
                            "properties": {
                                "first_name": {"type": "STRING", "title": "First Name"},
                                "last_name": {"type": "STRING", "title": "Last Name"},
                            },
                            "required": ["first_name", "last_name"],
                        },
                        "rating": {
                            "type": "INTEGER",
                            "title": "Rating",
                            "description": "For testing purposes, the rating should be 7",
                        },
                    },
                    "required": ["title", "author", "rating"],
                },
            },
            217,
        ),
        # posit-dev/chatlas (MIT), tests/_vcr/test_provider_google/test_tools_parallel.yaml, read 2026-11
        (
            "gemini-3.5-flash",
            "\n        What are Joe and Hadley's favourite colours?\n"
            "        Answer like name1: colour1, name2: colour2\n    ",
            "Be very terse, not even punctuation.",
            {
                "name": "favorite_color",
                "description": "Returns a person's favourite colour",
                "parameters": {
                    "type": "OBJECT",
                    "properties": {"_person": {"type": "STRING"}},
                    "required": ["_person"],
                },
            },
            85,
        ),
        # crmne/ruby_llm (MIT), spec/fixtures/vcr_cassettes/chat_function_calling_gemini_…, read 2026-11
        (
            GOOGLE_2_5,
            "What's the weather in Berlin? (52.5200, 13.4050)",
            None,
            {"name": "weather", "description": "Gets current weather for a location", "parameters": WEATHER},
            103,
        ),
    ],
)
def test_recorded_bills_with_a_tool_are_counted_to_the_token(
    model: str, asked: str, system: str | None, tool: dict[str, Any], tokens: int
) -> None:
    request: dict[str, Any] = {
        "contents": [{"role": "user", "parts": [{"text": asked}]}],
        "tools": [{"functionDeclarations": [tool]}],
    }
    if system is not None:
        request["systemInstruction"] = {"role": "user", "parts": [{"text": system}]}
    assert assembler.count_request(request, dialect=gemini, model=model).tokens == tokens


@pytest.mark.parametrize(
    ("model", "typical"), [(GOOGLE_3, 205 - 30), (VERTEX_3, 205 - 30), (VERTEX_2_5, 130), (GOOGLE_2_5, 0)]
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
    signed_content, bare = (
        [asked, {"role": "model", "parts": [{"text": "Yes"}, *more]}, asked] for more in ([signed], [])
    )
    assert billed(GOOGLE_3, contents=signed_content).tokens == billed(GOOGLE_3, contents=bare).tokens


ANSWER = {"type": "OBJECT", "title": "Weather", "properties": {"sky": {"type": "STRING", "description": "Its colour"}}}


@pytest.mark.parametrize(
    ("model", "tokens"), [(GOOGLE_2, 1 + 1 + 1 + 3), (GOOGLE_2_5, 0), (GOOGLE_3, 0), (VERTEX_2_5, 1 + 1 + 1 + 3)]
)
def test_the_schema_of_an_answer_is_billed_by_2_0_and_on_vertex_by_its_words(model: str, tokens: int) -> None:
    with_it = billed(model, generationConfig={"responseSchema": ANSWER})
    assert with_it.tokens - billed(model).tokens == tokens
    assert billed(model, config={"response_schema": ANSWER}).tokens == with_it.tokens
    as_json = billed(model, generationConfig={"responseJsonSchema": ANSWER})
    assert as_json.tokens == billed(model).tokens


@pytest.mark.parametrize("key", ["propertyOrdering", "property_ordering"])
@pytest.mark.parametrize(("model", "tokens"), [(GOOGLE_2, 1), (GOOGLE_2_5, 0), (GOOGLE_3, 0)])
def test_2_0_bills_each_key_in_the_order_of_an_answers_properties(key: str, model: str, tokens: int) -> None:
    """Recorded by neilberkman/req_llm, Mirascope/mirascope and braintrustdata/braintrust-sdk-python."""
    ordered = {**ANSWER, key: ["sky"]}
    bills = [billed(model, generationConfig={"responseSchema": schema}).tokens for schema in (ANSWER, ordered)]
    assert bills[1] - bills[0] == tokens


@pytest.mark.parametrize("key", ["responseSchema", "responseJsonSchema"])
def test_gemini_3_on_vertex_bills_the_schema_of_an_answer_as_json(key: str) -> None:
    """Recorded by crmne/ruby_llm."""
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    asked = {"role": "user", "parts": [{"text": "Generate a person named Bob"}]}
    request = {"contents": [asked], "generationConfig": {key: schema}}
    count = assembler.count_request(request, dialect=gemini, model=VERTEX_3)
    assert abs(count.tokens - 70) <= 22
    assert count.upper >= 70


@pytest.mark.parametrize("model", [GOOGLE_2, GOOGLE_2_5, GOOGLE_3, VERTEX_2_5])
def test_the_json_schema_of_an_answer_is_free_and_in_no_bound(model: str) -> None:
    assert billed(model, generationConfig={"responseJsonSchema": ANSWER}).upper == billed(model).upper


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


@pytest.mark.parametrize(("model", "each"), [(GOOGLE_2, 1), (GOOGLE_2_5, 3)])
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
    plain, with_response = billed(GOOGLE_2_5, **declared()), billed(GOOGLE_2_5, **declared(response=one_property()))
    assert plain.tokens < with_response.tokens
    assert billed(GOOGLE_2_5, **declared(**{key: one_property()})) == with_response
