"""What the dialects emit, from conversations in every spelling: the requests that the SDKs are shown.

Adding a dialect is one line in `MODELS`, one in `shapes.py` and one in `clients.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest
from hypothesis import reject, settings
from hypothesis import strategies as st

from assembler import Assembler
from assembler.dialects import DIALECTS, Dialect
from assembler.drawn.conversations import Exchange
from assembler.errors import ConversationError

from ..assembler.drawn import histories, texts, words
from ..assembler.verify.conversations import SPELLINGS, conversations

MODELS = {
    "openai_chat": "gpt-4o",
    "openai_responses": "gpt-5",
    "anthropic": "claude-opus-4-8",
    "gemini": "gemini-2.5-flash",
    "bedrock": "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral": "mistral-small-latest",
}
"""The dialects that an SDK speaks, each with a model of its provider."""

FEW = settings(max_examples=60)
Request = dict[str, Any]


def dialect_named(name: str) -> Dialect:
    """The dialect, or a skip that says that it is missing."""
    if name not in DIALECTS:
        pytest.skip(f"assembler.dialects has no {name} yet: nothing to hold against its SDK")
    return DIALECTS[name]


def chat_tool(name: str) -> Request:
    parameters = {"type": "object", "properties": {"q": {"type": "string", "description": "what <to> find"}}}
    return {"type": "function", "function": {"name": name, "description": "Finds.", "parameters": parameters}}


TOOLS = [chat_tool(name) for name in ("search", "get_weather", "refund", "look", "fetch_page", "add-1")]


@st.composite
def spread(draw: st.DrawFn) -> list[Request]:
    """An OpenAI history, some of it in several parts, with long ids, names, and system messages in the middle."""
    history = draw(histories())
    long = draw(st.booleans())
    messages: list[Request] = []
    for message in history:
        fields = dict(message)
        content = fields.get("content")
        if fields["role"] in ("user", "tool") and isinstance(content, str) and draw(st.integers(0, 3)) == 0:
            fields["content"] = [{"type": "text", "text": text} for text in (content, draw(texts), draw(words))]
        if long and "tool_call_id" in fields:
            fields["tool_call_id"] = _long(fields["tool_call_id"])
        if long and "tool_calls" in fields:
            fields["tool_calls"] = [{**call, "id": _long(call["id"])} for call in fields["tool_calls"]]
        messages.append(fields)
        if fields["role"] == "assistant" and "tool_calls" not in fields and draw(st.integers(0, 3)) == 0:
            messages.append({"role": "system", "content": draw(words)})
    if messages[-1]["role"] in ("assistant", "system"):
        messages.append({"role": "user", "content": draw(words)})
    return messages


def _long(call_id: str) -> str:
    return f"call/{call_id}|{'0123456789abcdef' * 5}"


@st.composite
def thoughtful(draw: st.DrawFn) -> list[Request]:
    """An Anthropic history that thinks, calls in parallel, fails, and marks what may be cached."""
    messages: list[Request] = []
    for turn in range(draw(st.integers(1, 3))):
        asked: list[Request] = [{"type": "text", "text": draw(words)}]
        if draw(st.booleans()):
            asked[0]["cache_control"] = {"type": "ephemeral"}
        messages.append({"role": "user", "content": asked})
        for step in range(draw(st.integers(0, 2))):
            thought = draw(
                st.sampled_from(
                    [
                        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                        {"type": "redacted_thinking", "data": "c2ln"},
                    ]
                )
            )
            ids = [f"toolu_{turn}_{step}_{place}" for place in range(draw(st.integers(1, 3)))]
            calls = [{"type": "tool_use", "id": one, "name": "search", "input": {"q": draw(words)}} for one in ids]
            spoken = [{"type": "text", "text": draw(words)}] if draw(st.booleans()) else []
            results = [{"type": "tool_result", "tool_use_id": one, "content": draw(texts)} for one in ids]
            results[0]["is_error"] = draw(st.booleans())
            messages += [
                {"role": "assistant", "content": [thought, *spoken, *calls]},
                {"role": "user", "content": results},
            ]
        messages.append({"role": "assistant", "content": draw(words)})
    return [
        *messages[:-1],
        *([] if messages[-2]["role"] == "user" else [messages[-1], {"role": "user", "content": "and?"}]),
    ]


@st.composite
def spelled(draw: st.DrawFn, key: str = "messages") -> list[Request]:
    """The same small conversation in the spelling of one provider or another."""
    name = draw(st.sampled_from(["openai_chat", "anthropic", "gemini", "bedrock"]))
    conversation = draw(conversations())
    listed: list[Request] = SPELLINGS[name](conversation)["contents" if name == "gemini" else key]
    return listed


conversations_in_any_spelling = st.one_of(spread(), thoughtful(), spelled())


@st.composite
def requests(draw: st.DrawFn, dialect: Dialect) -> Request:
    """A request as a user of the library gets it: instruction, tools, knowledge, conversation, then `request()`."""
    assembler = Assembler(dialect=dialect).add_messages(draw(conversations_in_any_spelling)).add_capability(TOOLS)
    if draw(st.booleans()):
        assembler.add_instruction(draw(words))
    if draw(st.booleans()):
        assembler.add_knowledge(draw(words), type="entity", source="crm.json")
    try:
        return assembler.build().request()
    except ConversationError:
        reject()  # what the dialect says that its API cannot carry


@st.composite
def native(draw: st.DrawFn, name: str) -> Request:
    """A provider's own request, read and emitted again."""
    conversation = draw(conversations())
    exchanges = tuple(_once(exchange) for exchange in conversation.exchanges)
    request: Mapping[str, Any] = SPELLINGS[name](attrs.evolve(conversation, exchanges=exchanges))
    dialect = DIALECTS[name]
    return dialect.emit(dialect.parse(request)).request


def _once(exchange: Exchange) -> Exchange:
    """The exchange in which the model says one text at a time, as OpenAI's types take no second one without an id."""
    steps = tuple(attrs.evolve(step, words=step.words[:1]) for step in exchange.steps)
    return attrs.evolve(exchange, steps=steps, answer=exchange.answer[:1])


def every(name: str) -> st.SearchStrategy[Request]:
    """The requests of one dialect: built ones, and its provider's own emitted again."""
    return requests(dialect_named(name)) | native(name)
