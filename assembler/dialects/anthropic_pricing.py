"""What Anthropic bills for a request. Knows Claude's framing and its hidden prompts; never spells a request.

    request = price_request + price_system + sum(price_message) + price_tooling + sum(price_tool)

A family's constants were read off recordings with a reconstruction of Claude's tokenizer (PyPI ctok 1.3, MIT, never
needed here), which leaves whole numbers behind; its texts are estimated from `o200k_base` unless `with_own_tokenizer`
says that the counter given is Claude's. Evidence for every number: docs/how-it-counts-others.md, section Claude.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, assert_never, cast

import attrs

from assembler.dialects.standin import CLAUDE_3, CLAUDE_4_7, Calibration, price_texts
from assembler.errors import UnsupportedContentError
from assembler.messages.message import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.tools.tool import Tool
from budgets.count import Count, Grade, TokenCounter, Tokens, total

ToolChoice: TypeAlias = Literal["auto", "none", "any", "tool"]
ThinkingMode: TypeAlias = Literal["disabled", "enabled", "adaptive"]


def _about(tokens: Tokens, slack: Tokens) -> Count:
    return Count(tokens, Grade.BOUNDED, upper=tokens + slack)


def _guess(tokens: Tokens, upper: Tokens) -> Count:
    return Count(tokens, Grade.ESTIMATED, upper=upper)


@attrs.frozen(kw_only=True)
class Family:
    """One generation of Claude: what stands around the texts, in tokens, and which vocabulary prices them."""

    name: str
    calibration: Calibration | None
    """None: the counter is Claude's own tokenizer."""
    opening: Count
    message: Count
    inline_system: Count
    """What a system message among the turns costs more than another."""
    thinking_enabled: Count
    thinking_adaptive: Count
    auto_prompt: Count
    """The hidden system prompt that comes with tools, tool_choice auto or none."""
    forced_prompt: Count
    """The same for tool_choice any; naming one tool adds `NAMED_TOOL`."""
    tool: Count
    call: Count
    parallel: Count
    """Calls side by side carry their ids; a single one does not. Once a message."""
    argument: Count
    result: Count
    image_side: int
    image_ceiling: Tokens


NAMED_TOOL = _about(5, 8)
ANSWER_SCHEMA = _guess(130, 190)
TASK_BUDGET = _guess(35, 60)
"""`output_config.task_budget`: what the model is told of it (2 recordings, one source, 34 and 35)."""
CITED = _guess(508, 700)
"""The prompt that asks for citations, of a message whose document or search result enables them (1 recording)."""
LOADED_TOOL = _guess(35, 200)
"""A reference to a deferred tool: its definition is billed where it is loaded."""
PIXELS_PER_TOKEN = 750
PAGE_TEXT = _guess(2_250, 3_000)

_CLAUDE_4 = Family(
    name="claude-4",
    calibration=CLAUDE_3,
    opening=_about(4, 1),
    message=_about(3, 1),
    inline_system=_about(1, 1),
    thinking_enabled=_about(29, 1),
    thinking_adaptive=_about(17, 12),
    auto_prompt=_about(313, 33),
    forced_prompt=_about(315, 4),
    tool=_about(6, 2),
    call=_about(31, 4),
    parallel=_about(31, 8),
    argument=_about(12, 1),
    result=_about(8, 2),
    image_side=1_568,
    image_ceiling=1_600,
)
_CLAUDE_4_5 = attrs.evolve(_CLAUDE_4, name="claude-4.5", auto_prompt=_about(496, 4), forced_prompt=_about(588, 4))
_CLAUDE_4_7 = attrs.evolve(
    _CLAUDE_4,
    name="claude-4.7",
    calibration=CLAUDE_4_7,
    opening=_about(8, 1),
    thinking_enabled=_guess(0, 40),
    thinking_adaptive=_about(0, 4),
    auto_prompt=_guess(430, 700),
    forced_prompt=_guess(530, 830),
    tool=_about(8, 4),
    call=_guess(22, 34),
    parallel=_guess(35, 60),
    argument=_guess(10, 16),
    result=_guess(6, 12),
    image_side=2576,
    image_ceiling=4_784,
)
_CLAUDE_4_8 = attrs.evolve(_CLAUDE_4_7, name="claude-4.8", opening=_about(4, 1), message=_about(2, 1))


def _tooled(name: str, auto: Tokens, forced: Tokens) -> Family:
    return attrs.evolve(_CLAUDE_4, name=name, auto_prompt=_about(auto, 4), forced_prompt=_about(forced, 4))


# The first pattern found in the name decides; a name that none knows is priced as the newest family.
_FAMILIES: tuple[tuple[re.Pattern[str], Family], ...] = tuple(
    (re.compile(pattern), family)
    for pattern, family in (
        (r"claude-(2|instant)", attrs.evolve(_CLAUDE_4, name="claude-2", opening=_about(6, 3))),
        (r"claude-3-5-sonnet-20240620", _tooled("claude-3.5-sonnet-june", 294, 261)),
        (r"claude-3[-.]5-haiku", _tooled("claude-3.5-haiku", 264, 340)),
        (r"claude-3-opus", _tooled("claude-3-opus", 530, 281)),
        (r"claude-3-sonnet", _tooled("claude-3-sonnet", 159, 235)),
        (r"claude-3-haiku", _tooled("claude-3-haiku", 264, 340)),
        (r"claude-3[-.][57]", attrs.evolve(_CLAUDE_4, name="claude-3.5")),
        (r"claude-(opus|sonnet|haiku)-4[-.]5", _CLAUDE_4_5),
        (r"claude-(opus|sonnet|haiku)-4[-.]6", _tooled("claude-4.6", 497, 589)),
        (r"claude-(opus|sonnet|haiku)-4[-.]7", _CLAUDE_4_7),
        (r"claude-(opus|sonnet|haiku)-4[-.][89]", _CLAUDE_4_8),
        (r"claude-(opus|sonnet|haiku)-4([-.][01]|-2\d{7}|$|@)", _CLAUDE_4),
    )
)


def family_of(model: str) -> Family:
    """The generation of a model name, its provider's prefix and suffix ignored; an unknown name is the newest one."""
    return next((family for pattern, family in _FAMILIES if pattern.search(model.lower())), _CLAUDE_4_8)


def with_own_tokenizer(family: Family) -> Family:
    """The same framing for a counter that is Claude's own tokenizer: its counts are then taken at their word."""
    return attrs.evolve(family, calibration=None)


def price_text(text: str, family: Family, count: TokenCounter) -> Count:
    """One text alone, no framing."""
    return price_texts([text], count, family.calibration)


def price_system(text: str | None, family: Family, count: TokenCounter) -> Count:
    """The system text: billed as it is, no framing of its own (16 recordings of 18)."""
    return price_text(text or "", family, count)


def price_request(
    family: Family,
    count: TokenCounter,
    *,
    thinking: ThinkingMode = "disabled",
    choice: ToolChoice | None = None,
    answer_schema: Mapping[str, Any] | None = None,
    task_budget: object = None,
) -> Count:
    """What every request costs before its first message, and the preambles that options add.

    A forced tool (choice "any" or "tool") leaves no room for thinking, and its preamble is not billed then.
    """
    preamble = Count(0)
    if choice not in ("any", "tool"):
        preamble = {
            "disabled": preamble,
            "enabled": family.thinking_enabled,
            "adaptive": family.thinking_adaptive,
        }[thinking]
    if task_budget is not None:
        preamble += TASK_BUDGET
    if answer_schema is None:
        return family.opening + preamble
    return family.opening + preamble + ANSWER_SCHEMA + price_text(_json(answer_schema), family, count)


def price_message(message: Message, family: Family, count: TokenCounter) -> Count:
    """One message with its framing. Raises `UnsupportedContentError` on a document whose pages are not known."""
    texts: list[str] = []
    framing = [family.message, *(_part(part, family, texts) for part in message.parts)]
    if message.role in ("system", "developer"):
        framing.append(family.inline_system)
    if sum(isinstance(part, Call) for part in message.parts) > 1:
        framing.append(family.parallel)
    return total(framing) + price_texts(texts, count, family.calibration)


def price_citations(message: Message) -> Count:
    """What a message that enables citations adds, once: each further one pays again, which the bill may not."""
    inner = [part for part in message.parts if isinstance(part, Result)]
    parts = [*message.parts, *(held for result in inner for held in result.parts)]
    return CITED if any(isinstance(part, Media | Opaque) and _cites(part.raw) for part in parts) else Count(0)


def _cites(raw: Mapping[str, Any]) -> bool:
    setting: object = raw.get("citations")
    return isinstance(setting, Mapping) and cast("Mapping[str, object]", setting).get("enabled") is True


def price_tool(tool: Tool, family: Family, count: TokenCounter) -> Count:
    """One definition, as spaced JSON of description, name and parameters; a deferred one is free until loaded."""
    if tool.extra.get("defer_loading"):
        return Count(0)
    # Every definition goes out with a schema that says it is an object.
    schema = tool.parameters if "type" in tool.parameters else {"type": "object", **tool.parameters}
    definition = {"name": tool.name, "parameters": schema}
    if tool.description:
        definition = {"description": tool.description, **definition}
    return family.tool + price_text(_json(definition), family, count)


def price_tooling(tools: Sequence[Tool], family: Family, *, choice: ToolChoice | None = None) -> Count:
    """The hidden system prompt that any tool brings along; nothing without tools."""
    if not tools:
        return Count(0)
    match choice:
        case None | "auto" | "none":
            return family.auto_prompt
        case "any":
            return family.forced_prompt
        case "tool":
            return family.forced_prompt + NAMED_TOOL
        case _:
            assert_never(choice)


def price_tools(
    tools: Sequence[Tool], family: Family, count: TokenCounter, *, choice: ToolChoice | None = None
) -> Count:
    """All definitions and their hidden prompt."""
    return price_tooling(tools, family, choice=choice) + total(price_tool(tool, family, count) for tool in tools)


def price_image(width: int, height: int, family: Family) -> Count:
    """width x height / 750 after the long side is brought down to the family's limit (published; not recorded here)."""
    scale = min(1.0, family.image_side / max(width, height, 1))
    tokens = math.ceil(width * scale * height * scale / PIXELS_PER_TOKEN)
    return _guess(min(tokens, family.image_ceiling), min(tokens + 8, family.image_ceiling + 8))


def price_pdf(pages: int, family: Family) -> Count:
    """Each page as text, 1,500 to 3,000 tokens, and as an image of at most the ceiling (published; not recorded)."""
    page = _guess(PAGE_TEXT.tokens + family.image_ceiling // 2, PAGE_TEXT.upper + family.image_ceiling)
    return _guess(page.tokens * pages, page.upper * pages)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _part(part: Part, family: Family, texts: list[str]) -> Count:
    """The framing of one part; its texts are appended."""
    match part:
        case str():
            texts.append(part)
            return Count(0)
        case Call():
            return _call(part, family, texts)
        case Result():
            return family.result + total(_part(inner, family, texts) for inner in part.parts)
        case Thinking():
            # The API drops reasoning of past turns unbilled, and keeps it inside a tool loop: the safe side is to pay.
            texts.append(part.text)
            return _guess(0, 4)
        case Media():
            return _media(part, family, texts)
        case Opaque(kind="cachePoint"):
            return Count(0)  # a mark of the cache, not a word of the prompt
        case Opaque():
            texts.append(_json(part.raw))
            return LOADED_TOOL if part.kind in ("tool_reference", "tool_addition") else _guess(0, 60)
        case _:
            assert_never(part)


def _call(call: Call, family: Family, texts: list[str]) -> Count:
    given = call.given if call.given is not None else _object(call.arguments)
    texts.append(call.name)
    texts.append(call.arguments if given is None else _json(given))
    arguments = 1 if given is None else len(given)
    return total([family.call, *[family.argument] * arguments])


def _object(arguments: str) -> Mapping[str, Any] | None:
    try:
        read: Any = json.loads(arguments)
    except ValueError:
        return None
    return cast("Mapping[str, Any]", read) if isinstance(read, dict) else None


def _media(part: Media, family: Family, texts: list[str]) -> Count:
    source: Any = part.raw.get("source")
    if part.kind == "image":
        # Its size is inside the picture: the ceiling that every image is scaled down to.
        return _guess(family.image_ceiling, family.image_ceiling + 8)
    if isinstance(source, Mapping) and cast("Mapping[str, Any]", source).get("type") == "text":
        texts.append(str(cast("Mapping[str, Any]", source).get("data", "")))
        return _guess(0, 60)
    raise UnsupportedContentError(
        f"a {part.kind} part has no price: its pages are not known here. Add price_pdf(pages, family) as overhead.",
        kind=part.kind,
    )
