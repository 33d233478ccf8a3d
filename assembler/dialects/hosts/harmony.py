"""Writes function tools as gpt-oss gets them from openai/harmony (Apache-2.0, src/encoding.rs, read 2026-11).

Unlike in OpenAI's own text, each property is on a line, a title has an empty comment below it, limits are left out, and
`anyOf` becomes `any`. The bills of 61 recorded requests with tools on Bedrock and Groq, of 5 projects, exceed this text
by the same number, 81.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from assembler.dialects.openai.tool_text import DEEPEST, properties
from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_of

Schema: TypeAlias = Mapping[str, Any]

HEADING = "# Tools\n\n## functions\n\nnamespace functions {\n\n"
CLOSING = "} // namespace functions"

_NAMED = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean"}


def declare_tools(tools: Sequence[Tool]) -> str:
    """Return the text of all tools. O(their schemas)."""
    return f"{HEADING}{''.join(map(declaration, tools))}{CLOSING}"


def declaration(tool: Tool) -> str:
    """Return the text of one tool, with a blank line after it."""
    remarks = "".join(f"// {line}\n" for line in tool.description.splitlines())
    if not tool.parameters:
        return f"{remarks}type {tool.name} = () => any;\n\n"
    return f"{remarks}type {tool.name} = (_: {_type(tool.parameters, '', 0)}) => any;\n\n"


def _type(schema: Schema, indent: str, depth: int) -> str:
    kind: object = schema.get("type")
    if depth > DEEPEST:
        return "any"
    if isinstance(kind, list):
        named = [str(one) for one in cast("list[object]", kind)]
        return " | ".join("number" if one == "integer" else one for one in named)
    if kind == "object":
        return _object(schema, indent, depth)
    if kind == "array":
        items = fields_of(schema.get("items"))
        return "Array<any>" if items is None else f"{_type(items, indent, depth + 1)}[]"
    members = _texts(schema.get("enum")) if kind == "string" else []
    if members:
        return " | ".join(f'"{member}"' for member in members)
    return _NAMED.get(kind, "any") if isinstance(kind, str) else "any"


def _texts(given: object) -> list[str]:
    return [one for one in cast("list[object]", given) if isinstance(one, str)] if isinstance(given, list) else []


def _object(schema: Schema, indent: str, depth: int) -> str:
    required = frozenset(_texts(schema.get("required")))
    description: object = schema.get("description")
    lines = [f"{indent}// {description}\n{{\n" if isinstance(description, str) else "{\n"]
    for key, value in properties(schema).items():
        lines += [f"{indent}{remark}\n" for remark in _remarks(value)]
        kind = _type(value, f"{indent}    ", depth + 1)
        lines.append(f"{indent}{key}{'' if key in required else '?'}: {kind},{_default(value)}\n")
    return f"{''.join(lines)}{indent}}}"


def _remarks(schema: Schema) -> Iterator[str]:
    title, description = schema.get("title"), schema.get("description")
    if isinstance(title, str):
        yield f"// {title}"
        yield "//"
    if isinstance(description, str):
        yield f"// {description}"


def _default(schema: Schema) -> str:
    return f" // default: {json.dumps(schema['default'], ensure_ascii=False)}" if "default" in schema else ""
