"""Writes function tools and calls as gpt-oss gets them from openai/harmony (Apache-2.0, src/encoding.rs, read 2026-11).

Unlike in OpenAI's own text, each property is on a line, a title has an empty comment below it, examples and `nullable`
are written, limits are left out, and `anyOf` becomes `any`. The bills of 61 recorded requests with tools on Bedrock and
Groq, of 5 projects, exceed this text by the same number, 81.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from assembler.conversation.messages import Call
from assembler.dialects.openai.respelled import legal_name
from assembler.dialects.openai.tool_text import DEEPEST, properties
from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_in, fields_of, items_of

Schema: TypeAlias = Mapping[str, Any]

HEADING = "# Tools\n\n## functions\n\nnamespace functions {\n\n"
CLOSING = "} // namespace functions"

_NAMED = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean"}


def declare_tools(tools: Sequence[Tool]) -> str:
    """The text of all tools. O(their schemas)."""
    return f"{HEADING}{''.join(map(declaration, tools))}{CLOSING}"


def declaration(tool: Tool) -> str:
    """The text of one tool, with a blank line after it."""
    remarks = "".join(f"// {line}\n" for line in tool.description.splitlines())
    if not tool.parameters:
        return f"{remarks}type {tool.name} = () => any;\n\n"
    return f"{remarks}type {tool.name} = (_: {_write_type(tool.parameters, '', 0)}) => any;\n\n"


def declare_behind(tool: Tool) -> str:
    """The text that one tool adds behind another."""
    return f";\n\n{declaration(tool)[:-3]}"


def write_call(call: Call) -> tuple[str, ...]:
    """The texts of a call and of the heading of its result, which is a message of the tool to the assistant."""
    name = legal_name(call.name)
    return f" to=functions.{name}", call.arguments, f"functions.{name} to=assistant"


def _write_type(schema: Schema, indent: str, depth: int) -> str:
    kind: object = schema.get("type")
    if depth > DEEPEST:
        return "any"
    if isinstance(schema.get("oneOf"), list):
        return "".join(f"\n{choice}" for choice in _write_choices(schema, indent, depth))
    if named := _list_texts(kind):
        return " | ".join("number" if one == "integer" else one for one in named)
    if kind == "object":
        return _write_object(schema, indent, depth)
    if kind == "array":
        items = fields_of(schema.get("items"))
        inner = "any" if items is None else _write_type(items, indent, depth + 1)
        return f"{inner}[]" if "items" in schema else "Array<any>"
    members = _list_texts(schema.get("enum")) if kind == "string" else []
    if members:
        return " | ".join(f'"{member}"' for member in members)
    return _NAMED.get(kind, "any") if isinstance(kind, str) else "any"


def _list_texts(given: object) -> list[str]:
    return [one for one in items_of(given) if isinstance(one, str)]


def _write_type_or_null(schema: Schema, indent: str, depth: int) -> str:
    kind = _write_type(schema, indent, depth)
    return f"{kind} | null" if schema.get("nullable") is True and "null" not in kind else kind


def _write_choices(schema: Schema, indent: str, depth: int, above: object = None) -> Iterator[str]:
    """A line for each schema of `oneOf`, with its description and default.

    Below a description of the property, `above`, the first schema's is not repeated, nor is one that is the same.
    """
    for place, one in enumerate(map(fields_in, items_of(schema.get("oneOf")))):
        described: object = one.get("description")
        is_above = described == above or (place == 0 and isinstance(above, str))
        remarks = [described] if isinstance(described, str) and not is_above else []
        if "default" in one:
            remarks.append(f"default: {_write_default(one)}")
        written = _write_type_or_null(one, f"{indent}   ", depth + 1)
        yield f"{indent} | {' // '.join([written, ' '.join(remarks)] if remarks else [written])}"


def _write_object(schema: Schema, indent: str, depth: int) -> str:
    required = frozenset(_list_texts(schema.get("required")))
    description: object = schema.get("description")
    lines = [f"{indent}// {description}\n{{\n" if isinstance(description, str) else "{\n"]
    for key, value in properties(schema).items():
        lines += [f"{indent}{remark}\n" for remark in _write_remarks(value)]
        named = f"{indent}{key}{'' if key in required else '?'}:"
        if isinstance(value.get("oneOf"), list):
            chosen = _write_choices(value, indent, depth + 1, value.get("description"))
            lines += [f"{named}\n", *(f"{choice}\n" for choice in chosen), f"{indent},\n"]
            continue
        default = f" // default: {_write_default(value)}" if "default" in value else ""
        lines.append(f"{named} {_write_type_or_null(value, f'{indent}    ', depth + 1)},{default}\n")
    return f"{''.join(lines)}{indent}}}"


def _write_remarks(schema: Schema) -> Iterator[str]:
    """The comments above a property."""
    title, description = schema.get("title"), schema.get("description")
    if isinstance(title, str):
        yield f"// {title}"
        yield "//"
    chosen = items_of(schema.get("oneOf"))
    if isinstance(description, str) and not (chosen and fields_in(chosen[0]).get("description") == description):
        yield f"// {description}"
    if examples := items_of(schema.get("examples")):
        yield "// Examples:"
        yield from (f'// - "{one}"' for one in examples if isinstance(one, str))
    if chosen and "default" in schema:
        yield f"// default: {_write_default(schema)}"


def _write_default(schema: Schema) -> str:
    """A default: a text in quotes without escapes, a member of an enum without quotes, other values as JSON."""
    default: object = schema["default"]
    if not isinstance(default, str):
        return json.dumps(default, ensure_ascii=False, separators=(",", ":"))
    return default if schema.get("enum") else f'"{default}"'
