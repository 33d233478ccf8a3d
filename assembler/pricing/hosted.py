"""Prices the provider's own tools in a request, by a dated table of published numbers and bounds.

For such a tool the server adds instructions that no request shows. Few are published, and none for a tool whose
definitions come from elsewhere (`mcp`), so every price here is an estimate. The answer of a tool is priced when its
result is sent back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assembler.conversation.messages import Message
from assembler.conversation.messages.parts import compact_json
from assembler.pricing.pricer import IS_FULLY_READ, FixedPrices, Piece, Pricer, price_unread
from assembler.pricing.unread_keys import price_fields_of_tool
from assembler.regions.tools import Tool
from assembler.regions.tools.hosted import snake
from assembler.regions.tools.tool import own_definition, tool_for_shape
from assembler.text.fields import fields_of, items_of
from budgets.count import NOTHING, Count, Grade, Tokens, total
from budgets.value import Value

__all__ = ["TABLE", "fixed_with_hosted", "price_beside_tools", "price_hosted", "price_in_name", "row_of"]


@attrs.frozen(eq=False, repr=False)
class Row(Value):
    """What tools cost beyond their own definitions, if their kind matches the pattern `kinds`."""

    kinds: str
    tokens: Tokens
    upper: Tokens
    source: str


_OURS = "a bound of ours: nothing is published"

TABLE: tuple[Row, ...] = (
    Row(
        r"bash_20\d+",
        325 + 350,
        1_100,
        "Anthropic, Bash tool, Pricing: 325 input tokens, 244 up to Claude 4.6, on top of the prompt of any tool",
    ),
    Row(r"text_editor_20\d+", 700 + 350, 1_400, "Anthropic, Text editor tool: 700 input tokens, on top of that prompt"),
    Row(
        r"computer_toolset_20\d+",
        4_590,
        6_000,
        "Anthropic, Pricing, Computer use tool: 4,500 to 4,590 with its default members and the prompt of any tool",
    ),
    Row(
        r"browser_toolset_20\d+",
        6_670,
        9_000,
        "Anthropic, Pricing, Browser use tool: 6,600 to 6,670 with the prompt of any tool, 880 more with all members",
    ),
    Row(
        r"computer_20\d+",
        735 + 499,
        2_400,
        "Anthropic, Computer use: 735 input tokens a definition, 466 to 499 of prompt",
    ),
    Row(r"memory_20\d+", 700, 2_000, _OURS),
    Row(r"(web_search|web_fetch|code_execution|advisor)_20\d+", 900, 4_000, _OURS),
    Row(
        r"tool_search_tool_\w+",
        500,
        1_500,
        "Anthropic, Introducing advanced tool use: about 500 tokens for the search alone",
    ),
    Row(r"mcp|mcp_toolset|mcp_servers", 1_000, 10_000, "a bound of ours: the tools of the server are billed as tools"),
    Row(
        r"google_search\w*|google_maps|url_context",
        0,
        1_000,
        "Gemini API, UsageMetadata: apart from the prompt, in toolUsePromptTokenCount (8 recordings: nothing)",
    ),
    Row(r"data_sources", 1_500, 10_000, "a bound of ours: Azure puts what it finds there into the prompt"),
    Row(r"web_search\w*|file_search|\w+_search", 300, 3_000, _OURS),
    Row(r"code_interpreter|code_execution|programmatic_tool_calling|image_generation", 300, 2_500, _OURS),
    Row(r"shell|local_shell|apply_patch|computer\w*|custom|namespace|tool_search", 250, 2_500, _OURS),
    Row(r"", 500, 5_000, _OURS),
)
"""The first row that matches decides. From the providers' API guides, read 2026-11."""

_CHARACTERS_PER_TOKEN = 4


def row_of(kind: str) -> Row:
    """The row for tools of a kind. Gemini's kinds may be in camel case, as its API spells them."""
    return next(row for row in TABLE if re.fullmatch(row.kinds, snake(kind)) or not row.kinds)


def price_hosted(tool: Tool) -> Count:
    """The price of a provider's own tool: its definition, and the tokens of its row."""
    row = row_of(tool.kind)
    length = len(compact_json({key: held for key, held in own_definition(tool).items() if _is_shown(key, held)}))
    words = length // _CHARACTERS_PER_TOKEN if row.tokens else 0  # a row of 0 is billed apart from the prompt
    return Count(row.tokens + words, Grade.ESTIMATED, upper=row.upper + length)


def _is_shown(key: str, held: object) -> bool:
    """Whether the model may see a field. A cache mark is only for the server."""
    return held is not None and key != "cache_control"


def price_beside_tools(options: Mapping[str, Any], tools: Sequence[Tool]) -> Count:
    """The price of the provider's own tools that a request asks for outside of its list of tools.

    `web_search_options` is the search of Chat Completions, `search_parameters` that of xAI; `plugins` are OpenRouter's,
    `data_sources` Azure's. `mcp_servers` are Anthropic's: a server adds its own tools unless an `mcp_toolset` names it
    (beta of 2025-04-04). These makers' API references, read 2026-11.
    """
    asked = ["web_search"] if options.get("web_search_options") is not None else []
    if (search := fields_of(options.get("search_parameters"))) is not None and search.get("mode") != "off":
        asked.append("web_search")
    asked += ["web_search"] * len(items_of(options.get("plugins")))
    asked += ["data_sources"] * len(items_of(options.get("data_sources")))
    if "mcp_servers" in options:
        asked += ["mcp_servers"] * _count_unnamed(options["mcp_servers"], tools)
    return total(Count(row.tokens, Grade.ESTIMATED, upper=row.upper) for row in map(row_of, asked))


def price_in_name(model: str | None) -> Count:
    """The price of what a model's name asks for: `:online` is OpenRouter's plugin for web searches (OpenRouter, "Web
    search", read 2026-11).
    """
    if model is None or not model.lower().endswith(":online"):
        return NOTHING
    row = row_of("web_search")
    return Count(row.tokens, Grade.ESTIMATED, upper=row.upper)


def _count_unnamed(servers: object, tools: Sequence[Tool]) -> int:
    named = [own_definition(tool).get("mcp_server_name") for tool in tools if tool.api is not None]
    given = (fields_of(server) for server in items_of(servers))
    return sum(server is not None and server.get("name") not in named for server in given)


def fixed_with_hosted(
    pricer: Pricer, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool], shape: str | None = None
) -> FixedPrices:
    """`Pricer.fixed`, with a price for each of the provider's own tools; 0 for one that `shape` does not support.

    `shape` is None for a raw request: its API supports all tools in it.
    """
    tools = tools if shape is None else [tool_for_shape(tool, shape) for tool in tools]
    prices = pricer.fixed(pieces, head, [tool for tool in tools if tool.api is None])
    functions = iter(prices.tools)
    each = [
        next(functions) if tool.api is None else price_hosted(tool) if tool.goes_to(shape) else NOTHING
        for tool in tools
    ]
    for place, tool in enumerate(tools):
        if tool.extra:
            each[place] += price_fields_of_tool(tool, shape)
    if not all(map(IS_FULLY_READ, head)):
        heads = zip(prices.head, head, strict=True)
        prices = attrs.evolve(prices, head=tuple(price + price_unread(pricer, message) for price, message in heads))
    return attrs.evolve(prices, tools=tuple(each))
