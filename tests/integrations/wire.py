"""A model behind a real HTTP server on loopback: Chat Completions by the script, every body that arrives kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

from assembler import count_request, verify
from assembler.dialects import openai_chat
from tests.integrations.independent import recount
from tests.integrations.script import answer, wanted


@attrs.define
class Wire:
    """What arrived, and where to send to."""

    url: str
    bodies: list[dict[str, Any]] = attrs.field(factory=list)

    def over(self, limit: int, model: str = "gpt-4o") -> list[int]:
        """The requests above the limit: by hand (messages and tools), and by the library's upper bound for the body."""
        return [
            place
            for place, body in enumerate(self.bodies)
            if recount(body) > limit or count_request(body, dialect=openai_chat, model=model).upper > limit
        ]

    @property
    def invalid(self) -> list[Any]:
        """What the API would refuse of what arrived."""
        asked = ("messages", "tools", "response_format", "tool_choice")
        bodies = [{key: body[key] for key in asked if key in body} for body in self.bodies]
        return [violation for body in bodies for violation in verify(body, dialect=openai_chat)]


@contextmanager
def serving() -> Iterator[Wire]:
    wire = Wire("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            call = len(wire.bodies)
            wire.bodies.append(body)
            message = _message(call, body)
            payload = _events(call, message) if body.get("stream") else json.dumps(_answer(call, message)).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if body.get("stream") else "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    wire.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _message(call: int, body: dict[str, Any]) -> dict[str, Any]:
    asked = wanted(call) if body.get("tools") else None
    if asked is None:
        structured = (body.get("response_format") or {}).get("type") == "json_schema"
        return {"role": "assistant", "content": json.dumps({"town": answer(call)}) if structured else answer(call)}
    calls = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": body["tools"][0]["function"]["name"], "arguments": json.dumps({"question": text})},
        }
        for call_id, text in asked
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _answer(call: int, message: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_calls" if "tool_calls" in message else "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    head = {"id": f"chatcmpl-{call}", "object": "chat.completion", "created": 1, "model": "gpt-4o"}
    return {**head, "choices": [choice], "usage": usage}


def _events(call: int, message: dict[str, Any]) -> bytes:
    head = {"id": f"chatcmpl-{call}", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    calls = [{**one, "index": index} for index, one in enumerate(message.get("tool_calls") or ())]
    delta = {**message, "tool_calls": calls} if calls else message
    reason = "tool_calls" if calls else "stop"
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"
