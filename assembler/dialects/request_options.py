"""How each API asks for a structured answer and for a tool: the keys of its request beside the regions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from assembler.conversation.messages.dicts import private_copy
from assembler.regions.layout import Layout
from assembler.regions.output_schema import OutputSchema

# Keys and words: API references of OpenAI (both APIs), Anthropic, Google, Amazon Bedrock and Mistral, read 2026-11.


def chat_options(layout: Layout) -> dict[str, Any]:
    """`response_format` and `tool_choice` of Chat Completions."""
    form = {} if layout.output is None else {"response_format": _wrapped(layout.output)}
    return form | _choice(layout, _chat_tool)


def mistral_options(layout: Layout) -> dict[str, Any]:
    """The same of Mistral, which says `any` for `required`."""
    options = chat_options(layout)
    if options.get("tool_choice") == "required":
        options["tool_choice"] = "any"
    return options


def responses_options(layout: Layout) -> dict[str, Any]:
    """`text.format` and `tool_choice` of Responses."""
    form = {} if layout.output is None else {"text": {"format": {"type": "json_schema", **_named(layout.output)}}}
    return form | _choice(layout, lambda name: {"type": "function", "name": name})


def anthropic_options(layout: Layout) -> dict[str, Any]:
    """`output_config.format` and `tool_choice` of Messages."""
    words = {"auto": "auto", "none": "none", "required": "any"}
    options: dict[str, Any] = {}
    if layout.output is not None:
        options["output_config"] = {"format": {"type": "json_schema", "schema": _schema(layout.output)}}
    if (choice := _asked(layout)) is not None:
        options["tool_choice"] = {"type": words[choice]} if choice in words else {"type": "tool", "name": choice}
    return options


def gemini_options(layout: Layout) -> dict[str, Any]:
    """`response_json_schema` and `tool_config` of generateContent's config."""
    modes = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
    options: dict[str, Any] = {}
    if layout.output is not None:
        options["response_mime_type"] = "application/json"
        options["response_json_schema"] = _schema(layout.output)
    if (choice := _asked(layout)) is not None:
        mode = {"mode": modes[choice]} if choice in modes else {"mode": "ANY", "allowed_function_names": [choice]}
        options["tool_config"] = {"function_calling_config": mode}
    return options


def bedrock_options(layout: Layout) -> dict[str, Any]:
    """`outputConfig` and `toolChoice` of Converse. `toolChoice` stands in `toolConfig`; there is no word for none."""
    words = {"auto": "auto", "required": "any"}
    options: dict[str, Any] = {}
    if layout.output is not None:
        named = {"name": layout.output.name, "schema": json.dumps(_schema(layout.output))}
        options["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": named}}}
    choice = _asked(layout)
    if choice is not None and choice != "none":
        options["toolChoice"] = {words[choice]: {}} if choice in words else {"tool": {"name": choice}}
    return options


def plain_options(layout: Layout) -> dict[str, Any]:
    """`output_schema`: the name, the description and the schema."""
    return {} if layout.output is None else {"output_schema": _named(layout.output)}


def _wrapped(output: OutputSchema) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": _named(output)}


def _named(output: OutputSchema) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": output.name, "schema": private_copy(dict(output.schema))}
    if output.description is not None:
        fields["description"] = output.description
    return fields | ({"strict": True} if output.strict else {})


def _schema(output: OutputSchema) -> dict[str, Any]:
    """The schema with its own description, for an API that has no other place for it."""
    described = {} if output.description is None else {"description": output.description}
    schema: dict[str, Any] = private_copy(dict(output.schema))
    return {**described, **schema}


def _asked(layout: Layout) -> str | None:
    """The choice, if there is a tool that it can choose: a limit may have left its tool out."""
    known = {"auto", "none", "required", *(tool.name for tool in layout.tools)}
    return layout.choice if layout.tools and layout.choice in known else None


def _choice(layout: Layout, named: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    choice = _asked(layout)
    if choice is None:
        return {}
    return {"tool_choice": choice if choice in ("auto", "none", "required") else named(choice)}


def _chat_tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}
