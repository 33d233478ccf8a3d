"""Anthropic Messages: blocks, signed thinking, results in the user's turn and first in it."""

from __future__ import annotations

from assembler.drawn.said import Call, Conversation, Definition, Exchange, Step
from assembler.drawn.spelling import Request, Spelling


def _tool(tool: Definition) -> Request:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


def _thinking(thinking: str | None) -> list[Request]:
    return [] if thinking is None else [{"type": "thinking", "thinking": thinking, "signature": "c2ln"}]


def _texts(texts: tuple[str, ...]) -> list[Request]:
    return [{"type": "text", "text": text} for text in texts]


def _result(call: Call) -> Request:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{call.number}", "content": call.result}
    return {**block, "is_error": True} if call.failed else block


def _step(step: Step) -> list[Request]:
    calls = [
        {"type": "tool_use", "id": f"toolu_{call.number}", "name": call.name, "input": dict(call.arguments)}
        for call in step.calls
    ]
    return [
        {"role": "assistant", "content": [*_thinking(step.thinking), *_texts(step.words), *calls]},
        {"role": "user", "content": [_result(call) for call in step.answered]},
    ]


def _exchange(exchange: Exchange) -> list[Request]:
    question = exchange.question[0] if len(exchange.question) == 1 else _texts(exchange.question)
    messages: list[Request] = [{"role": "user", "content": question}]
    for step in exchange.steps:
        messages += _step(step)
    if exchange.answer:
        messages.append({"role": "assistant", "content": [*_thinking(exchange.thinking), *_texts(exchange.answer)]})
    return messages


def _request(conversation: Conversation) -> Request:
    messages = [message for exchange in conversation.exchanges for message in _exchange(exchange)]
    system = {} if conversation.system is None else {"system": conversation.system}
    tools = [_tool(tool) for tool in conversation.tools]
    return {**system, "messages": messages, **({"tools": tools} if tools else {})}


SPELLING = Spelling("anthropic", "messages", _request, _tool)
