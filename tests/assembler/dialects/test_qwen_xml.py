"""Qwen 3 Coder costs what the text of its open template does (Apache-2.0), written out here by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest

from assembler import count_request
from assembler.dialects import openai_chat
from budgets import Count, open_model_counter

DEFAULT = "You are Qwen, a helpful AI assistant that can interact with a computer to solve tasks."
HEADING = "You have access to the following functions:\n\n<tools>"
LOOK = """
<function>
<name>look</name>
<description>Looks.</description>
<parameters>
<parameter>
<name>at</name>
<type>string</type>
<description>Where.</description>
<enum>["a", "b"]</enum>
</parameter>
<parameter>
<name>n</name>
<minimum>1</minimum>
</parameter>
<required>["at"]</required>
</parameters>
</function>"""
NOW = """
<function>
<name>now</name>
<parameters>
</parameters>
</function>"""
CLOSING = """
</tools>

If you choose to call a function ONLY reply in the following format with NO suffix:

<tool_call>
<function=example_function_name>
<parameter=example_parameter_1>
value_1
</parameter>
<parameter=example_parameter_2>
This is the value for the second parameter
that can span
multiple lines
</parameter>
</function>
</tool_call>

<IMPORTANT>
Reminder:
- Function calls MUST follow the specified format: an inner <function=...></function> block must be nested within \
<tool_call></tool_call> XML tags
- Required parameters MUST be specified
- You may provide optional reasoning for your function call in natural language BEFORE the function call, but NOT after
- If there is no function call available, answer the question like normal with your current knowledge and do not tell \
the user about function calls
</IMPORTANT><|im_end|>
"""
PARAMETERS = {
    "type": "object",
    "properties": {"at": {"type": "string", "description": "Where.", "enum": ["a", "b"]}, "n": {"minimum": 1}},
    "required": ["at"],
    "additionalProperties": False,  # as Cerebras leaves it out
}
TOOLS = [
    {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": PARAMETERS}},
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
]
USER = {"role": "user", "content": "Is it 7?"}
ASKED = "<|im_start|>user\nIs it 7?<|im_end|>\n"
ANSWER = "<|im_start|>assistant\n"
MARKS = re.compile(r"(<\|im_start\|>|<\|im_end\|>|</?tool_call>|</?tool_response>)")
plain = open_model_counter("qwen")


def cost(text: str) -> int:
    """Each mark is one token."""
    pieces = MARKS.split(text)
    return len(pieces) // 2 + sum(map(plain, pieces[::2]))


def counted(*messages: dict[str, Any], **options: Any) -> Count:
    request = {"messages": list(messages), "tools": TOOLS, **options}
    return count_request(request, dialect=openai_chat, model="qwen-3-coder-480b")


def call(name: str, arguments: str, place: int = 0) -> dict[str, Any]:
    return {"id": f"c{place}", "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("content", ["", "Sure."])
def test_a_history_costs_what_the_template_of_qwen_coder_writes(content: str) -> None:
    calls = [call("look", '{"at": "a & b", "n": [1, null]}'), call("now", "{}", 1)]
    results = [{"role": "tool", "tool_call_id": f"c{place}", "content": text} for place, text in enumerate(("7", "x."))]
    spoken = f"\n{content}\n" if content else ""
    shown = (
        f"<|im_start|>system\nBe brief.\n\n{HEADING}{LOOK}{NOW}{CLOSING}{ASKED}<|im_start|>assistant{spoken}\n"
        "<tool_call>\n<function=look>\n<parameter=at>\na & b\n</parameter>\n<parameter=n>\n[1, null]\n</parameter>\n"
        "</function>\n</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call><|im_end|>\n"
        "<|im_start|>user\n<tool_response>\n7\n</tool_response>\n<tool_response>\nx.\n</tool_response>\n<|im_end|>\n"
        f"{ANSWER}"
    )
    turn = {"role": "assistant", "content": content, "tool_calls": calls}
    assert counted({"role": "system", "content": "Be brief."}, USER, turn, *results).tokens == cost(shown)


def test_tools_without_a_system_text_bring_the_templates_own() -> None:
    shown = f"<|im_start|>system\n{DEFAULT}\n\n{HEADING}{LOOK}{NOW}{CLOSING}{ASKED}{ANSWER}"
    assert counted(USER).tokens == cost(shown)
    assert counted(USER, tools=[]).tokens == cost(ASKED + ANSWER)


@pytest.mark.parametrize(
    "parameters", [{"properties": {"a": True}}, {"properties": {"a": {"type": ["null"]}}}, {"x": 1}]
)
def test_a_schema_of_odd_form_is_priced(parameters: dict[str, Any]) -> None:
    odd = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    assert counted(USER, tools=[odd]).tokens > counted(USER, tools=[]).tokens + 181
