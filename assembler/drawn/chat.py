"""Writes and breaks requests in the form of messages that Chat Completions, Mistral and the plain dialect share."""

from __future__ import annotations

import json

from assembler.drawn import breach
from assembler.drawn.conversations import Call, Conversation, Definition, Exchange, Step
from assembler.drawn.engine import DrawFn
from assembler.drawn.spelling import Request, text_or_parts


def write_tool(tool: Definition) -> Request:
    """Write a tool as Chat Completions defines functions."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _spell_call(call: Call, call_id: str) -> Request:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _write_step(step: Step, ids: dict[int, str]) -> list[Request]:
    calls = [_spell_call(call, ids[call.number]) for call in step.calls]
    content = text_or_parts(step.words) if step.words else None
    answers = [
        {"role": "tool", "tool_call_id": ids[call.number], "content": call.result, "name": call.name}
        for call in step.answered
    ]
    return [{"role": "assistant", "content": content, "tool_calls": calls}, *answers]


def _write_exchange(exchange: Exchange, ids: dict[int, str]) -> list[Request]:
    asked: Request = {"role": "user", "content": text_or_parts(exchange.question)}
    if exchange.speaker is not None:
        asked["name"] = exchange.speaker
    answer = [{"role": "assistant", "content": text_or_parts(exchange.answer)}] if exchange.answer else []
    return [asked, *(message for step in exchange.steps for message in _write_step(step, ids)), *answer]


def write_request(conversation: Conversation, *, call_id: str, named: str) -> Request:
    """Write a request. `call_id` formats the number of a call, and only messages of the role `named` have a name."""
    ids = {call.number: call_id.format(call.number) for call in conversation.calls}
    head = [] if conversation.system is None else [{"role": "system", "content": conversation.system}]
    messages = [message for exchange in conversation.exchanges for message in _write_exchange(exchange, ids)]
    for message in messages:
        if message["role"] != named:
            message.pop("name", None)
    tools = [write_tool(tool) for tool in conversation.tools]
    return {"messages": [*head, *messages], **({"tools": tools} if tools else {})}


ANSWER: Request = {"role": "assistant", "content": "a"}
STRANGER: Request = {"role": "robot", "content": "a"}
UNKNOWN_PART: Request = {"role": "user", "content": [{"type": "hologram"}]}
PART_WITHOUT_TEXT: Request = {"role": "user", "content": [{"type": "text"}]}
WITHOUT_CONTENT: Request = {"role": "assistant", "content": None}


def lose_call(draw: DrawFn, request: Request) -> None:
    """Remove the first call of a message, so that its result answers nothing."""
    history, place = breach.history_of(request), breach.pick(draw, request, "tool_calls")
    del history[place]["tool_calls"][0]
    if not history[place]["tool_calls"]:
        history[place] = ANSWER.copy()


repeat_call = breach.changed(
    "tool_calls", lambda message: message["tool_calls"].append(breach.copy_value(message["tool_calls"][0]))
)
"""Repeat the first call of a message, with its id."""
