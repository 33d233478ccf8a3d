"""Writes tools, past calls and results as Qwen 3 Coder gets them from its open template (Apache-2.0, read 2026-11).

Cerebras leaves `strict` and the outermost `additionalProperties` out, and the heading of the template's later version:
all 21 recorded requests (2 projects) are billed what this text costs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assembler.conversation.messages import Call
from assembler.dialects.openai.respelled import legal_name
from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_in, object_in

_MARK = re.compile("</?tool_call>")
"""One token of its vocabulary each."""


def write_definition(tool: Tool) -> str:
    """The text of one definition, with a line break behind it."""
    described = f"\n<description>{tool.description.strip()}</description>" if tool.description else ""
    properties = fields_in(tool.parameters, "properties")
    each = "".join(_write_property(name, fields_in(properties, name)) for name in properties)
    rest = _write_rest(tool.parameters, ("type", "properties", "additionalProperties"))
    return f"<function>\n<name>{tool.name}</name>{described}\n<parameters>{each}{rest}\n</parameters>\n</function>\n"


def write_turn(text: str, calls: Iterable[Call]) -> Sequence[str]:
    """The texts between the marks of a turn that says a text and then calls tools."""
    before = f"{text.strip()}\n\n" if text.strip() else ""
    return _MARK.split(before + "\n".join(map(_write_call, calls)))


def write_result(text: str) -> str:
    """A result between its two marks, which are counted as its framing."""
    return f"\n{text}\n"


def _write_property(name: str, schema: Mapping[str, Any]) -> str:
    kind = f"\n<type>{schema['type']}</type>" if "type" in schema else ""
    description: object = schema.get("description")
    described = f"\n<description>{description.strip()}</description>" if isinstance(description, str) else ""
    rest = _write_rest(schema, ("name", "type", "description"))
    return f"\n<parameter>\n<name>{name}</name>{kind}{described}{rest}\n</parameter>"


def _write_rest(schema: Mapping[str, Any], written: Sequence[str]) -> str:
    rest = [key for key in schema if key not in written]
    return "".join(f"\n<{key}>{_write_value(schema[key])}</{key}>" for key in rest)


def _write_value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping | list | tuple) else str(value)


def _write_call(call: Call) -> str:
    arguments = object_in(call.arguments)
    values = call.arguments if arguments is None else "".join(map(_write_argument, arguments, arguments.values()))
    return f"<tool_call>\n<function={legal_name(call.name)}>\n{values}</function>\n</tool_call>"


def _write_argument(name: str, value: object) -> str:
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"<parameter={name}>\n{written}\n</parameter>\n"
