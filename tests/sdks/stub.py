"""A provider on the loopback: answers 400 to a request that breaks a rule, else the least reply that its SDK reads."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

from assembler.verify import verify

from .emitted import MODELS
from .scripts import Reply

USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
CHAT = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
    "usage": USAGE,
}
RESPONSE = {
    "id": "r1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "ok", "annotations": []}],
        }
    ],
}
MESSAGE = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "ok"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
GENERATED = {"candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}]}
CONVERSED = {
    "output": {"message": {"role": "assistant", "content": [{"text": "ok"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
    "metrics": {"latencyMs": 1},
}
REPLIES: dict[str, dict[str, Any]] = {
    "openai_chat": CHAT,
    "mistral": CHAT,
    "openai_responses": RESPONSE,
    "anthropic": MESSAGE,
    "gemini": GENERATED,
    "bedrock": CONVERSED,
}


@attrs.frozen
class Stub:
    """A stub server: its address, its dialect, and the received bodies."""

    url: str
    dialect: str
    bodies: list[dict[str, Any]]

    def received(self) -> dict[str, Any]:
        """The newest body."""
        return self.bodies[-1]


def _handler(dialect: str, bodies: list[dict[str, Any]], reply: Reply) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            bodies.append(body)
            broken = verify(body, dialect=dialect, model=MODELS[dialect])
            self._answer(400, _refusal(dialect, str(broken[0]))) if broken else self._answer(200, reply(body))

        def _answer(self, status: int, answer: dict[str, Any]) -> None:
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a request's text is in it."""

    return Handler


def _refusal(dialect: str, why: str) -> dict[str, Any]:
    """The error body of each provider."""
    match dialect:
        case "anthropic":
            return {"type": "error", "error": {"type": "invalid_request_error", "message": why}}
        case "gemini":
            return {"error": {"code": 400, "message": why, "status": "INVALID_ARGUMENT"}}
        case "bedrock":
            return {"__type": "ValidationException", "message": why}
        case _:
            return {"error": {"message": why, "type": "invalid_request_error", "param": "messages", "code": None}}


@contextmanager
def listening(dialect: str, reply: Reply | None = None) -> Iterator[Stub]:
    """A stub on a free port of 127.0.0.1, gone afterwards. Without a script it says the same to every request."""
    bodies: list[dict[str, Any]] = []
    answer = reply or (lambda _body: REPLIES[dialect])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(dialect, bodies, answer))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield Stub(f"http://127.0.0.1:{server.server_address[1]}", dialect, bodies)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
