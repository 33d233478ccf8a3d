"""Writes tools, calls and results as DeepSeek gets them from its open encoders, of V3.2 and of V4.

They are encoding_dsv32.py and encoding_dsv4.py (MIT, read 2026-11).
Each tag of a call begins with a mark that is one token of its vocabulary. A text argument is written as it is, another
value as JSON. docs/how-it-counts-deepseek.md has the recordings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from assembler.conversation.messages import Call
from assembler.dialects.openai.respelled import legal_name
from assembler.regions.tools.tool import Tool
from assembler.text.fields import object_in

MARK: Final = "｜DSML｜"


@attrs.frozen
class Encoder:
    """How one generation names the parts of its text."""

    block: str
    """The name of the tag around all calls of a turn."""
    result: str
    """The name of the tag around a result."""
    behind_result: str
    behind_definitions: str
    separators: tuple[str, str]
    """Those of values in JSON."""

    def write_definitions(self, tools: Iterable[Tool]) -> str:
        """The text of all tools."""
        return "".join([*map(write_definition, tools), self.behind_definitions])

    def write_turn(self, text: str, calls: Iterable[Call]) -> Sequence[str]:
        """The texts between the marks of a turn that says a text and then calls tools."""
        written = "\n".join(map(self._write_call, calls))
        return f"{text}\n\n<{MARK}{self.block}>\n{written}\n</{MARK}{self.block}>".split(MARK)

    def write_result(self, text: str) -> str:
        """A result between its tags, which are plain text."""
        return f"<{self.result}>{text}</{self.result}>{self.behind_result}"

    def _write_call(self, call: Call) -> str:
        arguments = object_in(call.arguments)
        each = () if arguments is None else map(self._write_argument, arguments, arguments.values())
        values = call.arguments if arguments is None else "\n".join(each)
        return f'<{MARK}invoke name="{legal_name(call.name)}">\n{values}\n</{MARK}invoke>'

    def _write_argument(self, name: str, value: object) -> str:
        is_text = isinstance(value, str)
        written = value if is_text else json.dumps(value, ensure_ascii=False, separators=self.separators)
        return f'<{MARK}parameter name="{name}" string="{str(is_text).lower()}">{written}</{MARK}parameter>'


def write_definition(tool: Tool) -> str:
    """The JSON of one tool on a line, without what was not sent."""
    definition = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps({key: value for key, value in definition.items() if value}, ensure_ascii=False) + "\n"


V3_2: Final = Encoder("function_calls", "result", "\n", "", (", ", ": "))
"""Its results are in a block of their own, whose tags are in the price of a turn."""

V4: Final = Encoder("tool_calls", "tool_result", "", "\n", (",", ":"))
