"""Gemini generateContent, in the SDK's spelling: parts, thoughts, signatures on the first call of each turn."""

from __future__ import annotations

from assembler.drawn.said import Call, Conversation, Definition, Exchange, Step
from assembler.drawn.spelling import Request, Spelling

_SIGNATURE = "c2ln"


def _tool(tool: Definition) -> Request:
    function = {"name": tool.name, "description": tool.description, "parameters_json_schema": tool.schema}
    return {"function_declarations": [function]}


def _thinking(thinking: str | None) -> list[Request]:
    return [] if thinking is None else [{"text": thinking, "thought": True}]


def _texts(texts: tuple[str, ...]) -> list[Request]:
    return [{"text": text} for text in texts]


def _response(call: Call) -> Request:
    answer = {"error": call.result} if call.failed else {"output": call.result}
    return {"function_response": {"id": f"call_{call.number}", "name": call.name, "response": answer}}


def _step(step: Step) -> list[Request]:
    calls: list[Request] = [
        {"function_call": {"id": f"call_{call.number}", "name": call.name, "args": dict(call.arguments)}}
        for call in step.calls
    ]
    calls[0]["thought_signature"] = _SIGNATURE
    return [
        {"role": "model", "parts": [*_thinking(step.thinking), *_texts(step.words), *calls]},
        {"role": "user", "parts": [_response(call) for call in step.answered]},
    ]


def _exchange(exchange: Exchange) -> list[Request]:
    contents: list[Request] = [{"role": "user", "parts": _texts(exchange.question)}]
    for step in exchange.steps:
        contents += _step(step)
    if exchange.answer:
        contents.append({"role": "model", "parts": [*_thinking(exchange.thinking), *_texts(exchange.answer)]})
    return contents


def _request(conversation: Conversation) -> Request:
    contents = [content for exchange in conversation.exchanges for content in _exchange(exchange)]
    declared = [function for tool in conversation.tools for function in _tool(tool)["function_declarations"]]
    config: Request = {} if conversation.system is None else {"system_instruction": conversation.system}
    if declared:
        config["tools"] = [{"function_declarations": declared}]
    return {"contents": contents, **({"config": config} if config else {})}


SPELLING = Spelling("gemini", "contents", _request, _tool, fewest_answers=1)
