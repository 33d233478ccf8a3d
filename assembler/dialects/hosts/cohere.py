"""Writes tools, past calls and results as Cohere's Command models get them from their open templates.

These are the chat templates of c4ai-command-a-03-2025 and of c4ai-command-r-plus, read 2026-11. Counted by the models'
own tokenizer, 63 of 76 recorded requests with tools are within one token of it: docs/how-it-counts-cohere.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from assembler.conversation.messages import Call
from assembler.dialects.openai.respelled import legal_name
from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_in, fields_of, items_of, object_in

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "List", "object": "Dict"}


def write_definition(tool: Tool) -> str:
    """The JSON of one definition for Command A, without the properties' empty descriptions."""
    parameters = dict(tool.parameters)
    if properties := fields_in(parameters, "properties"):
        parameters["properties"] = {name: _drop_empty_description(schema) for name, schema in properties.items()}
    written = {"name": tool.name, "description": tool.description, "parameters": parameters, "responses": None}
    return json.dumps(written, ensure_ascii=False)


def write_call(call: Call) -> tuple[str, ...]:
    """The name of a call and its arguments as JSON with blanks."""
    arguments = object_in(call.arguments)
    written = call.arguments if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return legal_name(call.name), written


def write_result(text: str) -> str:
    """A result for Command A: the object that it is, or a document that contains its text."""
    found = object_in(text)
    return json.dumps({"content": text} if found is None else found, ensure_ascii=False)


def write_function(tool: Tool) -> str:
    """One definition for Command R, as a function of Python.

    It is not indented here: a line break with blanks behind it is one piece of Command's vocabulary, and two of others.
    """
    properties = fields_in(tool.parameters, "properties")
    required = [
        name for name in items_of(tool.parameters.get("required")) if isinstance(name, str) and name in properties
    ]
    names = list(dict.fromkeys([*required, *properties]))
    kinds = {name: _name_type(fields_in(properties, name)) for name in names}
    kinds |= {name: f"Optional[{kinds[name]}]" for name in names if name not in required}
    signature = ", ".join(f"{name}: {kinds[name]}{'' if name in required else ' = None'}" for name in names)
    each = (f"\n{name} ({kinds[name]}): {fields_in(properties, name).get('description') or ''}" for name in names)
    described = "".join(["\n\nArgs:", *each]) if names else ""
    heading = f"```python\ndef {tool.name}({signature}) -> List[Dict]:"
    return f'{heading}\n"""{tool.description}{described}\n"""\npass\n```\n\n'


def _drop_empty_description(schema: object) -> object:
    fields = fields_of(schema)
    if fields is None or fields.get("description", " "):
        return schema
    return {key: value for key, value in fields.items() if key != "description"}


def _name_type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    return _TYPES.get(kind, kind) if isinstance(kind, str) else "Any"
