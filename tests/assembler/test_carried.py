"""A server's part is sent back byte for byte, keeps its neighbours, and has a price with a bound."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from assembler import Assembler, ClearReasoning, ClearToolResults, TrimOldest, TrimSteps, count_request, verify
from assembler.dialects import DIALECTS, Dialect
from budgets import Budget, Count, Grade
from tests.assembler.served import BLOCKS, CONVERSE, ITEMS, PARTS, SEALED, WORDS

Dict = dict[str, Any]

RESPONSES, ANTHROPIC, GEMINI, BEDROCK = (
    DIALECTS[name] for name in ("openai_responses", "anthropic", "gemini", "bedrock")
)
THOUGHT: Dict = {"type": "reasoning", "id": "rs_1", "summary": []}
TOOL: Dict = {"name": "ask", "description": "Asks.", "parameters": {"type": "object", "properties": {}}}


def _question_of(text: str, dialect: Dialect) -> Dict:
    if dialect is GEMINI:
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": [{"text": text}] if dialect is BEDROCK else text}


def _answer_of(parts: list[Dict], dialect: Dialect) -> Dict:
    return {"role": "model", "parts": parts} if dialect is GEMINI else {"role": "assistant", "content": parts}


SETTINGS = ("additional_tools", "configuration_update", "compaction_trigger")
"""What no model says, so that no thought of one stands before it."""
UNKNOWN = ("hologram", "quantum", "dream")
SERVED: list[Any] = [
    *(
        pytest.param(RESPONSES, items if name in SETTINGS else [THOUGHT, *items], id=f"responses-{name}")
        for name, items in ITEMS.items()
    ),
    *(
        pytest.param(dialect, [_answer_of(parts, dialect)], id=f"{dialect.name}-{name}")
        for dialect, kinds in ((ANTHROPIC, BLOCKS), (GEMINI, PARTS), (BEDROCK, CONVERSE))
        for name, parts in kinds.items()
    ),
]
TURNS = {"openai_responses": "input", "gemini": "contents"}


def _history(dialect: Dialect, served: list[Dict]) -> list[Dict]:
    return [_question_of("q", dialect), *copy.deepcopy(served), _question_of("on", dialect)]


@pytest.mark.parametrize(("dialect", "served"), SERVED)
def test_a_servers_part_is_sent_back_unchanged_and_has_a_bound(dialect: Dialect, served: list[Dict]) -> None:
    history = _history(dialect, served)
    if served[-1].get("type") == "reasoning":  # which is sent with what follows it
        history.insert(-1, {"role": "assistant", "content": "so"})
    context = Assembler(dialect=dialect).add_capability([TOOL]).add_messages(history).build()
    sent = context.request()[TURNS.get(dialect.name, "messages")]
    assert json.dumps(sent) == json.dumps(history)
    assert context.messages == history
    assert 0 < context.count.tokens < context.count.upper
    found = verify(context.request(), dialect=dialect)
    assert all(violation.note for violation in found)
    assert not found or any(word in str(served) for word in UNKNOWN)
    counted = count_request(context.request(), dialect=dialect)
    assert counted.upper >= context.count.tokens


@pytest.mark.parametrize(("dialect", "served"), SERVED)
def test_a_turn_is_dropped_with_everything_that_a_server_wrote_in_it(dialect: Dialect, served: list[Dict]) -> None:
    history = [_question_of("old " * 50, dialect), *served, *_history(dialect, [_plain_answer_of(dialect)])]
    whole = Assembler(dialect=dialect).add_capability([TOOL]).add_messages(history).build().count.upper
    budget = Budget(whole - 1)
    context = (
        Assembler(budget, dialect=dialect, on_overflow=TrimOldest())
        .add_capability([TOOL])
        .add_messages(history)
        .build()
    )
    assert context.messages == history[-3:]
    assert [gone.index for gone in context.dropped] == list(range(len(history) - 3))


def _plain_answer_of(dialect: Dialect) -> Dict:
    return _answer_of(
        [{"type": "text", "text": "so"}] if dialect in (RESPONSES, ANTHROPIC) else [{"text": "so"}], dialect
    )


@pytest.mark.parametrize(("dialect", "served"), SERVED)
@pytest.mark.parametrize("other", ["openai_chat", "anthropic", "gemini", "bedrock", "mistral", "openai_responses"])
def test_another_api_gets_the_text_of_a_servers_part_and_never_the_part(
    dialect: Dialect, served: list[Dict], other: str
) -> None:
    if other == dialect.name:
        return
    unknown = dialect is ANTHROPIC and "dream" in str(served)  # whose it is, nothing says
    history = _history(dialect, served)
    if "computer_screenshot" in str(served) and other in ("gemini", "bedrock"):
        return  # a picture behind an address, which these do not take
    context = Assembler(dialect=DIALECTS[other]).add_capability([TOOL]).add_messages(history).build()
    request = context.request()
    written = json.dumps(request)
    assert SEALED not in written or unknown
    if not unknown:
        assert verify(request, dialect=DIALECTS[other]) == []
    if WORDS in str(served) and not any(word in str(served) for word in UNKNOWN):
        assert WORDS in written
    elif not unknown and "'call_" not in str(served):
        assert "another" in " ".join(str(context.report).split())


@pytest.mark.parametrize(
    "kind", ["shell_call", "apply_patch_call", "computer_call", "local_shell_call", "custom_tool_call"]
)
def test_a_call_of_a_provider_s_own_tool_is_a_step_like_any_other(kind: str) -> None:
    call, answer = ITEMS[kind]
    history = [{"role": "user", "content": "q"}, call, answer]
    for _ in range(3):
        again = str(len(history))
        history += [{**call, "call_id": again}, {**answer, "id" if "call_id" not in answer else "call_id": again}]
    assembler = Assembler(dialect=RESPONSES, on_overflow=[ClearToolResults(keep=1), TrimSteps(keep=1)])
    whole = assembler.add_messages(history).build().count.upper
    small = Assembler(
        Budget(whole // 2), dialect=RESPONSES, on_overflow=[ClearToolResults(keep=1), TrimSteps(keep=1)]
    ).add_messages(history)
    request = small.build().request()
    assert len(request["input"]) < len(history)
    assert verify(request, dialect=RESPONSES) == []
    with pytest.raises(Exception, match="has no result"):
        Assembler(dialect=RESPONSES).add_messages(history[:-1]).build()


def test_an_encrypted_part_is_estimated_by_its_length_and_not_counted_as_words() -> None:
    item = {"type": "web_search_call", "id": "ws", "status": "completed", "seal": "A9z" * 4000}
    count = count_request({"input": [item]}, dialect=RESPONSES, model="gpt-5")
    assert count.grade is Grade.ESTIMATED
    assert 9_000 // 4 <= count.tokens <= 9_000 // 4 + 100
    assert 9_000 // 2 <= count.upper <= 9_000 // 2 + 300


def test_additional_tools_cost_about_what_the_same_tools_do_in_the_request() -> None:
    tools = [{"type": "function", **TOOL, "description": "Asks somebody who knows. " * 20, "strict": False}]
    item = {"type": "additional_tools", "role": "developer", "tools": tools}
    question = {"role": "user", "content": "q"}
    given = count_request({"input": [question], "tools": tools}, dialect=RESPONSES, model="gpt-5")
    loaded = count_request({"input": [item, question]}, dialect=RESPONSES, model="gpt-5")
    assert abs(loaded.tokens - given.tokens) <= 10
    assert loaded.upper >= given.tokens


def test_an_agent_with_web_search_fits_for_twenty_turns() -> None:
    history: list[Dict] = []
    budget = Budget.for_model("gpt-5", context_window=1_200, max_output_tokens=100)
    assembler = Assembler(budget, dialect=RESPONSES, on_overflow=[ClearReasoning(), TrimOldest()])
    for turn in range(20):
        history.append({"role": "user", "content": f"question {turn}"})
        request = assembler.add_messages(history).build().request()
        assert verify(request, dialect=RESPONSES) == []
        found = {**ITEMS["web_search_call"][0], "id": f"ws_{turn}"}
        answer: Dict = {
            "type": "message",
            "role": "assistant",
            "id": f"msg_{turn}",
            "status": "completed",
            "content": [{"type": "output_text", "text": "It eats clams. " * 5, "annotations": []}],
        }
        history += [{**THOUGHT, "id": f"rs_{turn}", "encrypted_content": SEALED}, found, answer]
    context = assembler.add_message({"role": "user", "content": "last"}).build()
    assert context.count.upper <= 1_100
    assert context.dropped
    assert isinstance(context.count, Count)


def test_a_screenshot_that_is_asked_for_as_it_is_has_a_bound() -> None:
    call, answer = ITEMS["computer_call"]
    shown = {**answer, "output": {**answer["output"], "detail": "original"}}
    history = [{"role": "user", "content": "q"}, call, shown]
    context = Assembler(dialect=RESPONSES).add_messages(history).build()
    assert context.request()["input"] == history
    assert 2_000 < context.count.tokens < 10_000 < context.count.upper
    sized = {**shown, "output": {**shown["output"], "width": 320, "height": 320}}
    small = Assembler(dialect=RESPONSES).add_messages([*history[:2], sized]).build()
    assert 100 < small.count.tokens < small.count.upper < 400
    assert small.request()["input"] == history


COHERES: Dict = {"type": "document", "document": {"id": "d1", "data": {"text": "found " * 60}}}
"""Cohere's second chat API, `ToolV2` results (cohere 7.3.1, DocumentToolContent, read 2026-11)."""


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_document_of_coheres_is_sent_as_it_came_on_chat_and_as_text_elsewhere(name: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c1", "content": [COHERES]}
    history = [{"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": [call]}, result]
    context = Assembler(dialect=DIALECTS[name]).set_tools([TOOL]).set_messages(history).build()
    request = json.dumps(context.request())
    assert "found found" in request
    assert (json.dumps(COHERES) in request) == (name in ("openai_chat", "plain"))
    assert context.count.upper > 60
    assert [fault.rule for fault in verify(context.request(), dialect=name) if fault.rule != "S4"] == []
