"""Valid requests of every dialect, drawn from one small abstract conversation.

How an API is spelled here shares no code with `assembler`. A dialect that is not spelled here is by its own `drawn.py`.

A conversation is a list of exchanges: the user's text, then steps (calls, each with its result), then the answer. The
last exchange may stop after its results or before the model speaks, so that the request ends as an API wants it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from assembler.drawn import conversations as ours
from assembler.drawn.spelling import SPELLINGS as DRAWN
from assembler.drawn.spelling import Spelling

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).map(lambda text: f"x{text}x")
ID_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
NAMES = ("look", "fetch_page", "add-1")
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
ARGUMENTS = st.sampled_from([{}, {"q": "x"}, {"n": [1, 2.5, None, True]}])

Request = dict[str, Any]


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: dict[str, Any]
    result: str


@dataclass(frozen=True)
class Exchange:
    question: str
    steps: tuple[tuple[Call, ...], ...]
    answer: str | None


@dataclass(frozen=True)
class Conversation:
    system: str | None
    exchanges: tuple[Exchange, ...]
    tools: bool

    @property
    def has_tools(self) -> bool:
        return self.tools or any(exchange.steps for exchange in self.exchanges)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    shapes = draw(st.lists(st.lists(st.integers(1, 3), max_size=2), min_size=1, max_size=4))
    calls = sum(sum(steps) for steps in shapes)
    ids = st.text(ID_ALPHABET, min_size=9, max_size=9)
    unused = iter(draw(st.lists(ids, min_size=calls, max_size=calls, unique=True)))
    exchanges: list[Exchange] = []
    for shape in shapes:
        steps = tuple(
            tuple(Call(next(unused), draw(st.sampled_from(NAMES)), draw(ARGUMENTS), draw(TEXTS)) for _ in range(size))
            for size in shape
        )
        exchanges.append(Exchange(draw(TEXTS), steps, draw(TEXTS)))
    last = exchanges[-1]
    exchanges[-1] = Exchange(last.question, last.steps, None)
    return Conversation(draw(st.none() | TEXTS), tuple(exchanges), draw(st.booleans()))


def _tools(spell: Callable[[str], Any], conversation: Conversation) -> Request:
    return {"tools": [spell(name) for name in NAMES]} if conversation.has_tools else {}


def _chat_tool(name: str) -> Request:
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": SCHEMA}}


def _chat(conversation: Conversation, arguments: Callable[[dict[str, Any]], Any]) -> list[Request]:
    messages: list[Request] = []
    if conversation.system is not None:
        messages.append({"role": "system", "content": conversation.system})
    for exchange in conversation.exchanges:
        messages.append({"role": "user", "content": exchange.question})
        for step in exchange.steps:
            spelled = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": arguments(c.arguments)}}
                for c in step
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": spelled})
            messages += [{"role": "tool", "tool_call_id": c.id, "name": c.name, "content": c.result} for c in step]
        if exchange.answer is not None:
            messages.append({"role": "assistant", "content": exchange.answer})
    return messages


def openai_chat(conversation: Conversation) -> Request:
    return {"messages": _chat(conversation, str), **_tools(_chat_tool, conversation)}


def chat_template(conversation: Conversation) -> Request:
    return {"messages": _chat(conversation, dict), **_tools(_chat_tool, conversation)}


def openai_responses(conversation: Conversation) -> Request:
    items: list[Request] = []
    for exchange in conversation.exchanges:
        items.append({"role": "user", "content": [{"type": "input_text", "text": exchange.question}]})
        for step in exchange.steps:
            items.append({"type": "reasoning", "id": f"rs_{len(items)}", "summary": []})
            items += [
                {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": str(c.arguments)} for c in step
            ]
            items += [{"type": "function_call_output", "call_id": c.id, "output": c.result} for c in step]
        if exchange.answer is not None:
            items.append({"role": "assistant", "content": exchange.answer})

    def flat(name: str) -> Request:
        return {"type": "function", "name": name, "parameters": SCHEMA, "strict": None}

    return {"instructions": conversation.system, "input": items, **_tools(flat, conversation)}


def anthropic(conversation: Conversation) -> Request:
    messages: list[Request] = []
    for exchange in conversation.exchanges:
        asked = {"role": "user", "content": [{"type": "text", "text": exchange.question}]}
        merge = messages and messages[-1]["role"] == "user"
        messages.append(asked) if not merge else messages[-1]["content"].extend(asked["content"])
        for step in exchange.steps:
            thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
            calls = [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in step]
            results = [{"type": "tool_result", "tool_use_id": c.id, "content": c.result} for c in step]
            messages += [{"role": "assistant", "content": [thinking, *calls]}, {"role": "user", "content": results}]
        if exchange.answer is not None:
            messages.append({"role": "assistant", "content": exchange.answer})

    def tool(name: str) -> Request:
        return {"name": name, "description": "d", "input_schema": SCHEMA}

    system = {} if conversation.system is None else {"system": conversation.system}
    return {**system, "messages": messages, **_tools(tool, conversation)}


def gemini(conversation: Conversation) -> Request:
    contents: list[Request] = []
    for exchange in conversation.exchanges:
        contents.append({"role": "user", "parts": [{"text": exchange.question}]})
        for step in exchange.steps:
            calls: list[Request] = [{"functionCall": {"id": c.id, "name": c.name, "args": c.arguments}} for c in step]
            calls[0]["thoughtSignature"] = "c2ln"
            answers = [
                {"functionResponse": {"id": c.id, "name": c.name, "response": {"result": c.result}}} for c in step
            ]
            contents += [{"role": "model", "parts": calls}, {"role": "user", "parts": answers}]
        if exchange.answer is not None:
            contents.append({"role": "model", "parts": [{"text": exchange.answer}]})
    system = {} if conversation.system is None else {"systemInstruction": {"parts": [{"text": conversation.system}]}}
    declared = [{"name": name, "parametersJsonSchema": SCHEMA} for name in NAMES]
    tools = {"tools": [{"functionDeclarations": declared}]} if conversation.has_tools else {}
    return {"contents": contents, **system, **tools}


def bedrock(conversation: Conversation) -> Request:
    messages: list[Request] = []
    for exchange in conversation.exchanges:
        messages.append({"role": "user", "content": [{"text": exchange.question}]})
        for step in exchange.steps:
            calls = [{"toolUse": {"toolUseId": c.id, "name": c.name, "input": c.arguments}} for c in step]
            results = [{"toolResult": {"toolUseId": c.id, "content": [{"text": c.result}]}} for c in step]
            messages += [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
        if exchange.answer is not None:
            messages.append({"role": "assistant", "content": [{"text": exchange.answer}]})

    def spec(name: str) -> Request:
        return {"toolSpec": {"name": name, "inputSchema": {"json": SCHEMA}}}

    system = [] if conversation.system is None else [{"text": conversation.system}]
    config = {"toolConfig": _tools(spec, conversation)} if conversation.has_tools else {}
    return {"system": system, "messages": messages, **config}


def plain(conversation: Conversation) -> Request:
    messages = [message for message in _chat(conversation, str) if message["role"] != "system"]
    return {"system": conversation.system, "messages": messages, **_tools(_chat_tool, conversation)}


def by_its_folder(spelling: Spelling) -> Callable[[Conversation], Request]:
    """A spelling of conversations as `drawn.py` of a dialect spells them."""

    def spelled(conversation: Conversation) -> Request:
        numbers = itertools.count()

        def step(calls: tuple[Call, ...]) -> ours.Step:
            made = [ours.Call(next(numbers), c.name, c.arguments, c.result, failed=False) for c in calls]
            return ours.Step(None, (), tuple(made), tuple(range(len(made))))

        exchanges = [
            ours.Exchange(
                (each.question,), None, tuple(map(step, each.steps)), None, tuple(filter(None, [each.answer]))
            )
            for each in conversation.exchanges
        ]
        tools = [ours.Definition(name, "d", ()) for name in NAMES if conversation.has_tools]
        return spelling.request(ours.Conversation(conversation.system, tuple(exchanges), tuple(tools)))

    return spelled


BY_HAND: dict[str, Callable[[Conversation], Request]] = {
    "anthropic": anthropic,
    "bedrock": bedrock,
    "chat_template": chat_template,
    "gemini": gemini,
    "mistral": openai_chat,
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "plain": plain,
}
OTHERS = {name: spelling for name, spelling in DRAWN.items() if name not in BY_HAND}
SPELLINGS = BY_HAND | {name: by_its_folder(spelling) for name, spelling in OTHERS.items()}
"""How each dialect spells a conversation."""

TURNS = {"openai_responses": "input", "gemini": "contents"} | {name: each.history for name, each in OTHERS.items()}
"""The key of the conversation, where it is not `messages`."""
