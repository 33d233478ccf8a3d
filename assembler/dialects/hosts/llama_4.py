"""Writes tools and past calls as Llama 4 gets them from its open template (meta-llama/Llama-4-Maverick-17B-128E).

Read 2026-11, in vLLM's examples (Apache-2.0). Of 6 recorded requests with tools to Together (one project) 5 are billed
what this text costs; the other has references to other schemas in its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from assembler.conversation.messages import Call
from assembler.dialects.openai.respelled import legal_name
from assembler.regions.tools.tool import Tool
from assembler.text.fields import object_in


def write_definitions(tools: Sequence[Tool]) -> str:
    """The text of all tools: a JSON list indented by four."""
    return f"{_write_list(tools)}\n"


def write_behind(tool: Tool) -> str:
    """The text of a tool behind another one."""
    return f",{_write_list([tool])[1:-2]}"


def write_turn(text: str, calls: Sequence[Call]) -> Sequence[str]:
    """A turn that says a text and then calls tools, as calls of Python: no mark stands in it."""
    return [f"{text}[{', '.join(map(_write_call, calls))}]"]


def _write_list(tools: Sequence[Tool]) -> str:
    return json.dumps(list(map(_wrap, tools)), ensure_ascii=False, indent=4)


def _wrap(tool: Tool) -> dict[str, object]:
    written = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    strict = {"strict": given} if isinstance(given := tool.extra.get("strict"), bool) else {}
    return {"type": "function", "function": {**written, **strict}}


def _write_call(call: Call) -> str:
    arguments = object_in(call.arguments)
    written = call.arguments if arguments is None else ", ".join(f'{name}="{arguments[name]}"' for name in arguments)
    return f"{legal_name(call.name)}({written})"
