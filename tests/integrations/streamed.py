"""How the scripted provider sends an answer: whole, or as the stream of its API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import attrs

from tests.integrations.converse import Converse, stream_of
from tests.integrations.spoken import Body, Chat, Gemini, Messages, Responses, Speaker

SPEAKERS: dict[str, Speaker] = {
    "/responses": Responses(),
    "/messages": Messages(),
    "/chat/completions": Chat(),
    ":generateContent": Gemini(),
    ":streamGenerateContent": Gemini(),
    "/converse": Converse(),
}


@attrs.frozen
class Sent:
    """A payload and the type that its header names."""

    kind: str
    payload: bytes


def sent(path: str, body: Body, answer: Body) -> Sent:
    """The answer as it goes out: whole, or as the stream that was asked for."""
    if path.endswith("/converse-stream"):
        return Sent("application/vnd.amazon.eventstream", stream_of(answer))
    if body.get("stream") or ":streamGenerateContent" in path:
        return Sent("text/event-stream", _events(path, answer))
    return Sent("application/json", json.dumps(answer).encode())


def _events(path: str, answer: Body) -> bytes:
    if "/messages" in path or "/responses" in path:
        listed = _messages_events(answer) if "/messages" in path else _response_events(answer)
        return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in listed)
    if ":streamGenerateContent" in path:
        return f"data: {json.dumps(answer)}\n\n".encode()
    return _chat_events(answer)


def _chat_events(answer: Body) -> bytes:
    message = answer["choices"][0]["message"]
    head = {key: answer[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    calls = [{**call, "index": place} for place, call in enumerate(message.get("tool_calls") or ())]
    delta = {**message, **({"tool_calls": calls} if calls else {})}
    reason = answer["choices"][0]["finish_reason"]
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**head, "choices": [], "usage": answer["usage"]},
    ]
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"


def _messages_events(answer: Body) -> Iterator[Body]:
    yield {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    for index, block in enumerate(answer["content"]):
        yield {"type": "content_block_start", "index": index, "content_block": _opened(block)}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": answer["usage"]}
    yield {"type": "message_stop"}


def _opened(block: Body) -> Body:
    emptied = {"text": {"text": ""}, "tool_use": {"input": {}}, "thinking": {"thinking": "", "signature": ""}}
    return {**block, **emptied.get(block["type"], {})}


def _deltas(block: Body) -> Sequence[Body]:
    match block["type"]:
        case "text":
            return [{"type": "text_delta", "text": block["text"]}]
        case "tool_use":
            return [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        case "thinking":
            thought = {"type": "thinking_delta", "thinking": block["thinking"]}
            return [thought, {"type": "signature_delta", "signature": block["signature"]}]
        case _:
            return []


def _response_events(answer: Body) -> Iterator[Body]:
    unfinished = {**answer, "status": "in_progress", "output": []}
    yield {"type": "response.created", "sequence_number": 0, "response": unfinished}
    for index, item in enumerate(answer["output"]):
        place = {"sequence_number": 2 * index + 1, "output_index": index, "item": item}
        yield {"type": "response.output_item.added", **place}
        for event in _response_deltas(item):
            yield {**event, "sequence_number": 2 * index + 1, "output_index": index, "item_id": item["id"]}
        yield {"type": "response.output_item.done", **place, "sequence_number": 2 * index + 2}
    yield {"type": "response.completed", "sequence_number": 99, "response": answer}


def _response_deltas(item: Body) -> Sequence[Body]:
    """What some clients read in place of the whole item."""
    if item["type"] == "function_call":
        given = item["arguments"]
        return [
            {"type": "response.function_call_arguments.delta", "delta": given},
            {"type": "response.function_call_arguments.done", "arguments": given, "name": item["name"]},
        ]
    if item["type"] == "message":
        (part,) = item["content"]
        if part["type"] == "refusal":
            return [{"type": "response.refusal.delta", "delta": part["refusal"], "content_index": 0}]
        block = {"type": "response.output_text.delta", "delta": part["text"], "content_index": 0, "logprobs": []}
        return [block]
    if item["type"] == "reasoning":
        block = {"type": "response.reasoning_summary_text.delta"}
        return [{**block, "delta": part["text"], "summary_index": place} for place, part in enumerate(item["summary"])]
    return []
