"""Prices the parts of a request to a host with OpenAI's formats: DeepSeek, xAI, Groq, Cerebras, Together and others.

    request = price_request + price_system + sum(price_message) + price_tools

An open model's chat template fixes the framing, and its own vocabulary counts the texts if it is bundled. A host's
hidden additions (dates, tool preambles, safety texts) are constants of its row in `families.toml`, with upper bounds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import attrs

from assembler.conversation.messages.message import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.dialects.hosts.families import Family, price_texts
from assembler.dialects.openai.framing import OpenAIApi
from assembler.pricing.media import read_media
from assembler.pricing.media.open_models import price_medium
from assembler.pricing.opaque import add_words
from assembler.regions.tools.tool import Tool
from assembler.text.fields import object_in
from budgets.count import NOTHING, Count, Grade, TokenCounter, total


def price_text(text: str, family: Family, count: TokenCounter) -> Count:
    """Price one text without framing."""
    return price_texts([text], count, family.stand_in)


def price_request(
    family: Family, count: TokenCounter, *, api: OpenAIApi = "chat", answer_schema: Mapping[str, Any] | None = None
) -> Count:
    """Price the beginning of every request. The schema `{}` asks for any JSON object."""
    opening = family.opening + price_unasked(family, api)
    if answer_schema is None:
        return opening
    schema = family.form.json(answer_schema) if answer_schema else ""
    return opening + family.schema + price_text(schema, family, count)


def price_unasked(family: Family, api: OpenAIApi) -> Count:
    """Price what asks for thinking where no option does: only in the bound on Chat, since older servers had none."""
    if api == "responses":
        return family.responses
    return Count(0, Grade.BOUNDED, family.thinking.upper) if family.thinks_unasked else NOTHING


def price_system(text: str | None, family: Family, count: TokenCounter) -> Count:
    """Price the system text with its framing, or the host's own text in place of a missing one."""
    return family.system + price_text(text, family, count) if text else family.no_system


def price_seam(text: str, family: Family, count: TokenCounter) -> Count:
    """Price the blank line between a system text and the tools behind it, or the template's own text without one."""
    if not text:
        return family.tools_alone
    if family.form.turn is None:
        return NOTHING
    return Count(max(count(f"{text}{family.form.seam}") - count(text), 0))


def price_message(message: Message, family: Family, count: TokenCounter) -> Count:
    """Price one message with its framing. Raises `UnsupportedContentError` for media of a kind that no API has."""
    texts: list[str] = []
    framing = [_frame_message(message, family)]
    parts, calls = message.parts, [part for part in message.parts if isinstance(part, Call)]
    if family.form.turn is not None and calls:
        texts += family.form.turn("".join(part for part in parts if isinstance(part, str)), calls)
        framing += [Count(len(texts) - 1), *(_frame_call(call, family) for call in calls)]
        parts = tuple(part for part in parts if not isinstance(part, str | Call))
    framing += [_frame_part(part, family, texts) for part in parts]
    price = total(framing) + price_texts(texts, count, family.stand_in)
    if not family.silent_beside_calls or not calls:
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
    """Price one definition as the template writes it behind another one."""
    return family.tool + price_text(family.form.write_definition(tool).translate(family.escapes), family, count)


def price_tools(tools: Sequence[Tool], family: Family, count: TokenCounter) -> Count:
    """Price all definitions and the hidden preamble."""
    if not tools:
        return NOTHING
    if family.form.definitions is None:
        return family.tooling + total(price_tool(tool, family, count) for tool in tools)
    together = price_text(family.form.definitions(tools), family, count)
    return family.tooling + total([family.tool] * len(tools)) + together


def _write_result(result: Result, family: Family) -> Sequence[Part]:
    """The parts of a result as its template writes them: between tags, or as a JSON string, even if it is empty."""
    write = family.form.result
    if write is None and not family.quotes_results:
        return result.parts
    text = "".join(part for part in result.parts if isinstance(part, str))
    written = json.dumps(text, ensure_ascii=False) if write is None else write(text)
    return (written, *(part for part in result.parts if not isinstance(part, str)))


def _frame_call(call: Call, family: Family) -> Count:
    """Price the framing of a call and the tags of each argument, which a text that is not a JSON object has not."""
    arguments = None if family.argument == NOTHING else object_in(call.arguments)
    return total([family.call, *[family.argument] * len(arguments or ())])


def _frame_message(message: Message, family: Family) -> Count:
    match message.role:
        case "system" | "developer":
            return family.system
        case "user":
            return family.user
        case "assistant":
            if not any(isinstance(part, Call) for part in message.parts):
                return family.assistant + family.saying
            says = family.beside_calls != NOTHING and any(isinstance(part, str) for part in message.parts)
            return family.assistant + family.calling + (family.beside_calls if says else NOTHING)
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
        case Call():
            texts += family.form.call(part)
            return _frame_call(part, family)
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
