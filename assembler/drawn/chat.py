"""Writes drawn conversations for Chat Completions, Mistral and the plain dialect, which share most of their form."""

from __future__ import annotations

import json

from assembler.drawn.conversations import Call, Conversation, Definition, Exchange, Step
from assembler.drawn.spelling import SCHEMA, WITH_ADDRESSES, Request, Spelling, text_or_parts


def _tool(tool: Definition) -> Request:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _spell_call(call: Call, call_id: str) -> Request:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _step(step: Step, ids: dict[int, str]) -> list[Request]:
    calls = [_spell_call(call, ids[call.number]) for call in step.calls]
    content = text_or_parts(step.words) if step.words else None
    answers = [
        {"role": "tool", "tool_call_id": ids[call.number], "content": call.result, "name": call.name}
        for call in step.answered
    ]
    return [{"role": "assistant", "content": content, "tool_calls": calls}, *answers]


def _exchange(exchange: Exchange, ids: dict[int, str]) -> list[Request]:
    asked: Request = {"role": "user", "content": text_or_parts(exchange.question)}
    if exchange.speaker is not None:
        asked["name"] = exchange.speaker
    answer = [{"role": "assistant", "content": text_or_parts(exchange.answer)}] if exchange.answer else []
    return [asked, *(message for step in exchange.steps for message in _step(step, ids)), *answer]


def _request(conversation: Conversation, ids: dict[int, str]) -> Request:
    head = [] if conversation.system is None else [{"role": "system", "content": conversation.system}]
    messages = [message for exchange in conversation.exchanges for message in _exchange(exchange, ids)]
    tools = [_tool(tool) for tool in conversation.tools]
    return {"messages": [*head, *messages], **({"tools": tools} if tools else {})}


def _openai_chat(conversation: Conversation) -> Request:
    request = _request(conversation, {call.number: f"call_{call.number}" for call in conversation.calls})
    for message in request["messages"]:
        if message["role"] == "tool":
            del message["name"]  # a tool message of Chat Completions has no name
    return request


def _mistral(conversation: Conversation) -> Request:
    # Nine letters or digits, as older Mistral models demand (validator of mistral-common 1.13.1).
    request = _request(conversation, {call.number: f"{call.number:09}" for call in conversation.calls})
    for message in request["messages"]:
        if message["role"] == "user":
            message.pop("name", None)
    return request


def _plain(conversation: Conversation) -> Request:
    request = _openai_chat(conversation)
    spoken = [message for message in request["messages"] if message["role"] != "system"]
    return {**request, "system": conversation.system, "messages": spoken}


OPENAI_CHAT = Spelling(
    "openai_chat",
    "messages",
    _openai_chat,
    _tool,
    models=("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "deepseek-chat", "a-model-of-nobody"),
    options={
        "model": "gpt-4o",
        "temperature": 0,
        "response_format": {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}},
    },
    media=WITH_ADDRESSES,
)
MISTRAL = Spelling(
    "mistral",
    "messages",
    _mistral,
    _tool,
    fewest_answers=1,
    models=("mistral-small-latest", "open-mistral-nemo", "mistral-large-latest"),
    options={"model": "m", "temperature": 0.5},
    media=WITH_ADDRESSES,
)
PLAIN = Spelling("plain", "messages", _plain, _tool, models=(None,), options={"model": "m", "seed": 3})
