"""Writes past calls and results as DeepSeek V4 gets them from its open encoder (encoding_dsv4.py, MIT, read 2026-11).

Each tag of a call begins with a mark that is one token of its vocabulary. A text argument is written as it is, another
value as JSON without blanks. If the keys of definitions are in their clients' order, 71 of 83 recorded requests with
tools or calls (3 projects) are billed what this text costs, and 10 more 79 above it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from assembler.conversation.messages import Call
from assembler.dialects.openai.respelled import legal_name
from assembler.text.fields import object_in

MARK = "｜DSML｜"


def write_calls(said: str, calls: Iterable[Call]) -> Sequence[str]:
    """The texts between the marks of a turn that says something and then calls tools."""
    written = "\n".join(map(_write_call, calls))
    return f"{said}\n\n<{MARK}tool_calls>\n{written}\n</{MARK}tool_calls>".split(MARK)


def write_result(text: str) -> str:
    """A result between its tags, which are plain text."""
    return f"<tool_result>{text}</tool_result>"


def _write_call(call: Call) -> str:
    arguments = object_in(call.arguments)
    values = call.arguments if arguments is None else "\n".join(map(_write_argument, arguments, arguments.values()))
    return f'<{MARK}invoke name="{legal_name(call.name)}">\n{values}\n</{MARK}invoke>'


def _write_argument(name: str, value: object) -> str:
    is_text = isinstance(value, str)
    written = value if is_text else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f'<{MARK}parameter name="{name}" string="{str(is_text).lower()}">{written}</{MARK}parameter>'
