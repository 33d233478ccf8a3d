"""Valid requests of every dialect, and one fixed conversation whose requests are made invalid by mutations.

`assembler.drawn` writes them, which shares no code with the dialects.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import attrs
from hypothesis import strategies as st

from assembler.drawn.conversations import Call, Conversation, Definition, Exchange, Step, drawn_conversations
from assembler.drawn.spelling import SPELLINGS as DRAWN
from assembler.testing import texts

Request = dict[str, Any]


def conversations() -> st.SearchStrategy[Conversation]:
    """Conversations in which every question but the last has an answer, as all APIs accept them."""
    return drawn_conversations(words=texts(), turns=(1, 4), fewest_answers=1, fewest_tools=0)


def _calls(*numbers: int) -> Step:
    calls = tuple(Call(number, "look", {}, f"r{number}", failed=False) for number in numbers)
    return Step("hm", (), calls, tuple(range(len(calls))))


STEPPED = Conversation(
    "s",
    (
        Exchange(("q1",), None, (_calls(1, 2),), None, ("a1",)),
        Exchange(("q2",), None, (_calls(3),), None, ()),
    ),
    (Definition("look", "d", ()),),
)
"""Two calls in one step, an answer, a question, one call: what the mutations are done to."""


def chat_template(conversation: Conversation) -> Request:
    """Chat Completions with the arguments of calls as objects, as templates take them."""
    request = DRAWN["openai_chat"].request(conversation)
    for message in request["messages"]:
        for call in message.get("tool_calls") or ():
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return request


WIRE = ("functionCall", "functionResponse", "thoughtSignature", "functionDeclarations", "parametersJsonSchema")


def gemini(conversation: Conversation) -> Request:
    """Gemini's REST form: keys in camelCase, no `config`."""
    request = DRAWN["gemini"].request(conversation)
    config = request.pop("config", {})
    if (system := config.pop("system_instruction", None)) is not None:
        request["systemInstruction"] = {"parts": [{"text": system}]}
    return _in_camel_case({**request, **config})


def _in_camel_case(value: Any) -> Any:
    if isinstance(value, dict):
        return {_WIRE.get(key, key): _in_camel_case(held) for key, held in value.items()}
    return [_in_camel_case(held) for held in value] if isinstance(value, list) else value


_WIRE = {"".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key): key for key in WIRE}

SPELLINGS: dict[str, Callable[[Conversation], Request]] = {
    **{name: spelling.request for name, spelling in DRAWN.items()},
    "chat_template": chat_template,
    "gemini": gemini,
}
"""How each dialect spells a conversation."""

TURNS = {name: spelling.history for name, spelling in DRAWN.items()}
"""The key of the conversation, where it is not `messages`."""


def answers_in(dialect: str, conversation: Conversation) -> list[int]:
    """The places of the turns that hold results, in whatever words: where other results would make other turns."""

    def with_results(result: str) -> Conversation:
        return attrs.evolve(conversation, exchanges=tuple(map(with_result(result), conversation.exchanges)))

    def with_result(result: str) -> Callable[[Exchange], Exchange]:
        return lambda exchange: attrs.evolve(exchange, steps=tuple(step_with(step, result) for step in exchange.steps))

    def step_with(step: Step, result: str) -> Step:
        return attrs.evolve(step, calls=tuple(attrs.evolve(call, result=result) for call in step.calls))

    turns = [SPELLINGS[dialect](with_results(result))[TURNS.get(dialect, "messages")] for result in ("a", "b")]
    return [place for place, (one, other) in enumerate(zip(*turns, strict=True)) if one != other]
