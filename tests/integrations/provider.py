"""A provider on the loopback, in five APIs: it calls functions, runs tools of its own, hands over, compacts, answers.

What it answers depends on the request alone and on how often it answered before, so that agents and sub-agents may
share it. It remembers all that it answered: `tests.integrations.referee` holds the requests against that.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

import attrs

from tests.integrations.refusals import refusal_of
from tests.integrations.spoken import Answer, Speaker
from tests.integrations.streamed import SPEAKERS, Sent, sent

Body: TypeAlias = dict[str, Any]

COMPACTS_EVERY = 17
"""Turns after which the server writes a summary, where the request asks for that."""


@attrs.define
class Provider:
    """A scripted provider: its address, and every request and answer in order."""

    url: str
    paths: list[str] = attrs.field(factory=list)
    bodies: list[Body] = attrs.field(factory=list)
    answers: list[Body] = attrs.field(factory=list)
    turns: int = 0
    """Answers that ended a turn."""
    compacts: bool = False
    hosted: tuple[str, ...] = ("web_search",)
    """Kinds of its own calls, one a turn, in turn."""
    thinks: bool = True
    counts: Callable[[Body], int] | None = None
    """What it bills for a request; by default no usage that it tells is a bill."""
    tells: bool = True
    """Whether its answers say what it billed."""
    takes: int | None = None
    """The most that it bills for a request: what is more is refused, in the words of its API."""
    billed: list[int] = attrs.field(factory=list)
    refused: list[int] = attrs.field(factory=list)
    """How many requests it had taken at each refusal."""
    ran: set[str] = attrs.field(factory=set)
    """The kinds of its own calls that it answered with."""
    _lock: threading.Lock = attrs.field(factory=threading.Lock, repr=False, init=False)

    def refusal(self, path: str, body: Body) -> Body | None:
        """The error for a request that is too long; None for one that it accepts."""
        if self.takes is None or self.counts is None or (used := self.counts(body)) <= self.takes:
            return None
        with self._lock:
            self.refused.append(len(self.bodies))
        return refusal_of(path, used, self.takes)

    def answer(self, path: str, body: Body) -> Body:
        """The answer to a request, stored with it."""
        speaker = next(speaker for ending, speaker in SPEAKERS.items() if ending in path)
        with self._lock:
            chosen = self._choose_answer(speaker, body)
            if chosen.hosted is not None:
                self.ran.add(chosen.hosted)
            answer = speaker.spell(len(self.bodies), chosen, body)
            if self.counts is not None:
                self.billed.append(self.counts(body))
                if self.tells:
                    _tell(answer, self.billed[-1])
            self.paths.append(path)
            self.bodies.append(body)
            self.answers.append(answer)
            return answer

    def _choose_answer(self, speaker: Speaker, body: Body) -> Answer:
        """The first step calls two functions at once, the second one more or hands over, the third answers."""
        number, tools = len(self.bodies), speaker.functions(body)
        functions = [name for name in tools if not _hands_over(name) and not _is_answer(name)]
        handoffs = [name for name in tools if _hands_over(name)]
        asked = speaker.calls_since_the_user(body)
        at_first = asked == 0
        own = self.hosted[self.turns % len(self.hosted)] if at_first and speaker.has_hosted(body) else None
        thought = f"Thought {number}: " + "weighing what was found before answering; " * 3 if self.thinks else ""
        if (named := speaker.named(body)) is not None:
            return Answer(thought, None, ((named, None if _is_answer(named) else f"weather in {number}"),))
        if functions and at_first:
            calls = [(functions[0], f"weather in {number}"), (functions[0], f'straße {number} \n "quoted"')]
            return Answer(thought, own, tuple(calls))
        if asked == 2 and handoffs and self.turns % 3 == 1:
            return Answer(thought, None, ((handoffs[0], None),))
        if asked == 2 and functions:
            return Answer(thought, None, ((functions[-1], f"route {number}"),))
        self.turns += 1
        text = f"Answer {number}: take the train, it leaves at {number % 24}:00. 😀"
        forced = next((name for name in tools if _is_answer(name)), None)
        if forced is not None and (speaker.must_call(body) or forced == "set_model_response"):
            return Answer(thought, own, ((forced, None),))
        structured = json.dumps({"town": text}) if speaker.wants_schema(body) else text
        summary = (
            "They planned trips, town by town. " * 8 if self.compacts and not self.turns % COMPACTS_EVERY else None
        )
        return Answer(thought, own, (), structured, summary)


_INPUT = ("input_tokens", "prompt_tokens", "inputTokens", "promptTokenCount")
_TOTAL = ("total_tokens", "totalTokens", "totalTokenCount")


def _tell(answer: Body, billed: int) -> None:
    """Write the bill into an answer's usage, in its API's words."""
    usage = answer.get("usage") or answer["usageMetadata"]
    for name in usage.keys() & {*_INPUT}:
        usage[name] = billed
    for name in usage.keys() & {*_TOTAL}:
        usage[name] = billed + 1


def _hands_over(name: str) -> bool:
    return name.startswith(("transfer_to_", "handoff", "delegate_"))


def _is_answer(name: str) -> bool:
    return name in ("Trip", "final_result", "final_output", "set_model_response")


@contextmanager
def providing(**more: Any) -> Iterator[Provider]:
    """A provider on a free port of 127.0.0.1, gone afterwards."""
    provider = Provider("", **more)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body: Body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            refusal = provider.refusal(self.path, body)
            if refusal is None:
                found, status = sent(self.path, body, provider.answer(self.path, body)), 200
            else:
                found, status = Sent("application/json", json.dumps(refusal).encode()), 400
            self.send_response(status)
            self.send_header("content-type", found.kind)
            self.send_header("content-length", str(len(found.payload)))
            if refusal is not None:
                self.send_header("x-amzn-errortype", "ValidationException")
            self.end_headers()
            self.wfile.write(found.payload)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a request's text is in it."""

    return Handler
