"""Writes drawn conversations for OpenAI Responses, as a list of items, and breaks its rules."""

from __future__ import annotations

import json
from collections.abc import Mapping

from assembler.drawn import breach
from assembler.drawn.conversations import Conversation, Definition, Exchange, Step
from assembler.drawn.spelling import SCHEMA, WITH_ADDRESSES, Request, Spelling, text_or_parts


def _write_tool(tool: Definition) -> Request:
    named = {"type": "function", "name": tool.name, "description": tool.description}
    return {**named, "parameters": tool.schema, "strict": False}


def _write_reasoning(thinking: str | None, number: int | str) -> list[Request]:
    if thinking is None:
        return []
    summary = [{"type": "summary_text", "text": thinking}]
    return [{"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": "c2ln"}]


def _write_answer(texts: tuple[str, ...]) -> list[Request]:
    return [{"role": "assistant", "content": text_or_parts(texts, "output_text")}] if texts else []


def _write_step(step: Step) -> list[Request]:
    calls = [
        {
            "type": "function_call",
            "call_id": f"call_{call.number}",
            "name": call.name,
            "arguments": json.dumps(call.arguments, ensure_ascii=False),
        }
        for call in step.calls
    ]
    outputs = [
        {"type": "function_call_output", "call_id": f"call_{call.number}", "output": call.result}
        for call in step.answered
    ]
    return [*_write_reasoning(step.thinking, step.calls[0].number), *_write_answer(step.words), *calls, *outputs]


def _write_exchange(exchange: Exchange, place: int) -> list[Request]:
    items: list[Request] = [{"role": "user", "content": text_or_parts(exchange.question, "input_text")}]
    for step in exchange.steps:
        items += _write_step(step)
    return [*items, *_write_reasoning(exchange.thinking, f"answer_{place}"), *_write_answer(exchange.answer)]


def _write_request(conversation: Conversation) -> Request:
    items = [item for place, exchange in enumerate(conversation.exchanges) for item in _write_exchange(exchange, place)]
    instructions = {} if conversation.system is None else {"instructions": conversation.system}
    tools = [_write_tool(tool) for tool in conversation.tools]
    return {**instructions, "input": items, **({"tools": tools} if tools else {})}


SPELLING = Spelling(
    "openai_responses",
    "input",
    _write_request,
    _write_tool,
    models=("gpt-4o", "gpt-5", "a-model-of-nobody"),
    options={
        "model": "gpt-4o",
        "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "place", "schema": SCHEMA}},
        "metadata": {"user": "7"},
    },
    media=WITH_ADDRESSES,
)


BREACHES: Mapping[str, breach.Breach] = {
    "N1": breach.nothing_said,
    "R0": breach.last({"type": "function_call_output", "output": "a"}),
    "R1": breach.last({"type": "function_call_output", "call_id": "nobody", "output": "a"}),
    "R2": breach.gone("function_call_output"),
    "R3": breach.before_a_question({"type": "reasoning", "id": "rs_lost", "summary": []}),
    "N2": breach.doubled("function_call_output"),
    "N3": breach.doubled("function_call"),
    "R4": breach.before_a_question(
        {"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,[lost]"}]}
    ),
    "L1": breach.with_ids("call_", "call_" + "x" * 64),
    "S1": breach.changed("function_call", lambda item: item.update(arguments={"q": "a"})),
    "S3": breach.before_a_question({"role": "robot", "content": "a"}),
    "S4": breach.before_a_question({"type": "hologram"}),
    "S5": breach.pinned,
}
