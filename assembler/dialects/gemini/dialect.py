"""The dialect of Gemini's generateContent.

Rules and texts of 400 errors: Gemini API reference, google-genai 3.4.0 and public issue threads, read 2026-11. Prices:
`assembler.dialects.gemini.pricing`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages import Call, Media, Message, Result, Thinking, read_message
from assembler.conversation.messages.responses import in_steps, join_turns
from assembler.dialects.api import Api
from assembler.dialects.blocks.pricing import as_sent, lone_text, media_in, with_object, with_parts
from assembler.dialects.blocks.turns import Ending, Turn, turns_to_add, turns_to_send, with_added
from assembler.dialects.blocks.unread_fields import price_unread
from assembler.dialects.blocks.writer import Block
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.gemini import pricing as google
from assembler.dialects.gemini.api import API
from assembler.dialects.gemini.families import VOCABULARY, Answers, Family, family_of
from assembler.dialects.gemini.forms import in_form_of
from assembler.dialects.gemini.parts import (
    GeminiWriter,
    as_answered,
    declarations,
    read_either,
    schema_of,
    sends,
    setting_of,
    with_json_schema,
)
from assembler.dialects.prices.families import for_another_vocabulary
from assembler.dialects.prices.graded import (
    counts_for_open_model,
    counts_for_openai,
    estimated_for,
    grade_price,
    own_counter,
)
from assembler.dialects.reading.parse_steps import no_history, options_in, read_messages
from assembler.dialects.writing.fields import asked_choice, bare_schema
from assembler.dialects.writing.media_in_results import adapt_with_media
from assembler.pricing.media import gemini as pictures
from assembler.pricing.media import read_media
from assembler.pricing.opaque import price_unread_parts
from assembler.pricing.pricer import FixedPrices, JoiningPricer, MergingPricer, Piece, price_pieces
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool, read_tools
from assembler.text.fields import fields_of
from budgets import Count, TokenCounter
from budgets.count import NOTHING, Difference, total

_NEWEST = ""
"""Stands for no model name: priced as the newest family."""
_OWNED = ("contents", "system_instruction", "systemInstruction", "tools")


@attrs.frozen
class Gemini:
    """generateContent, in google-genai's form: `{"contents", "config": {"system_instruction", "tools"}}`.

    Empty keys, and an empty `config`, are left out; add your own settings to `config`. Keys in the wire's camelCase
    stay so, since the SDK and the API read both. All responses of a step are in one turn without other parts; a user
    text after them is in the next turn. Thought signatures are not changed. Calls of other providers get the dummy
    signature that Google documents. A tool's text answer becomes `{"output": text}`, that of a failed call
    `{"error": text}`. Head system messages join the system instruction; one inside the conversation is folded into a
    user turn. Empty texts, names, and other models' reasoning are left out. A conversation that ends with the model's
    turn raises `ConversationError`. Binary data is base64.
    """

    name: str = "gemini"
    api: Api = attrs.field(default=API, init=False, repr=False, eq=False)
    opening: Opening = Opening.USER

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a request in the SDK's or the wire's form. A text is a content of one part."""
        if request.get("contents") is None:
            raise no_history(request, "contents", "the arguments of generateContent")
        config: Mapping[str, Any] = request.get("config") or {}
        instruction = read_either(request, "system_instruction", read_either(config, "system_instruction"))
        tools: object = request.get("tools") or config.get("tools") or ()
        options = options_in(request, (*_OWNED, "config"))
        options |= options_in(config, _OWNED)
        messages = read_messages(_list_contents(request["contents"]))
        return Layout(
            system=instruction if isinstance(instruction, str) and instruction else None,
            head=[] if isinstance(instruction, str) or not instruction else [_read_head(instruction)],
            messages=messages,
            tools=read_tools(tools),
            options=options,
        )

    def pricer(self, model: str | None, count: TokenCounter) -> GeminiPricer:
        """The prices of the model's family on its host. Gemma's vocabulary replaces a default OpenAI counter."""
        family = family_of(model or _NEWEST)
        opening = estimated_for(model, VOCABULARY, family.opening)
        stands_in = counts_for_openai(count) or counts_for_open_model(count)
        ceiling = family.ceiling if stands_in else 1.0
        return GeminiPricer(attrs.evolve(family, opening=opening, ceiling=ceiling), own_counter(VOCABULARY, count))

    def options(self, layout: Layout) -> dict[str, Any]:
        """A `config` with `response_json_schema` and `tool_config` (Gemini API reference, read 2026-11)."""
        modes = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
        options: dict[str, Any] = {}
        if layout.output is not None:
            options["response_mime_type"] = "application/json"
            options["response_json_schema"] = bare_schema(layout.output)
        if (choice := asked_choice(layout)) is not None:
            mode = {"mode": modes[choice]} if choice in modes else {"mode": "ANY", "allowed_function_names": [choice]}
            options["tool_config"] = {"function_calling_config": mode}
        return options

    def sends_reasoning(self, thought: Thinking, message: Message) -> bool:
        """Whether it is Gemini's own reasoning."""
        return sends(thought, message.shape)

    def emit(self, layout: Layout) -> Emission:
        """`contents` and `config`. Raises `ConversationError`, `ToolError` and `UnsupportedContentError`."""
        writer = GeminiWriter()
        turns = turns_to_send(self, layout, writer, Ending.USER)
        config: dict[str, Any] = {}
        system = writer.system_instruction(layout.system, writer.adapt(layout.head))
        if system:
            config["system_instruction"] = system
        if layout.tools:
            config["tools"] = declarations(layout.tools)
        config |= self.options(layout)
        request: dict[str, Any] = {"contents": [content for turn in turns for content in _write_turn(turn)]}
        sent = {**request, "config": config} if config else request
        return Emission(sent, writer.notes.lines(), writer.ids.taken, id_repeats=writer.ids.repeats)

    def in_form_of(self, body: Mapping[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        """A request with its `config` as the REST API has it, if the body is one of REST's."""
        return in_form_of(body, request)

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission | None:
        """Append the contents of the added messages; None if the whole request must be written again."""
        writer = GeminiWriter()
        turns = turns_to_add(self, before, added, writer, Ending.USER)
        if turns is None:
            return None
        return with_added(before, "contents", (content for turn in turns for content in _write_turn(turn)), writer)


gemini = Gemini()


def _write_turn(turn: Turn) -> list[Block]:
    """A turn's contents: the responses in a separate one, as the API demands, and everything else."""
    role = "model" if turn.side == "assistant" else "user"
    framed = [(turn.frame, turn.results), (turn.rest, turn.blocks)]
    return [{**_add_role(frame, role), "parts": parts} for frame, parts in framed if parts]


def _add_role(frame: Block, role: str) -> Block:
    """The content with its role. A user content that had no role gets none."""
    return frame if frame and "role" not in frame and role == "user" else {**frame, "role": role}


def _list_contents(given: object) -> list[object]:
    """Contents as a list. The SDK also takes one text, one content, one part, and lists of these."""
    return [_read_content(item) for item in _as_list(given)]


def _as_list(given: object) -> list[object]:
    return [*cast("list[object]", given)] if isinstance(given, list | tuple) else [given]


def _read_content(item: object) -> object:
    if isinstance(item, str):
        return {"role": "user", "parts": [{"text": item}]}
    fields = fields_of(item)
    is_content = any(hasattr(item, key) if fields is None else key in fields for key in ("parts", "role"))
    return item if is_content else {"role": "user", "parts": [item]}


def _read_head(given: object) -> Message:
    """Read the system instruction, a content or parts, as a head message."""
    if "parts" in (fields_of(given) or ()):
        return attrs.evolve(read_message(given, 0), role="system")
    parts = [{"text": part} if isinstance(part, str) else part for part in _as_list(given)]
    return attrs.evolve(read_message({"parts": parts}, 0), role="system")


@attrs.frozen(eq=False)
class GeminiPricer(MergingPricer, JoiningPricer):
    """Prices requests of one family: a framing for each content and declaration, and the texts.

    Messages in one content share its framing.
    """

    family: Family
    count: TokenCounter
    shape: str = "gemini"
    """The shape of the API that carries the request, whose own parts are sent unchanged."""

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Price the system instruction in pieces, as one content, and the declarations."""
        framing = self.family.opening + (self._price_instruction(pieces, head) if pieces or head else NOTHING)
        return FixedPrices(
            pieces=tuple(
                self._grade_count(Count(p)) for p in price_pieces([piece.text for piece in pieces], self.count)
            ),
            head=tuple(
                self._price_texts([p for p in message.parts if isinstance(p, str)])
                + self._grade_count(price_unread_parts(message, self.count))
                for message in (adapt_with_media(message, self.shape) for message in head)
            ),
            tools=self._price_tools(tools),
            framing=framing,
        )

    def message(self, message: Message) -> Count:
        """Price one content, or two for responses and other parts. Raises for media without a price.

        A call of another provider also pays for the name in its result, which only Gemini's form repeats.
        """
        if (text := lone_text(message)) is not None:
            content = google.price_content(message, self.family)
            return self._grade_count(content + google.price_texts((text,), self.count))
        sent = as_sent(adapt_with_media(message, self.shape), sends)
        if sent is None:
            return Count(0)
        billed = with_parts(sent, with_object)
        billed = billed if sent.shape == "gemini" else with_parts(billed, as_answered)
        price = google.price_message(billed, self.family, self.count)
        results = sum(type(part) is Result for part in message.parts)
        if 0 < results < len(message.parts):
            price += self.family.content
        if message.shape != "gemini" and message.role == "assistant":
            price += self._price_texts([part.name for part in message.parts if isinstance(part, Call)])
        return self._grade_count(total(map(self._price_media, media_in(sent)), price))

    def unread(self, message: Message) -> Count:
        """Bound the text in fields that no one reads."""
        return price_unread(message, self.shape)

    def join(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Join the items of one model turn, as they are sent and billed."""
        return join_turns(in_steps(messages))

    def forgets_reasoning(self) -> bool:
        """Whether thought signatures before words of the user are free, as for 2.5."""
        return self.family.forgets_signatures

    def ends_reasoning(self, message: Message, opening: Message | None = None) -> bool:
        """Whether it holds words of the user, and the model forgets reasoning."""
        return self.family.forgets_signatures and google.asks(message)

    def without_reasoning(self, message: Message) -> Message:
        """The message without the signatures of its calls."""
        return google.without_signatures(message)

    def options(self, layout: Layout) -> Difference:
        """Price the output schema and the media resolution. The calling mode is free (12 recordings)."""
        return (self._price_schema(layout) - NOTHING) + self._price_resolution(layout)

    def _price_instruction(self, pieces: Sequence[Piece], head: Sequence[Message]) -> Count:
        """Price the role of the system instruction: a text has one, several parts have the caller's own."""
        texts = any(piece.text for piece in pieces) + sum(
            type(part) is str for message in head for part in message.parts
        )
        own = google.has_no_role(head[0]) if len(head) == 1 and not pieces else texts > 1
        return google.without_role(self.family) if own else self.family.content

    def _price_resolution(self, layout: Layout) -> Difference:
        """Price what the resolution of a whole request adds or saves. A part's own resolution goes before it."""
        level = setting_of(layout.options, "media_resolution")
        sent = (as_sent(adapt_with_media(message, self.shape), sends) for message in layout.messages if level)
        media = [part for message in sent if message is not None for part in media_in(message)]
        changed = (
            self._grade_count(self._price_media(part, level)) - self._grade_count(self._price_media(part))
            for part in media
        )
        return functools.reduce(operator.add, changed, Difference())

    def _price_schema(self, layout: Layout) -> Count:
        """Price the output schema, if the family bills it."""
        schema = schema_of(layout.options, "response_schema")
        if schema is not None and self.family.answers is Answers.BILLED:
            return self._grade_count(google.price_answer_schema(schema, self.family, self.count))
        asked = schema or schema_of(layout.options, "response_json_schema")
        if asked is None or self.family.answers is not Answers.AS_JSON:
            return Count(0)
        return self._grade_count(google.price_answer_as_json(asked, self.count))

    def _price_tools(self, tools: Sequence[Tool]) -> tuple[Count, ...]:
        hidden = frozenset[str]()
        if self.shape == "gemini" and self.family.hides_json_schemas:
            hidden = with_json_schema(tools)
        return tuple(self._price_tool(tool, hidden) for tool in tools)

    def _price_tool(self, tool: Tool, hidden: frozenset[str]) -> Count:
        price = self._grade_count(google.price_tool(tool, self.family, self.count))
        if tool.name not in hidden:
            return price
        shown = google.price_tool(attrs.evolve(tool, parameters={}), self.family, self.count)
        return Count(shown.tokens, price.grade, price.upper)

    def _price_texts(self, texts: Sequence[str]) -> Count:
        return self._grade_count(google.price_texts(texts, self.count))

    def _price_media(self, part: Media, level: object = None) -> Count:
        facts = read_media(part)
        if facts.text is not None:
            return pictures.price_file(self.count(facts.text))
        rates, asked = self.family.rates, fields_of(read_either(part.raw, "media_resolution"))
        if asked is not None and isinstance(rates, pictures.Flat):
            level = asked.get("level", level)
        return pictures.price_resolved(facts, rates, level)

    def _grade_count(self, price: Count) -> Count:
        if self.family.ceiling > 1:
            price = for_another_vocabulary(price, self.family.ceiling)
        return grade_price(price, self.count)
