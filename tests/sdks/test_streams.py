"""An answer that an SDK's own helper gathered from a stream, or parsed, goes back as one that came whole."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs
import pydantic
import pytest

from assembler import Assembler, count_request
from assembler.verify import verify
from tests.integrations.streamed import Sent, sent

Dict = dict[str, Any]
Ask = Callable[[str, Dict], Any]
"""Asks the server at an address with a request, and returns what the docs say to add."""


class Order(pydantic.BaseModel):
    number: str
    shipped: bool


class find_order(pydantic.BaseModel):  # noqa: N801 - the name of a tool
    """Where an order is."""

    number: str


ASKED: Dict = {"role": "user", "content": "Where is A-1?"}
ANSWER = Order(number="A-1", shipped=True).model_dump_json()
ARGUMENTS = {"number": "A-1"}
USAGE: Dict = {"input_tokens": 90, "output_tokens": 9}


def _message(*content: Dict) -> Dict:
    about = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    return {**about, "content": [*content], "stop_reason": "end_turn", "usage": USAGE}


THOUGHT = {"type": "thinking", "thinking": "I look.", "signature": "c2ln"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "find_order", "input": ARGUMENTS}
USE_TOO = {**USE, "id": "toolu_2"}
SEARCHED = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "A-1"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
]
RESULTS = [{"role": "tool", "tool_call_id": each["id"], "content": "shipped"} for each in (USE, USE_TOO)]


def _response(*output: Dict) -> Dict:
    about = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    chosen = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {**about, **chosen, "output": [*output], "usage": {**USAGE, "total_tokens": 99, **details}}


REASONED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
TEXT = {"type": "output_text", "text": ANSWER, "annotations": [], "logprobs": []}
SPOKEN = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [TEXT]}
REFUSED = {**SPOKEN, "content": [{"type": "refusal", "refusal": "No."}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "find_order", "status": "completed"}
CALLS = [{**CALL, "id": f"fc_{name}", "call_id": name, "arguments": json.dumps(ARGUMENTS)} for name in ("c1", "c2")]
OUTPUTS = [{"type": "function_call_output", "call_id": call["call_id"], "output": "x"} for call in CALLS]


def _completion(message: Dict) -> Dict:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def _called(name: str) -> Dict:
    return {"id": name, "type": "function", "function": {"name": "find_order", "arguments": json.dumps(ARGUMENTS)}}


TOLD = [{"role": "tool", "tool_call_id": name, "content": "x"} for name in ("c1", "c2")]


@attrs.frozen
class Case:
    """What a provider says, and what follows its answer in the next request."""

    dialect: str
    answer: Dict
    after: tuple[Dict, ...] = ()


CASES = {
    "claude thinks and calls": Case("anthropic", _message(THOUGHT, USE, USE_TOO), (*RESULTS,)),
    "claude searches": Case("anthropic", _message(*SEARCHED, {"type": "text", "text": ANSWER})),
    "claude fills a form": Case("anthropic", _message({"type": "text", "text": ANSWER})),
    "responses calls": Case("openai_responses", _response(REASONED, *CALLS), (*OUTPUTS,)),
    "responses fills a form": Case("openai_responses", _response(REASONED, SPOKEN)),
    "responses refuses": Case("openai_responses", _response(REFUSED)),
    "chat calls": Case(
        "openai_chat", _completion({"content": None, "tool_calls": [_called("c1"), _called("c2")]}), (*TOLD,)
    ),
    "chat fills a form": Case("openai_chat", _completion({"content": ANSWER})),
    "chat refuses": Case("openai_chat", _completion({"content": None, "refusal": "No."})),
}


@contextmanager
def saying(reply: Dict) -> Iterator[str]:
    """A provider on the loopback that says one thing, whole or as a stream."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer: Sent = sent(self.path.partition("?")[0], body, reply)
            self.send_response(200)
            self.send_header("Content-Type", answer.kind)
            self.end_headers()
            self.wfile.write(answer.payload)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a request's text is in it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _openai(url: str) -> Any:
    import openai

    return openai.OpenAI(api_key="x", base_url=f"{url}/v1", max_retries=0)


def _anthropic(url: str) -> Any:
    import anthropic

    return anthropic.Anthropic(api_key="x", base_url=url, max_retries=0)


def _whole(dialect: str, url: str, request: Dict) -> list[Any]:
    match dialect:
        case "anthropic":
            return [_anthropic(url).messages.create(model="m", max_tokens=9, **request)]
        case "openai_responses":
            return [*_openai(url).responses.create(model="m", **request).output]
        case _:
            return [_openai(url).chat.completions.create(model="m", **request).choices[0].message]


def _streamed(dialect: str, url: str, request: Dict) -> list[Any]:
    match dialect:
        case "anthropic":
            with _anthropic(url).messages.stream(model="m", max_tokens=9, output_format=Order, **request) as it:
                return [it.get_final_message()]
        case "openai_responses":
            with _openai(url).responses.stream(model="m", text_format=Order, **request) as it:
                return [*it.get_final_response().output]
        case _:
            with _openai(url).chat.completions.stream(model="m", response_format=Order, **request) as it:
                return [it.get_final_completion().choices[0].message]


def _of_the_beta(dialect: str, url: str, request: Dict) -> list[Any]:
    if dialect != "anthropic":
        return _parsed(dialect, url, request)
    with _anthropic(url).beta.messages.stream(model="m", max_tokens=9, output_format=Order, **request) as it:
        return [it.get_final_message()]


def _parsed(dialect: str, url: str, request: Dict) -> list[Any]:
    match dialect:
        case "anthropic":
            return [_anthropic(url).messages.parse(model="m", max_tokens=9, output_format=Order, **request)]
        case "openai_responses":
            return [*_openai(url).responses.parse(model="m", text_format=Order, **request).output]
        case _:
            parsed = _openai(url).chat.completions.parse(model="m", response_format=Order, **request)
            return [parsed.choices[0].message]


WAYS = {"streamed": _streamed, "parsed": _parsed, "of the beta": _of_the_beta}


def _tools(dialect: str) -> list[Any]:
    import openai

    return [openai.pydantic_function_tool(find_order)] if dialect != "anthropic" else [find_order]


def _sent_back(case: Case, added: list[Any]) -> Any:
    assembler = Assembler(dialect=case.dialect).add_capability(_tools(case.dialect))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # pydantic warns where an SDK's object is dumped otherwise than its SDK does
        context = assembler.add_messages([ASKED, *added, *case.after, ASKED]).build()
    request = context.request()
    assert [problem for problem in verify(request, dialect=case.dialect) if not problem.note] == []
    assert context.count == count_request(request, dialect=case.dialect)
    return request["input" if case.dialect == "openai_responses" else "messages"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_what_a_helper_gathered_goes_back_like_the_whole_answer(name: str, way: str) -> None:
    case = CASES[name]
    asking = Assembler(dialect=case.dialect).add_capability(_tools(case.dialect)).add_message(ASKED)
    request = asking.build().request()
    with saying(case.answer) as url:
        whole = _whole(case.dialect, url, request)
        gathered = WAYS[way](case.dialect, url, request)
    wanted = _sent_back(case, whole)
    for dumped in (gathered, [each.model_dump(exclude_none=True, warnings=False) for each in gathered]):
        assert _without_places(_sent_back(case, dumped)) == _without_places(wanted)


def _without_places(messages: Any) -> Any:
    """The messages without what a Chat stream numbers its calls by, and without a content that says nothing."""
    if isinstance(messages, list):
        return [_without_places(each) for each in messages]
    if not isinstance(messages, dict):
        return messages
    return {
        key: _without_places(held)
        for key, held in messages.items()
        if key != "index" and not (key == "content" and held is None)
    }
