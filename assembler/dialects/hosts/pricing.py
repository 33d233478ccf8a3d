"""Prices the parts of a request to a host with OpenAI's formats: DeepSeek, xAI, Groq, Cerebras, Together and others.

    request = price_request + price_system + sum(price_message) + price_tools

An open model's chat template fixes the framing, and its own vocabulary counts the texts if it is bundled. A host's
hidden additions (dates, tool preambles, safety texts) are constants of its row in `families.toml`, with upper bounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, assert_never

import attrs

from assembler.conversation.messages.message import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.dialects.hosts import dsml, qwen_xml
from assembler.dialects.hosts.families import Definitions, Family, price_texts
from assembler.dialects.hosts.harmony import declaration, declare_tools
from assembler.dialects.openai.framing import OpenAIApi
from assembler.dialects.openai.respelled import legal_name
from assembler.pricing.media import read_media
from assembler.pricing.media.open_models import price_medium
from assembler.pricing.opaque import add_words
from assembler.regions.tools.tool import Tool
from assembler.text.fields import object_in
from budgets.count import NOTHING, Count, Grade, TokenCounter, total


class Writer(Protocol):
    """Writes past calls and results where the template tags them."""

    def write_calls(self, said: str, calls: Iterable[Call]) -> Sequence[str]:
        """The texts between the marks, of one token each, of a turn that says something and then calls tools."""
        ...

    def write_result(self, text: str) -> str:
        """A result with what is around it."""
        ...


_ENCODERS = {Definitions.TAGGED: dsml.V4, Definitions.TAGGED_BLOCKS: dsml.V3_2}
_WRITERS: Mapping[Definitions, Writer] = {**_ENCODERS, Definitions.XML: qwen_xml}


def price_text(text: str, family: Family, count: TokenCounter) -> Count:
    """Price one text without framing."""
    return price_texts([text], count, family.stand_in)


def price_request(
    family: Family, count: TokenCounter, *, api: OpenAIApi = "chat", answer_schema: Mapping[str, Any] | None = None
) -> Count:
    """Price the beginning of every request. The schema `{}` asks for any JSON object."""
    opening = family.opening + (family.responses if api == "responses" else NOTHING)
    if answer_schema is None:
        return opening
    schema = _spell_definition(answer_schema, family) if answer_schema else ""
    return opening + family.schema + price_text(schema, family, count)


def price_system(text: str | None, family: Family, count: TokenCounter) -> Count:
    """Price the system text with its framing, or the host's own text in place of a missing one."""
    return family.system + price_text(text, family, count) if text else family.no_system


def price_seam(text: str, family: Family, count: TokenCounter) -> Count:
    """Price the blank line between a system text and the tools behind it, or the template's own text without one."""
    if not text:
        return family.tools_alone
    if family.definitions not in _WRITERS:
        return NOTHING
    return Count(max(count(f"{text}\n\n") - count(text), 0))


def price_message(message: Message, family: Family, count: TokenCounter) -> Count:
    """Price one message with its framing. Raises `UnsupportedContentError` for media of a kind that no API has."""
    texts: list[str] = []
    parts = message.parts
    writer = _WRITERS.get(family.definitions)
    if writer is not None and any(isinstance(part, Call) for part in parts):
        said = "".join(part for part in parts if isinstance(part, str))
        texts += writer.write_calls(said, [part for part in parts if isinstance(part, Call)])
        parts = tuple(part for part in parts if not isinstance(part, str | Call))
    marks = Count(max(len(texts) - 1, 0))
    framing = [_frame_message(message, family), marks, *(_frame_part(part, family, texts) for part in parts)]
    price = total(framing) + price_texts(texts, count, family.stand_in)
    if not family.silent_beside_calls or not any(isinstance(part, Call) for part in message.parts):
        return price
    if not any(part for part in message.parts if isinstance(part, str)):
        return price
    silent = tuple(part for part in message.parts if not isinstance(part, str))
    return Count(price_message(attrs.evolve(message, parts=silent), family, count).tokens, Grade.ESTIMATED, price.upper)


def price_items(items: Sequence[Part], family: Family, count: TokenCounter) -> Count:
    """Price a server's items, which no message frames: only their words, and the bound of what may be around them."""
    texts: list[str] = []
    around = [_frame_part(item, family, texts) for item in items]
    return total(around) + price_texts(texts, count, family.stand_in)


def price_tool(tool: Tool, family: Family, count: TokenCounter) -> Count:
    """Price one definition in the template's form of name, description and parameters."""
    if family.definitions is Definitions.DECLARED:
        return family.tool + price_text(f";\n\n{declaration(tool)[:-3]}", family, count)  # behind the one before it
    if family.definitions is Definitions.XML:
        return family.tool + price_text(qwen_xml.write_definition(tool), family, count)
    if family.definitions in _ENCODERS:
        return family.tool + price_text(_write_line(tool, family), family, count)
    definition = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return family.tool + price_text(_spell_definition(definition, family).translate(family.escapes), family, count)


def price_tools(tools: Sequence[Tool], family: Family, count: TokenCounter) -> Count:
    """Price all definitions and the hidden preamble."""
    if not tools:
        return NOTHING
    if family.definitions is Definitions.DECLARED:
        return family.tooling + total([family.tool] * len(tools)) + price_text(declare_tools(tools), family, count)
    if (encoder := _ENCODERS.get(family.definitions)) is not None:
        text = "".join(_write_line(tool, family) for tool in tools) + encoder.behind_definitions
        return family.tooling + total([family.tool] * len(tools)) + price_text(text, family, count)
    return family.tooling + total(price_tool(tool, family, count) for tool in tools)


def _write_line(tool: Tool, family: Family) -> str:
    """The definition on a line, without what was not sent."""
    definition = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return f"{_spell_definition({key: value for key, value in definition.items() if value}, family)}\n"


def _write_result(result: Result, family: Family) -> Sequence[Part]:
    """The parts of a result as its template writes them: between tags, or as a JSON string, even if it is empty."""
    writer = _WRITERS.get(family.definitions)
    if writer is None and not family.quotes_results:
        return result.parts
    text = "".join(part for part in result.parts if isinstance(part, str))
    written = writer.write_result(text) if writer is not None else json.dumps(text, ensure_ascii=False)
    return (written, *(part for part in result.parts if not isinstance(part, str)))


def _price_argument_tags(call: Call, family: Family) -> Count:
    """Price the tags of each argument; 0 for a text that is not a JSON object."""
    arguments = None if family.argument == NOTHING else object_in(call.arguments)
    return total([family.argument] * len(arguments)) if arguments else NOTHING


def _spell_definition(value: object, family: Family) -> str:
    compact = family.definitions is Definitions.COMPACT
    indent = 4 if family.definitions is Definitions.INDENTED else None
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=(",", ":") if compact else None)


def _frame_message(message: Message, family: Family) -> Count:
    match message.role:
        case "system" | "developer":
            return family.system
        case "user":
            return family.user
        case "assistant":
            calls = any(isinstance(part, Call) for part in message.parts)
            return family.assistant + (family.calling if calls else family.saying)
        case "tool":
            return family.tool_role
        case _:
            assert_never(message.role)


def _frame_part(part: Part, family: Family, texts: list[str]) -> Count:
    """Price the framing of one part, and append its texts to `texts`."""
    match part:
        case str():
            texts.append(part)
            return NOTHING
        case Call() if family.definitions is Definitions.DECLARED:
            # The result is a separate message from the tool to the assistant.
            name = legal_name(part.name)
            texts += (f" to=functions.{name}", part.arguments, f"functions.{name} to=assistant")
            return family.call
        case Call():
            texts.extend((legal_name(part.name), part.arguments))
            return family.call + _price_argument_tags(part, family)
        case Result():
            return family.result + total(_frame_part(inner, family, texts) for inner in _write_result(part, family))
        case Thinking():
            texts.append(part.text)
            return family.thought
        case Media():
            return price_medium(read_media(part))
        case Opaque():
            return add_words(part, texts)
        case _:
            assert_never(part)
