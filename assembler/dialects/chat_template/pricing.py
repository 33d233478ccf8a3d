"""What a chat template's prompts cost: wholes exactly, parts by estimate.

No template promises that its parts add up. The estimates order turns, fill the report and say where to look; only the
whole is held against a budget.
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

_MERGED = 2
"""Tokens that a text may lose at most to what stands beside it: one at each end, where it joins its neighbour's."""


@attrs.frozen(eq=False)
class ChatTemplatePricer:
    """Prices a prompt whole, by the ids that `weighed` renders; its parts by `estimated`, each text alone."""

    traits: Traits
    weighed: Callable[[Layout], int]
    estimated: Callable[[str], Tokens]

    def whole(self, layout: Layout) -> Count:
        """Exactly the ids of the prompt that is emitted. One render, none where it was rendered lately."""
        return Count(self.weighed(layout))

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Estimates: each text alone, framed as a typical message."""
        traits = self.traits
        return FixedPrices(
            pieces=tuple(self._guess([piece.text]) for piece in pieces),
            head=tuple(self.message(message) for message in head),
            tools=tuple(self._guess([json.dumps(tool_definition(tool))]) for tool in tools),
            tooling=Count(traits.tooling if tools else 0, Grade.ESTIMATED),
            framing=Count(traits.once + (traits.asked if pieces else 0), Grade.ESTIMATED),
        )

    def message(self, message: Message) -> Count:
        """An estimate: the texts of the message, each alone, and its framing."""
        texts = [text for part in message.parts for text in _texts_of(part)]
        again = [part for part in message.parts if isinstance(part, str)] * (self._times(message) - 1)
        return self._guess(texts + again) + Count(self._framing(message))

    def _times(self, message: Message) -> int:
        """How often the template shows what the message says."""
        if message.role == "assistant":
            return self.traits.answered_times
        return self.traits.asked_times if message.role == "user" else 1

    def at_least(self, message: Message, price: Count) -> Tokens:
        """Tokens that the message adds to every prompt, whatever stands beside it; `price` is what `message` said.

        A template shows a text once at least, whole or without its blanks. What some drop of an older message
        (reasoning, calls and the words with them) and what is folded away where roles must alternate counts nothing.
        """
        texts = [part for part in message.parts if isinstance(part, str)]
        spoken = len(texts) == len(message.parts) and any(text.strip() for text in texts)
        if not spoken or message.role not in ("user", "assistant") or any("</think>" in text for text in texts):
            return 0
        lost = 0 if self.traits.adds_up else sum(_MERGED + _blanks(text) for text in texts)
        lost += (self._times(message) - 1) * sum(map(self.estimated, texts))
        if self.traits.alternates:
            lost += self._framing(message)
        return max(0, price.tokens - lost)

    def options(self, layout: Layout) -> Count:
        """Nothing: what else a request says is no part of the prompt."""
        return Count(0)

    def _framing(self, message: Message) -> Tokens:
        """A call costs its own beside the message; each result is a message of its own."""
        results = sum(type(part) is Result for part in message.parts)
        calls = sum(type(part) is Call for part in message.parts)
        said = 1 if results < len(message.parts) or not results else 0
        each = self.traits.answered if message.role == "assistant" else self.traits.asked
        return said * each + results * self.traits.asked + calls * self.traits.called

    def _guess(self, texts: Sequence[str]) -> Count:
        return Count(sum(map(self.estimated, texts)), Grade.ESTIMATED)


def _blanks(text: str) -> int:
    """Tokens around a text that a template may trim: at most one an octet."""
    return len(text.encode(errors="replace")) - len(text.strip().encode(errors="replace"))


def _texts_of(part: object) -> list[str]:
    match part:
        case str():
            return [part]
        case Call():
            return [part.name, part.arguments]
        case Result():
            return [text for text in part.parts if isinstance(text, str)]
        case Thinking():
            return [part.text]
        case _:
            return []  # no template carries it: `notes` and `emit` say so
