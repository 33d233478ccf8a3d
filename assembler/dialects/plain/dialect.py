"""The dialect for requests without a model: it prices the texts alone, without any framing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never, cast

import attrs

from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.dicts import PIN, private_copy
from assembler.conversation.messages.extra_fields import find_unread_fields
from assembler.conversation.messages.foreign_parts import is_mark
from assembler.conversation.messages.parts import CHAT_SHAPES, compact_json
from assembler.conversation.turns import head_length
from assembler.dialects.api import Api, Wordless
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.prices.unknown_models import unknown_model_pricer
from assembler.dialects.reading.parse_steps import listed_messages, options_in, read_messages
from assembler.dialects.writing.fields import named_schema, named_tool, own_fields
from assembler.errors import ConversationError
from assembler.pricing.media import read_media
from assembler.pricing.opaque import price_opaque
from assembler.pricing.pricer import FixedPrices, Piece, Pricer, price_pieces
from assembler.pricing.unread_fields import has_a_content, price_fields_as_they_came
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool, read_tools
from assembler.regions.tools.tool import own_definition
from assembler.text.fields import fields_in
from budgets import Count, Grade, TokenCounter, Tokens
from budgets.count import NOTHING, grade_of, total


@attrs.frozen
class Plain:
    """No API. The request is `{"system", "messages", "tools"}`, without empty ones."""

    name: str = "plain"
    api: Api = attrs.field(
        default=Api(shape="plain", priced=("output_schema",), wordless=Wordless.NONE), init=False, repr=False, eq=False
    )
    opening: Opening = Opening.ANY

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a plain request: leading system messages are the head, the rest is the conversation."""
        messages = read_messages(listed_messages(request, "{'messages': […]}"))
        head = head_length(messages)
        options = options_in(request, ("system", "messages", "tools"))
        tools = read_tools(request.get("tools") or ())
        system: object = request.get("system")
        if not isinstance(system, str | None):
            raise ConversationError(f"system must be text, got {type(system).__name__}")
        return Layout(system=system, head=messages[:head], messages=messages[head:], tools=tools, options=options)

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """A pricer of texts: exact without a model or for a known vocabulary, else an estimate."""
        return unknown_model_pricer(PlainPricer(count), model, count)

    def options(self, layout: Layout) -> dict[str, Any]:
        """`output_schema`. A tool choice has no text, so `emit` leaves it out, with a note."""
        return {} if layout.output is None else {"output_schema": named_schema(layout.output)}

    def emit(self, layout: Layout) -> Emission:
        """The regions under their names. Message dicts are copied; other objects become role and content."""
        request: dict[str, Any] = {}
        if layout.system is not None:
            request["system"] = layout.system
        request["messages"] = [spell_message(message) for message in (*layout.head, *layout.messages)]
        if layout.tools:
            request["tools"] = [definition(tool) for tool in layout.tools]
        notes = () if layout.choice is None else ("1 tool choice left out",)
        return Emission(request | self.options(layout), notes)

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission:
        """Append the added messages."""
        return Emission(
            {**before.request, "messages": [*before.request["messages"], *map(spell_message, added)]}, before.notes
        )


plain = Plain()


@attrs.frozen(eq=False)
class PlainPricer:
    """Prices texts: contents, call names and arguments, and tool definitions as compact JSON."""

    count: TokenCounter

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Price every piece, head message and tool by its text, without framing."""
        return FixedPrices(
            pieces=tuple(self._grade_tokens(n) for n in price_pieces([piece.text for piece in pieces], self.count)),
            head=tuple(self.message(message) for message in head),
            tools=tuple(self._grade_tokens(self.count(compact_json(definition(tool)))) for tool in tools),
        )

    def message(self, message: Message) -> Count:
        """Price the texts of one message."""
        others = total(map(self._price_other_part, message.parts))
        parts = self._grade_tokens(sum(self._count_part(part) for part in message.parts))
        return parts + self._price_unread(message) + others

    def _price_other_part(self, part: Part) -> Count:
        """Price what is sent but is no text of this API's."""
        match part:
            case Media():
                from assembler.pricing.media.open_models import price_medium  # for media alone

                facts, words = read_media(part), Count(sum(map(self.count, _list_captions(part))), Grade.ESTIMATED)
                if facts.text is None:
                    return price_medium(facts) + words
                return Count(self.count(facts.text), Grade.ESTIMATED) + words
            case Opaque() if not is_mark(part):
                return price_opaque(part, self.count)
            case Result():
                return total(map(self._price_other_part, part.parts))
            case _:
                return NOTHING

    def _price_unread(self, message: Message) -> Count:
        """Price the fields of a message that are sent but not read."""
        keys = message.extra_fields
        if message.shape not in CHAT_SHAPES and has_a_content(message):  # rewritten, it may be a message in that form
            keys = find_unread_fields(message.seen)
        if not keys:
            return Count(0)
        return Count(sum(self.count(compact_json(message.seen[key])) for key in keys), Grade.ESTIMATED)

    def unread(self, message: Message) -> Count:
        """Bound the text in fields that no one reads."""
        return price_fields_as_they_came(message)

    def options(self, layout: Layout) -> Count:
        """Price an output schema as compact JSON."""
        asked = layout.options.get("output_schema")
        return Count(0) if asked is None else self._grade_tokens(self.count(compact_json(asked)))

    def _grade_tokens(self, tokens: Tokens) -> Count:
        """A count with the counter's grade; a plain function is exact."""
        return Count(tokens, grade_of(self.count))

    def _count_part(self, part: Part) -> Tokens:
        match part:
            case str():
                return self.count(part)
            case Call():
                return self.count(part.name) + self.count(part.arguments)
            case Result():
                return sum(self._count_part(inner) for inner in part.parts)
            case Thinking():
                return self.count(part.text)
            case Opaque() | Media():
                return 0  # a cache mark, or priced beside the texts as an estimate
            case _ as never:
                assert_never(never)


def _list_captions(part: Media) -> list[str]:
    """The title, the context or the name of a file, which is sent with it."""
    inner = fields_in(part.raw, "document")
    captions = (part.raw.get("title"), part.raw.get("context"), inner.get("name"), inner.get("context"))
    return [text for text in captions if isinstance(text, str)]


def definition(tool: Tool) -> dict[str, Any]:
    """A tool's name, description and parameters, without empty ones."""
    if tool.api is not None:
        return own_definition(tool)
    schema = {"parameters": own_fields(tool.parameters)} if tool.parameters else {}
    return {**named_tool(tool), **schema}


def spell_message(message: Message) -> dict[str, Any]:
    """The caller's dict without this library's own key, or role and content of another object."""
    fields = cast("dict[str, Any]", private_copy(message.seen))
    fields.pop(PIN, None)
    return fields
