"""Prices requests to hosts with OpenAI's formats: DeepSeek, xAI, Groq, Cerebras, Together and others."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages import Call, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.extra_fields import field_of
from assembler.conversation.messages.foreign_parts import adapt_message, as_chat_sends
from assembler.conversation.messages.items_in_content import (
    as_items,
    as_responses_sends,
    is_cut_up,
    is_sent_item,
    is_sent_thought,
    turns_of,
)
from assembler.conversation.messages.responses import (
    is_item_apart,
    join_steps,
    join_turns,
    without_unfollowed_reasoning,
)
from assembler.conversation.messages.responses_items import RESPONSES, is_sendable
from assembler.conversation.turns import is_head
from assembler.dialects.blocks.pricing import lone_text
from assembler.dialects.hosts.families import Family, family_of
from assembler.dialects.hosts.pricing import (
    price_items,
    price_message,
    price_request,
    price_seam,
    price_system,
    price_text,
    price_tool,
    price_tools,
    price_unasked,
)
from assembler.dialects.openai.framing import SHAPE_OF, OpenAIApi
from assembler.dialects.openai.unread_fields import price_unread
from assembler.dialects.openai.wire import is_empty_for_chat, is_flat, is_sent_in_content
from assembler.dialects.prices.graded import counts_for_openai, own_counter
from assembler.dialects.prices.key_order import customary_schema, customary_tools, price_in_order
from assembler.dialects.prices.message_fields import FRAMING, price_fields, price_reasoning
from assembler.dialects.writing.fields import NO_PARAMETERS, tool_choice_in
from assembler.dialects.writing.media_in_results import adapt_with_media
from assembler.pricing.pricer import FixedPrices, JoiningPricer, Piece
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from assembler.text.fields import fields_in
from budgets import Count, Grade, TokenCounter
from budgets.apportion import split_framing
from budgets.count import NOTHING, Difference, total

NAME_SLACK = 2
"""Tokens around a speaker's name. Only in the bound: templates may leave it out, and there is no recording."""


def host_bill(model: str, count: TokenCounter, api: OpenAIApi) -> HostBill:
    """The price list of a model. Raises `UnknownModelError` if its chat template is not listed."""
    family = family_of(model)
    if counts_for_openai(count):
        return HostBill(family, own_counter(family.vocabulary, count), api)
    return HostBill(attrs.evolve(family, stand_in=None), count, api)


@attrs.frozen(eq=False)
class HostBill(JoiningPricer):
    """Prices requests by one chat template on one host."""

    family: Family
    count: TokenCounter
    api: OpenAIApi = "chat"

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Price the system text in pieces, the head, the tools with their hidden preamble, and the opening."""
        tools = self._complete_schemas(tools)
        each_piece = tuple(price_text(piece.text, self.family, self.count) for piece in pieces)
        each_tool = tuple(
            price_in_order(*pair, self._price_tool) for pair in zip(tools, self._order_tools(tools), strict=True)
        )
        text = "".join(piece.text for piece in pieces)
        each_of_head = tuple(map(self.message, head))
        of_texts = (is_head(message) and not is_item_apart(message) for message in head)
        has_text = any(price.upper and is_text for price, is_text in zip(each_of_head, of_texts, strict=True))
        system = price_system(text, self.family, self.count) if text or not has_text else NOTHING
        own_pieces, around_system = split_framing(system, each_piece)
        before_tools = text or next((sent for sent in map(self._read_text, head) if sent), "")
        seam = price_seam(before_tools, self.family, self.count) if tools else NOTHING
        own_tools, tooling = split_framing(self._price_tools(tools), each_tool)
        return FixedPrices(
            pieces=own_pieces,
            head=each_of_head,
            tools=own_tools,
            tooling=tooling + seam,
            framing=price_request(self.family, self.count, api=self.api) + around_system,
        )

    def message(self, message: Message) -> Count:
        """Price one message with its envelope. Each of several results has its own."""
        if lone_text(message) is not None:
            return price_message(message, self.family, self.count)
        chat = self.api == "chat"
        if not chat and is_cut_up(message):
            return total(map(self.message, turns_of(message)))
        message = self._adapt(message)
        if is_empty_for_chat(message) or not message.parts:
            # An item of reasoning is sent beside the next one.
            return NOTHING if chat else self._price_other_fields(message)
        alone = _split_for_chat(message) if chat else _split_for_items(message)
        bill = total(map(self._price_alone, alone)) + self._price_other_fields(message)
        if message.name is None or self.api == "responses":  # where names have no place
            return bill
        if all(type(part) is Result for part in message.parts):  # answers are sent without it
            return bill
        return bill + Count(0, Grade.BOUNDED, upper=self.count(message.name) + NAME_SLACK)

    def _adapt(self, message: Message) -> Message:
        """The message with the parts that are sent."""
        if self.api == "chat":
            return as_chat_sends(adapt_with_media(message, "openai"))
        return as_responses_sends(adapt_message(message, RESPONSES))

    def _read_text(self, message: Message) -> str:
        """The text that is sent of a message, also of parts of other APIs."""
        alone = lone_text(message)
        return "".join(part for part in self._adapt(message).parts if isinstance(part, str)) if alone is None else alone

    def _price_alone(self, message: Message) -> Count:
        """Price one message of the template, or a server's items on Responses."""
        is_of_model = self.api == "responses" and message.role == "assistant"
        if is_of_model and all(type(part) is Opaque for part in message.parts):
            return price_items(message.parts, self.family, self.count)
        return price_message(message, self.family, self.count)

    def _price_other_fields(self, message: Message) -> Count:
        """Price the fields other than the content: past reasoning only in the bound if the host drops it."""
        chat = self.api == "chat"
        price = price_fields(message, self.count) if chat else self._price_reasoning(message)
        calls = any(isinstance(part, Call) for part in message.parts)
        shown = chat and any(type(part) is Thinking and _is_shown(part, message) for part in message.parts)
        hidden = (self.family.before_calls if calls else self.family.behind_thought) if shown else NOTHING
        if not (self.family.forgets_callers if calls else self.family.forgets_thoughts):
            return price + hidden
        kept = attrs.evolve(message, parts=tuple(part for part in message.parts if not isinstance(part, Thinking)))
        return Count(price_fields(kept, self.count).tokens if chat else 0, price.grade, upper=price.upper) + hidden

    def _price_reasoning(self, message: Message) -> Count:
        """Price reasoning items, which only Responses takes. It does not take the fields of a Chat message."""
        thoughts = [part for part in message.parts if isinstance(part, Thinking) and is_sent_thought(part, message)]
        return total(price_reasoning(thought, self.count, FRAMING) for thought in thoughts)

    def _complete_schemas(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """The tools as they are sent: Responses gets a schema for each, and `strict` with each that is written anew."""
        if self.api == "chat":
            return tools
        return [_complete_tool(tool) for tool in tools]

    def unread(self, message: Message) -> Count:
        """Bound the text in fields that no one reads."""
        return price_unread(message, self.api)

    def join(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Join the items of one model turn, as they are sent and billed."""
        if self.api == "chat":
            return join_steps(messages)
        return join_turns(messages if len(messages) < 2 else as_items(messages))

    def bills_model_messages_together(self, message: Message, before: Message) -> bool:
        """Whether a template gets the items of one turn of the model as one message, as on Responses."""
        return self.api == "responses"

    def sends_results_last(self) -> bool:
        """Whether nothing of the model may stand between two outputs, as on Chat, and not on Responses."""
        return self.api == "chat"

    def drop_unsent(self, messages: Sequence[Message]) -> Sequence[Message]:
        """On Responses, return the messages without reasoning items that no item of the model follows."""
        return messages if self.api == "chat" else without_unfollowed_reasoning(messages)

    def options(self, layout: Layout) -> Difference:
        """Price an answer format, thinking, and a tool choice. With "none" some templates leave the tools out."""
        return self._price_answer_format(layout.options) + self._price_choice(layout) + self._price_thinking(layout)

    def _price_thinking(self, layout: Layout) -> Difference:
        price, wanted = self.family.thinking, fields_in(layout.options, "thinking").get("type")
        if price == NOTHING:
            return Difference()
        priced = price_unasked(self.family, self.api)  # with every request
        if wanted == "disabled" or _effort_in(layout.options) in _LITTLE_EFFORT:
            return Difference(-priced.tokens, price.grade, -priced.upper)
        if self.api == "responses" or wanted != "enabled":
            return Difference()
        # Billed in 6 recordings of 11 with tools and in 2 of 8 without: those of the encoder of July 2026.
        return (price if layout.tools else attrs.evolve(price, tokens=0)) - priced

    def _price_answer_format(self, options: Mapping[str, Any]) -> Difference:
        wanted = _find_answer_format(options)
        if wanted is None:
            return Difference()
        schema = fields_in(fields_in(wanted, "json_schema") or wanted, "schema")
        ordered = schema if self.family.stand_in else customary_schema(schema, wanted)
        with_it = price_in_order(schema, ordered, self._price_request)
        price = with_it - price_request(self.family, self.count, api=self.api)
        return attrs.evolve(price, tokens=0) if self.family.hides_schemas else price

    def _price_request(self, schema: Mapping[str, Any]) -> Count:
        return price_request(self.family, self.count, api=self.api, answer_schema=schema)

    def _price_choice(self, layout: Layout) -> Difference:
        """Price a forced tool, or what is saved if the template leaves out tools that may not be called."""
        choice = tool_choice_in(layout.options)
        if not layout.tools:
            return Difference()
        if choice == "none" and self.family.hides_tools_unchosen:
            functions = self._complete_schemas([tool for tool in layout.tools if tool.api is None])
            return NOTHING - self._price_tools(functions)
        if self.family.hides_other_tools and isinstance(choice, Mapping):
            chosen = cast("Mapping[str, Any]", choice)
            named = fields_in(chosen, "function") or chosen
            tokens = self._price_others(layout.tools, named.get("name")).tokens
            return Difference(self.family.forced.tokens - tokens, Grade.ESTIMATED, self.family.forced.upper)
        return self.family.forced - NOTHING if choice == "required" or isinstance(choice, Mapping) else Difference()

    def _price_others(self, tools: Sequence[Tool], named: object) -> Count:
        """Price the tools beside the chosen one, which is shown alone. 0 if the choice names none of them."""
        functions = self._complete_schemas([tool for tool in tools if tool.api is None])
        others = [tool for tool in functions if tool.name != named]
        if len(others) == len(functions):
            return NOTHING
        return total(map(self._price_tool, self._order_tools(others)))

    def _order_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """The tools in the order that is priced: as sent if a stand-in's constants were fitted to that order."""
        is_sorted = self.family.stand_in is not None and not self.family.keeps_order
        return tools if is_sorted else customary_tools(tools, SHAPE_OF[self.api])

    def _price_tool(self, tool: Tool) -> Count:
        return price_tool(tool, self.family, self.count)

    def _price_tools(self, tools: Sequence[Tool]) -> Count:
        return price_in_order(tools, self._order_tools(tools), self._price_tools_in_order)

    def _price_tools_in_order(self, tools: Sequence[Tool]) -> Count:
        return price_tools(tools, self.family, self.count)


def _complete_tool(tool: Tool) -> Tool:
    strict = {} if tool.api is not None or is_flat(tool) else {"strict": tool.extra.get("strict") is True}
    return attrs.evolve(tool, parameters=tool.parameters or NO_PARAMETERS, extra={**tool.extra, **strict})


def _is_shown(thought: Thinking, message: Message) -> bool:
    """Whether it is reasoning that Chat gets, in a field or in the content."""
    return field_of(thought) is not None or is_sent_in_content(thought, message)


def _split_for_chat(message: Message) -> list[Message]:
    """The messages that Chat gets: each result, then everything else. Reasoning is not sent among the parts."""
    alone = [_make_tool_message(part, message) for part in message.parts if type(part) is Result]
    rest = tuple(part for part in message.parts if not isinstance(part, Result | Thinking))
    return [*alone, attrs.evolve(message, parts=rest)] if rest else alone


def _split_for_items(message: Message) -> list[Message]:
    """The messages that a template gets of Responses' items: each output, each server's item, and the runs
    between them. So an item costs the same wherever it is found, and whatever stands next to it.
    """
    alone: list[Message] = []

    def apart(part: Part) -> bool:
        return type(part) is Result or is_sent_item(part, message) or (type(part) is Call and message.role == "user")

    for is_apart, group in itertools.groupby((part for part in message.parts if type(part) is not Thinking), apart):
        run = tuple(group)
        if is_apart:
            alone += [
                _make_tool_message(part, message) if type(part) is Result else _make_model_message(part, message)
                for part in run
            ]
        elif any(run) or is_sendable(message) or message.role != "assistant":  # an empty answer is not sent
            parts = _join_texts(run) if message.role == "assistant" else run
            alone.append(attrs.evolve(message, parts=parts))
    return alone


def _make_tool_message(part: Part, message: Message) -> Message:
    return attrs.evolve(message, role="tool", parts=(part,))


def _make_model_message(part: Part, message: Message) -> Message:
    return attrs.evolve(message, role="assistant", parts=(part,))


def _join_texts(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Join neighbouring texts, as Responses gets an assistant's message."""
    joined_up: list[Part] = []
    for part in parts:
        if isinstance(part, str) and joined_up and isinstance(joined_up[-1], str):
            joined_up[-1] += part
        else:
            joined_up.append(part)
    return tuple(joined_up)


_LITTLE_EFFORT = frozenset(["none", "minimal", "low"])
"""The efforts for which DeepSeek V4 is shown no words (its encoder of 2026-07-31)."""


def _effort_in(options: Mapping[str, Any]) -> object:
    return fields_in(options, "reasoning").get("effort", options.get("reasoning_effort"))


def _find_answer_format(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The answer format in either API's form, None for plain text."""
    wanted = fields_in(options, "response_format") or fields_in(options, "text", "format")
    return wanted if wanted.get("type") in ("json_schema", "json_object") else None
