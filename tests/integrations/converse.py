"""How the scripted provider reads a Converse request, and writes an answer and its stream.

The messages of the stream: Smithy specification, "Amazon Event Stream Specification" (read 2026-11).
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from tests.integrations.spoken import FOUND, SEAL, Answer, Body, arguments_of, calls_since


class Converse:
    """Amazon Bedrock, /model/NAME/converse and its stream."""

    def functions(self, body: Body) -> list[str]:
        return [tool["toolSpec"]["name"] for tool in self._tools(body) if "toolSpec" in tool]

    def has_hosted(self, body: Body) -> bool:
        return any("systemTool" in tool for tool in self._tools(body))

    def wants_schema(self, body: Body) -> bool:
        return "outputConfig" in body

    def must_call(self, body: Body) -> bool:
        return bool({"any", "tool"} & self._choice(body).keys())

    def named(self, body: Body) -> str | None:
        return (self._choice(body).get("tool") or {}).get("name")

    def calls_since_the_user(self, body: Body) -> int:
        turns = [
            (message["role"], [block for block in message["content"] if not is_served(block)])
            for message in body["messages"]
        ]
        return calls_since(turns, call="toolUse", result="toolResult")

    def spell(self, number: int, answer: Answer, body: Body) -> Body:
        message = {"role": "assistant", "content": list(self._blocks(number, answer, body))}
        usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
        reason = "tool_use" if answer.calls else "end_turn"
        return {"output": {"message": message}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}}

    def _tools(self, body: Body) -> list[Body]:
        return (body.get("toolConfig") or {}).get("tools") or []

    def _choice(self, body: Body) -> Body:
        return (body.get("toolConfig") or {}).get("toolChoice") or {}

    def _blocks(self, number: int, answer: Answer, body: Body) -> Iterator[Body]:
        if ((body.get("additionalModelRequestFields") or {}).get("thinking") or {}).get("type") == "enabled":
            yield {"reasoningContent": {"reasoningText": {"text": answer.thought, "signature": SEAL}}}
        if answer.hosted is not None:
            yield from _served(number)
        for place, call in enumerate(answer.calls):
            named = {"toolUseId": f"tooluse_{number}_{place}", "name": call[0]}
            yield {"toolUse": {**named, "input": arguments_of(call)}}
        if answer.text:
            yield {"text": answer.text}


def is_served(block: Body) -> bool:
    """Whether a block is a call that the server ran, or its result."""
    return "type" in (block.get("toolUse") or block.get("toolResult") or {})


def _served(number: int) -> Iterator[Body]:
    """A search of Nova's in the model's own message, and where a text of its answer was found."""
    name, found = f"tooluse_srv_{number}", [{"text": FOUND}]
    asked = {"toolUseId": name, "name": "nova_grounding", "input": {"query": f"walrus {number}"}}
    yield {"toolUse": {**asked, "type": "server_tool_use"}}
    done = {"toolUseId": name, "content": found, "status": "success", "type": "nova_grounding_result"}
    yield {"toolResult": done}
    cited = {"location": {"web": {"url": "https://example.org/a", "domain": "example.org"}}}
    yield {"citationsContent": {"content": [{"text": "Clams, they say."}], "citations": [cited]}}


def stream_of(answer: Body) -> bytes:
    """The answer as the binary event stream of ConverseStream."""
    return b"".join(_framed(kind, event) for kind, event in _events(answer))


def _events(answer: Body) -> Iterator[tuple[str, Body]]:
    yield "messageStart", {"role": "assistant"}
    for index, block in enumerate(answer["output"]["message"]["content"]):
        place = {"contentBlockIndex": index}
        if "toolUse" in block:
            start = {key: block["toolUse"][key] for key in ("toolUseId", "name")}
            yield "contentBlockStart", {**place, "start": {"toolUse": start}}
        for delta in _deltas(block):
            yield "contentBlockDelta", {**place, "delta": delta}
        yield "contentBlockStop", place
    yield "messageStop", {"stopReason": answer["stopReason"]}
    yield "metadata", {"usage": answer["usage"], "metrics": answer["metrics"]}


def _deltas(block: Body) -> Sequence[Body]:
    match block:
        case {"toolUse": call}:
            return [{"toolUse": {"input": json.dumps(call["input"])}}]
        case {"reasoningContent": {"reasoningText": thought}}:
            return [{"reasoningContent": {key: thought[key]}} for key in ("text", "signature")]
        case _:
            return [block]


def _framed(kind: str, event: Any) -> bytes:
    """One message: lengths and their sum, headers, payload, and the sum of all. CRC-32, big-endian."""
    named = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(_header(name, value) for name, value in named.items())
    payload = json.dumps(event).encode()
    lengths = struct.pack(">II", 12 + len(headers) + len(payload) + 4, len(headers))
    before = lengths + struct.pack(">I", zlib.crc32(lengths)) + headers + payload
    return before + struct.pack(">I", zlib.crc32(before))


def _header(name: str, value: str) -> bytes:
    text = 7  # the type of a header whose value is a text
    return bytes([len(name)]) + name.encode() + struct.pack(">BH", text, len(value)) + value.encode()
