"""The dialect of OpenAI's Chat Completions.

Rules and texts of 400 errors: OpenAI API reference, /v1/chat/completions, and public issue threads, read 2026-11.
Prices: `assembler.dialects.openai.pricing`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assembler.conversation.messages import Message, Thinking
from assembler.conversation.messages.extra_fields import REASONING as REASONING_FIELDS
from assembler.conversation.turns import head_length
from assembler.dialects.api import Api
from assembler.dialects.dialect import Emission, Opening
from assembler.dialects.hosts.upstream import upstream_pricer
from assembler.dialects.openai.bill import OpenAIChatPricer
from assembler.dialects.openai.families import family_of
from assembler.dialects.openai.respelled import is_foreign_thought
from assembler.dialects.openai.wire import is_sent_in_content, sent_alone, tool_definition, wire_messages
from assembler.dialects.openai_chat.api import API
from assembler.dialects.prices.graded import graded_pricer
from assembler.dialects.prices.unknown_models import guessed_pricer, in_chat, unknown_model_pricer
from assembler.dialects.reading.parse_steps import listed_messages, options_in, read_messages
from assembler.dialects.writing.fields import choice_of, named_schema
from assembler.dialects.writing.notes import SILENT, Notes
from assembler.errors import ConversationError
from assembler.pricing.hosted import price_in_name
from assembler.pricing.pricer import Pricer
from assembler.regions.layout import Layout
from assembler.regions.tools import read_tools
from assembler.text.fields import fields_in, fields_of, items_of
from budgets import TokenCounter


@attrs.frozen
class OpenAIChat:
    """Chat Completions. The request is `{"messages", "tools"}`, without empty `tools`."""

    name: str = "openai_chat"
    api: Api = attrs.field(default=API, init=False, repr=False, eq=False)
    opening: Opening = Opening.ANY

    def parse(self, request: Mapping[str, Any]) -> Layout:
        """The regions of a body: leading system messages are the head, the rest is the conversation.

        It accepts more than `build` does, so that any request that the API billed can be priced.
        """
        listed = listed_messages(request, "the body of a Chat Completions call")
        messages = read_messages(as_billed(listed))
        head = head_length(messages)
        tools = read_tools([*(request.get("tools") or ()), *(request.get("functions") or ())])
        options = options_in(request, ("messages", "tools", "functions"))
        return Layout(head=messages[:head], messages=messages[head:], tools=tools, options=options)

    def pricer(self, model: str | None, count: TokenCounter) -> Pricer:
        """The price list of the model's family, or of the maker or host of a model that is not OpenAI's."""
        own = unknown_model_pricer(OpenAIChatPricer(family_of(model), count, model), model, count, in_chat)
        host_pricer = upstream_pricer(model, count, "chat") or guessed_pricer(model, count, self.pricer, in_chat)
        return graded_pricer(host_pricer or own, count, price_in_name(model))

    def options(self, layout: Layout) -> dict[str, Any]:
        """`response_format` and `tool_choice` (OpenAI API reference, read 2026-11)."""
        choice = choice_of(layout, lambda name: {"type": "function", "function": {"name": name}})
        if layout.output is None:
            return choice
        return {"response_format": {"type": "json_schema", "json_schema": named_schema(layout.output)}} | choice

    def sends_reasoning(self, thought: Thinking, message: Message) -> bool:
        """Whether it is reasoning in a message field, or a reasoning part of compatible APIs."""
        return not is_foreign_thought(thought) or is_sent_in_content(thought, message)

    def emit(self, layout: Layout) -> Emission:
        """`messages`, with the system text first, and `tools`. Raises `ConversationError` without a message."""
        messages: list[dict[str, Any]] = []
        if layout.system is not None:
            messages.append({"role": "system", "content": layout.system})
        notes = Notes()
        sent = [*layout.head, *layout.messages]
        messages += wire_messages(sent, notes)
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
        elif _is_empty(content, role) and not any(fields.get(key) for key in _SAID_OTHERWISE):
            others = {key: held for key, held in fields.items() if held}
            yield {**others, "role": "user" if role == "assistant" else role, "content": ""}
        else:
            yield raw


def _is_empty(content: object, role: object) -> bool:
    """Whether there is no content, or an assistant's empty text. Other roles' empty texts are read as they are."""
    return content is None or content == [] or (content == "" and role == "assistant")


_SAID_OTHERWISE = (*REASONING_FIELDS, "tool_calls", "function_call", "refusal", "audio", "parts")
