"""The dialect of OpenAI's Chat Completions.

Rules and texts of 400 errors: OpenAI API reference, /v1/chat/completions, and public issue threads, read 2026-11.
Prices: `assembler.dialects.openai.pricing`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from assembler.conversation.messages import Call, Media, Message, Opaque, Part, Result, Thinking
from assembler.conversation.messages.answers_first import answers_first
from assembler.conversation.messages.extra_fields import REASONING as REASONING_FIELDS
from assembler.conversation.messages.foreign_parts import as_chat_sends
from assembler.conversation.messages.responses import RESPONSES, join_steps
from assembler.conversation.turns import head_length
from assembler.dialects.api import Api
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.graded import graded_pricer
from assembler.dialects.hosts.upstream import upstream_pricer
from assembler.dialects.left_beside import note_left
from assembler.dialects.message_fields import price_fields
from assembler.dialects.notes import SILENT, Notes
from assembler.dialects.openai.bill import OpenAIBill
from assembler.dialects.openai.families import family_of
from assembler.dialects.openai.pricing import FUNCTION_ROLE, price_calls, price_function_call, price_results
from assembler.dialects.openai.wire import (
    is_foreign_thought,
    result_texts,
    says_nothing,
    sent_alone,
    stays,
    tool_definition,
    wire_messages,
)
from assembler.dialects.openai_chat.api import API
from assembler.dialects.output_and_choice import choice_of, named_schema
from assembler.dialects.reading import listed_messages, options_in, read_messages
from assembler.dialects.shown_beside import adapt_with_media, all_shown_beside
from assembler.dialects.unknown_models import guessed_pricer, in_chat, unknown_model_pricer
from assembler.errors import ConversationError
from assembler.pricing.opaque import price_opaque
from assembler.pricing.pricer import Pricer, answered_at_once
from assembler.regions.layout import Layout
from assembler.regions.tools import read_tools
from assembler.text.fields import fields_in, fields_of, items_of
from budgets import Count, Grade, TokenCounter, Tokens
from budgets.count import total


@attrs.frozen
class OpenAIChat:
    """Chat Completions. The request is `{"messages", "tools"}`, without empty `tools`."""

    name: str = "openai_chat"
    api: Api = attrs.field(default=API, init=False, repr=False, eq=False)
    opening: Opening = Opening.ANY

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """Return the regions of a body: leading system messages are the head, the rest is the conversation.

        It accepts more than `build` does, so that any request that the API billed can be priced.
        """
        listed = listed_messages(request, "the body of a Chat Completions call")
        messages = read_messages(as_billed(listed))
        head = head_length(messages)
        tools = read_tools([*(request.get("tools") or ()), *(request.get("functions") or ())])
        options = options_in(request, ("messages", "tools", "functions"))
        return Layout(head=messages[:head], messages=messages[head:], tools=tools, options=options)

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """Return the price list of the model's family, or of the maker or host of a model that is not OpenAI's."""
        own = unknown_model_pricer(OpenAIChatPricer(family_of(model), count, model), model, count, in_chat)
        other = upstream_pricer(model, count, "chat") or guessed_pricer(model, count, self.pricer, in_chat)
        return graded_pricer(other or own, count)

    def options(self, layout: Layout) -> dict[str, Any]:
        """Return `response_format` and `tool_choice` (OpenAI API reference, read 2026-11)."""
        choice = choice_of(layout, lambda name: {"type": "function", "function": {"name": name}})
        if layout.output is None:
            return choice
        return {"response_format": {"type": "json_schema", "json_schema": named_schema(layout.output)}} | choice

    def hears(self, thought: Thinking, message: Message) -> bool:
        """True for reasoning in a message field, and for reasoning parts of compatible APIs."""
        return not is_foreign_thought(thought) or stays(thought, message)

    def emit(self, layout: Layout) -> Emission:
        """Return `messages`, with the system text first, and `tools`. Raises `ConversationError` without a message."""
        messages: list[dict[str, Any]] = []
        if layout.system is not None:
            messages.append({"role": "system", "content": layout.system})
        notes = Notes()
        spoken = [*layout.head, *layout.messages]
        note_left(spoken, "openai", notes)
        messages += wire_messages(spoken, notes)
        if not messages:
            raise ConversationError("Chat Completions needs at least one message; add an instruction or a message")
        request: dict[str, Any] = {"messages": messages}
        if layout.tools:
            request["tools"] = [tool_definition(tool) for tool in layout.tools]
        return Emission(request | self.options(layout), notes.lines())

    def emit_after(self, before: Emission, added: Sequence[Message]) -> Emission | None:
        """Append the added messages; None if the whole request must be written again.

        A message that sends nothing may join the next one: an item of reasoning, and its answer.
        """
        if before.notes and any(note.endswith(SILENT) for note in before.notes):
            return None
        sent = sent_alone(added)
        if sent is None:
            return None
        return Emission({**before.request, "messages": [*before.request["messages"], *sent]}, before.notes)


openai_chat = OpenAIChat()


@attrs.frozen(eq=False)
class OpenAIChatPricer(OpenAIBill):
    """Prices requests of one family: each message is between control tokens."""

    beside_format: Tokens = 0
    """What each assistant's text costs more in a request with an answer format, if the messages include that."""

    def formatted(self) -> OpenAIChatPricer:
        """Return the price list for requests with an answer format, which adds to each assistant's text."""
        each = self.family.schema.each_answer
        return self if self.beside_format == each else attrs.evolve(self, beside_format=each)

    def message(self, message: Message) -> Count:
        """Price one message with its envelope. Each of several results has its own."""
        parts, role = message.parts, message.role
        if len(parts) == 1 and type(parts[0]) is str and role != "tool" and message.name is None and not message.beside:
            if role != "assistant":
                return self.text(self.envelope + self.count(parts[0]))
            if parts[0]:
                beside = self.family.assistant_text + self.beside_format
                return self.text(self.envelope + beside + self.count(parts[0]))
        if role != "assistant" and (answers := _answers_alone(message)):
            if len(answers) == 1:
                return self.text(self.envelope + self.count(answers[0]))
            if self.family.results_in_one:
                return Count(self.envelope) + price_results(answers, self.family, self.count)
        return self._composed(message)

    def joined(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Join the items of one model turn, and the results of one step, as they are billed."""
        if not all(map(_is_of_texts, messages)):  # texts alone need no rearranging
            messages = answers_first(all_shown_beside(join_steps(messages), "openai"))
        return answered_at_once(messages, self.answers_together)

    def answers_together(self, message: Message, before: Message) -> bool:
        """True if two neighbours are results of one step, which the model gets as one list."""
        if not self.family.results_in_one:
            return False
        return _answers_by_id(message) and _answers_by_id(before)  # texts are sent after all answers

    def options(self, layout: Layout) -> Count:
        """Price a forced tool, serial calls and an output schema. Other options are free."""
        choice = layout.options.get("tool_choice", layout.options.get("function_call"))
        answers = 0 if self.beside_format else sum(map(_says_something, map(_as_sent, layout.messages)))
        return total(self.settings(layout, choice, layout.options.get("response_format"), answers=answers))

    def _composed(self, message: Message) -> Count:
        kinds = set(map(type, message.parts))
        if kinds == _CALLS and _calls_alone(message):
            calls = cast("tuple[Call, ...]", message.parts)
            return self.text(self.envelope) + price_calls(calls, self.family, self.count)
        message = _as_sent(message)
        if says_nothing(message) or not message.parts:
            return Count(0)
        results = [part for part in message.parts if type(part) is Result] if Result in kinds else []
        if len(results) > 1 and self.family.results_in_one:
            texts = ["".join(result_texts(result)) for result in results]
            bill = [Count(self._envelope(message)) + price_results(texts, self.family, self.count)]
        else:
            bill = [self._result(result, message) for result in results]
        rest = message.parts if kinds.isdisjoint(_APART) else _beside_results(message)
        if rest or (message.beside and not results):
            bill += self._spoken(message, rest)
        if message.beside or Thinking in map(type, message.parts):
            bill.append(self._beside(message))
        return bill[0] if len(bill) == 1 else total(bill)

    def _beside(self, message: Message) -> Count:
        """Price the fields other than the content. OpenAI ignores all but sound (12 recordings of one project)."""
        fields = price_fields(message, self.count)
        if self.family.grade is Grade.ESTIMATED or "audio" in message.beside:
            return fields
        return Count(0, fields.grade, fields.upper)

    def _envelope(self, message: Message) -> Tokens:
        name = 0 if message.name is None else self.count(message.name) + self.family.per_name
        return self.envelope + name

    def _result(self, result: Result, message: Message) -> Count:
        tokens = self._envelope(message)
        if message.shape == "openai" and message.seen["role"] == "function":  # only for this role the name is billed
            tokens += FUNCTION_ROLE
            if result.name is not None:
                tokens += self.count(result.name) + self.family.per_name
        said = self.texts(tokens, result_texts(result))
        beside = [self._medium(part) for part in result.parts if type(part) is Opaque]
        return total(beside, said) if beside else said

    def _spoken(self, message: Message, parts: Sequence[object]) -> list[Count]:
        """Price the texts in their envelope, the media and the calls."""
        texts = [part for part in parts if type(part) is str]
        calls = [part for part in parts if type(part) is Call]
        tokens = self.envelope if message.name is None else self._envelope(message)
        if texts and message.role == "assistant" and any(texts):
            tokens += self.family.assistant_text + self.beside_format
        bill = [self.texts(tokens, texts) if texts else self.text(tokens)]
        if len(texts) + len(calls) < len(parts):
            bill += map(self._medium, parts)
        if calls and message.shape == "openai" and message.seen.get("function_call"):
            bill.append(price_function_call(calls[0], self.family, self.count))
        elif calls:
            if any(texts):
                bill.append(Count(self.family.calls.beside_text))
            bill.append(price_calls(calls, self.family, self.count))
        return bill

    def _medium(self, part: object) -> Count:
        """Price an image, a document or a sound by its published formula, an unknown part by its words."""
        if isinstance(part, Opaque):
            return price_opaque(part, self.count)
        return self.medium(part) if isinstance(part, Media) else Count(0)


_CALLS = {Call}


_APART = {Result, Thinking}


def _as_sent(message: Message) -> Message:
    """Return the message with the parts that this API gets: parts of other APIs are texts, or left out."""
    return as_chat_sends(adapt_with_media(message, "openai"))


def _beside_results(message: Message) -> list[Part]:
    """Return the parts that are sent besides results. Another model's reasoning is not sent."""
    return [
        part
        for part in message.parts
        if type(part) is not Result and (not is_foreign_thought(part) or stays(cast("Thinking", part), message))
    ]


def _calls_alone(message: Message) -> bool:
    """True if a message holds only calls and is sent unchanged, as most are."""
    plain = message.shape == "openai" and message.name is None and not message.beside
    return plain and not message.seen.get("function_call")


def _answers_alone(message: Message) -> list[str] | None:
    """Return the texts of a message that holds only tool answers of one text each, as most do, else None."""
    if message.beside or message.name is not None or (message.shape == "openai" and message.seen["role"] != "tool"):
        return None
    texts: list[str] = []
    for part in message.parts:
        if type(part) is not Result or len(part.parts) != 1 or type(part.parts[0]) is not str:
            return None
        texts.append(part.parts[0])
    return texts


def _says_something(message: Message) -> bool:
    """True if a message has a text of the assistant."""
    return message.role == "assistant" and any(part and isinstance(part, str) for part in message.parts)


def as_billed(listed: Iterable[object]) -> Iterator[object]:
    """Fill in what a history needs but the API does not demand: call ids and contents.

    A result without an id answers the oldest open call. A message without content costs its envelope. An assistant's is
    read as a user's, because this library never sends an empty assistant message.
    """
    open_calls: deque[str] = deque()
    for raw in listed:
        if (fields := fields_of(raw)) is None:
            yield raw
            continue
        role, content = fields.get("role"), fields.get("content")
        for call in items_of(fields.get("tool_calls")):
            named: object = fields_in(call).get("id")
            open_calls.append(named if isinstance(named, str) else "")
        if role == "tool":
            oldest = open_calls.popleft() if open_calls else ""
            yield {"content": "", "tool_call_id": oldest, **{key: it for key, it in fields.items() if it is not None}}
        elif content is None and not any(fields.get(key) for key in _SAID_OTHERWISE):
            yield {"role": "user" if role == "assistant" else role, "content": ""}
        else:
            yield raw


_SAID_OTHERWISE = (*REASONING_FIELDS, "tool_calls", "function_call", "refusal", "audio", "parts")


def _is_of_texts(message: Message) -> bool:
    """True if a message is a text or a tool result of one text: it is sent as one message, in its place."""
    return message.shallow and message.shape != RESPONSES


def _answers_by_id(message: Message) -> bool:
    """True if a message holds results, except the answer to a legacy function call, which is a message of its own."""
    is_legacy = message.shape == "openai" and message.seen["role"] == "function"
    return not is_legacy and Result in map(type, message.parts)
