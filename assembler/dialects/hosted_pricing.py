"""What hosts with an OpenAI-shaped API bill: DeepSeek, xAI, and Llama, Qwen and gpt-oss on Groq. Spells no request.

    request = price_request + price_system + sum(price_message) + price_tools

An open model's chat template fixes the framing, so with its own tokenizer (`with_own_tokenizer`) the texts are exact;
otherwise `o200k_base` stands in. What a host adds unseen (dates, tool preambles, safety texts) is a constant with an
honest upper bound. Evidence for every number: docs/how-it-counts-others.md, sections DeepSeek, Groq, xAI.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, assert_never

import attrs

from assembler.dialects.standin import DEEPSEEK, LLAMA, QWEN, Calibration, Weights, price_texts
from assembler.errors import UnsupportedContentError
from assembler.messages.message import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.tools.tool import Tool
from budgets.count import Count, Grade, TokenCounter, Tokens, total
from budgets.errors import UnknownModelError

ToolChoice: TypeAlias = Literal["auto", "none", "required", "named"]
Api: TypeAlias = Literal["chat", "responses"]


def _about(tokens: Tokens, slack: Tokens) -> Count:
    return Count(tokens, Grade.BOUNDED, upper=tokens + slack)


def _guess(tokens: Tokens, upper: Tokens) -> Count:
    return Count(tokens, Grade.ESTIMATED, upper=upper)


NOTHING = Count(0)
GROK = Calibration(typical=Weights(token=1.0), ceiling=Weights(token=1.05, flat=2.0))
"""No tokenizer is published; ten recordings of Grok 4.3 differ from `o200k_base` by two tokens at most."""


@attrs.frozen(kw_only=True)
class Family:
    """One chat template on one host: what stands around the texts, in tokens, and which vocabulary prices them."""

    name: str
    calibration: Calibration | None
    """None: the counter is the model's own tokenizer."""
    opening: Count
    """What every request costs, the reply's primer included."""
    no_system: Count = NOTHING
    """What the host puts in place of a missing system text."""
    responses: Count = NOTHING
    """What the /responses API adds to the chat API."""
    schema: Count = NOTHING
    """The preamble of a requested answer format, beyond the schema itself."""
    system: Count = NOTHING
    user: Count = NOTHING
    assistant: Count = NOTHING
    tool_role: Count = NOTHING
    """A message that carries results, beyond each result's own framing."""
    tooling: Count = NOTHING
    """The hidden preamble that any tool brings along."""
    tool: Count = NOTHING
    call: Count = NOTHING
    result: Count = NOTHING


_DEEPSEEK_V4 = Family(
    name="deepseek-v4",
    calibration=DEEPSEEK,
    opening=_about(3, 2),
    responses=_guess(79, 100),
    schema=_guess(20, 40),
    user=_about(1, 1),
    assistant=_about(3, 1),
    tooling=_guess(221, 260),
    tool=_guess(0, 6),
    call=_guess(28, 40),
    result=_guess(10, 16),
)
_DEEPSEEK_V3 = attrs.evolve(
    _DEEPSEEK_V4, name="deepseek-v3", opening=_about(2, 3), assistant=_about(2, 2), tooling=_guess(150, 260)
)
_LLAMA_TURN = _about(5, 1)
_LLAMA_3 = Family(
    name="llama-3",
    calibration=LLAMA,
    opening=_about(5, 2),
    system=_LLAMA_TURN,
    user=_LLAMA_TURN,
    assistant=_LLAMA_TURN,
    tool_role=_LLAMA_TURN,
    tooling=_guess(200, 450),
    tool=_guess(4, 12),
    call=_guess(12, 24),
)
_LLAMA_3_3 = attrs.evolve(_LLAMA_3, name="llama-3.3", opening=_guess(25, 30), no_system=_guess(17, 20))
_LLAMA_4 = attrs.evolve(_LLAMA_3, name="llama-4", tooling=_guess(645, 720))
_QWEN_3 = Family(
    name="qwen-3",
    calibration=QWEN,
    # Thinking disabled adds four tokens, an empty thought; the prompt does not say.
    opening=_about(3, 5),
    system=_about(5, 1),
    user=_about(5, 1),
    assistant=_about(5, 1),
    tool_role=_about(5, 1),
    # The open template: a preamble, each definition as JSON on a line, calls and responses between tags.
    tooling=_guess(125, 150),
    tool=_about(1, 2),
    call=_guess(16, 24),
    result=_guess(7, 10),
)
_GPT_OSS = Family(
    name="gpt-oss",
    calibration=None,
    opening=_about(67, 4),
    system=_about(4, 4),
    user=_about(4, 1),
    assistant=_about(4, 1),
    tool_role=_about(4, 1),
    tooling=_guess(0, 25),
    # The open template: ` to=functions.`, channel, ` json` about a call; `functions.NAME to=assistant` before a result.
    call=_guess(6, 20),
    result=_guess(10, 14),
)
_GROK = Family(
    name="grok",
    calibration=GROK,
    # Grok 4.3: 188, ten recordings. Other Groks hide more or less; nothing public says how much.
    opening=_guess(188, 900),
    schema=_guess(11, 40),
    system=_about(3, 3),
    user=_about(4, 2),
    assistant=_guess(4, 8),
    tool_role=_guess(4, 8),
    tooling=_guess(19, 40),
    tool=_guess(10, 20),
    call=_guess(15, 40),
    result=_guess(4, 12),
)
_GROK_4_3 = attrs.evolve(_GROK, name="grok-4.3", opening=_guess(188, 215))
_COMPOUND = attrs.evolve(_LLAMA_3, name="groq-compound", opening=_guess(400, 6_000))

_FAMILIES: tuple[tuple[re.Pattern[str], Family], ...] = tuple(
    (re.compile(pattern), family)
    for pattern, family in (
        (r"deepseek.*(chat|reasoner|v3|r1)", _DEEPSEEK_V3),
        (r"deepseek", _DEEPSEEK_V4),
        (r"llama-?4", _LLAMA_4),
        (r"llama-?3[.-]3", _LLAMA_3_3),
        (r"llama", _LLAMA_3),
        (r"qwen", _QWEN_3),
        (r"gpt-oss", _GPT_OSS),
        (r"grok-4[.-]3", _GROK_4_3),
        (r"grok", _GROK),
        (r"compound", _COMPOUND),
    )
)


HIDES_UNCHOSEN = frozenset({"deepseek-v3", "deepseek-v4"})
"""Templates that leave the tools out when none may be called."""

SILENT_BESIDE_CALLS = frozenset({"gpt-oss"})
"""Hosts that bill no reasoning at the head of a text that stands beside calls (2 recordings of Groq, one source; a text
without calls is billed whole, 1). The bound pays for it."""
_THOUGHT = re.compile(r"\s*<think>.*?</think>\s*", re.DOTALL)


def family_of(model: str) -> Family:
    """The chat template of a model name, its host's prefix ignored. Raises `UnknownModelError`: nothing is guessed."""
    for pattern, family in _FAMILIES:
        if pattern.search(model.lower()):
            return family
    raise UnknownModelError(model, nearest=[family.name for _, family in _FAMILIES])


def with_own_tokenizer(family: Family) -> Family:
    """The same framing for a counter that is the model's own tokenizer: its counts are then taken at their word."""
    return attrs.evolve(family, calibration=None)


def price_text(text: str, family: Family, count: TokenCounter) -> Count:
    """One text alone, no framing."""
    return price_texts([text], count, family.calibration)


def price_request(
    family: Family, count: TokenCounter, *, api: Api = "chat", answer_schema: Mapping[str, Any] | None = None
) -> Count:
    """What every request costs before its first message; `{}` as the schema is a plain JSON answer."""
    opening = family.opening + (family.responses if api == "responses" else NOTHING)
    if answer_schema is None:
        return opening
    schema = _json(answer_schema) if answer_schema else ""
    return opening + family.schema + price_text(schema, family, count)


def price_system(text: str | None, family: Family, count: TokenCounter) -> Count:
    """The system text with its framing, or what the host puts in its place."""
    return family.system + price_text(text, family, count) if text else family.no_system


def price_message(message: Message, family: Family, count: TokenCounter) -> Count:
    """One message with its framing. Raises `UnsupportedContentError` on media: no price of theirs is recorded."""
    texts: list[str] = []
    framing = [_framing(message, family), *(_part(part, family, texts) for part in message.parts)]
    price = total(framing) + price_texts(texts, count, family.calibration)
    if family.name not in SILENT_BESIDE_CALLS or not any(isinstance(part, Call) for part in message.parts):
        return price
    spoken = [text[len(thought[0]) :] if (thought := _THOUGHT.match(text)) else text for text in texts]
    kept = total(framing) + price_texts(spoken, count, family.calibration)
    return Count(min(kept.tokens, price.tokens), Grade.ESTIMATED, upper=max(kept.upper, price.upper))


def price_tool(tool: Tool, family: Family, count: TokenCounter) -> Count:
    """One definition, as spaced JSON of name, description and parameters."""
    definition = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return family.tool + price_text(_json(definition), family, count)


def price_tools(
    tools: Sequence[Tool], family: Family, count: TokenCounter, *, choice: ToolChoice | None = None
) -> Count:
    """All definitions and the hidden preamble; with choice "none" DeepSeek leaves them out (recorded)."""
    if not tools or (choice == "none" and family.name in HIDES_UNCHOSEN):
        return NOTHING
    return family.tooling + total(price_tool(tool, family, count) for tool in tools)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _framing(message: Message, family: Family) -> Count:
    match message.role:
        case "system" | "developer":
            return family.system
        case "user":
            return family.user
        case "assistant":
            return family.assistant
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
        case Call():
            texts.extend((part.name, part.arguments))
            return family.call
        case Result():
            return family.result + total(_part(inner, family, texts) for inner in part.parts)
        case Thinking():
            # Templates drop the reasoning of past turns; inside a tool loop it stays: the safe side is to pay.
            texts.append(part.text)
            return _guess(0, 4)
        case Media():
            raise UnsupportedContentError(f"a {part.kind} part has no recorded price here", kind=part.kind)
        case Opaque(kind="cachePoint"):
            return Count(0)  # a mark of the cache, not a word of the prompt
        case Opaque():
            texts.append(json.dumps(part.raw, ensure_ascii=False, default=str))
            return _guess(0, 8)
        case _:
            assert_never(part)
