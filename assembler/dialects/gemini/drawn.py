"""Gemini generateContent in the SDK's spelling: a signature on the first call of a turn; and what breaks its rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assembler.drawn import breach
from assembler.drawn.blocks import Blocks
from assembler.drawn.conversations import Call, Conversation, Definition
from assembler.drawn.engine import DrawFn
from assembler.drawn.spelling import WITH_ADDRESSES, Request, Spelling


def _write_function(tool: Definition) -> Request:
    return {"name": tool.name, "description": tool.description, "parameters_json_schema": tool.schema}


def _write_tool(tool: Definition) -> Request:
    return {"function_declarations": [_write_function(tool)]}


def _write_calls(calls: tuple[Call, ...]) -> list[Request]:
    parts: list[Request] = [
        {"function_call": {"id": f"call_{call.number}", "name": call.name, "args": dict(call.arguments)}}
        for call in calls
    ]
    parts[0]["thought_signature"] = "c2ln"
    return parts


def _write_response(call: Call) -> Request:
    answer = {"error": call.result} if call.failed else {"output": call.result}
    return {"function_response": {"id": f"call_{call.number}", "name": call.name, "response": answer}}


_BLOCKS = Blocks(
    text=lambda text: {"text": text},
    thought=lambda text: {"text": text, "thought": True},
    calls=_write_calls,
    result=_write_response,
    assistant="model",
    content="parts",
)


def _write_request(conversation: Conversation) -> Request:
    config: Request = {} if conversation.system is None else {"system_instruction": conversation.system}
    if conversation.tools:
        config["tools"] = [{"function_declarations": [_write_function(tool) for tool in conversation.tools]}]
    return {"contents": _BLOCKS.messages(conversation), **({"config": config} if config else {})}


SPELLING = Spelling(
    "gemini",
    "contents",
    _write_request,
    _write_tool,
    fewest_answers=1,
    models=("gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-pro-preview"),
    media=WITH_ADDRESSES,
)


def _make_model_speak_first(draw: DrawFn, request: Request) -> None:
    place = breach.pick(draw, request, "function_call")
    breach.history_of(request).insert(place, {"role": "model", "parts": [{"text": "a"}]})


def _change_parts(word: str, change: Callable[[list[Request]], object]) -> breach.Breach:
    return breach.changed(word, lambda content: change(content["parts"]))


BREACHES: Mapping[str, breach.Breach] = {
    "G0": breach.nothing_said,
    "G1": breach.before_a_question({"role": "assistant", "parts": [{"text": "a"}]}),
    "G2": breach.before_a_question({"role": "user", "parts": [{"text": ""}]}),
    "G3": _make_model_speak_first,
    "G4": _change_parts("function_response", lambda parts: parts.append(breach.copy_value(parts[0]))),
    "G5": breach.changed("function_call", lambda content: content.update(parts=[{"text": "a"}])),
    "G6": _change_parts("function_response", lambda parts: parts.append({"text": "a"})),
    "G7": breach.last({"role": "model", "parts": [{"text": "a"}]}),
    "G9": breach.before_a_question(
        {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "[lost]"}}]}
    ),
    "N2": _change_parts("function_response", lambda parts: parts[0]["function_response"].update(id="nobody")),
    "N3": breach.step_again,
    "S1": _change_parts("function_call", lambda parts: parts[-1]["function_call"].update(args="{}")),
    "S5": breach.pinned,
}
