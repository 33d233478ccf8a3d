"""Prices requests of Chat Completions, and what both APIs of OpenAI bill alike: the fixed part, settings, media."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import cast

import attrs

from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.extra_fields import refusal_of
from assembler.conversation.messages.foreign_parts import as_chat_sends, is_mark
from assembler.conversation.messages.responses import join_steps
from assembler.conversation.messages.responses_items import RESPONSES
from assembler.conversation.messages.results_first import results_first
from assembler.dialects.blocks.pricing import lone_texts
from assembler.dialects.openai.framing import SHAPE_OF, Family
from assembler.dialects.openai.pricing import (
    FUNCTION_ROLE,
    price_calls,
    price_function_call,
    price_one_tool,
    price_parallel_tool_calls,
    price_response_format,
    price_results,
    price_tool_choice,
    price_tools,
)
from assembler.dialects.openai.respelled import is_foreign_thought, result_texts
from assembler.dialects.openai.unread_fields import price_unread
from assembler.dialects.openai.wire import is_empty_for_chat, is_sent_in_content
from assembler.dialects.prices.key_order import customary_tools, price_in_order
from assembler.dialects.prices.message_fields import price_fields
from assembler.dialects.writing.fields import tool_choice_in
from assembler.dialects.writing.media_in_results import adapt_with_media, all_with_media_after_results
from assembler.pricing.media import read_media
from assembler.pricing.media.openai import detail_of, price_file, price_media
from assembler.pricing.opaque import price_opaque
from assembler.pricing.pricer import FixedPrices, Has, JoiningPricer, Piece, answered_at_once, price_pieces
from assembler.regions.layout import Layout
from assembler.regions.tools import Tool
from assembler.text.fields import fields_in, items_of
from budgets import Count, Grade, TokenCounter, Tokens
from budgets.apportion import split_framing
from budgets.count import NOTHING, Difference, exact, total
from budgets.counters.guard import count_each

ROLE = 1
"""Tokens of any role word: each is one token in both vocabularies."""

_LAST_WORDS = 64
"""How many characters of a text hold the last piece that is split into tokens."""


@attrs.frozen(eq=False)
class OpenAIBill(JoiningPricer, abc.ABC):
    """Prices requests of one family on one API: primer + messages + tools."""

    family: Family
    count: TokenCounter
    model: str | None = None
    """The model's name: image prices differ within a family."""
    envelope: Tokens = attrs.field(
        default=attrs.Factory(lambda self: self.family.per_message + ROLE, takes_self=True), init=False, repr=False
    )
    """What a message costs on top of its text."""

    @abc.abstractmethod
    def message(self, message: Message) -> Count:
        """Price one message with its framing."""

    @abc.abstractmethod
    def as_sent(self, message: Message) -> Message:
        """The message with the parts that this API gets."""

    def fixed(self, pieces: Sequence[Piece], head: Sequence[Message], tools: Sequence[Tool]) -> FixedPrices:
        """Price the system text in pieces, the head, the tools, the primer, and once the slack of a request."""
        texts = [piece.text for piece in pieces]
        closing = "\n" if tools and self.family.system_newline_with_tools else ""
        if texts:
            texts[-1] += closing
        speaks = list(map(self._sends_something, head)) if head else []
        first = speaks.index(True) if closing and not texts and True in speaks else None
        system = texts or True in speaks
        each, tooling = split_framing(*self._price_tools(tools, Has.what(system, tools))) if tools else ((), NOTHING)
        framing = self.family.primer + (self.envelope if texts else 0)
        slack = self.family.text_slack + (self.family.tooled_slack if tools else self.family.untooled_slack)
        return FixedPrices(
            pieces=tuple(Count(n) for n in price_pieces(texts, self.count)),
            head=tuple(
                self._price_head(message, closing if place == first else "") for place, message in enumerate(head)
            ),
            tools=each,
            tooling=tooling,
            framing=Count(framing, self.family.text_grade, framing + slack),
        )

    def _price_tools(self, tools: Sequence[Tool], has: Has) -> tuple[Count, list[Count]]:
        """Price all tools with the text around them, and each alone."""
        ordered = customary_tools(tools, SHAPE_OF[self.family.api])

        def price(shown: Sequence[Tool]) -> Count:
            return price_tools(shown, self.family, self.count, has)

        def price_one(tool: Tool) -> Count:
            return price_one_tool(tool, self.family, self.count)

        each = [price_in_order(*pair, price_one) for pair in zip(tools, ordered, strict=True)]
        return price_in_order(tools, ordered, price), each

    def settings(self, layout: Layout, choice: object, form: object, *, answers: int = 0) -> list[Count]:
        """Price a forced tool, serial calls and an output schema in a request with so many `answers`."""
        tools = layout.tools
        serial = layout.options.get("parallel_tool_calls") if tools else None
        speaks = layout.system is not None or (layout.head and any(map(self._sends_something, layout.head)))
        has = Has.what(speaks, tools)
        asked = price_response_format(form, self.family, self.count, has, answers=answers)
        return [
            price_tool_choice(choice, self.family, self.count, tools),
            price_parallel_tool_calls(serial, self.family),
            asked + Count(self._count_closing(layout)) if asked.tokens and not tools else asked,
        ]

    def _count_closing(self, layout: Layout) -> Tokens:
        """What the break between the first system text and an output schema costs: nothing after punctuation."""
        closing = self.family.schema.closing
        if not closing:
            return 0
        system = layout.system
        if system is None:
            speaking = next(filter(self._sends_something, layout.head), None)
            texts = [part for part in self.as_sent(speaking).parts if type(part) is str] if speaking else []
            system = texts[-1] if texts else None
        end = system[-_LAST_WORDS:] if system else ""
        return self.count(end + closing) - self.count(end) if end else 0

    def text(self, tokens: Tokens) -> Count:
        """The price of so many tokens of plain text."""
        grade = self.family.text_grade
        return Count(tokens, grade) if grade else exact(tokens)

    def texts(self, envelope: Tokens, texts: Sequence[str]) -> Count:
        """Price several texts joined without a separator: exact in 3 of 4 recordings; counted separately, in 2 of 4."""
        if len(texts) < 2:
            return self.text(envelope + (self.count(texts[0]) if texts else 0))
        as_one, apart = self.count("".join(texts)), sum(map(self.count, texts))
        return Count(envelope + as_one, max(Grade.BOUNDED, self.family.text_grade), envelope + max(as_one, apart))

    def medium(self, part: Media) -> Count:
        """Price an image, a document or a sound by its published formula."""
        facts = read_media(part)
        if facts.text is not None:
            return price_file(facts, self.count(facts.text))
        return price_media(facts, detail_of(part), self.model)

    def _sends_something(self, message: Message) -> bool:
        """Whether anything of a system message is sent."""
        if message.text is not None or message.extra_fields:
            return True
        return not all(map(is_mark, self.as_sent(message).parts))

    def _price_head(self, message: Message, closing: str) -> Count:
        """Price a head message. Tools add a line break to the first system text."""
        texts = [part for part in self.as_sent(message).parts if type(part) is str] if closing else []
        if not texts:
            return self.message(message)
        # A line break after blanks may save tokens: together they are one piece of the vocabulary.
        grown = self.count(texts[-1] + closing) - self.count(texts[-1])
        return self.message(message) + Difference(grown, upper=grown)


@attrs.frozen(eq=False)
class OpenAIChatPricer(OpenAIBill):
    """Prices requests of one family: each message is between control tokens."""

    each_answer: Tokens = 0
    """What each assistant's text costs more in a request with an answer format, if the messages include that."""

    def formatted(self) -> OpenAIChatPricer:
        """The price list for requests with an answer format, which adds to each assistant's text."""
        each = self.family.schema.each_answer
        return self if self.each_answer == each else attrs.evolve(self, each_answer=each)

    def message(self, message: Message) -> Count:
        """Price one message with its envelope. Each of several results has its own."""
        text, role = message.text, message.role
        if text is not None and role != "tool" and message.name is None and not message.extra_fields:
            if role != "assistant":
                return self.text(self.envelope + self.count(text))
            if text and message.shape != "openai":
                written = self.family.assistant_text + self.each_answer
                return self.text(self.envelope + written + self.count(text))
        if role != "assistant" and (answers := _read_lone_answers(message)):
            if len(answers) == 1:
                return self.text(self.envelope + self.count(answers[0]))
            if self.family.results_in_one:
                return Count(self.envelope) + price_results(answers, self.family, self.count)
        return self._price_composed(message)

    def messages(self, messages: Sequence[Message]) -> list[Count]:
        """Price each message as `message` does. If all are texts, they are counted together."""
        texts = lone_texts(messages)
        if texts is None or any(message.role == "tool" or message.shape == "openai" for message in messages):
            return list(map(self.message, messages))
        answer = self.envelope + self.family.assistant_text + self.each_answer
        counts = zip(messages, count_each(self.count, texts), strict=True)
        return [self.text((answer if it.role == "assistant" else self.envelope) + tokens) for it, tokens in counts]

    def as_sent(self, message: Message) -> Message:
        """The message with the parts of other APIs as texts, or left out."""
        return _find_sent_parts(message)

    def unread(self, message: Message) -> Count:
        """Bound the text in fields that no one reads."""
        return price_unread(message, "chat")

    def join(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Join the items of one model turn, and the results of one step, as they are billed."""
        if not all(map(_is_of_texts, messages)):  # texts alone need no rearranging
            messages = results_first(all_with_media_after_results(join_steps(messages), "openai"))
        return answered_at_once(messages, self.bills_results_together)

    def bills_results_together(self, message: Message, before: Message) -> bool:
        """Whether two neighbours are results of one step, which the model gets as one list."""
        if not self.family.results_in_one:
            return False
        return _answers_by_id(message) and _answers_by_id(before)  # texts are sent after all answers

    def options(self, layout: Layout) -> Count:
        """Price a forced tool, serial calls and an output schema. Other options are free."""
        choice = tool_choice_in(layout.options) if layout.options else None
        answers = 0 if self.each_answer else sum(map(_says_something, map(_find_sent_parts, layout.messages)))
        return total(self.settings(layout, choice, layout.options.get("response_format"), answers=answers))

    def _price_composed(self, message: Message) -> Count:
        kinds = set(map(type, message.parts))
        if kinds == _CALLS and _holds_calls_alone(message):
            calls = cast("tuple[Call, ...]", message.parts)
            return self.text(self.envelope) + price_calls(calls, self.family, self.count)
        message = _find_sent_parts(message)
        if is_empty_for_chat(message) or not (message.parts or message.extra_fields):
            return Count(0)
        results = [part for part in message.parts if type(part) is Result] if Result in kinds else []
        if len(results) > 1 and self.family.results_in_one:
            texts = ["".join(result_texts(result)) for result in results]
            bill = [Count(self.envelope) + price_results(texts, self.family, self.count)]
        else:
            bill = [self._price_result(result, message) for result in results]
        rest = message.parts if kinds.isdisjoint(_APART) else _list_other_parts(message)
        if rest or (message.extra_fields and not results):
            bill += self._price_content(message, rest)
        if message.extra_fields or Thinking in map(type, message.parts):
            bill.append(self._price_other_fields(message))
        return bill[0] if len(bill) == 1 else total(bill)

    def _price_other_fields(self, message: Message) -> Count:
        """Price the fields other than the content. OpenAI ignores all but sound (12 recordings of one project)."""
        fields = price_fields(message, self.count)
        if self.family.grade is Grade.ESTIMATED or "audio" in message.extra_fields:
            return fields
        return Count(0, fields.grade, fields.upper)

    def _count_envelope(self, message: Message) -> Tokens:
        name = 0 if message.name is None else self.count(message.name) + self.family.per_name
        return self.envelope + name

    def _price_result(self, result: Result, message: Message) -> Count:
        tokens = self.envelope  # the name of the message stands with its texts
        older = result.function is not None or (message.shape == "openai" and message.seen["role"] == "function")
        if older:  # only for the role "function" the name is billed
            tokens = max(0, tokens + FUNCTION_ROLE)  # a search model bills no envelope
            if (name := result.function or result.name) is not None:
                tokens += self.count(name) + self.family.per_name
        price = self.texts(tokens, result_texts(result))
        media = [self._price_medium(part) for part in result.parts if type(part) is Opaque and not is_mark(part)]
        return total(media, price) if media else price

    def _price_content(self, message: Message, parts: Sequence[object]) -> list[Count]:
        """Price the texts in their envelope, the media and the calls."""
        texts = [part for part in parts if type(part) is str]
        calls = [part for part in parts if type(part) is Call]
        tokens = self.envelope if message.name is None else self._count_envelope(message)
        if texts and message.role == "assistant" and any(texts):
            tokens += self.family.assistant_text + self.each_answer
        bill = [self.texts(tokens, texts) if texts else self.text(tokens)]
        if (
            message.shape == "openai"
            and message.role == "assistant"
            and texts
            and not calls
            and _holds_refusal(message)
        ):
            bill.append(_REFUSED)
        if len(texts) + len(calls) < len(parts):
            bill += map(self._price_medium, parts)
        if calls and message.shape == "openai" and message.seen.get("function_call"):
            bill.append(price_function_call(calls[0], self.family, self.count))
        elif calls:
            if any(texts):
                bill.append(Count(self.family.calls.beside_text))
            bill.append(price_calls(calls, self.family, self.count))
        return bill

    def _price_medium(self, part: object) -> Count:
        """Price an image, a document or a sound by its published formula, an unknown part by its words."""
        if isinstance(part, Opaque):
            return price_opaque(part, self.count)
        return self.medium(part) if isinstance(part, Media) else Count(0)


_CALLS = {Call}
_REFUSED = Count(0, Grade.BOUNDED, upper=3)
"""What a refusal, which is in Chat's own form of an answer, may cost beyond its text: no recording has one."""


def _holds_refusal(message: Message) -> bool:
    """Whether a text of a Chat message is a refusal: in a field of its own, or a part of the content."""
    fields = fields_in(message.seen)
    listed = items_of(fields.get("content"))
    return refusal_of(fields) is not None or any(fields_in(part).get("type") == "refusal" for part in listed)


_APART = {Result, Thinking}


def _find_sent_parts(message: Message) -> Message:
    """The message with the parts that this API gets: parts of other APIs are texts, or left out."""
    return as_chat_sends(adapt_with_media(message, "openai"))


def _list_other_parts(message: Message) -> list[Part]:
    """The parts that are sent besides results. Another model's reasoning is not sent."""
    return [
        part
        for part in message.parts
        if type(part) is not Result
        and (not is_foreign_thought(part) or is_sent_in_content(cast("Thinking", part), message))
    ]


def _holds_calls_alone(message: Message) -> bool:
    """Whether a message holds only calls and is sent unchanged, as most are."""
    plain = message.shape == "openai" and message.name is None and not message.extra_fields
    return plain and not message.seen.get("function_call")


def _read_lone_answers(message: Message) -> list[str] | None:
    """The texts of a message that holds only tool answers of one text each, as most do, else None."""
    if (
        message.extra_fields
        or message.name is not None
        or (message.shape == "openai" and message.seen["role"] != "tool")
    ):
        return None
    texts: list[str] = []
    for part in message.parts:
        if type(part) is not Result or part.function is not None:
            return None
        if len(part.parts) != 1 or type(part.parts[0]) is not str:
            return None
        texts.append(part.parts[0])
    return texts


def _says_something(message: Message) -> bool:
    """Whether a message has a text of the assistant."""
    return message.role == "assistant" and any(part and isinstance(part, str) for part in message.parts)


def _is_of_texts(message: Message) -> bool:
    """Whether a message is a text or a tool result of one text: it is sent as one message, in its place."""
    return message.shallow and message.shape != RESPONSES


def _answers_by_id(message: Message) -> bool:
    """Whether a message holds results, except the answer to a legacy function call, which is a message of its own."""
    if message.shape == "openai":
        return message.seen["role"] != "function" and Result in map(type, message.parts)
    return any(part.function is None for part in message.parts if type(part) is Result)
