"""Valid and broken histories in every readable spelling, and an independent reader of their calls and results.

A history is drawn from an abstract conversation and spelled by `assembler.testing`; here it loses, doubles, swaps and
moves messages and the parts inside them.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from assembler.drawn.conversations import Conversation, drawn_conversations
from assembler.drawn.spelling import SPELLINGS

SPELLED = ("openai_chat", "anthropic", "bedrock", "gemini", "openai_responses")
FORMS = (*SPELLED, "objects", "gemini without ids", "legacy")
HEAD = ("system", "developer")
ROLES = {
    "openai_chat": ("user", "assistant", *HEAD),
    "anthropic": ("user", "assistant", "tool", *HEAD),
    "bedrock": ("user", "assistant", "tool", *HEAD),
    "gemini": ("user", "model", "tool", "function", *HEAD),
    "gemini without ids": ("user", "model", "tool", "function", *HEAD),
}
"""Roles that somebody may give to a message by mistake."""
WORDS = st.text("abc de", min_size=1, max_size=9).filter(str.strip)

History = list[Any]


@dataclass
class Spoken:
    """A message as LangChain's classes show it."""

    type: str
    content: Any
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    tool_call_id: str | None = None


def conversations(*, turns: tuple[int, int] = (1, 3)) -> st.SearchStrategy[Conversation]:
    """Abstract conversations with at least one tool and a step in each exchange."""
    return drawn_conversations(words=WORDS, turns=turns, fewest_answers=1, fewest_tools=1, fewest_steps=1)


def spelled(conversation: Conversation, form: str) -> History:
    """The conversation's messages in one of `FORMS`. A system text is left out, since not all have one there."""
    name = {"objects": "openai_chat", "gemini without ids": "gemini", "legacy": "openai_chat"}.get(form, form)
    spelling = SPELLINGS[name]
    history = [message for message in spelling.request(conversation)[spelling.history] if not _is_system(message)]
    if form == "objects":
        return [_as_object(message) for message in history]
    if form == "legacy":
        return _legacy(history)
    if form == "gemini without ids":
        for part in (part for content in history for part in content["parts"]):
            for key in ("function_call", "function_response"):
                part.get(key, {}).pop("id", None)
    return history


def _is_system(message: dict[str, Any]) -> bool:
    return message.get("role") == "system"


def _as_object(message: dict[str, Any]) -> Spoken:
    kind = {"user": "human", "assistant": "ai", "tool": "tool"}[message["role"]]
    calls = [
        {"id": c["id"], "name": c["function"]["name"], "args": json.loads(c["function"]["arguments"])}
        for c in message.get("tool_calls", ())
    ]
    return Spoken(kind, message["content"] or "", calls, message.get("tool_call_id"))


def _legacy(history: History) -> History:
    """Chat messages as they were before tools: one call at a time, answered by name."""
    written: History = []
    for message in history:
        calls = message.get("tool_calls")
        if message["role"] == "tool":
            continue
        if not calls:
            written.append(message)
            continue
        answers = {m["tool_call_id"]: m["content"] for m in history if m["role"] == "tool"}
        for call in calls:
            written.append({"role": "assistant", "content": message["content"], "function_call": call["function"]})
            answer = {"role": "function", "name": call["function"]["name"], "content": answers[call["id"]]}
            written.append(answer)
    return written


@st.composite
def broken(draw: st.DrawFn, form: str) -> History:
    """A history in `form` that lost, doubled, swapped or moved some messages, or parts of messages; results may have
    come into a message of another role.
    """
    history = spelled(draw(conversations()), form)
    for _ in range(draw(st.integers(1, 4))):
        lists = [history, *(inner for message in history if (inner := inner_list(message)))]
        listed = lists[draw(st.integers(0, len(lists) - 1)) if draw(st.booleans()) else 0]
        if not listed:
            continue
        place, other = draw(st.integers(0, len(listed) - 1)), draw(st.integers(0, len(listed) - 1))
        match draw(st.sampled_from(["drop", "double", "swap", "move", "send", "say", "spoil", "cast"])):
            case "drop" if listed is history or len(listed) > 1:
                del listed[place]
            case "double":
                listed.insert(other, copy.deepcopy(listed[place]))
            case "swap":
                listed[place], listed[other] = listed[other], listed[place]
            case "move":
                listed.insert(other, listed.pop(place))
            case "send" if listed is not history and len(listed) > 1 and form in ROLES and _result(listed[place]):
                lists[draw(st.integers(1, len(lists) - 1))].append(listed.pop(place))
            case "cast" if listed is history and form in ROLES:
                history[place]["role"] = draw(st.sampled_from(ROLES[form]))
            case "say" if listed is history:
                history.insert(place, _word(form))
            case "spoil" if listed is history:
                history.insert(place, {"role": "user"})
            case _:
                pass
    return history


def _word(form: str) -> Any:
    if form == "objects":
        return Spoken("human", "by the way")
    return {"role": "user", "parts": [{"text": "by the way"}]} if "gemini" in form else question()


def question() -> dict[str, Any]:
    """A message of the user's that every API understands."""
    return {"role": "user", "content": "by the way"}


def inner_list(message: Any) -> list[Any] | None:
    """The parts or calls of a message that can be broken on their own."""
    if isinstance(message, Spoken):
        return message.tool_calls or None
    for key in ("tool_calls", "parts", "content"):
        if isinstance(message.get(key), list):
            return message[key]
    return None


def results(history: History) -> Counter[tuple[Any, str]]:
    """Every recorded result as the id, or the name, of its call and its text, found by walking the raw messages."""
    found: Counter[tuple[Any, str]] = Counter()
    for message in history:
        if isinstance(message, Spoken):
            found.update([(message.tool_call_id, str(message.content))] if message.type == "tool" else [])
        elif message.get("role") == "tool" and "tool_call_id" in message:
            found[message["tool_call_id"], message["content"]] += 1
        elif message.get("role") == "function" and "parts" not in message:
            found[message["name"], message["content"]] += 1
        elif message.get("type") == "function_call_output":
            found[message["call_id"], message["output"]] += 1
        else:
            inner: Any = message.get("parts") or message.get("content") or ()
            found.update(pair for part in inner if type(part) is dict for pair in _result(part))
    return found


def _result(part: Any) -> list[tuple[Any, str]]:
    if part.get("type") == "tool_result":
        return [(part["tool_use_id"], part["content"])]
    if "toolResult" in part:
        return [(part["toolResult"]["toolUseId"], part["toolResult"]["content"][0]["text"])]
    if "function_response" in part:
        answer = part["function_response"]
        return [(answer.get("id", answer["name"]), next(iter(answer["response"].values())))]
    return []
