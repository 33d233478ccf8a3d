"""Texts with hidden content (area A5) are sent unchanged and counted in full, or refused by place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assembler import Assembler, AssemblyError, MarkupError, count_request
from assembler.dialects import anthropic, bedrock, gemini, mistral, openai_chat, openai_responses, plain
from budgets import Budget, TokenCountError, tiktoken_counter
from tests.budgets.raw_engines import tokens_of
from tests.hostile.case_file import Case, case, cases
from tests.hostile.test_control_tokens import history, leaves
from tests.hostile.test_markup import elements, folded

APIS = (openai_chat, openai_responses, anthropic, gemini, plain)


@cases("test_unicode", having="text")
def test_a_message_is_sent_unchanged_or_refused(case: Case) -> None:
    text = case["input"]["text"]
    for dialect in APIS:
        assembler = Assembler(dialect=dialect)
        if case["input"].get("utf8") is False:
            with pytest.raises(MarkupError):
                assembler.add_messages([{"role": "user", "content": text}])
            assert assembler.build().messages == []
        else:
            spoken = f"x{text}y"  # alone, some of these are blank, and some APIs refuse a blank text
            request = assembler.add_messages([{"role": "user", "content": spoken}]).build().request()
            assert spoken in leaves(request)
            json.dumps(request, ensure_ascii=False).encode()


@cases("test_unicode", having="text")
def test_invisible_text_is_counted(case: Case) -> None:
    text = case["input"]["text"]
    if case["input"].get("utf8") is False:
        with pytest.raises(TokenCountError):
            tiktoken_counter()(text)
        return
    context = Assembler(Budget(100_000, counter=tiktoken_counter())).add_messages([("user", text)]).build()
    assert context.costs.conversation == tokens_of("o200k_base", text)


@cases("test_unicode", having="text")
def test_knowledge_carries_what_xml_carries(case: Case) -> None:
    text = case["input"]["text"]
    assembler = Assembler()
    if not case["input"]["xml"]:
        with pytest.raises(MarkupError) as caught:
            assembler.add_knowledge(text, type="rag")
        assert caught.value.offset is not None
        return
    (only,) = elements(assembler.add_knowledge(text, type="rag").build().system)
    assert only.text == f"\n{folded(text)}\n"


def with_surrogate_at(place: str) -> list[dict[str, Any]]:
    bad = case("A5-05")["input"]["text"]
    spoken = json.loads(json.dumps(history("x")))
    call = spoken[1]["tool_calls"][0]
    if place == "content":
        spoken[0]["content"] = bad
    elif place == "part":
        spoken[4]["content"][0]["text"] = bad
    elif place == "result":
        spoken[2]["content"] = bad
    elif place == "arguments":
        call["function"]["arguments"] = json.dumps({"q": bad}, ensure_ascii=False)
    elif place == "call name":
        call["function"]["name"] = bad
    elif place == "call id":
        call["id"] = spoken[2]["tool_call_id"] = bad
    elif place == "name":
        spoken[0]["name"] = bad
    elif place == "unknown key":
        spoken[0]["note"] = bad
    elif place == "refusal":
        spoken[3] = {"role": "assistant", "content": None, "refusal": bad}
    return spoken


def sendable(messages: list[dict[str, Any]], dialect: Any) -> bool:
    """Refused, or a request that UTF-8 carries: what HTTP clients do with it at the end."""
    try:
        request = Assembler(dialect=dialect).add_messages(messages).build().request()
    except AssemblyError:
        return True
    try:
        json.dumps(request, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@pytest.mark.parametrize("dialect", [openai_chat, plain, openai_responses], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("place", ["content", "part", "result", "arguments", "call name"])
def test_a_lone_surrogate_never_reaches_a_request(place: str, dialect: Any) -> None:
    assert sendable(with_surrogate_at(place), dialect)


@pytest.mark.parametrize("place", ["call id", "name", "unknown key", "refusal"])
def test_a_lone_surrogate_in_a_smaller_field_never_reaches_a_request(place: str) -> None:
    assert sendable(with_surrogate_at(place), plain)


@pytest.mark.parametrize("dialect", [*APIS, bedrock, mistral], ids=lambda each: each.name)
@cases("test_unicode", having="escaped")
def test_an_escaped_half_pair_of_a_model_is_sent_as_it_was_written(case: Case, dialect: Any) -> None:
    """The arguments are JSON in ASCII, which the API that wrote them takes back."""
    spoken = history("x")
    spoken[1]["tool_calls"][0]["function"]["arguments"] = case["input"]["escaped"]
    request = Assembler(dialect=dialect).add_capability([{"name": "f"}]).add_messages(spoken).build().request()
    assert json.dumps(request, ensure_ascii=False).encode()
    assert count_request(request, dialect=dialect).tokens > 0
