"""Bedrock Converse: blocks named by their key, roles that strictly alternate."""

from __future__ import annotations

from assembler.drawn.said import Call, Conversation, Definition, Exchange, Step
from assembler.drawn.spelling import Request, Spelling


def _tool(tool: Definition) -> Request:
    spec = {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.schema}}
    return {"toolSpec": spec}


def _thinking(thinking: str | None) -> list[Request]:
    return (
        [] if thinking is None else [{"reasoningContent": {"reasoningText": {"text": thinking, "signature": "c2ln"}}}]
    )


def _texts(texts: tuple[str, ...]) -> list[Request]:
    return [{"text": text} for text in texts]


def _result(call: Call) -> Request:
    status = "error" if call.failed else "success"
    answer = {"toolUseId": f"tooluse_{call.number}", "content": [{"text": call.result}], "status": status}
    return {"toolResult": answer}


def _step(step: Step) -> list[Request]:
    calls = [
        {"toolUse": {"toolUseId": f"tooluse_{call.number}", "name": call.name, "input": dict(call.arguments)}}
        for call in step.calls
    ]
    return [
        {"role": "assistant", "content": [*_thinking(step.thinking), *_texts(step.words), *calls]},
        {"role": "user", "content": [_result(call) for call in step.answered]},
    ]


def _exchange(exchange: Exchange) -> list[Request]:
    messages: list[Request] = [{"role": "user", "content": _texts(exchange.question)}]
    for step in exchange.steps:
        messages += _step(step)
    if exchange.answer:
        messages.append({"role": "assistant", "content": [*_thinking(exchange.thinking), *_texts(exchange.answer)]})
    return messages


def _request(conversation: Conversation) -> Request:
    messages = [message for exchange in conversation.exchanges for message in _exchange(exchange)]
    system = {} if conversation.system is None else {"system": [{"text": conversation.system}]}
    tools = [_tool(tool) for tool in conversation.tools]
    return {**system, "messages": messages, **({"toolConfig": {"tools": tools}} if tools else {})}


SPELLING = Spelling("bedrock", "messages", _request, _tool, fewest_answers=1)
