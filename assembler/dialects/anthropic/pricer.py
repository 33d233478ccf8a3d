"""Prices requests of Messages by the price list of the model's family: `assembler.dialects.anthropic.pricing`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assembler.conversation.compaction import without_compacted_parts
from assembler.conversation.messages import Media, Message, Part, Role, Thinking
from assembler.conversation.messages.responses import in_steps, join_turns
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.dialects.anthropic import pricing as claude
from assembler.dialects.anthropic.billed_settings import MODES, find_answer_format, read_choice, read_known_type
from assembler.dialects.anthropic.blocks import sends
from assembler.dialects.anthropic.families import FAMILIES, Family
from assembler.dialects.anthropic.system_text import price_system, price_system_edges
from assembler.dialects.blocks.pricing import (
    as_sent,
    lone_text,
    lone_texts,
    media_in,
    with_error_text,
    with_object,
    with_parts,
)
from assembler.dialects.blocks.unread_fields import price_unread
from assembler.dialects.prices.families import for_another_vocabulary
from assembler.dialects.prices.graded import grade_price
from assembler.dialects.writing.media_in_results import adapt_with_media
from assembler.pricing.media import claude as pictures
from assembler.pricing.media import read_media
from assembler.pricing.media.other_makers import price_elsewhere
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
from assembler.regions.tools import Tool
from assembler.text.fields import fields_in, fields_of
from budgets import Count, Grade, TokenCounter
from budgets.apportion import bound_together
from budgets.count import Difference, total

_PLAIN_TEXT_DOCUMENT = Count(0, Grade.ESTIMATED, upper=60)
"""The framing of a plain-text document: not recorded."""


_ACCOUNTED = "x-anthropic-billing-header:"
"""The beginning of the Agent SDK's first system block, which is not billed (18 recordings of one project)."""


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
        of_system = [*filter(None, texts), *(text for message in head for text in _list_texts(message))]
        has = Has.what(bool(of_system), tools)
        return FixedPrices(
            pieces=self._price_pieces(texts),
            head=tuple(self._price_head(message) for message in head),
            tools=tuple(self._grade_count(claude.price_tool(tool, self.family, self.count)) for tool in tools),
            tooling=claude.price_tooling(tools, self.family, self.count),
            framing=self.family.opening
            + price_system(self.family, has)
            + price_system_edges(of_system, self.family, has, self.count),
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
        if before is None:
            return claude.price_beginning(message) if message.role == "assistant" else None
        return claude.price_behind(message, before, self.family, self.count)

    def difference_at_end(self, message: Message, options: Mapping[str, Any]) -> Difference | None:
        """Price words of the assistant's at the end, which it goes on with, and results before a call of any tool."""
        if message.role == "assistant":
            return claude.CONTINUED if message.parts and type(message.parts[-1]) is str else None
        if not options or not message.has_only_results:
            return None
        return claude.price_forced_answer(read_choice(self.as_messages(options).get("tool_choice")), self.family)

    def forgets_reasoning(self) -> bool:
        """Whether at a question the API drops all earlier reasoning, unbilled: up to Claude 4.5."""
        return not self.family.keeps_thinking

    def ends_reasoning(self, message: Message, opening: Message | None = None) -> bool:
        """Whether it is a question in a turn that begins with one, and the model forgets reasoning."""
        return not self.family.keeps_thinking and claude.asks(message) and (opening is None or claude.asks(opening))

    def without_reasoning(self, message: Message) -> Message:
        """The message without reasoning."""
        return claude.without_thinking(message) if Thinking in map(type, message.parts) else message

    def options(self, layout: Layout) -> Difference:
        """Price thinking, a tool choice, an answer schema and a task budget, compared with none of them."""
        options = self.as_messages(layout.options)
        choice = read_choice(options.get("tool_choice"))
        prompts = claude.price_options(
            self.family,
            self.count,
            Has.what(layout.system or any(map(_list_texts, layout.head)), layout.tools),
            thinking=read_known_type(options.get("thinking"), MODES) or "disabled",
            choice=choice if layout.tools else claude.AUTO,
            answer_format=find_answer_format(options),
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
        facts = read_media(part)
        captions = total(claude.price_text(text, self.count) for text in _list_title_and_context(part))
        captions = Count(captions.tokens, Grade.ESTIMATED, captions.upper) if captions.upper else captions
        if facts.text is not None:
            return claude.price_text(facts.text, self.count) + _PLAIN_TEXT_DOCUMENT + captions
        high = self.family.image_side > pictures.STANDARD.longest_side
        resolution = pictures.HIGH if high else pictures.STANDARD
        price = pictures.price_media(facts, resolution, window_of(self.model))
        # A named model of no generation of Claude's may be another maker's.
        if self.model and self.family.name == FAMILIES[-1].name:
            price = price_elsewhere(facts, self.model, price)
        return price + captions

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
