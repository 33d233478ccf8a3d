"""Prices a chat template's prompts: the whole exactly, the parts as estimates.

A template's parts need not add up. The estimates serve to choose turns and to fill the report. Only the whole is
checked against a budget.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import attrs

from assembler.conversation.messages import Call, Message, Result, Thinking
from assembler.dialects.chat_template.traits import Traits
from assembler.dialects.openai.wire import tool_definition
from assembler.pricing.pricer import FixedPrices, Piece
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from budgets import Count, Grade, Tokens

_WORD = 64
"""The most characters at an end of a text whose tokens may be others beside the template's own words."""


@attrs.frozen(eq=False)
class ChatTemplatePricer:
    """Prices a whole prompt by the ids that `weighed` renders, and its parts by `estimated`, each text alone."""

    traits: Traits
    weighed: Callable[[Layout], int]
    estimated: Callable[[str], Tokens]

    def count_whole(self, layout: Layout) -> Count:
        """The exact number of ids of the emitted prompt. One render; none if it was rendered recently."""
        return Count(self.weighed(layout))

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Estimate each text alone, with the framing of a typical message."""
        traits = self.traits
        return FixedPrices(
            pieces=tuple(self._guess_price([piece.text]) for piece in pieces),
            head=tuple(self.message(message) for message in head),
            tools=tuple(self._guess_price(self._list_texts_of_tool(tool)) for tool in tools),
            tooling=Count(traits.tooling if tools else 0, Grade.ESTIMATED),
            framing=Count(traits.once + (traits.asked if pieces else 0), Grade.ESTIMATED),
        )

    def _list_texts_of_tool(self, tool: Tool) -> list[str]:
        return [json.dumps(tool_definition(tool))] if self.traits.shows_tools else []

    def message(self, message: Message) -> Count:
        """Estimate a message: its texts, each alone, and its framing."""
        texts = [text for part in message.parts for text in _list_texts(part, self.traits)]
        again = [part for part in message.parts if isinstance(part, str)] * (self._count_times(message) - 1)
        return self._guess_price(texts + again) + Count(self._price_framing(message))

    def _count_times(self, message: Message) -> int:
        """How often the template writes the message's text."""
        if message.role == "assistant":
            return self.traits.answered_times
        return self.traits.asked_times if message.role == "user" else 1

    def at_least(self, message: Message, price: Count) -> Tokens:
        """The least tokens that the message adds to any prompt. `price` is what `message` returned.

        A template writes a text at least once, perhaps without blanks around it. Parts that some templates drop from
        older messages (reasoning, calls and texts beside them), and messages that may be merged, count 0. Nothing is
        certain if the cost of a message depends on how many there are, or on who speaks last.
        """
        if not self.traits.costs_alike:
            return 0
        texts = [part for part in message.parts if isinstance(part, str)]
        of_words = len(texts) == len(message.parts) and any(text.strip() for text in texts)
        if not of_words or message.role not in ("user", "assistant") or any("</think>" in text for text in texts):
            return 0
        lost = 0 if self.traits.adds_up else sum(self._price_ends(text) + _count_blanks(text) for text in texts)
        lost += (self._count_times(message) - 1) * sum(map(self.estimated, texts))
        if self.traits.alternates:
            lost += self._price_framing(message)
        return max(0, price.tokens - lost)

    def _price_ends(self, text: str) -> Tokens:
        """What the first and the last word cost. Beside the template's words they may merge: after a blank, a
        word is often one token that costs several alone.
        """
        words = text.strip()
        ends = (words.split(maxsplit=1)[0][:_WORD], words.rsplit(maxsplit=1)[-1][-_WORD:]) if words else ()
        return sum(map(self.estimated, ends))

    def options(self, layout: Layout) -> Count:
        """0: other options are not part of the prompt."""
        return Count(0)

    def _price_framing(self, message: Message) -> Tokens:
        """The framing of a message: each call adds some, and each result is a separate message."""
        results = sum(type(part) is Result for part in message.parts)
        calls = sum(type(part) is Call for part in message.parts)
        own = 1 if results < len(message.parts) or not results else 0
        each = self.traits.answered if message.role == "assistant" else self.traits.asked
        return own * each + results * self.traits.asked + calls * self.traits.called

    def _guess_price(self, texts: Sequence[str]) -> Count:
        return Count(sum(map(self.estimated, texts)), Grade.ESTIMATED)


def _count_blanks(text: str) -> int:
    """The most tokens that a template may trim around a text: one for each byte of whitespace."""
    return len(text.encode(errors="replace")) - len(text.strip().encode(errors="replace"))


def _list_texts(part: object, traits: Traits) -> list[str]:
    """The texts of a part that the template writes."""
    match part:
        case str():
            return [part]
        case Call() if traits.shows_calls:
            return [part.name, part.arguments]
        case Result() if traits.shows_results:
            return [text for text in part.parts if isinstance(text, str)]
        case Thinking() if traits.shows_reasoning:
            return [part.text]
        case _:
            return []  # `notes` and `emit` say what is left out
