"""`fit_request` returns a raw request fitted to its budget, in every dialect and at every edge."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    ClearToolResults,
    ContextLengthError,
    ConversationError,
    MessageTypeError,
    Policy,
    TrimOldest,
    TrimSteps,
    Truncate,
    calibrate,
    count_request,
    fit_request,
    verify,
)
from assembler.dialects import DIALECTS, Dialect, anthropic, bedrock, gemini, mistral, openai_chat, openai_responses
from assembler.drawn.spelling import SCHEMA, SPELLINGS
from assembler.testing import requests
from budgets import Budget, BudgetError
from tests.scaled import scaled

LADDERS: list[list[Policy]] = [
    [TrimOldest()],
    [ClearToolResults(keep=0), TrimOldest(low_water=0.5), TrimSteps(keep=1)],
    [Truncate(8), TrimOldest()],
]


def upper(body: Mapping[str, Any], dialect: Dialect) -> int:
    return count_request(body, dialect=dialect, model=SPELLINGS[dialect.name].models[0]).upper


def base(limit: int, dialect: Dialect, ladder: Any = None) -> Assembler:
    budget = Budget(limit + 10, max_output_tokens=10, model=SPELLINGS[dialect.name].models[0])
    return Assembler(budget, dialect=dialect, on_overflow=ladder or TrimOldest())


@pytest.mark.parametrize("name", DIALECTS)
@scaled(0.2)
@given(data=st.data())
def test_a_fitted_body_is_valid_fits_and_keeps_every_other_key(name: str, data: st.DataObject) -> None:
    dialect = DIALECTS[name]
    body = {**data.draw(requests(dialect)), **data.draw(st.sampled_from([{}, SPELLINGS[name].options]))}
    before, cost = copy.deepcopy(body), upper(body, dialect)
    limit = data.draw(st.one_of(st.integers(max(1, cost - 2), cost + 2), st.integers(1, max(1, cost))))
    try:
        fitted = fit_request(body, dialect=dialect, assembler=base(limit, dialect, data.draw(st.sampled_from(LADDERS))))
    except ContextLengthError as error:
        assert limit < cost
        assert error.excess > 0
        return
    finally:
        assert body == before
    assert verify(fitted, dialect=dialect) == []
    assert upper(fitted, dialect) <= limit
    if cost <= limit:
        assert fitted == body
    assert {key: fitted[key] for key in body.keys() & SPELLINGS[name].options.keys()} == {
        key: body[key] for key in body.keys() & SPELLINGS[name].options.keys()
    }
    assert fitted.keys() <= body.keys()


MISTRAL_CALL = {"id": "a12345678", "type": "function", "function": {"name": "f", "arguments": "{}"}}
MISTRAL_STEP = [
    {"role": "assistant", "content": "", "tool_calls": [MISTRAL_CALL]},
    {"role": "tool", "tool_call_id": "a12345678", "name": "f", "content": "found"},
]


@pytest.mark.parametrize("spare", range(-2, 8))
def test_a_body_that_only_fits_before_it_is_folded_is_cut(spare: int) -> None:
    """Mistral's rules ask for a message between the result and the user's. The body was sent with it, and too large."""
    body = {"messages": [{"role": "user", "content": "q"}, *MISTRAL_STEP, {"role": "user", "content": "so?"}]}
    limit = upper(body, mistral) + spare
    fitted = fit_request(body, dialect=mistral, assembler=base(limit, mistral))
    assert verify(fitted, dialect=mistral) == []
    assert upper(fitted, mistral) <= limit


@pytest.mark.parametrize("name", DIALECTS)
@scaled(0.1)
@given(data=st.data())
def test_the_assemblers_regions_are_put_in_and_everything_else_stays(name: str, data: st.DataObject) -> None:
    dialect = DIALECTS[name]
    body = data.draw(requests(dialect))
    assembler = Assembler(dialect=dialect).add_instruction("Be brief.").add_knowledge("Zürich", type="city")
    fitted = fit_request(body, dialect=dialect, assembler=assembler)
    assert verify(fitted, dialect=dialect) == []
    assert "Be brief." in str(fitted)
    assert "Zürich" in str(fitted)


@scaled(0.2)
@given(body=requests(openai_chat))
def test_the_fitted_body_shares_nothing_with_the_given_one(body: dict[str, Any]) -> None:
    fitted = fit_request(body, dialect=openai_chat, assembler=base(10**6, openai_chat))
    before = copy.deepcopy(body)
    fitted["messages"][0]["content"] = "changed"
    fitted["messages"].append({})
    for tool in fitted.get("tools", ()):
        tool["function"]["name"] = "changed"
    assert body == before


def turns(count: int) -> list[dict[str, Any]]:
    exchanges = [[("user", f"Question {n}. " + "why " * 20), ("assistant", f"Because {n}.")] for n in range(count)]
    return [{"role": role, "content": text} for turn in exchanges for role, text in turn] + [
        {"role": "user", "content": "?"}
    ]


def test_a_turn_is_dropped_for_an_output_format_that_costs_the_last_tokens() -> None:
    bare = {"messages": turns(5)}
    asked = {**bare, "response_format": SPELLINGS["openai_chat"].options["response_format"]}
    limit = upper(bare, openai_chat)
    assert fit_request(bare, dialect=openai_chat, assembler=base(limit, openai_chat)) == bare
    fitted = fit_request(asked, dialect=openai_chat, assembler=base(limit, openai_chat))
    assert len(fitted["messages"]) < len(bare["messages"])
    assert upper(fitted, openai_chat) <= limit < upper(asked, openai_chat)


def test_blocks_of_a_system_prompt_keep_their_cache_marks() -> None:
    system = [{"type": "text", "text": "Plan trips.", "cache_control": {"type": "ephemeral"}}]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": system, "messages": turns(9)}
    fitted = fit_request(body, dialect=anthropic, assembler=base(200, anthropic))
    assert fitted["system"] == system
    assert 1 <= len(fitted["messages"]) < len(body["messages"])


def test_a_text_as_input_stays_a_text() -> None:
    body = {"model": "gpt-4o", "input": "Where is Köln?"}
    assert fit_request(body, dialect=openai_responses, assembler=base(90, openai_responses)) == body


def test_a_config_keeps_its_keys_that_are_not_regions() -> None:
    contents = [{"role": m["role"].replace("assistant", "model"), "parts": [{"text": m["content"]}]} for m in turns(9)]
    config = {"system_instruction": "Plan trips.", "temperature": 0.2, "response_mime_type": "application/json"}
    fitted = fit_request({"contents": contents, "config": config}, dialect=gemini, assembler=base(200, gemini))
    assert fitted["config"] == config
    assert len(fitted["contents"]) < len(contents)


def test_a_chosen_tool_and_a_cache_point_stay_beside_the_tools() -> None:
    spec = {"toolSpec": {"name": "find", "description": "Finds.", "inputSchema": {"json": {"type": "object"}}}}
    config = {"tools": [spec, {"cachePoint": {"type": "default"}}], "toolChoice": {"any": {}}}
    messages = [{"role": m["role"], "content": [{"text": m["content"]}]} for m in turns(9)]
    body = {"modelId": "m", "messages": messages, "toolConfig": config}
    fitted = fit_request(body, dialect=bedrock, assembler=base(900, bedrock))
    assert fitted["toolConfig"] == config
    assert len(fitted["messages"]) < len(messages)


def test_legacy_functions_are_sent_as_functions() -> None:
    functions = [{"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {}}}]
    body = {"messages": turns(9), "functions": functions, "function_call": {"name": "find"}}
    fitted = fit_request(body, dialect=openai_chat, assembler=base(200, openai_chat))
    assert (fitted["functions"], fitted["function_call"]) == (functions, {"name": "find"})
    assert "tools" not in fitted


def test_a_body_may_be_of_another_api_than_the_assemblers_own() -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": turns(9)}
    assembler = Assembler(Budget(210, max_output_tokens=10, model="claude-sonnet-4-5"), on_overflow=TrimOldest())
    chat = Assembler(assembler.budget, dialect=openai_chat, on_overflow=TrimOldest())
    assert fit_request(body, dialect=anthropic, assembler=chat) == fit_request(
        body, dialect=anthropic, assembler=assembler
    )


def test_a_history_that_no_api_accepts_is_refused_even_if_it_fits() -> None:
    orphan = {"messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}, {"role": "user", "content": "?"}]}
    with pytest.raises(ConversationError):
        fit_request(orphan, dialect=openai_chat, assembler=base(10**6, openai_chat))


EMPTY: dict[str, list[dict[str, Any]]] = {
    "openai_chat": [{"messages": []}],
    "openai_responses": [{"input": []}],
    "mistral": [{"messages": []}],
    "anthropic": [{"messages": []}, {"messages": [], "system": "Be brief."}],
    "bedrock": [{"messages": []}, {"messages": [], "system": [{"text": "Be brief."}]}],
    "gemini": [{"contents": []}, {"contents": [], "config": {"system_instruction": "Be brief."}}],
}


@pytest.mark.parametrize(("name", "body"), [(name, body) for name, bodies in EMPTY.items() for body in bodies])
def test_a_body_without_a_message_is_refused_though_it_fits(name: str, body: dict[str, Any]) -> None:
    with pytest.raises(ConversationError, match="needs"):
        fit_request(body, dialect=name, assembler=Assembler(Budget(1_000), dialect=name))


def test_instructions_alone_become_the_item_that_responses_asks_for() -> None:
    fitted = fit_request({"instructions": "Be brief."}, assembler=Assembler(Budget(1_000), dialect="openai_responses"))
    assert fitted == {"input": [{"role": "system", "content": "Be brief."}]}


def test_a_body_without_a_message_goes_on_with_what_the_server_holds() -> None:
    body = {"previous_response_id": "resp_1"}
    assert fit_request(body, assembler=Assembler(Budget(1_000), dialect="openai_responses").hold(10)) == body


def test_without_a_budget_a_body_is_returned_unchanged() -> None:
    body = {"model": "x", "messages": turns(3)}
    assert fit_request(body, dialect=openai_chat, assembler=Assembler()) == body


def test_values_of_other_types_are_refused_by_name() -> None:
    with pytest.raises(MessageTypeError, match="body"):
        fit_request([], dialect=openai_chat, assembler=Assembler())  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="dialect"):
        fit_request({}, dialect=7, assembler=Assembler())  # type: ignore[arg-type]
    with pytest.raises((BudgetError, TypeError), match="assembler"):
        fit_request({}, dialect=openai_chat, assembler=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("role", [{}, {"role": "user"}, {"role": "system"}, {"role": "model"}])
@pytest.mark.parametrize("key", ["system_instruction", "systemInstruction", "config"])
def test_a_system_content_of_gemini_stays_the_system_text_whatever_its_role(role: dict[str, str], key: str) -> None:
    """Google ignores the role, and several clients write the user's. The instruction then went with the old turns."""
    instruction = {"parts": [{"text": "Be brief."}], **role}
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "word " * 100}]},
            {"role": "model", "parts": [{"text": "Yes."}]},
            {"role": "user", "parts": [{"text": "And now?"}]},
        ],
        key: {"system_instruction": instruction} if key == "config" else instruction,
    }
    base = Assembler(Budget(45, model="gemini-2.5-flash"), on_overflow=TrimOldest())
    fitted = fit_request(body, dialect="gemini", assembler=base)
    assert len(fitted["contents"]) == 1
    assert fitted[key] == body[key]


@pytest.mark.parametrize("model", ["claude-3-5-sonnet-20241022", "claude-sonnet-4-20250514", "claude-haiku-4-5"])
def test_an_answer_that_a_model_goes_on_with_stays_at_the_end(model: str) -> None:
    question = [{"role": "user", "content": "As JSON?"}, {"role": "assistant", "content": "{"}]
    history = [{"role": "user", "content": "word " * 100}, {"role": "assistant", "content": "Yes."}, *question]
    fitted = [
        fit_request(
            {"messages": history},
            dialect="anthropic",
            assembler=Assembler(Budget(window, model=model), on_overflow=TrimOldest()),
        )
        for window in (1_000, 40)
    ]
    assert [body["messages"] for body in fitted] == [history, question]
    for body in fitted:
        assert verify(body, dialect="anthropic", model=model) == []


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-opus-4-6-20260205", "claude-5-opus", None])
def test_an_answer_at_the_end_is_refused_for_a_model_that_takes_none_or_is_unknown(model: str | None) -> None:
    body = {"messages": [{"role": "user", "content": "As JSON?"}, {"role": "assistant", "content": "{"}]}
    with pytest.raises(ConversationError, match="ends with the assistant"):
        fit_request(body, dialect="anthropic", assembler=Assembler(Budget(1_000, model=model)))


def _talk(turns: int) -> list[dict[str, str]]:
    pairs = [
        [{"role": "user", "content": f"Why {n}? " * 6}, {"role": "assistant", "content": "So."}] for n in range(turns)
    ]
    return [message for pair in pairs for message in pair] + [{"role": "user", "content": "?"}]


def _billed(ours: int) -> int:
    """The bill of a provider with a hidden prompt and another vocabulary."""
    return (6 * ours + 4) // 5 + 40


FORMAT: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA}}


@pytest.mark.parametrize("more", [{}, {"response_format": FORMAT}])
def test_a_body_fits_the_bill_that_its_assembler_is_anchored_on(more: dict[str, Any]) -> None:
    base = Assembler(Budget(300, model="gpt-4o"), on_overflow=TrimOldest())
    first = base.fork().set_messages(_talk(3)).build()
    anchored = base.fork().anchor(calibrate(first, _billed(first.count.tokens)))
    sizes: list[int] = []
    for turns in range(12):
        fitted = fit_request({"messages": _talk(turns), **more}, dialect=openai_chat, assembler=anchored)
        assert _billed(count_request(fitted, dialect=openai_chat, model="gpt-4o").tokens) <= 300
        sizes.append(len(fitted["messages"]))
    assert sizes[0] == 1
    assert max(sizes) < 2 * 11 + 1


def test_a_body_that_fits_its_assemblers_bill_is_returned_unchanged() -> None:
    base = Assembler(Budget(300, model="gpt-4o"), on_overflow=TrimOldest())
    bill = calibrate(base.fork().set_messages(_talk(1)).build(), 90)
    body: dict[str, Any] = {"model": "gpt-4o", "messages": _talk(2), "temperature": 0}
    assert fit_request(body, dialect=openai_chat, assembler=base.anchor(bill)) == body


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def in_a_circle() -> dict[str, Any]:
    circle: dict[str, Any] = {}
    circle["again"] = circle
    return circle


@pytest.mark.parametrize("key", ["tool_choice", "response_format", "thinking", "metadata"])
@pytest.mark.parametrize("value", [nested(100_000), in_a_circle()], ids=["deep", "in a circle"])
@pytest.mark.parametrize("limit", [10_000, 12])
def test_a_body_with_a_key_that_never_ends_is_refused(key: str, value: object, limit: int) -> None:
    messages = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "?"},
    ]
    with pytest.raises(ConversationError):
        fit_request(
            {"messages": messages, key: value}, dialect=openai_chat, assembler=base(limit, openai_chat, TrimOldest())
        )


REST: dict[str, Any] = {
    "tools": [{"functionDeclarations": [{"name": "find", "description": "Finds."}]}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
    "generationConfig": {"maxOutputTokens": 9, "responseMimeType": "application/json"},
    "safetySettings": [],
    "labels": {"team": "trips"},
    "unknownTomorrow": 1,
}
SYSTEM = {"parts": [{"text": "Plan trips."}]}


@pytest.mark.parametrize("key", ["systemInstruction", "system_instruction"])
def test_a_body_of_geminis_rest_api_is_returned_in_that_form(key: str) -> None:
    contents = [{"role": m["role"].replace("assistant", "model"), "parts": [{"text": m["content"]}]} for m in turns(9)]
    body = {key: SYSTEM, "contents": contents, **REST}
    fitted = fit_request(body, dialect=gemini, assembler=base(240, gemini))
    assert {name: value for name, value in fitted.items() if name != "contents"} == {key: SYSTEM, **REST}
    assert len(fitted["contents"]) < len(contents)


@pytest.mark.parametrize(
    "body", [{}, {"safetySettings": []}, {"model": "m", "generationConfig": {"topK": 1}}, {"model": "models/m"}]
)
def test_an_instruction_goes_into_a_rest_body_as_a_content(body: dict[str, Any]) -> None:
    asked = {"contents": [{"role": "user", "parts": [{"text": "Where?"}]}], **body}
    assembler = base(240, gemini).add_instruction("Plan trips.")
    assert fit_request(asked, dialect=gemini, assembler=assembler) == {**asked, "systemInstruction": SYSTEM}


def test_an_instruction_goes_into_the_config_of_an_sdks_arguments() -> None:
    asked = {"model": "m", "contents": [{"role": "user", "parts": [{"text": "Where?"}]}]}
    assembler = base(240, gemini).add_instruction("Plan trips.")
    fitted = fit_request(asked, dialect=gemini, assembler=assembler)
    assert fitted == {**asked, "config": {"system_instruction": "Plan trips."}}


UNSENDABLE: dict[str, tuple[str, dict[str, Any]]] = {
    "a computer call without a call_id": (
        "openai_responses",
        {
            "input": [
                {"role": "user", "content": "Look."},
                {"type": "computer_call", "id": "cu_1", "action": {"type": "screenshot"}, "status": "completed"},
                {
                    "type": "computer_call_output",
                    "call_id": "cu_1",
                    "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"},
                },
            ]
        },
    ),
    "a result without an answer": (
        "gemini",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Look."}]},
                {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": None}}]},
            ]
        },
    ),
}


@pytest.mark.parametrize(("dialect", "body"), UNSENDABLE.values(), ids=UNSENDABLE)
def test_a_body_that_fits_is_mended_if_its_api_would_refuse_it_as_it_came(dialect: str, body: dict[str, Any]) -> None:
    """The dialect mends it without a note, so it was taken for one that may stay."""
    assert verify(body, dialect=dialect) != []
    given, base = copy.deepcopy(body), Assembler(Budget(9_000, model="gpt-5"), dialect=dialect)
    fitted = fit_request(body, assembler=base)
    assert verify(fitted, dialect=dialect) == []
    first = base.fork().set_messages(next(iter(body.values()))[:1]).build()
    billed = fit_request(body, assembler=base.fork().anchor(calibrate(first, first.count.tokens)))
    assert billed == fitted
    assert body == given
