"""What a scripted provider answers: two calls side by side, then a text, in turn; and what a loop adds of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Body: TypeAlias = dict[str, Any]
Bill: TypeAlias = Callable[[Body], int]
Reply: TypeAlias = Callable[[Body], Body]

TEXT = "It is on its way and will be with you soon. " * 4


def _calls(number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for place in range(2):
        yield f"call{number:03d}x{place}", {"number": f"A-{number}-{place}"}


def _numbered(reply: Callable[[int, int], Body], bill: Bill) -> Reply:
    asked = iter(range(10_000))

    def answer(body: Body) -> Body:
        return reply(next(asked), bill(body))

    return answer


def chat(bill: Bill) -> Reply:
    def reply(number: int, tokens: int) -> Body:
        calls = [
            {"id": name, "type": "function", "function": {"name": "find_order", "arguments": json.dumps(arguments)}}
            for name, arguments in _calls(number)
        ]
        called = number % 2 == 0
        message = {"role": "assistant", **({"content": None, "tool_calls": calls} if called else {"content": TEXT})}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if called else "stop"}
        usage = {"prompt_tokens": tokens, "completion_tokens": 9, "total_tokens": tokens + 9}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}

    return _numbered(reply, bill)


def responses(bill: Bill) -> Reply:
    def reply(number: int, tokens: int) -> Body:
        thought = {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": "Z0FB" * 40}
        if number % 2 == 0:
            output = [
                {
                    "type": "function_call",
                    "id": f"fc_{name}",
                    "call_id": name,
                    "name": "find_order",
                    "arguments": json.dumps(arguments),
                    "status": "completed",
                }
                for name, arguments in _calls(number)
            ]
        else:
            content = [{"type": "output_text", "text": TEXT, "annotations": []}]
            role = {"id": f"msg_{number}", "role": "assistant", "status": "completed"}
            output = [{"type": "message", **role, "content": content}]
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        usage = {"input_tokens": tokens, "output_tokens": 9, "total_tokens": tokens + 9, **details}
        about = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
        chosen = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        return {**about, **chosen, "output": [thought, *output], "usage": usage}

    return _numbered(reply, bill)


def messages(bill: Bill) -> Reply:
    def reply(number: int, tokens: int) -> Body:
        called = number % 2 == 0
        content: list[Body] = [{"type": "thinking", "thinking": "I look. " * 9, "signature": "c2ln" * 20}]
        if called:
            content += [
                {"type": "tool_use", "id": name, "name": "find_order", "input": arguments}
                for name, arguments in _calls(number)
            ]
        else:
            content.append({"type": "text", "text": TEXT})
        usage = {"input_tokens": tokens - 7, "cache_read_input_tokens": 7, "output_tokens": 9}
        about = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
        return {**about, "content": content, "stop_reason": "tool_use" if called else "end_turn", "usage": usage}

    return _numbered(reply, bill)


def generated(bill: Bill) -> Reply:
    def reply(number: int, tokens: int) -> Body:
        parts: list[Body] = [{"text": TEXT}]
        if number % 2 == 0:
            parts = [
                {"functionCall": {"id": name, "name": "find_order", "args": arguments}}
                for name, arguments in _calls(number)
            ]
            parts[0]["thoughtSignature"] = "c2ln" * 20
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": 9, "totalTokenCount": tokens + 9}
        return {"candidates": [candidate], "usageMetadata": usage}

    return _numbered(reply, bill)


def conversed(bill: Bill) -> Reply:
    def reply(number: int, tokens: int) -> Body:
        called = number % 2 == 0
        content: list[Body] = [{"text": TEXT}]
        if called:
            content = [
                {"toolUse": {"toolUseId": name, "name": "find_order", "input": arguments}}
                for name, arguments in _calls(number)
            ]
        usage = {"inputTokens": tokens, "outputTokens": 9, "totalTokens": tokens + 9}
        answer = {"output": {"message": {"role": "assistant", "content": content}}}
        return {
            **answer,
            "stopReason": "tool_use" if called else "end_turn",
            "usage": usage,
            "metrics": {"latencyMs": 1},
        }

    return _numbered(reply, bill)


SCRIPTS: dict[str, Callable[[Bill], Reply]] = {
    "openai_chat": chat,
    "openai_responses": responses,
    "anthropic": messages,
    "gemini": generated,
    "bedrock": conversed,
    "mistral": chat,
}


def added(name: str, response: Any) -> list[Any]:
    """What the docs say to add to the conversation: the SDK's own objects."""
    match name:
        case "openai_responses":
            return list(response.output)
        case "anthropic":
            return [response]
        case "gemini":
            return [response.candidates[0].content]
        case "bedrock":
            return [response["output"]["message"]]
        case _:
            return [response.choices[0].message]


def usage_of(name: str, response: Any) -> Any:
    """The provider's own usage."""
    match name:
        case "gemini":
            return response.usage_metadata
        case "bedrock":
            return response["usage"]
        case _:
            return response.usage
