"""The dialect of Mistral's chat API.

Its form is Chat Completions with its own message order and ids (`assembler.dialects.mistral.wire`). Its prices follow
the control tokens of its open template (`assembler.dialects.mistral.pricing`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages import Call, Message, Opaque, Part, Result, Thinking
from assembler.dialects.api import Api
from assembler.dialects.blocks.pricing import lone_text
from assembler.dialects.blocks.unread_fields import price_unread
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.hosts.pricing import price_system
from assembler.dialects.mistral.api import API
from assembler.dialects.mistral.calls_with_ids import write_with_ids
from assembler.dialects.mistral.families import SETTINGS, VOCABULARY, MistralFamily, family_of
from assembler.dialects.mistral.pricing import price_message
from assembler.dialects.mistral.shape import SHAPE
from assembler.dialects.mistral.wire import (
    definition,
    in_chat_shape,
    is_empty,
    own_thinking,
    write_messages,
    write_messages_after,
)
from assembler.dialects.openai_chat.dialect import openai_chat
from assembler.dialects.prices.families import estimate_with_slack
from assembler.dialects.prices.graded import counts_for_open_model, estimated_for, graded_pricer, own_counter
from assembler.dialects.prices.key_order import customary_tools, price_in_order
from assembler.dialects.writing.media_in_results import adapt_with_media
from assembler.dialects.writing.notes import BRIDGE, Notes
from assembler.errors import ConversationError
from assembler.pricing.pricer import FixedPrices, MergingPricer, Piece, Pricer
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from assembler.text.fields import fields_in, fields_of, json_in
from budgets import Count, Grade, TokenCounter
from budgets.apportion import split_framing
from budgets.count import NOTHING, Difference

NEWEST = "mistral-small"
"""The model that is priced if none is named."""

CHUNK_SEAM = "\n\n"
"""The template's separator between two texts of one message up to tokenizer v13; from v15 on there is none
(mistral-common, protocol/instruct/normalize.py, read 2026-11)."""


@attrs.frozen
class Mistral:
    """Mistral's chat API. The request is `{"messages", "tools"}`, without empty `tools`.

    Notes list what had to change: a system message after an answer becomes the user's; an assistant message `BRIDGE` is
    put between a tool's answer and the user; an assistant message at the end becomes a prefix to continue; speakers'
    names and other models' reasoning are left out.
    """

    name: str = "mistral"
    api: Api = attrs.field(default=API, init=False, repr=False, eq=False)
    opening: Opening = Opening.ANY

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a request: leading system messages are the head, the rest is the conversation."""
        return openai_chat.parse(request)

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """The model's price list. Mistral's bundled vocabulary replaces a default counter for OpenAI."""
        own, family = own_counter(VOCABULARY, count), family_of(model or NEWEST)
        opening = estimated_for(model, VOCABULARY, family.opening)
        stand_in = family.stand_in if counts_for_open_model(own) else None
        return graded_pricer(MistralPricer(attrs.evolve(family, opening=opening, stand_in=stand_in), own), own)

    def options(self, layout: Layout) -> dict[str, Any]:
        """`response_format` and `tool_choice`, where `any` means `required` (Mistral API reference, 2026-11)."""
        options = openai_chat.options(layout)
        return options | {"tool_choice": "any"} if options.get("tool_choice") == "required" else options

    def sends_reasoning(self, thought: Thinking, message: Message) -> bool:
        """Whether it is Mistral's own reasoning."""
        return own_thinking(thought)

    def emit(self, layout: Layout) -> Emission:
        """`messages`, with the system text first, and `tools`. Raises `ConversationError` without a message."""
        sent = write_messages(_list_messages(layout))
        if not sent.messages:
            raise ConversationError("Mistral needs at least one message; add an instruction or a message")
        request: dict[str, Any] = {"messages": sent.messages}
        if layout.tools:
            request["tools"] = [definition(tool) for tool in layout.tools]
        return Emission(request | self.options(layout), sent.notes.lines())

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission | None:
        """Append the added messages; None if the whole request must be written again."""
        sent = None if before.notes else write_messages_after(before.request["messages"], added)
        return None if sent is None else Emission({**before.request, "messages": [*before.request["messages"], *sent]})


mistral = Mistral()


def _list_messages(layout: Layout) -> list[Message]:
    """All messages, with the system text as the first."""
    sent = [*layout.head, *layout.messages]
    if not layout.system:
        return sent
    fields = {"role": "system", "content": layout.system}
    return [Message("system", (layout.system,), fields, "openai", fields, shallow=True), *sent]


_SAFE_PROMPT = Difference(40, Grade.ESTIMATED, upper=80)
"""The two sentences that `safe_prompt` adds (Mistral docs, Guardrailing, read 2026-11). Not recorded."""
_REASONING_PROMPT = Difference(200, Grade.ESTIMATED, upper=600)
"""The default system prompt that `prompt_mode` adds (Mistral docs, Reasoning, read 2026-11). Not recorded."""


def _price_hidden_prompts(options: Mapping[str, Any]) -> Difference:
    """Price the prompts that the service adds for these options."""
    safe = _SAFE_PROMPT if options.get("safe_prompt") is True else Difference()
    return safe + _REASONING_PROMPT if options.get("prompt_mode") == "reasoning" else safe


@attrs.frozen(eq=False)
class MistralPricer(MergingPricer):
    """Prices requests of one family: opening + messages + tools, each between control tokens.

    With the model's own tokenizer the tokens are exact. Two messages of one role in a row are billed as one, which
    saves some tokens. The bound of a message with calls includes the bridge that may have to follow its answers.
    """

    family: MistralFamily
    count: TokenCounter
    bridged: bool = False
    """Whether the messages already contain every bridge."""

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Price the system text in pieces, the head, the tools, and the opening."""
        texts = [piece.text for piece in pieces]
        each_piece = tuple(map(self._price_text, texts))
        each_tool = tuple(
            price_in_order(*pair, self._price_tool)
            for pair in zip(tools, customary_tools(tools, SHAPE.name), strict=True)
        )
        system = price_system("".join(texts), self.family, self.count)
        own_pieces, around_system = split_framing(system, each_piece)
        own_tools, tooling = split_framing(self._price_tool_list(tools), each_tool)
        return FixedPrices(
            pieces=own_pieces,
            head=tuple(map(self.message, head)),
            tools=own_tools,
            tooling=tooling,
            framing=self.family.opening + around_system,
        )

    def message(self, message: Message) -> Count:
        """Price one message with its control tokens. A call's arguments are spaced JSON, as in the template."""
        if lone_text(message) is not None:
            sent = message.with_parts(_strip_end(message.parts)) if message.role == "assistant" else message
            return price_message(sent, self.family, self.count)
        message = adapt_with_media(message, "mistral")
        if is_empty(message):
            return NOTHING
        parts = self._find_billed_parts(message.parts)
        if not parts and message.role == "assistant":
            return NOTHING  # only another model's reasoning, which is left out
        if message.role == "assistant":
            parts = _strip_end(parts)
        role = "tool" if parts and all(type(part) is Result for part in parts) else message.role
        calls = any(type(part) is Call for part in parts)
        shown = write_with_ids(parts) if self.family.writes_ids else parts
        bill = price_message(attrs.evolve(message, role=role, parts=shown), self.family, self.count)
        bill += self.family.call_list if calls else NOTHING
        if message.role == "assistant" and fields_in(message.seen).get("prefix") is True:
            bill += NOTHING - Count(self.family.assistant.tokens)  # a prefix has no end token
        return bill + self._bridge_price if calls and not self.bridged else bill

    def unread(self, message: Message) -> Count:
        """Bound the text in fields that no one reads."""
        return price_unread(in_chat_shape(message, Notes()), "mistral")

    def when_sent(self) -> MistralPricer:
        """The pricer for messages that already contain every bridge."""
        return self if self.bridged else attrs.evolve(self, bridged=True)

    def options(self, layout: Layout) -> Difference:
        """Price an answer format, and what `none` saves, which leaves the tools out (6 of 7 recordings)."""
        hidden = Difference()
        if layout.options.get("tool_choice") == "none":
            tools = self._price_tool_list([tool for tool in layout.tools if tool.api is None])
            hidden = Difference(-tools.tokens, tools.grade, upper=0)  # older templates do not leave them out
        return self._price_answer_format(layout) + hidden + _price_hidden_prompts(layout.options)

    def _price_answer_format(self, layout: Layout) -> Difference:
        """Price an answer format, which replaces the settings block (3 recordings). Its schema may be in the prompt."""
        wanted = fields_of(layout.options.get("response_format"))
        if wanted is None or wanted.get("type") == "text":  # the default, written out
            return Difference()
        instead = -SETTINGS if self._is_newest else 0
        schema = wanted.get("json_schema")
        if schema is None:
            return Difference(instead, Grade.BOUNDED, upper=0)
        return Difference(instead, Grade.ESTIMATED, upper=self._price_text(_write_json(schema)).upper)

    @property
    def _is_newest(self) -> bool:
        return self.family.name == NEWEST

    @property
    def _bridge_price(self) -> Count:
        bridge = self.family.assistant + self._price_text(BRIDGE)
        return Count(0, Grade.BOUNDED, upper=bridge.upper)

    def _price_tool_list(self, tools: Sequence[Tool]) -> Count:
        """Price all definitions as one JSON list between two control tokens."""
        if not tools:
            return NOTHING
        texts = price_in_order(tools, customary_tools(tools, SHAPE.name), self._price_definitions)
        return self.family.tooling + estimate_with_slack(0, len(tools)) + texts

    def _price_definitions(self, tools: Sequence[Tool]) -> Count:
        return self._price_text(f"[{', '.join(map(_show_tool, tools))}]")

    def _price_tool(self, tool: Tool) -> Count:
        return estimate_with_slack(1, 1) + self._price_text(_show_tool(tool))

    def _price_text(self, text: str) -> Count:
        return Count(self.count(text))

    def _find_billed_parts(self, parts: Sequence[Part]) -> tuple[Part, ...]:
        """The parts that are in the prompt, with the texts that the template writes."""
        seam = "" if self._is_newest else CHUNK_SEAM
        billed: list[Part] = []
        for part in parts:
            match part:
                case str() if billed and type(billed[-1]) is str:
                    billed[-1] = seam.join((billed[-1], part)) if part else billed[-1]
                case Call():
                    billed.append(attrs.evolve(part, arguments=_rewrite_arguments(part.arguments)))
                case Result():
                    billed.append(attrs.evolve(part, parts=_join_texts(part, seam)))
                case Thinking() if not own_thinking(part):
                    continue
                case Thinking():
                    billed.append(attrs.evolve(part, text=_join_thought(part)))
                case "":
                    continue
                case _:
                    billed.append(part)
        return tuple(billed)


def _join_texts(result: Result, seam: str) -> tuple[str | Opaque, ...]:
    text = seam.join(part for part in result.parts if isinstance(part, str) and part)
    return (text, *(part for part in result.parts if isinstance(part, Opaque)))


def _strip_end(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Strip the end of an assistant's text, as the template does, unless the message has thoughts."""
    if any(type(part) is Thinking for part in parts):
        return parts
    return tuple(part.rstrip(" ") if isinstance(part, str) else part for part in parts)


def _join_thought(part: Thinking) -> str:
    chunks = cast("list[Mapping[str, Any]]", part.raw["thinking"])
    return "".join(str(chunk.get("text", "")) for chunk in chunks)


def _show_tool(tool: Tool) -> str:
    """Write a definition as the template does, with the schema that is sent."""
    schema = definition(tool)["function"]["parameters"]
    function = {"name": tool.name, "description": tool.description, "parameters": schema}
    return _write_json({"type": "function", "function": function})


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _rewrite_arguments(arguments: str) -> str:
    """Write arguments as the template does: parsed and written again, or as a JSON string if they are not JSON."""
    try:
        return _write_json(json_in(arguments)) if arguments else "{}"
    except ValueError:
        return _write_json(arguments)
