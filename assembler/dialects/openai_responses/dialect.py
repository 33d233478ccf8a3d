"""OpenAI Responses: how its requests are read, billed and written.

Rules and 400 texts: OpenAI API reference, /v1/responses, and public issue threads, read 2026-11. The bill:
`assembler.dialects.openai.pricing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages import Call, Media, Message, Opaque, Result, Thinking
from assembler.conversation.messages.foreign_parts import adapt_message, as_responses_sends, is_mark
from assembler.conversation.messages.responses import RESPONSES, join_turns, sendable, without_torn
from assembler.conversation.turns import head_length
from assembler.dialects.api import Api
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.graded import graded_pricer
from assembler.dialects.hosts.upstream import upstream_pricer
from assembler.dialects.message_fields import price_reasoning
from assembler.dialects.notes import Notes
from assembler.dialects.openai.bill import OpenAIBill
from assembler.dialects.openai.families import family_of
from assembler.dialects.openai.pricing import price_calls, price_one_tool, price_tools
from assembler.dialects.openai_responses.api import API, STORED
from assembler.dialects.openai_responses.wire import ItemIds, flat_definition, input_items
from assembler.dialects.output_and_choice import choice_of, named_schema
from assembler.dialects.reading import options_in, read_messages
from assembler.dialects.unknown_models import guessed_pricer, in_items, unknown_model_pricer
from assembler.errors import ConversationError, ToolError
from assembler.pricing.media import read_media
from assembler.pricing.media.openai import price_original
from assembler.pricing.opaque import price_opaque
from assembler.pricing.pricer import FixedPrices, Has, Piece, Pricer
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool, read_tools
from assembler.text.fields import fields_in
from budgets import Count, Grade, TokenCounter
from budgets.count import NOTHING, total

PRO_PROMPT = Count(1_531, Grade.ESTIMATED, upper=2_000)
"""What `reasoning.mode: "pro"` adds: a prompt of the server's own, seen once (gpt-5.6)."""

_OWNED = ("instructions", "input", "tools")


@attrs.frozen
class OpenAIResponses:
    """Responses. Request: `{"instructions", "input", "tools"}`, the first and last left out where there is nothing.

    Head messages stay items with their own role. A name on a message, and another provider's reasoning, have no place
    here and are left out; several texts of one assistant message are joined, as they are billed. In a list that mixes
    parts of Chat Completions and of this API, each goes out with the name that this API gives it, by who says it.
    """

    name: str = "openai_responses"
    api: Api = attrs.field(default=API, init=False, repr=False, eq=False)
    opening: Opening = Opening.ANY

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a Responses body: `instructions` the system text, leading system items the head.

        Reasoning, text and calls of one turn of the model become one message; a text as `input` is one user message.
        """
        instructions, given = request.get("instructions"), request.get("input")
        if not isinstance(instructions, str | None):
            raise ConversationError(f"instructions must be text, got {type(instructions).__name__}")
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        if not isinstance(given, list | tuple | None):
            raise ConversationError(f"input must be text or a list of items, got {type(given).__name__}")
        if given is None and not any(request.get(key) for key in (*STORED, "instructions")):
            raise ConversationError("request has no input; expected the body of a Responses call")
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
        """The price list of the model's family on this API, or of its host where it is no model of OpenAI."""
        rules = OpenAIResponsesPricer(family_of(model, "responses"), count, model)
        own = unknown_model_pricer(rules, model, count, in_items)
        other = upstream_pricer(model, count, "responses") or guessed_pricer(model, count, self.pricer, in_items)
        return graded_pricer(other or own, count)

    def options(self, layout: Layout) -> dict[str, Any]:
        """`text.format` and `tool_choice`: OpenAI API reference, read 2026-11."""
        choice = choice_of(layout, lambda name: {"type": "function", "name": name})
        if layout.output is None:
            return choice
        return {"text": {"format": {"type": "json_schema", **named_schema(layout.output)}}} | choice

    def hears(self, thought: Thinking, message: Message) -> bool:
        """Items of its own."""
        return sendable(message)

    def emit(self, layout: Layout) -> Emission:
        """`instructions`, `input` and `tools`. A system text alone goes out as an item, since `input` must hold one.

        Raises `ConversationError` where there is nothing at all.
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
        return Emission(request | self.options(layout), notes.lines(), ids.taken)

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission | None:
        """What was emitted, and the items that were added, where their calls and outputs are their own and nothing had
        to be noted.
        """
        if before.notes or len(before.request["input"]) < 2:  # a system text alone goes out as an item
            return None
        ids, notes = ItemIds(), Notes()
        items = input_items(added, ids, notes)
        if ids.strays or not ids.taken.isdisjoint(before.call_ids) or any(notes.values()):
            return None
        return Emission(
            {**before.request, "input": [*before.request["input"], *items]}, call_ids=before.call_ids | ids.taken
        )


openai_responses = OpenAIResponses()


@attrs.frozen(eq=False)
class OpenAIResponsesPricer(OpenAIBill):
    """The bill of Responses for one family: each item is a message. Tools stand in a message that is not billed."""

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """The instructions in their pieces, the head, the tools as this API reads them."""
        return super().fixed(pieces, head, [_as_shown(tool) for tool in tools])

    def message(self, message: Message) -> Count:
        """One message: each stretch of text is an item, its calls are one, and so is each result.

        An item of the server's, and one of an unknown kind, costs what its words do: an estimate, with a bound.
        """
        message = as_responses_sends(adapt_message(message, RESPONSES))
        calls: list[Call] = []
        said: list[str] = []
        bill = NOTHING
        for part in message.parts:
            if is_mark(part) or (type(part) is Thinking and not sendable(message)):
                continue  # is not sent: what stands around it is one item
            if isinstance(part, str):
                said.append(part)
                continue
            if isinstance(part, Media):
                bill += self.medium(part)
                continue
            bill += self._spoken(message, said)
            said = []
            match part:
                case Call():
                    calls.append(part)
                case Result():
                    bill += self.texts(self.envelope, [inner for inner in part.parts if isinstance(inner, str)])
                    bill += total(self._held(inner) for inner in part.parts if not isinstance(inner, str))
                case Thinking():
                    bill += price_reasoning(part, self.count, self.envelope)
                case Opaque():
                    bill += self._opaque(part)
        bill += self._spoken(message, said)
        if message.parts and all(isinstance(part, Media) for part in message.parts):
            bill += Count(self.envelope)
        if not calls:
            return bill
        replayed = self.family.calls.replayed if len(calls) == 1 and _is_replayed(message) else 0
        return bill + Count(self.envelope + replayed) + price_calls(calls, self.family, self.count)

    def joined(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Items of one turn of the model go out, and are billed, side by side."""
        return join_turns(messages)

    def puts_answers_last(self) -> bool:
        """No: this API takes an item of the model between two outputs."""
        return False

    def heard(self, messages: Sequence[Message]) -> Sequence[Message]:
        """All but torn reasoning."""
        return without_torn(messages)

    def options(self, layout: Layout) -> Count:
        """A forced tool, serial calls, an output schema, and the warning that stored items are not in the request."""
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

    def medium(self, part: Media) -> Count:
        """By the same formula, but for a picture that the model is to see as it is."""
        facts = read_media(part)
        if facts.kind == "image" and facts.text is None and part.raw.get("detail") == "original":
            return price_original(facts)
        return super().medium(part)

    def _held(self, part: Media | Opaque) -> Count:
        """What a result holds beside text."""
        return self.medium(part) if isinstance(part, Media) else self._opaque(part)

    def _opaque(self, part: Opaque) -> Count:
        """An item of the server's, or of a kind that is not known yet."""
        if is_mark(part):
            return NOTHING
        picture: object = part.raw.get("result")
        if part.kind == "image_generation_call" and isinstance(picture, str):
            return self.medium(Media("image", {"type": "image", "data": picture})) + Count(self.envelope)
        if part.kind == "additional_tools":
            return self._loaded(part)
        return Count(self.envelope) + price_opaque(part, self.count)

    def _loaded(self, part: Opaque) -> Count:
        """Tools that come with an item: each as it is declared, and as much of a preamble as a request's own have."""
        try:
            tools = read_tools(part.raw.get("tools"))
        except ToolError:
            return Count(self.envelope) + price_opaque(part, self.count)
        declared = price_tools(tools, self.family, self.count, Has.SYSTEM | Has.TOOLS) if tools else NOTHING
        each = total(price_one_tool(tool, self.family, self.count) for tool in tools)
        tokens = self.envelope + declared.tokens
        return Count(tokens, Grade.ESTIMATED, upper=tokens + max(0, declared.upper - declared.tokens) + each.upper // 8)

    def _spoken(self, message: Message, texts: Sequence[str]) -> Count:
        if message.role != "assistant":
            return self.texts(self.envelope, texts) if texts else NOTHING
        if any(texts):
            own = Count(self.family.assistant_text)
            return own + self.texts(self.envelope, texts if sendable(message) else ["".join(texts)])
        return Count(self.family.empty_assistant) if texts and sendable(message) else NOTHING


def _as_shown(tool: Tool) -> Tool:
    """A tool as this API reads it: of one that is spelled for Chat Completions and has a `name` beside, the name alone.

    73 such requests were billed so (one repository, October and November 2025). Of a deferred tool the model sees name
    and description (OpenAI, "Tool search", read 2026-11).
    """
    if tool.extra.get("defer_loading") is True:
        return attrs.evolve(tool, parameters={})
    fields = fields_in(tool.seen)
    if "function" not in fields or "name" not in fields:
        return tool
    said: object = fields.get("description")
    return attrs.evolve(
        tool, description=said if isinstance(said, str) else "", parameters=fields_in(fields, "parameters")
    )


def _is_replayed(message: Message) -> bool:
    """Whether a message's call is an item as the server sent it."""
    if message.shape != RESPONSES:
        return False
    items = cast("list[Mapping[str, Any]]", message.seen if isinstance(message.seen, list) else [message.seen])
    return any(item.get("type") == "function_call" and item.get("id") and item.get("status") for item in items)
