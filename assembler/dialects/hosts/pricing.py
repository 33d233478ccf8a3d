"""What hosts with an OpenAI-shaped API bill: DeepSeek, xAI, Groq, Cerebras, Together and others.

    request = price_request + price_system + sum(price_message) + price_tools

An open model's chat template fixes the framing, and its own vocabulary counts the texts where it is bundled. What a
host adds unseen (dates, tool preambles, safety texts) is a constant of its row in `families.toml`,
with an honest upper bound.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import attrs

from assembler.conversation.messages.message import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.dialects.hosts.families import Definitions, Family, price_texts
from assembler.dialects.hosts.harmony import declaration, declare_tools
from assembler.dialects.openai.framing import OpenAIApi
from assembler.pricing.media.refusal import without_price
from assembler.pricing.opaque import add_words
from assembler.regions.tools.tool import Tool
from assembler.text.fields import object_in
from budgets.count import NOTHING, Count, Grade, TokenCounter, total


def price_text(text: str, family: Family, count: TokenCounter) -> Count:
    """One text alone, no framing."""
    return price_texts([text], count, family.stand_in)


def price_request(
    family: Family, count: TokenCounter, *, api: OpenAIApi = "chat", answer_schema: Mapping[str, Any] | None = None
) -> Count:
    """What every request costs before its first message; `{}` as the schema is a plain JSON answer."""
    opening = family.opening + (family.responses if api == "responses" else NOTHING)
    if answer_schema is None:
        return opening
    schema = _json(answer_schema, family) if answer_schema else ""
    return opening + family.schema + price_text(schema, family, count)


def price_system(text: str | None, family: Family, count: TokenCounter) -> Count:
    """The system text with its framing, or what the host puts in its place."""
    return family.system + price_text(text, family, count) if text else family.no_system


def price_message(message: Message, family: Family, count: TokenCounter) -> Count:
    """One message with its framing. Raises `UnsupportedContentError` on media: no price of theirs is recorded."""
    texts: list[str] = []
    framing = [_framing(message, family), *(_part(part, family, texts) for part in message.parts)]
    price = total(framing) + price_texts(texts, count, family.stand_in)
    if not family.silent_beside_calls or not any(isinstance(part, Call) for part in message.parts):
        return price
    silent = tuple(part for part in message.parts if not isinstance(part, str))
    if len(silent) == len(message.parts):
        return price
    return Count(price_message(attrs.evolve(message, parts=silent), family, count).tokens, Grade.ESTIMATED, price.upper)


def price_tool(tool: Tool, family: Family, count: TokenCounter) -> Count:
    """One definition, in the template's spelling of name, description and parameters."""
    if family.definitions is Definitions.DECLARED:
        return family.tool + price_text(f";\n\n{declaration(tool)[:-3]}", family, count)  # behind the one before it
    definition = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return family.tool + price_text(_json(definition, family).translate(family.escapes), family, count)


def price_tools(tools: Sequence[Tool], family: Family, count: TokenCounter) -> Count:
    """All definitions and the hidden preamble."""
    if not tools:
        return NOTHING
    if family.definitions is Definitions.DECLARED:
        return family.tooling + total([family.tool] * len(tools)) + price_text(declare_tools(tools), family, count)
    return family.tooling + total(price_tool(tool, family, count) for tool in tools)


def _tagged(call: Call, family: Family) -> Count:
    """The tags of each argument; of text that is no JSON object, none."""
    given = None if family.argument == NOTHING else object_in(call.arguments)
    return total([family.argument] * len(given)) if given else NOTHING


def _json(value: object, family: Family) -> str:
    compact = family.definitions is Definitions.COMPACT
    indent = 4 if family.definitions is Definitions.INDENTED else None
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=(",", ":") if compact else None)


def _framing(message: Message, family: Family) -> Count:
    match message.role:
        case "system" | "developer":
            return family.system
        case "user":
            return family.user
        case "assistant":
            calls = any(isinstance(part, Call) for part in message.parts)
            return family.assistant + (family.calling if calls else family.spoken)
        case "tool":
            return family.tool_role
        case _:
            assert_never(message.role)


def _part(part: Part, family: Family, texts: list[str]) -> Count:
    """The framing of one part; its texts are appended."""
    match part:
        case str():
            texts.append(part)
            return NOTHING
        case Call() if family.definitions is Definitions.DECLARED:
            # Its result is another message, from the tool to the assistant, which does not name the tool.
            texts += (f" to=functions.{part.name}", part.arguments, f"functions.{part.name} to=assistant")
            return family.call
        case Call():
            texts.extend((part.name, part.arguments))
            return family.call + _tagged(part, family)
        case Result():
            return family.result + total(_part(inner, family, texts) for inner in part.parts)
        case Thinking():
            texts.append(part.text)
            return family.thought
        case Media():
            raise without_price(part.kind, "recorded price here")
        case Opaque():
            return add_words(part, texts)
        case _:
            assert_never(part)
