"""DeepSeek costs what the text of its open encoders does, written out here by hand.

They are encoding_dsv32.py and encoding_dsv4.py (MIT).
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from assembler import count_request
from assembler.dialects import openai_chat
from budgets import Count, open_model_counter

HEADING = """## Tools

You have access to a set of tools to help answer the user's question. You can invoke tools by writing a \
"<｜DSML｜tool_calls>" block like the following:

<｜DSML｜tool_calls>
<｜DSML｜invoke name="$TOOL_NAME">
<｜DSML｜parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜parameter>
...
</｜DSML｜invoke>
<｜DSML｜invoke name="$TOOL_NAME2">
...
</｜DSML｜invoke>
</｜DSML｜tool_calls>

String parameters should be specified as is and set `string="true"`. For all other types (numbers, booleans, arrays, \
objects), pass the value in JSON format and set `string="false"`.

If thinking_mode is enabled (triggered by <think>), you MUST output your complete reasoning inside <think>...</think> \
BEFORE any tool calls or final response.

Otherwise, output directly after </think> with tool calls or final response.

### Available Tool Schemas

"""
CLOSING = """

You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.
"""
LOOK = '{"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {"at": {}, "n": {}}}}'
WAIT = '{"name": "wait", "description": "Waits.", "parameters": {"type": "object", "properties": {}}}'
PARAMETERS: dict[str, dict[str, Any]] = {
    "look": {"type": "object", "properties": {"at": {}, "n": {}}},
    "wait": {"type": "object", "properties": {}},
}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": f"{name.title()}s.", "parameters": parameters}}
    for name, parameters in PARAMETERS.items()
]
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Is it 7?"}
MARKS = re.compile("(｜DSML｜|<｜[^｜]+｜>|</?think>)")
plain = open_model_counter("deepseek")


def cost(text: str) -> int:
    """Each mark is one token."""
    pieces = MARKS.split(text)
    return len(pieces) // 2 + sum(map(plain, pieces[::2]))


def counted(*messages: dict[str, Any], model: str = "deepseek-v4-flash", **options: Any) -> Count:
    request = {"messages": list(messages), "tools": TOOLS, **options}
    return count_request(request, dialect=openai_chat, model=model)


def call(name: str, arguments: str, place: int = 0) -> dict[str, Any]:
    return {"id": f"c{place}", "type": "function", "function": {"name": name, "arguments": arguments}}


def result(text: str, place: int = 0) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{place}", "content": text}


ASKED = f"Be brief.\n\n{HEADING}{LOOK}\n{WAIT}{CLOSING}<｜User｜>Is it 7?<｜Assistant｜>"
LOOKED = """

<｜DSML｜tool_calls>
<｜DSML｜invoke name="look">
<｜DSML｜parameter name="at" string="true">a & b</｜DSML｜parameter>
<｜DSML｜parameter name="n" string="false">{"c":[1,null]}</｜DSML｜parameter>
</｜DSML｜invoke>"""
WAITED = """
<｜DSML｜invoke name="wait">

</｜DSML｜invoke>
</｜DSML｜tool_calls><｜end▁of▁sentence｜>"""
BEGIN, ANSWER = "<｜begin▁of▁sentence｜>", "<｜Assistant｜></think>"


@pytest.mark.parametrize("thought", [None, "Look twice."])
def test_a_history_costs_what_deepseeks_encoder_writes(thought: str | None) -> None:
    calls = [call("look", '{"at": "a & b", "n": {"c": [1, null]}}'), call("wait", "{}", 1)]
    turn = {"role": "assistant", "content": "Sure.", "tool_calls": calls}
    if thought:
        turn["reasoning_content"] = thought
    shown = (
        f"{BEGIN}{ASKED}{f'<think>{thought}' if thought else ''}</think>Sure.{LOOKED}{WAITED}"
        f"<｜User｜><tool_result>7</tool_result>\n\n<tool_result></tool_result>{ANSWER}"
    )
    assert counted(SYSTEM, USER, turn, result("7"), result("", 1)).tokens == cost(shown)


@pytest.mark.parametrize("system", ["Be brief.", "Be brief\n    ", "Say )"])
def test_a_system_text_is_counted_with_the_blank_line_before_the_tools(system: str) -> None:
    shown = f"{BEGIN}{system}\n\n{HEADING}{LOOK}\n{WAIT}{CLOSING}<｜User｜>Is it 7?{ANSWER}"
    assert counted({"role": "system", "content": system}, USER).tokens == cost(shown)


def test_tools_without_a_system_text_begin_the_prompt() -> None:
    assert counted(USER).tokens == cost(f"{BEGIN}{HEADING}{LOOK}\n{WAIT}{CLOSING}<｜User｜>Is it 7?{ANSWER}")


def test_a_chosen_tool_is_shown_alone_and_its_call_is_begun() -> None:
    chosen = counted(USER, tool_choice={"type": "function", "function": {"name": "wait"}})
    begun = "\n\n<｜DSML｜tool_calls>\n"
    assert chosen.tokens == cost(f"{BEGIN}{HEADING}{WAIT}{CLOSING}<｜User｜>Is it 7?{ANSWER}{begun}")
    assert chosen.upper > counted(USER).upper  # the other may be shown
    assert counted(USER, tool_choice="required").tokens == counted(USER).tokens + cost(begun)


@pytest.mark.parametrize("arguments", ["{not json", "[7]", ""])
def test_arguments_that_are_no_object_are_written_as_they_are(arguments: str) -> None:
    turn = {"role": "assistant", "content": None, "tool_calls": [call("wait", arguments)]}
    begun = '\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="wait">'
    written = f"{begun}\n{arguments}\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
    shown = f"{BEGIN}{ASKED}</think>{written}<｜end▁of▁sentence｜><｜User｜><tool_result>7</tool_result>{ANSWER}"
    assert counted(SYSTEM, USER, turn, result("7")).tokens == cost(shown)


HEADING_OF_V3_2 = """## Tools

You have access to a set of tools you can use to answer the user's question.
You can invoke functions by writing a "<｜DSML｜function_calls>" block like the following as part of your reply to the \
user:
<｜DSML｜function_calls>
<｜DSML｜invoke name="$FUNCTION_NAME">
<｜DSML｜parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜parameter>
...
</｜DSML｜invoke>
<｜DSML｜invoke name="$FUNCTION_NAME2">
...
</｜DSML｜invoke>
</｜DSML｜function_calls>

String and scalar parameters should be specified as is without any escaping or quotes, while lists and objects should \
use JSON format. The "string" attribute should be set to "true" for string type parameters and "false" for other types \
(numbers, booleans, arrays, objects).

If the thinking_mode is enabled, then after function results you should strongly consider outputting a thinking block. \
Here is an example:

<｜DSML｜function_calls>
...
</｜DSML｜function_calls>

<function_results>
...
</function_results>

<think>...thinking about results</think>

Here are the functions available in JSONSchema format:
<functions>
"""
TOOLS_OF_V3_2 = f"{HEADING_OF_V3_2}{LOOK}\n{WAIT}\n</functions>\n"
CALLS_OF_V3_2 = """

<｜DSML｜function_calls>
<｜DSML｜invoke name="look">
<｜DSML｜parameter name="at" string="true">a & b</｜DSML｜parameter>
<｜DSML｜parameter name="n" string="false">{"c": [1, null]}</｜DSML｜parameter>
</｜DSML｜invoke>
<｜DSML｜invoke name="wait">

</｜DSML｜invoke>
</｜DSML｜function_calls><｜end▁of▁sentence｜>"""
RESULTS_OF_V3_2 = """

<function_results>
<result>7</result>
<result></result>
</function_results>

</think>"""


@pytest.mark.parametrize("model", ["deepseek-chat", "deepseek-reasoner", "DeepSeek-V3.2"])
def test_a_history_costs_what_the_encoder_of_v3_2_writes(model: str) -> None:
    calls = [call("look", '{"at": "a & b", "n": {"c": [1, null]}}'), call("wait", "{}", 1)]
    turn = {"role": "assistant", "content": "Sure.", "tool_calls": calls}
    asked = f"{BEGIN}Be brief.\n\n{TOOLS_OF_V3_2}<｜User｜>Is it 7?{ANSWER}"
    shown = f"{asked}Sure.{CALLS_OF_V3_2}{RESULTS_OF_V3_2}"
    results = (result("7"), result("", 1))
    assert counted(SYSTEM, USER, turn, *results, model=model).tokens == cost(shown)
    message = {"role": "assistant", "content": "It is."}
    more = f"{shown}It is.<｜end▁of▁sentence｜><｜User｜>Is it 7?{ANSWER}"
    assert counted(SYSTEM, USER, turn, *results, message, USER, model=model).tokens == cost(more)


def test_the_tools_of_v3_2_without_a_system_text_begin_the_prompt() -> None:
    shown = f"{BEGIN}{TOOLS_OF_V3_2}<｜User｜>Is it 7?{ANSWER}"
    assert counted(USER, model="deepseek-chat").tokens == cost(shown)
    begun = "\n\n<｜DSML｜function_calls>\n"
    assert counted(USER, model="deepseek-chat", tool_choice="required").tokens == cost(f"{shown}{begun}")


@pytest.mark.parametrize(
    ("model", "slack"),
    [("deepseek-v4-flash", 2), ("deepseek-v9", 46), ("openrouter/deepseek/deepseek-v4-flash", 2 + 10)],
)
def test_each_call_widens_the_bound_by_what_one_may_cost_more(model: str, slack: int) -> None:
    """A later generation, or another host, may write a call in its own way."""
    counts = [
        count_request({"messages": [USER, asked], "tools": TOOLS}, dialect=openai_chat, model=model)
        for calls in (1, 2)
        for asked in [{"role": "assistant", "tool_calls": [call("wait", "{}", place) for place in range(calls)]}]
    ]
    one, two = (count.upper - count.tokens for count in counts)
    assert two - one == slack


def test_a_history_costs_what_the_open_template_of_v3_1_writes() -> None:
    """deepseek-ai/DeepSeek-V3.1 (MIT). Hosts bill three more before each answer (24 recordings of 2 projects) and one
    more for a result (11 of 2), and after results no answer is begun.
    """
    shown = "\n".join(
        [
            f"{BEGIN}Be brief.\n\n## Tools\nYou have access to the following tools:\n",
            f"### look\nDescription: Looks.\n\nParameters: {json.dumps(PARAMETERS['look'], sort_keys=True)}\n",
            f"### wait\nDescription: Waits.\n\nParameters: {json.dumps(PARAMETERS['wait'], sort_keys=True)}\n",
            "IMPORTANT: ALWAYS adhere to this exact format for tool use:",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tool_call_name<｜tool▁sep｜>tool_call_arguments<｜tool▁call▁end｜>"
            "{{additional_tool_calls}}<｜tool▁calls▁end｜>\n\nWhere:\n",
            "- `tool_call_name` must be an exact match to one of the available tools",
            "- `tool_call_arguments` must be valid JSON that strictly follows the tool's Parameters Schema",
            "- For multiple tool calls, chain them directly without separators or spaces",
            f"<｜User｜>Is it 7?{ANSWER}",
        ]
    )
    assert counted(SYSTEM, USER, model="DeepSeek-V3.1").tokens == cost(shown) + 3
    turn = {"role": "assistant", "content": "Sure.", "tool_calls": [call("look", '{"at": 7}'), call("wait", "{}", 1)]}
    shown += (
        'Sure.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{"at": 7}<｜tool▁call▁end｜>'
        "<｜tool▁call▁begin｜>wait<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
        "<｜tool▁output▁begin｜>7<｜tool▁output▁end｜><｜tool▁output▁begin｜><｜tool▁output▁end｜>"
    )
    history = (SYSTEM, USER, turn, result("7"), result("", 1))
    assert counted(*history, model="azure/DeepSeek-V3.1").tokens == cost(shown) + 3 + 2
    shown += f"It is.<｜end▁of▁sentence｜><｜User｜>Is it 7?{ANSWER}"
    answer = {"role": "assistant", "content": "It is."}
    assert counted(*history, answer, USER, model="DeepSeek-V3.1").tokens == cost(shown) + 3 + 2 + 3
