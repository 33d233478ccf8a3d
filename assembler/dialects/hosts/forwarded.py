"""Prices a request to another maker's model in OpenAI's formats: the maker's list, and the reasoning that is sent."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assembler.conversation.messages import Message, Opaque, Thinking
from assembler.conversation.messages.extra_fields import field_of
from assembler.conversation.messages.foreign_parts import adapt_message
from assembler.conversation.messages.items_in_content import is_sent_thought
from assembler.conversation.messages.parts import CHAT_SHAPES, NEUTRAL
from assembler.conversation.messages.responses import without_unfollowed_reasoning
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.dialects.openai.framing import OpenAIApi
from assembler.dialects.openai.unread_fields import price_unread
from assembler.dialects.openai.wire import is_empty_for_chat
from assembler.dialects.prices.graded import GradedMergingPricer
from assembler.dialects.prices.message_fields import FRAMING, bound_fields, price_reasoning
from assembler.dialects.writing.media_in_results import adapt_with_media
from assembler.pricing.opaque import price_beside_words
from assembler.pricing.pricer import FixedPrices, Piece
from assembler.regions.tools import Tool
from budgets import Count, Grade
from budgets.count import NOTHING


@attrs.frozen(eq=False)
class ForwardedPricer(GradedMergingPricer):
    """The maker's prices, with reasoning in the bound as the format of OpenAI's carries it.

    Chat carries it in fields of a message, and Responses in items. A gateway may pass on both in the maker's own
    form, and a server's items that have no words for another API.
    """

    api: OpenAIApi = attrs.field(kw_only=True)

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Price the fixed regions by the maker's list, with the fields of head messages, which Chat carries too."""
        prices = super().fixed(pieces, list(map(self._adapt_parts, head)), tools)
        if self.api == "responses" or not any(message.extra_fields for message in head):
            return prices
        each = zip(prices.head, head, strict=True)
        bounds = ((price, bound_fields(self._adapt_parts(message), self.count)) for price, message in each)
        return attrs.evolve(prices, head=tuple(price + bound for price, bound in bounds))

    def message(self, message: Message) -> Count:
        """Price one message by the maker's list, without the reasoning and media that the format has no place for."""
        carried = self._adapt_parts(message)
        if carried is not message and not carried.parts and not carried.extra_fields:
            return NOTHING
        if self.api == "responses" and Opaque in map(type, carried.parts):
            return self._price_message(carried) + price_beside_words(_list_own_items(carried), self.count)
        return self._price_message(carried)

    def _adapt_parts(self, message: Message) -> Message:
        """The message with the parts that the format takes: those of the maker's own API are texts there."""
        if message.text is not None:
            return message
        return adapt_with_media(message, "openai") if self.api == "chat" else adapt_message(message, RESPONSES)

    def _price_message(self, message: Message) -> Count:
        reasons = Thinking in map(type, message.parts)
        if not reasons and not message.extra_fields:
            return super().message(message)
        if self.api == "chat" and is_empty_for_chat(message):
            return NOTHING
        others = bound_fields(message, self.count) if self.api == "chat" else self._price_thoughts(message)
        if not reasons:
            return super().message(message) + others
        kept = tuple(part for part in message.parts if type(part) is not Thinking or self._stays_in_chat(part, message))
        return super().message(attrs.evolve(message, parts=kept)) + others if kept else others

    def unread(self, message: Message) -> Count:
        """Bound the text in fields that no one reads."""
        return price_unread(message, self.api)

    def drop_unsent(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages without reasoning items that no item of the model follows."""
        return messages if self.api == "chat" else without_unfollowed_reasoning(messages)

    def _stays_in_chat(self, thought: Thinking, message: Message) -> bool:
        """Whether it is reasoning among the parts of a Chat message."""
        return self.api == "chat" and message.shape in CHAT_SHAPES and field_of(thought) is None

    def _price_thoughts(self, message: Message) -> Count:
        thoughts = [part for part in message.parts if type(part) is Thinking and is_sent_thought(part, message)]
        if not thoughts:
            return NOTHING
        upper = sum(price_reasoning(thought, self.count, FRAMING).upper for thought in thoughts)
        return Count(0, Grade.ESTIMATED, upper)


def _list_own_items(message: Message) -> list[Opaque]:
    """The items of Responses in a message, and unknown ones in its shape. The maker's list prices all others."""
    own = (RESPONSES, NEUTRAL) if message.shape == RESPONSES else (RESPONSES,)
    return [part for part in message.parts if type(part) is Opaque and part.api in own]
