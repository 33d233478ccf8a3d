"""The dialect of OpenAI's Responses API.

Rules and texts of 400 errors: OpenAI API reference, /v1/responses, and public issue threads, read 2026-11. Prices:
`assembler.dialects.openai.pricing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages import Call, Media, Message, Opaque, Result, Thinking
from assembler.conversation.messages.foreign_parts import adapt_message, is_mark
from assembler.conversation.messages.items_in_content import (
    as_items,
    as_responses_sends,
    is_cut_up,
    is_sent_thought,
    turns_of,
)
from assembler.conversation.messages.responses import join_turns, without_unfollowed_reasoning
from assembler.conversation.messages.responses_items import RESPONSES, is_sendable
from assembler.conversation.turns import head_length
from assembler.dialects.api import Api
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.hosts.upstream import upstream_pricer
from assembler.dialects.openai.bill import OpenAIBill
from assembler.dialects.openai.families import family_of
from assembler.dialects.openai.pricing import price_calls, price_one_tool, price_tools
from assembler.dialects.openai.unread_fields import price_unread
from assembler.dialects.openai_responses.api import API, STORED
from assembler.dialects.openai_responses.wire import ItemIds, flat_definition, input_items
from assembler.dialects.prices.graded import graded_pricer
from assembler.dialects.prices.message_fields import price_reasoning
from assembler.dialects.prices.unknown_models import guessed_pricer, in_items, unknown_model_pricer
from assembler.dialects.reading.parse_steps import no_history, options_in, read_messages
from assembler.dialects.writing.fields import choice_of, named_schema
from assembler.dialects.writing.notes import Notes
from assembler.errors import ConversationError, ToolError
from assembler.pricing.hosted import price_in_name
from assembler.pricing.opaque import price_opaque
from assembler.pricing.pricer import FixedPrices, Has, Piece, Pricer
from assembler.pricing.unread_keys import bound_of_texts
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool, read_tools
from assembler.text.fields import fields_in
from budgets import Count, Grade, TokenCounter
from budgets.count import NOTHING, total

PRO_PROMPT = Count(1_531, Grade.ESTIMATED, upper=2_000)
"""The hidden prompt of `reasoning.mode: "pro"`: one recording (gpt-5.6)."""

_OWNED = ("instructions", "input", "tools")


@attrs.frozen
class OpenAIResponses:
    """OpenAI Responses. The request is `{"instructions", "input", "tools"}`, without empty ones.

    Head messages stay items with their own role. Names and other providers' reasoning are left out. Several texts of
    one assistant message are joined, as they are billed. Parts of Chat Completions get this API's type names, which
    depend on the role.
    """

    name: str = "openai_responses"
    api: Api = attrs.field(default=API, init=False, repr=False, eq=False)
    opening: Opening = Opening.ANY

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a body: `instructions` is the system text, leading system items are the head.

        Reasoning, text and calls of one turn of the model become one message. A text as `input` is one user message.
        """
        instructions, given = request.get("instructions"), request.get("input")
        if not isinstance(instructions, str | None):
            raise ConversationError(f"instructions must be text, got {type(instructions).__name__}")
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        if not isinstance(given, list | tuple | None):
            raise ConversationError(f"input must be text or a list of items, got {type(given).__name__}")
        if given is None and not any(request.get(key) for key in (*STORED, "instructions")):
            raise no_history(request, "input", "the body of a Responses call")
        items = read_messages(cast("list[object]", given or ()))
        head = head_length(items)
        return Layout(
            system=instructions,
            head=items[:head],
            messages=join_turns(items[head:]),
            tools=read_tools(request.get("tools") or ()),
            options=options_in(request, _OWNED),
        )

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """The price list of the model's family on this API, or of the host of a model that is not OpenAI's."""
        rules = OpenAIResponsesPricer(family_of(model, "responses"), count, model)
        own = unknown_model_pricer(rules, model, count, in_items)
        host_pricer = upstream_pricer(model, count, "responses") or guessed_pricer(model, count, self.pricer, in_items)
        return graded_pricer(host_pricer or own, count, price_in_name(model))

    def options(self, layout: Layout) -> dict[str, Any]:
        """`text.format` and `tool_choice` (OpenAI API reference, read 2026-11)."""
        choice = choice_of(layout, lambda name: {"type": "function", "name": name})
        if layout.output is None:
            return choice
        return {"text": {"format": {"type": "json_schema", **named_schema(layout.output)}}} | choice

    def sends_reasoning(self, thought: Thinking, message: Message) -> bool:
        """Whether it is a reasoning item of this API, also in a message's content."""
        return is_sent_thought(thought, message)

    def emit(self, layout: Layout) -> Emission:
        """`instructions`, `input` and `tools`. `input` needs an item, so a system text alone becomes one.

        Raises `ConversationError` for an empty layout.
        """
        ids, notes = ItemIds(), Notes()
        items = input_items([*layout.head, *layout.messages], ids, notes)
        request: dict[str, Any] = {}
        if layout.system is not None and items:
            request["instructions"] = layout.system
        elif layout.system is not None:
            items = [{"role": "system", "content": layout.system}]
        if not items:
            raise ConversationError("Responses needs at least one item of input; add an instruction or a message")
        request["input"] = items
        if layout.tools:
            request["tools"] = [flat_definition(tool) for tool in layout.tools]
        return Emission(request | self.options(layout), notes.lines(), ids.taken, id_repeats=ids.repeats)

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission | None:
        """Append the added items; None if the whole request must be written again."""
        if before.notes or len(before.request["input"]) < 2:  # a single item may be the system text
            return None
        ids, notes = ItemIds(), Notes()
        ids.continue_from(before.call_ids, before.id_repeats)
        items = input_items(added, ids, notes)
        if ids.strays or any(notes.values()):
            return None
        request = {**before.request, "input": [*before.request["input"], *items]}
        return Emission(request, (), before.call_ids | ids.taken, id_repeats=ids.repeats)


openai_responses = OpenAIResponses()


@attrs.frozen(eq=False)
class OpenAIResponsesPricer(OpenAIBill):
    """Prices requests of one family: each item is a message. The message with the tools has no billed envelope."""

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Price the instructions in pieces, the head, and the tools as this API reads them."""
        return super().fixed(pieces, head, [_read_as_shown(tool) for tool in tools])

    def message(self, message: Message) -> Count:
        """Price one message: each stretch of text is an item, the calls together, and each result.

        An item of the server's, or of an unknown type, is estimated by its words, with a bound.
        """
        if is_cut_up(message):
            return total(map(self.message, turns_of(message)))
        original, message = message, self.as_sent(message)
        calls: list[Call] = []
        stretch: list[str | Media] = []
        bill = NOTHING
        for part in message.parts:
            if is_mark(part) or (type(part) is Thinking and not is_sent_thought(part, message)):
                continue  # not sent: its neighbours form one item
            if isinstance(part, str | Media):
                stretch.append(part)
                continue
            bill += self._price_stretch(message, stretch)
            stretch = []
            match part:
                case Call():
                    calls.append(part)
                case Result():
                    bill += self.texts(self.envelope, [inner for inner in part.parts if isinstance(inner, str)])
                    bill += total(self._price_held(inner) for inner in part.parts if not isinstance(inner, str))
                case Thinking():
                    bill += price_reasoning(part, self.count, self.envelope)
                case Opaque():
                    bill += self._price_item(part)
        bill += self._price_stretch(message, stretch)
        if not calls:
            return bill
        replayed = self.family.calls.replayed if len(calls) == 1 and _is_replayed(original) else 0
        return bill + Count(self.envelope + replayed) + price_calls(calls, self.family, self.count)

    def as_sent(self, message: Message) -> Message:
        """The message with the parts of other APIs as texts, or left out."""
        return as_responses_sends(adapt_message(message, RESPONSES))

    def unread(self, message: Message) -> Count:
        """Bound the text in fields that no one reads."""
        return price_unread(message, "responses")

    def join(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Join the items of one model turn, as they are sent and billed."""
        return join_turns(as_items(messages) if any(map(_is_renamed, messages)) else messages)

    def sends_results_last(self) -> bool:
        """False: this API accepts an item of the model between two outputs."""
        return False

    def drop_unsent(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages without reasoning items that no item of the model follows."""
        return without_unfollowed_reasoning(messages)

    def options(self, layout: Layout) -> Count:
        """Price a forced tool, serial calls, an output schema and the pro mode; stored items make it an estimate."""
        options = layout.options
        form = fields_in(options, "text").get("format")
        unseen = any(options.get(key) for key in STORED)
        return total(
            [
                *self.settings(layout, options.get("tool_choice"), form),
                Count(0, Grade.ESTIMATED) if unseen else NOTHING,
                PRO_PROMPT if fields_in(options, "reasoning").get("mode") == "pro" else NOTHING,
            ]
        )

    def _price_held(self, part: Media | Opaque) -> Count:
        """Price a part of a result other than a text."""
        return self.medium(part) if isinstance(part, Media) else self._price_item(part)

    def _price_item(self, part: Opaque) -> Count:
        """Price an item of the server's, or of an unknown type."""
        if is_mark(part):
            return NOTHING
        picture: object = part.raw.get("result")
        if part.kind == "image_generation_call" and isinstance(picture, str):
            others = bound_of_texts(held for key, held in part.raw.items() if key != "result")
            return self.medium(Media("image", {"type": "image", "data": picture})) + Count(self.envelope) + others
        if part.kind == "additional_tools":
            return self._price_loaded_tools(part)
        return Count(self.envelope) + price_opaque(part, self.count)

    def _price_loaded_tools(self, part: Opaque) -> Count:
        """Price the tools in an item: each declaration, and a preamble like that of a request's own tools."""
        try:
            tools = read_tools(part.raw.get("tools"))
        except ToolError:
            return Count(self.envelope) + price_opaque(part, self.count)
        declared = price_tools(tools, self.family, self.count, Has.SYSTEM | Has.TOOLS) if tools else NOTHING
        each = total(price_one_tool(tool, self.family, self.count) for tool in tools)
        tokens = self.envelope + declared.tokens
        return Count(tokens, Grade.ESTIMATED, upper=tokens + max(0, declared.upper - declared.tokens) + each.upper // 8)

    def _price_stretch(self, message: Message, stretch: Sequence[str | Media]) -> Count:
        """Price one item of texts and media that stand next to each other."""
        texts = [part for part in stretch if isinstance(part, str)]
        if len(texts) == len(stretch):
            return self._price_written(message, texts)
        media = total(self.medium(part) for part in stretch if isinstance(part, Media))
        return media + (self._price_written(message, texts) if texts else Count(self.envelope))

    def _price_written(self, message: Message, texts: Sequence[str]) -> Count:
        if message.role != "assistant":
            return self.texts(self.envelope, texts) if texts else NOTHING
        if any(texts):
            own = Count(self.family.assistant_text)
            return own + self.texts(self.envelope, texts if is_sendable(message) else ["".join(texts)])
        return Count(self.family.empty_assistant) if texts and is_sendable(message) else NOTHING


def _is_renamed(message: Message) -> bool:
    """Whether an item comes with parts of another API: it is one of the model's turn under their names here."""
    return message.shape == RESPONSES and not is_sendable(message)


def _read_as_shown(tool: Tool) -> Tool:
    """A tool as this API reads it. Of one in Chat's form with an extra top-level `name`, it reads only the name.

    73 such requests were billed so (one repository, October and November 2025). Of a deferred tool the model sees name
    and description (OpenAI, "Tool search", read 2026-11).
    """
    if tool.extra.get("defer_loading") is True:
        return attrs.evolve(tool, parameters={})
    fields = fields_in(tool.seen)
    if "function" not in fields or "name" not in fields:
        return tool
    description: object = fields.get("description")
    return attrs.evolve(
        tool,
        description=description if isinstance(description, str) else "",
        parameters=fields_in(fields, "parameters"),
    )


def _is_replayed(message: Message) -> bool:
    """Whether a message's call is an item of the server, unchanged."""
    if message.shape != RESPONSES:  # an item in a content is sent with its id and its status too
        return any(_is_served(part.raw) for part in message.parts if type(part) is Opaque)
    items = cast("list[Mapping[str, Any]]", message.seen if isinstance(message.seen, list) else [message.seen])
    return any(map(_is_served, items))


def _is_served(item: Mapping[str, Any]) -> bool:
    return bool(item.get("type") == "function_call" and item.get("id") and item.get("status"))
