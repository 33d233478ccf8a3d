"""What a request does not hold of a message is noted, and `context.dropped` lists the message."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assembler import Assembler, Context
from assembler.dialects import DIALECTS

Dict = dict[str, Any]

LOST = "l0st"
ASKED: Dict = {"role": "user", "content": "q"}
ANSWERED: Dict = {"role": "assistant", "content": "a"}
APIS = ["anthropic", "bedrock", "gemini", "mistral", "openai_chat", "openai_responses"]
LEFT_OUT = "1 part(s) of another API without content here left out"
UNASKED = "1 question(s) to a tool of another API left out"


def built(name: str, history: list[Dict]) -> Context[None]:
    return Assembler(dialect=DIALECTS[name]).add_messages(history).build()


def outcomes(context: Context[Any]) -> list[tuple[int, str]]:
    return [(left.index, left.outcome) for left in context.dropped]


SEARCH: Dict = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": LOST}}
"""What no API takes in a system text."""


@pytest.mark.parametrize("name", APIS)
def test_a_part_of_a_head_message_that_is_left_out_shortens_the_message(name: str) -> None:
    blocks = [{"type": "text", "text": "Be brief."}, SEARCH]
    context = built(name, [{"role": "system", "content": blocks}, ASKED])
    assert LOST not in json.dumps(context.request())
    assert LEFT_OUT in context.notes()
    assert outcomes(context) == [(0, "shortened")]
    assert context.dropped[0].message == {"role": "system", "content": blocks}
    assert context.inside.left_out == 1


@pytest.mark.parametrize("name", APIS)
def test_a_head_message_of_which_nothing_is_sent_is_dropped(name: str) -> None:
    context = built(name, [{"role": "system", "content": "Be brief."}, {"role": "system", "content": [SEARCH]}, ASKED])
    assert "Be brief." in json.dumps(context.request())
    assert outcomes(context) == [(1, "dropped")]


@pytest.mark.parametrize("name", [*APIS, "plain"])
def test_a_head_that_is_sent_whole_is_not_listed(name: str) -> None:
    messages: list[Dict] = [{"role": "system", "content": "Be brief."}, {"role": "developer", "content": "And kind."}]
    assert not built(name, [*messages, ASKED]).dropped


def test_the_citations_of_a_head_that_claude_gets_are_not_lost() -> None:
    cited = {"type": "text", "text": "Be brief.", "citations": [{"type": "char_location", "cited_text": LOST}]}
    history = [{"role": "system", "content": [cited]}, ASKED]
    kept, lost = built("anthropic", history), built("gemini", history)
    assert LOST in json.dumps(kept.request()["system"])
    assert not kept.dropped
    assert outcomes(lost) == [(0, "shortened")]


RESULTS = [{"title": "A page", "text": "It says."}]
SEARCHED: dict[str, Dict] = {
    "a search of the web": {
        "type": "web_search_call",
        "id": "ws",
        "status": "completed",
        "action": {"type": "search", "query": LOST},
        "results": RESULTS,
    },
    "several questions": {
        "type": "web_search_call",
        "id": "ws",
        "status": "completed",
        "action": {"type": "search", "queries": ["It says.", LOST]},
        "results": RESULTS,
    },
    "a search of files": {"type": "file_search_call", "id": "fs", "queries": [LOST], "results": RESULTS},
    "a tool of MCP": {
        "type": "mcp_call",
        "id": "m",
        "name": "f",
        "server_label": "s",
        "arguments": json.dumps({"q": LOST}),
        "output": "It says.",
    },
    "a tool that nobody knows": {"type": "dream_call", "id": "d", "input": {"q": LOST}, "output": "It says."},
}


@pytest.mark.parametrize("name", [name for name in APIS if name != "openai_responses"])
@pytest.mark.parametrize("case", SEARCHED)
def test_a_question_that_is_left_out_beside_its_answer_shortens_the_message(case: str, name: str) -> None:
    history = [ASKED, SEARCHED[case], ANSWERED, ASKED]
    context = built(name, history)
    sent = json.dumps(context.request())
    assert "It says." in sent
    assert LOST not in sent
    assert UNASKED in context.notes()
    assert outcomes(context) == [(1, "shortened")]


@pytest.mark.parametrize("case", SEARCHED)
def test_a_question_that_goes_to_its_own_api_is_not_listed(case: str) -> None:
    context = built("openai_responses", [ASKED, SEARCHED[case], ANSWERED, ASKED])
    assert LOST in json.dumps(context.request())
    assert not context.dropped


@pytest.mark.parametrize("name", APIS)
def test_an_answer_without_a_question_is_sent_whole(name: str) -> None:
    """No arguments, and a search that only repeats what its answer says."""
    item = {"type": "mcp_call", "id": "m", "name": "f", "server_label": "s", "arguments": "{}", "output": "It says."}
    repeated = {"type": "file_search_call", "id": "fs", "queries": ["It says."], "results": RESULTS}
    context = built(name, [ASKED, item, repeated, ANSWERED, ASKED])
    assert not context.dropped
    assert UNASKED not in context.notes()


@pytest.mark.parametrize("case", SEARCHED)
def test_plain_sends_every_part_and_lists_none(case: str) -> None:
    reference = {"type": "item_reference", "id": "it_1"}
    history = [{"role": "system", "content": [SEARCH]}, ASKED, SEARCHED[case], reference, ANSWERED, ASKED]
    context = built("plain", history)
    assert context.request()["messages"] == history
    assert not context.dropped
