"""How the scripted provider reads a request and writes an answer, in four APIs of five."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import attrs

Body: TypeAlias = dict[str, Any]
Call: TypeAlias = tuple[str, str | None]
"""The name of a function and the question it is asked; None for one that takes nothing or the answer."""


@attrs.frozen
class Answer:
    """One answer, in no API's spelling."""

    thought: str
    hosted: str | None
    calls: tuple[Call, ...] = ()
    text: str = ""
    summary: str | None = None
    """The server's summary of all before."""


class Speaker(Protocol):
    """One API: what a request says, and how an answer is spelled."""

    def functions(self, body: Body) -> list[str]: ...

    def has_hosted(self, body: Body) -> bool: ...

    def wants_schema(self, body: Body) -> bool: ...

    def must_call(self, body: Body) -> bool: ...

    def named(self, body: Body) -> str | None:
        """The one function that must be called."""
        ...

    def calls_since_the_user(self, body: Body) -> int: ...

    def spell(self, number: int, answer: Answer, body: Body) -> Body: ...


FOUND = "Walruses eat clams, says the almanac of the north; the ice is thin this year. " * 3
SEAL = "Z0FBQUFBQm" * 40


def calls_since(turns: Sequence[tuple[str, Sequence[Body]]], *, call: str, result: str) -> int:
    """Calls since the user's last words, in turns of a role and its parts: a part is of the kind whose key it has."""
    found = 0
    for role, parts in reversed(turns):
        if role == "user" and any(result not in part for part in parts):  # words may stand behind results
            break
        found += sum(call in part for part in parts)
    return found


def arguments_of(call: Call) -> Body:
    """The answer's own function takes the answer."""
    name, question = call
    if question is not None:
        return {"question": question}
    if name.startswith(("transfer_to_", "handoff", "delegate_")):
        return HANDED.get(name, {})
    return {"town": "Köln"}


HANDED: dict[str, Body] = {
    "transfer_to_agent": {"agent_name": "booker"},
    "handoff": {"to_agent": "booker", "reason": "It books."},
    "handoff_to_agent": {"agent_name": "booker", "message": "Please book."},
    "delegate_to_booker": {"input": "Please book."},
}
"""What a framework's own function for handing over takes; one for each agent takes nothing."""


def _named(choice: object) -> str | None:
    return choice.get("name") if isinstance(choice, dict) else None


def _called_for(body: Body) -> Body:
    """What Gemini is told of calling functions."""
    return (body.get("toolConfig") or {}).get("functionCallingConfig") or {}


class Responses:
    """OpenAI, /v1/responses."""

    def functions(self, body: Body) -> list[str]:
        return [tool["name"] for tool in body.get("tools") or () if tool["type"] == "function"]

    def has_hosted(self, body: Body) -> bool:
        return any(tool["type"] != "function" for tool in body.get("tools") or ())

    def wants_schema(self, body: Body) -> bool:
        return ((body.get("text") or {}).get("format") or {}).get("type") == "json_schema"

    def must_call(self, body: Body) -> bool:
        return body.get("tool_choice") not in (None, "auto", "none")

    def named(self, body: Body) -> str | None:
        return _named(body.get("tool_choice"))

    def calls_since_the_user(self, body: Body) -> int:
        items = body["input"] if isinstance(body["input"], list) else []
        asked = max((place for place, item in enumerate(items) if item.get("role") == "user"), default=-1)
        return sum(item.get("type") == "function_call" for item in items[asked + 1 :])

    def spell(self, number: int, answer: Answer, body: Body) -> Body:
        output = list(self._items(number, answer))
        about = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": body["model"]}
        chosen = {"status": "completed", "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        details = {
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details}
        return {**about, **chosen, "output": output, "usage": usage}

    def _items(self, number: int, answer: Answer) -> Iterator[Body]:
        if answer.summary is not None:
            yield {"type": "compaction", "id": f"cmp_{number}", "encrypted_content": SEAL}
        summary = [{"type": "summary_text", "text": answer.thought}]
        if answer.thought:
            yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": SEAL}
        if answer.hosted is not None:
            yield HOSTED_ITEMS[answer.hosted](number)
            yield {"type": "reasoning", "id": f"rs_{number}b", "summary": [], "encrypted_content": SEAL}
        for place, call in enumerate(answer.calls):
            named = {"type": "function_call", "id": f"fc_{number}_{place}", "call_id": f"call_{number}_{place}"}
            yield {**named, "name": call[0], "arguments": json.dumps(arguments_of(call)), "status": "completed"}
        if answer.text:
            cited = {
                "type": "url_citation",
                "url": "https://example.org/a",
                "title": "A",
                "start_index": 0,
                "end_index": 3,
            }
            part = {"type": "output_text", "text": answer.text, "annotations": [cited], "logprobs": []}
            head = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
            yield {**head, "content": [part]}


HOSTED_ITEMS = {
    "web_search": lambda number: {
        "type": "web_search_call",
        "id": f"ws_{number}",
        "status": "completed",
        "action": {"type": "search", "query": f"walrus {number}", "sources": [{"type": "url", "url": "https://a.org"}]},
    },
    "file_search": lambda number: {
        "type": "file_search_call",
        "id": f"fs_{number}",
        "status": "completed",
        "queries": [f"walrus {number}"],
        "results": [{"file_id": "file_1", "filename": "a.txt", "score": 0.9, "text": FOUND, "attributes": {}}],
    },
    "code_interpreter": lambda number: {
        "type": "code_interpreter_call",
        "id": f"ci_{number}",
        "status": "completed",
        "code": f"print({number} * 2)",
        "container_id": "cntr_1",
        "outputs": [{"type": "logs", "logs": f"{number * 2}\n"}],
    },
}


class Messages:
    """Anthropic, /v1/messages."""

    def functions(self, body: Body) -> list[str]:
        return [tool["name"] for tool in body.get("tools") or () if "input_schema" in tool]

    def has_hosted(self, body: Body) -> bool:
        return any("input_schema" not in tool for tool in body.get("tools") or ())

    def wants_schema(self, body: Body) -> bool:
        form = body.get("output_format") or (body.get("output_config") or {}).get("format") or {}
        return form.get("type") == "json_schema"

    def must_call(self, body: Body) -> bool:
        return (body.get("tool_choice") or {}).get("type") in ("tool", "any")

    def named(self, body: Body) -> str | None:
        return _named(body.get("tool_choice"))

    def calls_since_the_user(self, body: Body) -> int:
        found = 0
        for message in reversed(body["messages"]):
            if message["role"] == "user":
                blocks = [] if isinstance(message["content"], str) else message["content"]
                if any(block["type"] == "tool_result" for block in blocks):
                    continue
                return found
            blocks = [] if isinstance(message["content"], str) else message["content"]
            found += sum(block["type"] == "tool_use" for block in blocks)
        return found

    def spell(self, number: int, answer: Answer, body: Body) -> Body:
        content = list(self._blocks(number, answer, thinks=(body.get("thinking") or {}).get("type") == "enabled"))
        about = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"]}
        reason = "tool_use" if answer.calls else "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {**about, "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage}

    def _blocks(self, number: int, answer: Answer, *, thinks: bool) -> Iterator[Body]:
        if answer.summary is not None:
            yield {"type": "compaction", "content": answer.summary}
        if thinks:
            yield {"type": "thinking", "thinking": answer.thought, "signature": SEAL}
        if answer.hosted is not None:
            name = f"srvtoolu_{number}"
            yield {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": f"walrus {number}"}}
            page = {"type": "web_search_result", "url": "https://a.org", "title": FOUND, "encrypted_content": SEAL}
            yield {"type": "web_search_tool_result", "tool_use_id": name, "content": [{**page, "page_age": None}]}
        for place, call in enumerate(answer.calls):
            yield {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": call[0], "input": arguments_of(call)}
        if answer.text:
            yield {"type": "text", "text": answer.text}


class Chat:
    """Chat Completions."""

    def functions(self, body: Body) -> list[str]:
        return [tool["function"]["name"] for tool in body.get("tools") or () if tool["type"] == "function"]

    def has_hosted(self, body: Body) -> bool:
        return False

    def wants_schema(self, body: Body) -> bool:
        return (body.get("response_format") or {}).get("type") == "json_schema"

    def must_call(self, body: Body) -> bool:
        return body.get("tool_choice") not in (None, "auto", "none")

    def named(self, body: Body) -> str | None:
        choice = body.get("tool_choice")
        return _named(choice.get("function")) if isinstance(choice, dict) else None

    def calls_since_the_user(self, body: Body) -> int:
        found = 0
        for message in reversed(body["messages"]):
            if message["role"] == "user":
                break
            found += len(message.get("tool_calls") or ())
        return found

    def spell(self, number: int, answer: Answer, body: Body) -> Body:
        calls = [
            {
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": call[0], "arguments": json.dumps(arguments_of(call))},
            }
            for place, call in enumerate(answer.calls)
        ]
        message = {"role": "assistant", "content": answer.text or None, **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        about = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": body["model"]}
        return {**about, "choices": [choice], "usage": usage}


class Gemini:
    """Gemini, :generateContent."""

    def functions(self, body: Body) -> list[str]:
        return [
            one["name"]
            for tool in body.get("tools") or ()
            for one in tool.get("functionDeclarations") or tool.get("function_declarations") or ()
        ]

    def has_hosted(self, body: Body) -> bool:
        return any("functionDeclarations" not in tool for tool in body.get("tools") or ())

    def wants_schema(self, body: Body) -> bool:
        config = body.get("generationConfig") or {}
        return "responseSchema" in config or "responseJsonSchema" in config

    def must_call(self, body: Body) -> bool:
        return _called_for(body).get("mode") == "ANY"

    def named(self, body: Body) -> str | None:
        names = _called_for(body).get("allowedFunctionNames") or ()
        return names[0] if len(names) == 1 else None

    def calls_since_the_user(self, body: Body) -> int:
        turns = [(content["role"], content["parts"]) for content in body["contents"]]
        return calls_since(turns, call="functionCall", result="functionResponse")

    def spell(self, number: int, answer: Answer, body: Body) -> Body:
        parts: list[Body] = []
        if (body.get("generationConfig") or {}).get("thinkingConfig"):
            parts.append({"text": answer.thought, "thought": True})
        if answer.hosted is not None and any("codeExecution" in tool for tool in body["tools"]):
            parts.append({"executableCode": {"language": "PYTHON", "code": f"print({number} * 2)"}})
            parts.append({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": f"{number * 2}\n"}})
        parts += [
            {"functionCall": {"id": f"fc{number}x{place}", "name": call[0], "args": arguments_of(call)}}
            for place, call in enumerate(answer.calls)
        ]
        if parts and "functionCall" in parts[-1]:
            first = next(part for part in parts if "functionCall" in part)
            first["thoughtSignature"] = "c2ln" * 20
        if answer.text:
            parts.append({"text": answer.text})
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"}
