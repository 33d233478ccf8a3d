"""The dialect of Anthropic's Messages API.

Rules and texts of 400 errors: Anthropic API reference, /v1/messages, and public issue threads, read 2026-11. Prices:
`assembler.dialects.anthropic.pricing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.compaction import without_compacted_parts
from assembler.conversation.messages import Media, Message, Part, Role, Thinking, read_message
from assembler.conversation.messages.responses import RESPONSES, in_steps, join_turns
from assembler.conversation.turns import head_length
from assembler.dialects.anthropic import pricing as claude
from assembler.dialects.anthropic.api import API
from assembler.dialects.anthropic.blocks import AnthropicWriter, cites, own_thought, sends, tool_definition
from assembler.dialects.anthropic.families import Family, family_of
from assembler.dialects.anthropic.prefill import rstrip_prefill, takes_prefill
from assembler.dialects.api import Api
from assembler.dialects.blocks.pricing import (
    as_sent,
    lone_text,
    lone_texts,
    media_in,
    with_error_text,
    with_object,
    with_parts,
)
from assembler.dialects.blocks.thinking import BEGAN_WITHOUT, without_thinking
from assembler.dialects.blocks.turns import Ending, Turn, surplus_marks, system_and_messages, turns_to_add, with_added
from assembler.dialects.blocks.unread_fields import price_unread, with_own_fields
from assembler.dialects.blocks.writer import Block
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.prices.families import for_another_vocabulary
from assembler.dialects.prices.graded import counts_for_claude, counts_for_openai, grade_price
from assembler.dialects.reading.parse_steps import listed_messages, options_in, read_messages, system_in
from assembler.dialects.writing.fields import asked_choice, bare_schema
from assembler.dialects.writing.media_in_results import adapt_with_media
from assembler.dialects.writing.notes import SURPLUS_MARKS
from assembler.errors import ConversationError
from assembler.pricing.media import claude as pictures
from assembler.pricing.media import read_media
from assembler.pricing.media.unseen import window_of
from assembler.pricing.opaque import price_unread_parts
from assembler.pricing.pricer import (
    FixedPrices,
    Has,
    JoiningPricer,
    MergingPricer,
    Piece,
    answered_at_once,
    price_pieces,
)
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool, read_tools
from assembler.text.fields import fields_in, fields_of, items_of
from budgets import BudgetError, Count, Grade, TokenCounter
from budgets.apportion import bound_together
from budgets.count import Difference, total
from budgets.counters.by_model import shared_counter_for

_PLAIN_TEXT_DOCUMENT = Count(0, Grade.ESTIMATED, upper=60)
"""The framing of a plain-text document: not recorded."""
_ACCOUNTED = "x-anthropic-billing-header:"
"""The beginning of the Agent SDK's first system block, which is not billed (18 recordings of one project)."""
_OWNED = ("messages", "system", "tools")
_MODES = ("disabled", "enabled", "adaptive")
_CHOICES = ("auto", "none", "any", "tool")


def read_thinking(given: object) -> Mapping[str, Any] | None:
    """A copy of the call's `thinking`. Raises `BudgetError` for a type without a price."""
    asked = fields_of(given)
    if given is not None and _read_known_type(given, _MODES) is None:
        raise BudgetError(f"thinking: expected {{'type': …, …}}, its type one of {', '.join(_MODES)}")
    return None if asked is None else dict(asked)


@attrs.frozen
class Anthropic:
    """Anthropic Messages. The request is `{"system", "messages", "tools"}`, without empty `system` and `tools`.

    Head system messages join the `system` field: one text stays a text, several are blocks, cache marks stay. A system
    message inside the conversation is folded into a user turn, since few models accept one there. Consecutive messages
    of one role become one turn, as the API reads them, with results first. Blank texts, names, and other providers'
    reasoning are left out. If there are more than four cache marks, the oldest are left out. A history with tool calls
    but no tools raises `ConversationError`. So do search results of which only some enable citations, and a history
    that ends with the assistant, unless `ending` allows a prefill (models before Claude 4.6); its trailing whitespace
    is cut off.

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
        words = {"auto": "auto", "none": "none", "required": "any"}
        options: dict[str, Any] = {} if self.thinking is None else {"thinking": dict(self.thinking)}
        if layout.output is not None:
            options["output_config"] = {"format": {"type": "json_schema", "schema": bare_schema(layout.output)}}
        if (choice := asked_choice(layout)) is not None:
            options["tool_choice"] = {"type": words[choice]} if choice in words else {"type": "tool", "name": choice}
        return options

    def sends_reasoning(self, thought: Thinking, message: Message) -> bool:
        """True for Claude's own reasoning with its signature."""
        return own_thought(thought) is not None

    def emit(self, layout: Layout) -> Emission:
        """`system`, `messages` and `tools`. Raises `ConversationError` and `UnsupportedContentError`."""
        writer = AnthropicWriter()
        request = system_and_messages(self, layout, writer, self.ending, _write_message)
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
        turns = turns_to_add(self, before, added, writer, self.ending)
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


@attrs.frozen(eq=False)
class AnthropicPricer(MergingPricer, JoiningPricer):
    """Prices requests of one family: opening + system text + messages + tools and their hidden prompt."""

    family: Family
    count: TokenCounter
    shape: str = "anthropic"
    """The shape of the API that carries the request, whose own parts are sent unchanged."""
    sends: Callable[[Part, str], bool] = sends
    """Whether that API is sent a part of a message of a shape."""
    as_messages: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    """Reads that API's settings in the form of Messages."""
    answer_format: Difference = attrs.field(factory=Difference)
    """What that API may add for an answer format."""
    model: str | None = None
    """The name of the model, whose window bounds files of unknown length."""

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Price the system text in pieces, its framing and the opening, and the tools with their hidden prompt."""
        texts = [piece.text for piece in pieces]
        has_system = any(texts) or any(map(_list_texts, head))
        return FixedPrices(
            pieces=self._price_pieces(texts),
            head=tuple(self._price_head(message) for message in head),
            tools=tuple(self._grade_count(claude.price_tool(tool, self.family, self.count)) for tool in tools),
            tooling=claude.price_tooling(tools, self.family, self.count),
            framing=self.family.opening + claude.price_system(self.family, Has.what(has_system, tools)),
        )

    def message(self, message: Message) -> Count:
        """Price one message with its framing, with the bound for a merged turn. Raises for media without a price."""
        if (text := lone_text(message)) is not None:
            return self._price_lone_texts([text], [message.role])[0]
        sent = as_sent(adapt_with_media(without_compacted_parts(message), self.shape), self.sends)
        if sent is None:
            return Count(0)
        billed = with_parts(with_parts(sent, with_object), with_error_text)
        price = claude.price_message(billed, self.family, self.count) + claude.price_citations(sent, self.shape)
        price = total(map(self._price_media, media_in(sent)), price)
        return self._grade_count(price)

    def messages(self, messages: Sequence[Message]) -> list[Count]:
        """Price each message as `message` does. If all are texts, they are counted together."""
        texts = lone_texts(messages)
        if texts is None:
            return list(map(self.message, messages))
        return self._price_lone_texts(texts, [message.role for message in messages])

    def _price_lone_texts(self, texts: Sequence[str], roles: Sequence[Role]) -> list[Count]:
        prices = claude.price_lone_texts(texts, roles, self.family, self.count)
        return prices if self.family.ceiling <= 1 else list(map(self._grade_count, prices))

    def unread(self, message: Message) -> Count:
        """Bound the text in fields that no one reads."""
        return price_unread(message, self.shape)

    def join(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Join the items of one assistant turn, and the results of one step, as they are sent and billed."""
        if lone_texts(messages) is not None and all(message.shape != RESPONSES for message in messages):
            return messages
        return answered_at_once(join_turns(in_steps(messages)), self.bills_results_together)

    def bills_results_together(self, message: Message, before: Message) -> bool:
        """Whether two neighbours are results of one step, which are sent in one user turn."""
        return message.role == before.role == "tool" or (message.has_results and before.has_only_results)

    def difference_after(self, message: Message, before: Message | None) -> Difference | None:
        """Price a message's position: an assistant's opening adds a user turn, and user messages may share a turn."""
        return claude.price_beginning(message) if before is None else claude.price_behind(message, before, self.family)

    def forgets_reasoning(self) -> bool:
        """True up to Claude 4.5: at a question the API drops all earlier reasoning, unbilled."""
        return not self.family.keeps_thinking

    def ends_reasoning(self, message: Message, opening: Message | None = None) -> bool:
        """True for a question in a turn that begins with one, if the model forgets reasoning."""
        return not self.family.keeps_thinking and claude.asks(message) and (opening is None or claude.asks(opening))

    def without_reasoning(self, message: Message) -> Message:
        """The message without reasoning."""
        return claude.without_thinking(message) if Thinking in map(type, message.parts) else message

    def options(self, layout: Layout) -> Difference:
        """Price thinking, a tool choice, an answer schema and a task budget, compared with none of them."""
        options = self.as_messages(layout.options)
        choice = _read_choice(options.get("tool_choice"))
        prompts = claude.price_options(
            self.family,
            self.count,
            Has.what(layout.system or any(map(_list_texts, layout.head)), layout.tools),
            thinking=_read_known_type(options.get("thinking"), _MODES) or "disabled",
            choice=choice if layout.tools else claude.AUTO,
            answer_schema=_find_answer_schema(options),
            task_budget=fields_in(options, "output_config").get("task_budget"),
        )
        chosen = claude.price_tooling(layout.tools, self.family, self.count, choice=choice)
        answer_format = self.answer_format if "output_config" in options else Difference()
        return (chosen + prompts) - claude.price_tooling(layout.tools, self.family, self.count) + answer_format

    def _price_pieces(self, texts: Sequence[str]) -> tuple[Count, ...]:
        grade = self._grade_count(claude.price_tokens(1)).grade
        each = [Count(tokens, grade) for tokens in price_pieces(texts, self.count)]
        return bound_together(each, lambda tokens: self._grade_count(claude.price_tokens(tokens)).upper)

    def _price_head(self, message: Message) -> Count:
        sent = adapt_with_media(message, self.shape)
        return self._grade_count(
            total(map(self._price_head_text, _list_texts(sent)), price_unread_parts(sent, self.count))
        )

    def _price_head_text(self, text: str) -> Count:
        price = claude.price_text(text, self.count)
        return Count(0, price.grade, price.upper) if text.startswith(_ACCOUNTED) else price

    def _price_media(self, part: Media) -> Count:
        facts, captions = (
            read_media(part),
            total(claude.price_text(it, self.count) for it in _list_title_and_context(part)),
        )
        captions = Count(captions.tokens, Grade.ESTIMATED, captions.upper) if captions.upper else captions
        if facts.text is not None:
            return claude.price_text(facts.text, self.count) + _PLAIN_TEXT_DOCUMENT + captions
        high = self.family.image_side > pictures.STANDARD.longest_side
        resolution = pictures.HIGH if high else pictures.STANDARD
        return pictures.price_media(facts, resolution, window_of(self.model)) + captions

    def _grade_count(self, price: Count) -> Count:
        if self.family.ceiling > 1:
            price = for_another_vocabulary(price, self.family.ceiling)
        return grade_price(price, self.count)


def _list_texts(message: Message) -> list[str]:
    return [part for part in message.parts if isinstance(part, str) and part]


def _list_title_and_context(part: Media) -> Iterator[str]:
    """A document's title and context, which the model sees (Anthropic, "Citations", read 2026-11)."""
    fields = fields_of(part.raw.get("document")) or part.raw
    for key in ("title", "context"):
        if isinstance(text := fields.get(key), str) and part.kind == "document":
            yield text


def _read_choice(given: object) -> claude.Choice:
    fields = fields_in(given)
    return claude.Choice(
        type=_read_known_type(given, _CHOICES) or "auto",
        name=name if isinstance(name := fields.get("name"), str) else "",
        alone=fields.get("disable_parallel_tool_use") is True,
    )


def _read_known_type(given: object, known: Sequence[str]) -> Any:
    """The `type` of an option if it has a price, else None."""
    return word if (word := fields_in(given).get("type")) in known else None


def _find_answer_schema(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of `output_config.format`, or of the older `output_format`."""
    asked = fields_in(options, "output_config", "format") or fields_in(options, "output_format")
    return fields_of(asked.get("schema"))
