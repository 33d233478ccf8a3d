"""Llama 4 costs what the text of its open template does, written out here by hand, and one token more on Together."""

from __future__ import annotations

import re
from typing import Any

import pytest

from assembler import Assembler, count_request
from assembler.dialects import Dialect, openai_chat, openai_responses
from budgets import Budget, Count, tiktoken_counter

FP8 = "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8"
MARKS = re.compile(r"<\|[a-z_]+\|>")
TOOL = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {"at": {}}}}
TOOLS = [
    {"type": "function", "function": {**TOOL, "strict": True}},
    {"type": "function", "function": {**TOOL, "name": "wait"}},
]
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Is it 7?"}
LISTED = """\
Be brief.
Here is a list of functions in JSON format that you can invoke. Use exact format: [func_name1(param1=value1, \
param2=value2), func_name2(...)]
[
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Looks.",
            "parameters": {
                "type": "object",
                "properties": {
                    "at": {}
                }
            },
            "strict": true
        }
    },
    {
        "type": "function",
        "function": {
            "name": "wait",
            "description": "Looks.",
            "parameters": {
                "type": "object",
                "properties": {
                    "at": {}
                }
            }
        }
    }
]
"""
CALLS = [
    {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at": "a & b", "n": 7}'}},
    {"id": "b", "type": "function", "function": {"name": "wait", "arguments": "{}"}},
]
plain = tiktoken_counter("o200k_base")


def cost(text: str) -> int:
    """Each mark is one token, and Together bills one more for the request."""
    pieces = MARKS.split(text)
    return len(pieces) + sum(map(plain, pieces))


def counted(*messages: dict[str, Any], model: str = FP8, **options: Any) -> Count:
    return count_request({"messages": list(messages), **options}, dialect=openai_chat, model=model)


def turn(role: str, text: str) -> str:
    return f"<|header_start|>{role}<|header_end|>\n\n{text}<|eot|>"


def test_a_history_costs_what_the_open_template_of_llama_4_writes() -> None:
    """5 of 6 recordings with tools of one project."""
    called = {"role": "assistant", "content": "Sure.", "tool_calls": CALLS}
    results = [{"role": "tool", "tool_call_id": key, "content": text} for key, text in (("a", "7"), ("b", "Welcome!"))]
    shown = "".join(
        [
            "<|begin_of_text|>",
            turn("system", LISTED),
            turn("user", "Is it 7?"),
            turn("assistant", 'Sure.[look(at="a & b", n="7"), wait()]'),
            turn("ipython", '"7"'),
            turn("ipython", '"Welcome!"'),
            "<|header_start|>assistant<|header_end|>\n\n",
        ]
    )
    assert counted(SYSTEM, USER, called, *results, tools=TOOLS).tokens == cost(shown)


def test_tools_bring_llama_4_a_prompt_of_its_templates_own_only_without_a_system_text() -> None:
    """A recording on Together and 9 on Groq: the prompt of the template is there where no system text is."""
    for model in (FP8, "meta-llama/llama-4-scout-17b-16e-instruct"):
        alone, asked = counted(USER, model=model, tools=TOOLS), counted(SYSTEM, USER, model=model, tools=TOOLS)
        assert 550 < alone.tokens - asked.tokens < 650
        assert asked.tokens < alone.tokens <= alone.upper


@pytest.mark.parametrize("strict", [{}, {"strict": True}, {"strict": False}, {"strict": None}, {"strict": "yes"}])
@pytest.mark.parametrize("form", ["mcp", "flat", "nested"])
@pytest.mark.parametrize("dialect", [openai_chat, openai_responses])
def test_a_tool_of_any_form_costs_what_the_request_with_it_does(
    dialect: Dialect, form: str, strict: dict[str, Any]
) -> None:
    """Responses is sent `strict` with each tool that is written anew."""
    model = "openrouter/meta-llama/llama-4-maverick"
    mcp = {"name": "look", "description": "Looks.", "inputSchema": TOOL["parameters"], **strict}
    flat, nested = {"type": "function", **TOOL, **strict}, {"type": "function", "function": {**TOOL, **strict}}
    tool = {"mcp": mcp, "flat": flat, "nested": nested}[form]
    assembler = Assembler(Budget(10_000, model=model), dialect=dialect).set_tools([tool])
    context = assembler.add_messages([USER]).build()
    assert context.count == count_request(context.request(), dialect=dialect, model=model)
