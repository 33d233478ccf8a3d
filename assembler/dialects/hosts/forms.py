"""The forms in which chat templates write tools, past calls and results: a file each where that is not JSON.

A row of `families.toml` names its form. A new one is a file beside this one, and a line in `FORMS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from assembler.conversation.messages import Call
from assembler.dialects.hosts import cohere, deepseek_v3_1, dsml, harmony, llama_4, qwen_xml
from assembler.dialects.openai.respelled import legal_name
from assembler.regions.tools.tool import Tool


def _write_spaced(value: object) -> str:
    """JSON with a blank after each comma and colon."""
    return json.dumps(value, ensure_ascii=False)


def _write_sorted(value: object) -> str:
    """JSON with a blank after each comma and colon, and its keys sorted, as Jinja's own filter `tojson` writes it."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _write_compact(value: object) -> str:
    """JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write_indented(value: object) -> str:
    """JSON with each value on a line, indented by four."""
    return json.dumps(value, ensure_ascii=False, indent=4)


def _list_name_and_arguments(call: Call) -> tuple[str, ...]:
    return legal_name(call.name), call.arguments


@attrs.frozen(kw_only=True)
class Form:
    """How a template writes tools, the schema of an answer, past calls and results."""

    json: Callable[[Any], str] = _write_spaced
    """A schema, and each definition if `definition` is None."""
    definition: Callable[[Tool], str] | None = None
    """A tool behind another one."""
    definitions: Callable[[Sequence[Tool]], str] | None = None
    """All tools as one text; None if each is a text of its own."""
    call: Callable[[Call], tuple[str, ...]] = _list_name_and_arguments
    """The texts of a call that stands for itself."""
    turn: Callable[[str, Sequence[Call]], Sequence[str]] | None = None
    """A turn that says a text and then calls: the texts between its marks, of one token each. None if each call stands
    for itself."""
    seam: str = "\n\n"
    """What stands between a system text and the tools behind it, if `turn` is not None."""
    result: Callable[[str], str] | None = None
    """A result between its tags; None if it has none that a piece of the vocabulary may span."""

    def write_definition(self, tool: Tool) -> str:
        """A tool behind another one."""
        if self.definition is not None:
            return self.definition(tool)
        return self.json({"name": tool.name, "description": tool.description, "parameters": tool.parameters})


def _make_deepseek_form(encoder: dsml.Encoder) -> Form:
    return Form(
        definition=dsml.write_definition,
        definitions=encoder.write_definitions,
        turn=encoder.write_turn,
        result=encoder.write_result,
    )


FORMS: Mapping[str, Form] = {
    "spaced": Form(),
    "sorted": Form(json=_write_sorted),
    "compact": Form(json=_write_compact),
    "indented": Form(json=_write_indented),
    "gpt_oss": Form(definition=harmony.declare_behind, definitions=harmony.declare_tools, call=harmony.write_call),
    "command_a": Form(definition=cohere.write_definition, call=cohere.write_call, result=cohere.write_result),
    "command_r": Form(definition=cohere.write_function, call=cohere.write_call),
    "deepseek_v3_1": Form(definition=deepseek_v3_1.write_definition, turn=deepseek_v3_1.write_turn),
    "deepseek_v3_2": _make_deepseek_form(dsml.V3_2),
    "deepseek_v4": _make_deepseek_form(dsml.V4),
    "llama_4": Form(
        definition=llama_4.write_behind, definitions=llama_4.write_definitions, turn=llama_4.write_turn, seam="\n"
    ),
    "qwen_3_coder": Form(definition=qwen_xml.write_definition, turn=qwen_xml.write_turn, result=qwen_xml.write_result),
}
"""By the name in `families.toml`."""
