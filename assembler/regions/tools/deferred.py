"""Defers tools until they are needed: those that the history calls are sent, and a search finds the others.

Two providers search by themselves among tools marked `defer_loading`: Anthropic ("Tool search tool", read 2026-11:
a deferred definition costs nothing until it is found) and OpenAI's Responses API ("Tool search", read 2026-11: gpt-5.4
and later; the model sees a deferred tool's name and description). `ToolSearch` is for all other APIs.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

import attrs

from assembler.conversation.messages.message import Call, Message, Opaque, Result
from assembler.conversation.messages.parts import compact_json
from assembler.errors import ToolError
from assembler.regions.tools.intake import read_tool, read_tools
from assembler.regions.tools.refusal import tool_error
from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_in
from assembler.validation import Is, as_number, must_be
from budgets.count import Tokens
from budgets.numbers import as_whole_number, part_of, share, whole_tokens


class ServerSearch(Protocol):
    """How an API searches by itself among the tools that wait: `search` in the `api.py` of its folder."""

    def definition(self) -> Mapping[str, Any]:
        """The provider's own tool that searches."""
        ...

    def marked(self, tool: Tool) -> Mapping[str, Any]:
        """The definition of a tool that waits until it is found."""
        ...


_FOUND_BY_SERVER = frozenset({"tool_search_tool_result", "tool_search_output"})
_QUOTED = re.compile(r"""["']([a-zA-Z0-9_-]++)(?=\\*["'])""")
"""A name in JSON, in JSON inside JSON (Gemini takes no bare text as an answer), or in Python's repr."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


def _must_be_at_least_one(_owner: object, field: attrs.Attribute[int], value: int) -> None:
    if as_whole_number(value, field.name) < 1:
        raise ToolError(f"{field.name} is {value}: a search finds at least one tool", tool=None)


@attrs.frozen
class ToolSearch:
    """A search over tools: a definition for the model, and the function that answers its calls. O(words).

    Call it with the model's `query`, and return its answer as JSON in the result of the call: `Defer` sends the tools
    that such results name. It finds at most `most` definitions, best first, by the rarity of the words that they share
    with the query.
    """

    tools: tuple[Tool, ...] = attrs.field(converter=read_tools, repr=False)
    most: int = attrs.field(default=5, kw_only=True, validator=_must_be_at_least_one)
    name: str = attrs.field(default="search_tools", kw_only=True)
    _words: tuple[frozenset[str], ...] = attrs.field(
        default=attrs.Factory(lambda self: tuple(map(_list_words_of_tool, self.tools)), takes_self=True),
        init=False,
        repr=False,
    )

    @property
    def definition(self) -> dict[str, Any]:
        """The definition of the search for the model."""
        query = {"type": "string", "description": "What the tool should do, in a few words."}
        return {
            "name": self.name,
            "description": "Finds tools that are not listed here. What it answers can be called from the next step on.",
            "parameters": {"type": "object", "properties": {"query": query}, "required": ["query"]},
        }

    def __call__(self, query: str) -> list[dict[str, Any]]:
        """The definitions that fit the query best; none if they share no word with it."""
        must_be("query", cast(object, query), (str,), "a text (str)", tool_error)
        asked = frozenset(_list_words(query))
        having = Counter(word for words in self._words for word in words & asked)
        worth = {word: math.log(1 + len(self.tools) / times) for word, times in having.items()}
        scores = [sum(worth[word] for word in words & asked) for words in self._words]
        best = sorted((place for place, score in enumerate(scores) if score), key=lambda place: -scores[place])
        return [_write_neutral(self.tools[place]) for place in best[: self.most]]


def _must_be_amount(_owner: object, field: attrs.Attribute[Tokens | float], value: object) -> None:
    check = share if isinstance(value, float) else whole_tokens
    check(value, field.name)


@attrs.frozen
class Defer:
    """A selection for `Limit(select=…)`: if the tools cost more than the threshold, it defers most of them.

    The tools that the history calls, those that a search found, the tool in `choice` and the provider's own are always
    sent. The `threshold` is tokens (int) or a share of the budget's `input_limit` (float). Without a `search` the
    provider searches; for an API that cannot, it raises `ToolError`. O(messages) for each build.
    """

    threshold: Tokens | float = attrs.field(converter=as_number, validator=_must_be_amount)
    search: ToolSearch | None = attrs.field(
        default=None, validator=Is((ToolSearch, type(None)), "ToolSearch(tools) or None", tool_error)
    )

    def __call__(self, items: Sequence[Any], tokens: Sequence[Tokens], tokens_left: Tokens) -> Iterable[int]:
        """No places: without a history, no tool is known to be needed."""
        return ()

    def tokens_left(self, input_limit: Tokens) -> Tokens:
        """The threshold in tokens."""
        return part_of(self.threshold, input_limit) if isinstance(self.threshold, float) else self.threshold

    def deferred(
        self, tools: Sequence[Tool], messages: Iterable[Message], server: ServerSearch | None, choice: str | None
    ) -> tuple[tuple[Tool, ...], frozenset[str]]:
        """The tools to send, and the names of those that are deferred. O(parts).

        Raises `ToolError` if there is neither a search of the caller's nor one of the server's.
        """
        own = None if self.search is None else self.search.name
        staying = _find_needed(tools, messages, own) | {choice}
        unsent = frozenset(tool.name for tool in tools if tool.api is None and tool.name not in staying | {own})
        if not unsent:
            return tuple(tools), unsent
        if self.search is not None:
            sent = [tool for tool in tools if tool.name not in {*unsent, own}]
            return (*sent, read_tool(self.search.definition)), unsent
        if server is None:
            raise ToolError("this API has no tool search; pass Defer(…, search=ToolSearch(tools))", tool=None)
        marked = [read_tool({**server.marked(tool)}) if tool.name in unsent else tool for tool in tools]
        searching = any(tool.kind.startswith("tool_search") for tool in tools)
        return (*marked, *(() if searching else (read_tool({**server.definition()}),))), unsent


def _find_needed(tools: Sequence[Tool], messages: Iterable[Message], search: str | None) -> set[str | None]:
    """The names of the tools that the history calls or that a search in it found."""
    called: set[str | None] = set()
    searches: set[str | None] = set()
    found: list[str] = []
    for part in (part for message in messages for part in message.parts):
        match part:
            case Call():
                called.add(part.name)
                if part.name == search:
                    searches.add(part.id)
            case Result() if (part.call_id in searches and searches) or (search is not None and part.name == search):
                found += [text for text in part.parts if isinstance(text, str)]
            case Opaque() if part.kind in _FOUND_BY_SERVER:
                found.append(compact_json(part.raw))
            case _:
                pass
    quoted = {name for text in found for name in _QUOTED.findall(text)}
    return called | {tool.name for tool in tools if tool.name in quoted}


def deferred_fields(tool: Tool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The name, description and mark `defer_loading` of a tool that waits, and its schema, for a new definition."""
    fields = {"name": tool.name, "description": tool.description, "defer_loading": True}
    return fields, {"type": "object", "properties": {}, **tool.parameters}


def _write_neutral(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def _list_words_of_tool(tool: Tool) -> frozenset[str]:
    return frozenset(
        _list_words(f"{tool.name} {tool.description} {' '.join(fields_in(tool.parameters, 'properties'))}")
    )


def _list_words(text: str) -> Iterator[str]:
    """The words of a text and of the names in it, in lower case and without a plural s."""
    return (word.casefold().removesuffix("s") or "s" for word in _WORD.findall(text))
