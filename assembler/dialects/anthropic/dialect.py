"""The dialect of Anthropic's Messages API.

Rules and texts of 400 errors: Anthropic API reference, /v1/messages, and public issue threads, read 2026-11. Prices:
`assembler.dialects.anthropic.pricing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages import Message, Thinking, read_message
from assembler.conversation.turns import head_length
from assembler.dialects.anthropic.api import API, write_choice
from assembler.dialects.anthropic.billed_settings import read_thinking
from assembler.dialects.anthropic.blocks import AnthropicWriter, cites, own_thought, tool_definition
from assembler.dialects.anthropic.families import family_of
from assembler.dialects.anthropic.prefill import is_paused, rstrip_prefill, takes_prefill
from assembler.dialects.anthropic.pricer import AnthropicPricer
from assembler.dialects.api import Api
from assembler.dialects.blocks.thinking import BEGAN_WITHOUT, without_thinking
from assembler.dialects.blocks.turns import Ending, Turn, surplus_marks, system_and_messages, turns_to_add, with_added
from assembler.dialects.blocks.unread_fields import with_own_fields
from assembler.dialects.blocks.writer import Block
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.prices.graded import counts_for_claude, counts_for_openai
from assembler.dialects.reading.parse_steps import listed_messages, options_in, read_messages, system_in
from assembler.dialects.writing.fields import asked_choice, bare_schema
from assembler.dialects.writing.notes import SURPLUS_MARKS
from assembler.errors import ConversationError
from assembler.regions.layout import Layout
from assembler.regions.tools import read_tools
from assembler.text.fields import fields_in, items_of
from budgets import TokenCounter
from budgets.counters.by_model import shared_counter_for

_OWNED = ("messages", "system", "tools")


@attrs.frozen
class Anthropic:
    """Anthropic Messages. The request is `{"system", "messages", "tools"}`, without empty `system` and `tools`.

    Head system messages join the `system` field: one text stays a text, several are blocks, cache marks stay. A system
    message inside the conversation is folded into a user turn, since few models accept one there. Consecutive messages
    of one role become one turn, as the API reads them, with results first. Blank texts, names, and other providers'
    reasoning are left out. If there are more than four cache marks, the oldest are left out. A history with tool calls
    but no tools raises `ConversationError`. So do search results of which only some enable citations, and a history
    that ends with the assistant, unless the server paused its turn or `ending` allows a prefill (models before Claude
    4.6); its trailing whitespace is cut off.

    Use `Anthropic(thinking={"type": "enabled", "budget_tokens": 2_000})` for calls with thinking. It is left out, with
    a note, while a tool loop runs that does not begin with thinking, because the API refuses it then. Raises
    `BudgetError` for an unknown type of `thinking`.
    """

    name: str = "anthropic"
    api: Api = attrs.field(default=API, init=False, repr=False, eq=False)
    opening: Opening = Opening.USER
    ending: Ending = Ending.USER
    thinking: Mapping[str, Any] | None = attrs.field(default=None, converter=read_thinking, hash=False)
    """The call's `thinking`, in the API's form. It is sent unchanged or not at all, and its hidden prompt is priced."""

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a Messages body. A `system` text is the system text; `system` blocks are the head."""
        listed = listed_messages(request, "the body of a Messages call")
        messages = with_own_fields(read_messages(listed), "anthropic")
        system = system_in(request)
        listed_system = [] if isinstance(system, str) else [*system]
        blocks = [read_message({"role": "system", "content": listed_system}, 0)] if listed_system else []
        leading = head_length(messages)
        return Layout(
            system=system if isinstance(system, str) and system else None,
            head=[*blocks, *messages[:leading]],
            messages=messages[leading:],
            tools=read_tools(request.get("tools") or ()),
            options=options_in(request, _OWNED),
        )

    def with_prefill(self, model: str) -> Anthropic:
        """The dialect of requests that end with the assistant; the same one if the model takes none."""
        return attrs.evolve(self, ending=Ending.ANY) if takes_prefill(model) else self

    def pricer(self, model: str | None, count: TokenCounter) -> AnthropicPricer:
        """The prices of the model's family. Claude's vocabulary replaces a default counter for OpenAI."""
        family = family_of(model)
        if counts_for_openai(count):
            return AnthropicPricer(family, shared_counter_for(family.generation), model=model)
        own = family if counts_for_claude(count) else attrs.evolve(family, ceiling=1.0)
        return AnthropicPricer(own, count, model=model)

    def options(self, layout: Layout) -> dict[str, Any]:
        """`output_config.format` and `tool_choice` (Anthropic API reference, read 2026-11)."""
        options: dict[str, Any] = {} if self.thinking is None else {"thinking": dict(self.thinking)}
        if layout.output is not None:
            options["output_config"] = {"format": {"type": "json_schema", "schema": bare_schema(layout.output)}}
        if (choice := asked_choice(layout)) is not None:
            options["tool_choice"] = write_choice(choice)
        return options

    def sends_reasoning(self, thought: Thinking, message: Message) -> bool:
        """Whether it is Claude's own reasoning with its signature."""
        return own_thought(thought) is not None

    def _choose_ending(self, messages: Sequence[Message]) -> Ending:
        return Ending.ANY if is_paused(messages) else self.ending

    def emit(self, layout: Layout) -> Emission:
        """`system`, `messages` and `tools`. Raises `ConversationError` and `UnsupportedContentError`."""
        writer = AnthropicWriter()
        request = system_and_messages(self, layout, writer, self._choose_ending(layout.messages), _write_message)
        if layout.tools:
            request["tools"] = [tool_definition(tool) for tool in layout.tools]
        asked = request | self.options(layout)
        request = self.thinking_as_allowed(asked)
        writer.notes[BEGAN_WITHOUT] += request is not asked
        rstrip_prefill(request["messages"][-1], writer.notes)
        surplus = _drop_surplus_marks(request)
        writer.notes[SURPLUS_MARKS] += len(surplus)
        _refuse_mixed(writer.citing)
        return Emission(request, writer.notes.lines(), writer.ids.taken, surplus, id_repeats=writer.ids.repeats)

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission | None:
        """Append the turns of the added messages; None if the whole request must be written again."""
        request, writer = before.request, AnthropicWriter()
        if request["messages"][-1]["role"] != "user":
            return None
        turns = turns_to_add(self, before, added, writer, self._choose_ending(added))
        if turns is None or (writer.ids.taken and "tools" not in request):
            return None
        messages = [_write_message(turn) for turn in turns]
        rstrip_prefill(messages[-1], writer.notes)
        if any(writer.notes.values()) or any(_find_marked(message["content"]) for message in messages):
            return None
        if writer.citing:
            earlier = [cited for message in request["messages"] for cited in _find_whether_citing(message["content"])]
            if len(writer.citing.union(earlier)) > 1:
                return None
        grown = with_added(before, "messages", messages, writer)
        stays = self.thinking is None or self.thinking_as_allowed(grown.request) is grown.request
        return grown if stays else None

    def thinking_as_allowed(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body without `thinking` if a tool loop runs that does not begin with it, else the same body."""
        return without_thinking(body, ("thinking",), body["messages"])


anthropic = Anthropic()


def _write_message(turn: Turn) -> Block:
    content = [*turn.results, *turn.blocks] if turn.text is None else turn.text
    return {**turn.keys(), "role": turn.side, "content": content}


def _refuse_mixed(citing: frozenset[bool]) -> None:
    if len(citing) > 1:
        raise ConversationError(
            "some search results enable citations and others do not, and the API takes all or none: add "
            "'citations': {'enabled': True} to the others"
        )


def _find_whether_citing(content: object) -> Iterator[bool]:
    """Whether each search result of a message enables citations, those in tool results too."""
    for block in map(fields_in, items_of(content)):
        if block.get("type") == "search_result":
            yield cites(block)
        elif block.get("type") == "tool_result":
            yield from _find_whether_citing(block.get("content"))


def _drop_surplus_marks(request: dict[str, Any]) -> Sequence[Block]:
    """Keep four cache marks, and return the others."""
    system = request.get("system", ())
    in_system = [] if isinstance(system, str) else _find_marked(system)
    listed = [content for message in request["messages"] if type(content := message["content"]) is not str]
    in_messages = [block for content in listed for block in _find_marked(content)]
    surplus = surplus_marks(_find_marked(request.get("tools", ())), in_system, in_messages)
    return [{"cache_control": block.pop("cache_control")} for block in surplus]


def _find_marked(blocks: str | Sequence[Block]) -> list[Block]:
    return [] if type(blocks) is str else list(_walk_marked(cast("Sequence[Block]", blocks)))


def _walk_marked(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        inner: object = block.get("content")
        if type(inner) is list:
            yield from _walk_marked(
                [cast(Block, item) for item in cast("list[object]", inner) if isinstance(item, dict)]
            )
        if block.get("cache_control") is not None:
            yield block
