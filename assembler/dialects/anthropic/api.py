"""The facts of the Messages API: cache marks, minimum cacheable prefixes, usage fields, search results.

It caches only what a request marks, from a minimum prefix on that depends on the model.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from assembler.dialects.anthropic.marks import AnthropicMarks
from assembler.dialects.anthropic.shape import SHAPE
from assembler.dialects.api import Api, Wordless
from assembler.dialects.caching.prefixes import PrefixCache
from assembler.text.fields import fields_in
from budgets import Tokens

if TYPE_CHECKING:
    from assembler.regions.tools import Tool

_PAGE = "Claude docs, Prompt caching, section Minimum cacheable prompt length, 2026-10-08"


def marked(models: str, least: Tokens | None, source: str = _PAGE) -> PrefixCache:
    """A row of an API that caches what the request marks, to the token."""
    return PrefixCache(models, least, 1, source, marked=True)


CACHES = (
    marked(r"claude-(2|instant)", None),
    marked(r"(opus|haiku)-4[.-]5|4[.-]5-(opus|haiku)|opus-4[.-]6|4[.-]6-opus", 4_096),
    marked(r"opus-4[.-]7|4[.-]7-opus|mythos-preview|haiku-3|3(?:[.-]5)?-haiku", 2_048),
    marked(r"sonnet-5[.-]5|5[.-]5-sonnet|(?:opus|haiku)-5|5(?:[.-]0)?-(?:opus|haiku)|fable|mythos", 512),
    marked(r"sonnet|opus", 1_024),
    marked(r"", 512),
)

_WITHOUT_SOURCES = re.compile(r"claude-(v?2|instant|3-(haiku|opus|sonnet))")
"""Claudes that take no search results (Claude docs, Search results, read 2026-11: "all active models", without Haiku 3;
in 2025 those from 3.5 on)."""


def takes_search_results(model: str | None) -> bool:
    """Whether the model is a Claude that takes search results, or has no name."""
    name = "claude" if model is None else model.lower()
    return "claude" in name and not _WITHOUT_SOURCES.search(name)


class SearchResults:
    """Blocks of type `search_result` (anthropic 2.14.0, SearchResultBlockParam, read 2026-11)."""

    def takes(self, model: str | None) -> bool:
        """Whether the model is a Claude from 3.5 on, or has no name."""
        return takes_search_results(model)

    def block(self, source: str, title: str, text: str) -> dict[str, Any]:
        """A block of one text."""
        return {
            "type": "search_result",
            "source": source,
            "title": title,
            "content": [{"type": "text", "text": text}],
            "citations": {"enabled": True},
        }


class SearchTool:
    """The tool search of the Messages API ("Tool search tool", read 2026-11)."""

    def definition(self) -> dict[str, Any]:
        """The tool that searches by words."""
        return {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}

    def marked(self, tool: Tool) -> dict[str, Any]:
        """The definition with the mark `defer_loading`."""
        came = fields_in(tool.seen)
        if "input_schema" in came:
            return {**came, "defer_loading": True}
        from assembler.regions.tools.deferred import deferred_fields  # for tools that wait alone

        fields, schema = deferred_fields(tool)
        return {**tool.extra, **fields, "input_schema": schema}


_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


def write_choice(choice: str) -> dict[str, Any]:
    """A `tool_choice` from a word or the name of a tool, as `set_tools` takes it."""
    return {"type": _CHOICES[choice]} if choice in _CHOICES else {"type": "tool", "name": choice}


def write_serial_choice(choice: str | None) -> dict[str, Any]:
    """A `tool_choice` that asks for calls one at a time."""
    return {**write_choice(choice or "auto"), "disable_parallel_tool_use": True}


API = Api(
    provider="anthropic",
    shape=SHAPE.name,
    held=("container",),
    priced=("thinking", "tool_choice", "output_config", "output_format"),
    marks=AnthropicMarks(),
    sources=SearchResults(),
    search=SearchTool(),
    serial_choice=write_serial_choice,
    wordless=Wordless.BLANK,
    caches=CACHES,
    # `input_tokens` excludes cached tokens, so they are added: Anthropic API reference, read 2026-11.
    usage=(("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),),
)
