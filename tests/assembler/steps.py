"""What a model says, what it calls and how it is answered, in each API's spelling. Shares no code with the readers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

Message = dict[str, Any]

SPELLINGS = ("openai_chat", "openai_responses", "anthropic", "gemini", "bedrock")
TEXTS = {"openai_chat": "text", "openai_responses": "input_text", "anthropic": "text"}
"""The type of a text part, where parts have types."""
HOLDS = {"anthropic": "content", "gemini": "parts", "bedrock": "content"}
"""Where a message holds the answers of a step, if it can hold several."""


def part(spelling: str, text: str) -> Message:
    """A text of the user's beside other parts."""
    return {"type": TEXTS[spelling], "text": text} if spelling in TEXTS else {"text": text}


def asking(spelling: str, text: str) -> Message:
    """The user's text, in a message of its own."""
    if spelling in ("gemini", "bedrock"):
        return {"role": "user", HOLDS[spelling]: [{"text": text}]}
    return {"role": "user", "content": text}


def saying(spelling: str, text: str) -> Message:
    """The model's text, in a message of its own."""
    match spelling:
        case "openai_chat":
            return {"role": "assistant", "content": text}
        case "openai_responses":
            return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        case "gemini":
            return {"role": "model", "parts": [{"text": text}]}
        case _:
            return {"role": "assistant", "content": [part(spelling, text)]}


def thinking(spelling: str, text: str) -> Message:
    """The model's thought, in a message of its own."""
    match spelling:
        case "openai_chat":
            return {"role": "assistant", "content": "", "reasoning_content": text}
        case "openai_responses":
            return {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": text}]}
        case "anthropic":
            block = {"type": "thinking", "thinking": text, "signature": "c2ln"}
            return {"role": "assistant", "content": [block]}
        case "gemini":
            return {"role": "model", "parts": [{"text": text, "thought": True}]}
        case _:
            reasoning = {"reasoningContent": {"reasoningText": {"text": text, "signature": "c2ln"}}}
            return {"role": "assistant", "content": [reasoning]}


def calling(
    spelling: str, ids: Iterable[str | None], name: str = "search", arguments: Message | None = None
) -> list[Message]:
    """Calls side by side. Gemini alone knows calls without an id."""
    given: Message = {} if arguments is None else arguments
    text = json.dumps(given)
    match spelling:
        case "openai_chat":
            function = {"name": name, "arguments": text}
            calls: list[Message] = [{"id": one, "type": "function", "function": dict(function)} for one in ids]
            return [{"role": "assistant", "content": None, "tool_calls": calls}]
        case "openai_responses":
            return [{"type": "function_call", "call_id": one, "name": name, "arguments": text} for one in ids]
        case "anthropic":
            used = [{"type": "tool_use", "id": one, "name": name, "input": dict(given)} for one in ids]
            return [{"role": "assistant", "content": used}]
        case "gemini":
            return [{"role": "model", "parts": [{"function_call": _named(one, name, args=dict(given))} for one in ids]}]
        case _:
            tools = [{"toolUse": {"toolUseId": one, "name": name, "input": dict(given)}} for one in ids]
            return [{"role": "assistant", "content": tools}]


def answering(spelling: str, call: str | None, output: Any, name: str = "search") -> Message:
    """The answer to a call, in a message of its own: a text, or the parts that the API has in answers."""
    match spelling:
        case "openai_chat":
            return {"role": "tool", "tool_call_id": call, "content": output}
        case "openai_responses":
            return {"type": "function_call_output", "call_id": call, "output": output}
        case "anthropic":
            return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": output}]}
        case "gemini":
            return {
                "role": "user",
                "parts": [{"function_response": _named(call, name, response={"output": output})}],
            }
        case _:
            content = [{"text": output}] if isinstance(output, str) else output
            return {"role": "user", "content": [{"toolResult": {"toolUseId": call, "content": content}}]}


def _named(call: str | None, name: str, **fields: object) -> Message:
    return {**({} if call is None else {"id": call}), "name": name, **fields}


def together(spelling: str, answers: Sequence[Message], *behind: Message) -> list[Message]:
    """The answers in one message, with other parts behind them, if the API has such a message."""
    held = HOLDS.get(spelling)
    if held is None:
        return [*answers]
    return [{**answers[0], held: [*(each for answer in answers for each in answer[held]), *behind]}]


def step(
    spelling: str, answers: Iterable[Any], *, named: bool = True, apart: bool = True, behind: Sequence[Message] = ()
) -> list[Message]:
    """Calls `c0`, `c1` … side by side and their answers, each in a message or all in one; parts behind the last."""
    outputs = [*answers]
    ids = [f"c{number}" if named else None for number in range(len(outputs))]
    given = [answering(spelling, call, one) for call, one in zip(ids, outputs, strict=True)]
    alone = len(given) - 1 if apart else 0
    return [*calling(spelling, ids), *given[:alone], *together(spelling, given[alone:], *behind)]
