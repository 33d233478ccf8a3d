"""What Bedrock bills for Claude behind Converse: Anthropic's bill, its settings spelled in Converse's words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assembler.conversation.messages import Message
from assembler.dialects.anthropic.dialect import AnthropicPricer
from assembler.dialects.blocks.blocks import fields_of
from assembler.pricing.pricer import FixedPrices, Piece
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from budgets import Count
from budgets.count import Difference

_THINKING = ("thinking", "reasoning_config")
"""What turns reasoning on, in `additionalModelRequestFields`: Anthropic's word, and one that only Bedrock takes."""


@attrs.frozen(eq=False)
class ConversePricer:
    """Claude's price list for Converse: only the settings are read in another way."""

    messages: AnthropicPricer

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """As Anthropic bills it."""
        return self.messages.fixed(pieces, head, tools)

    def message(self, message: Message) -> Count:
        """As Anthropic bills it."""
        return self.messages.message(message)

    def joined(self, messages: Sequence[Message]) -> Sequence[Message]:
        """As Anthropic bills them."""
        return self.messages.joined(messages)

    def answers_together(self, message: Message, before: Message) -> bool:
        """As Anthropic shows them."""
        return self.messages.answers_together(message, before)

    def sent(self, layout: Layout) -> Count:
        """As Anthropic bills them, past reasoning free where it is there."""
        return self.messages.sent(attrs.evolve(layout, options=_as_messages(layout.options)))

    def options(self, layout: Layout) -> Difference:
        """What thinking, a chosen tool and an answer schema cost more than their absence."""
        return self.messages.options(attrs.evolve(layout, options=_as_messages(layout.options)))


def _as_messages(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that have a price, as Anthropic's own API spells them."""
    extra = fields_of(options.get("additionalModelRequestFields")) or {}
    spelled: dict[str, Any] = {}
    for word in _THINKING:
        if word in extra:
            spelled["thinking"] = extra[word]
    chosen = fields_of(options.get("toolChoice")) or {}
    for kind in chosen:
        spelled["tool_choice"] = {"type": kind, **(fields_of(chosen[kind]) or {})}
    schema = _answer_schema(options)
    if schema is not None:
        spelled["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return spelled


def _answer_schema(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of `outputConfig.textFormat`, which Converse takes as a text."""
    asked: Mapping[str, Any] = options
    for key in ("outputConfig", "textFormat", "structure", "jsonSchema"):
        asked = fields_of(asked.get(key)) or {}
    schema: object = asked.get("schema")
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError:
            return None
    return fields_of(schema)
