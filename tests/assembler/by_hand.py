"""A second, slow, obvious implementation to hold the library against. Imports nothing of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Message = dict[str, Any]

SEARCH_TOOL: Message = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Find a page.",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    },
}


class Tally:
    """A counter, one token a character, that writes down what it is asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> int:
        self.texts.append(text)
        return len(text)

    def asked(self) -> list[str]:
        """What it was asked since this was last called, empty texts aside."""
        texts, self.texts = [text for text in self.texts if text], []
        return texts


def texts_of(message: Message) -> list[str]:
    """Every text that a plain price counts, straight from the dict."""
    content = message.get("content")
    texts = [content] if isinstance(content, str) else [part["text"] for part in content or []]
    for call in message.get("tool_calls", []):
        texts += [call["function"]["name"], call["function"]["arguments"]]
    return texts


def plain_cost(messages: list[Message]) -> int:
    """Characters: what `len` as a counter makes a conversation cost."""
    return sum(len(text) for message in messages for text in texts_of(message))


def split_head(history: list[Message]) -> tuple[list[Message], list[Message]]:
    for place, message in enumerate(history):
        if message["role"] not in ("system", "developer"):
            return history[:place], history[place:]
    return history, []


def turns_of(conversation: list[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in conversation:
        if message["role"] == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def suffixes(history: list[Message]) -> list[list[Message]]:
    """Every conversation that dropping whole old turns can leave, longest first; the newest turn always stays."""
    turns = turns_of(split_head(history)[1])
    return [[message for turn in turns[cut:] for message in turn] for cut in range(max(len(turns), 1))]


def pairs_hold(messages: list[Message]) -> bool:
    """Every call answered exactly once, directly after it; no answer without its call."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return False
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return False
        else:
            waiting = [call["id"] for call in message.get("tool_calls", [])]
    return not waiting


def canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def replayed_cut(costs: list[list[int]], room: int, low: int) -> int:
    """Which turn a low-water trim keeps from, found by living through the session message by message.

    `costs` holds, for each turn, the cost of each of its messages.
    """
    first = 0
    for turn in range(len(costs)):
        for message in range(len(costs[turn])):
            sizes = [sum(costs[at]) for at in range(first, turn)] + [sum(costs[turn][: message + 1])]
            if sum(sizes) > room:
                while len(sizes) > 1 and sum(sizes) > low:
                    sizes.pop(0)
                    first += 1
    return first


def auto_cut(costs: list[list[int]], room: int) -> int:
    """Which turn `low_water="auto"` keeps from, found by living through the session message by message.

    After the first cut every message leaves a level; the next mark answers the mean of those before it.
    """
    first, levels, cut = 0, list[int](), False
    for turn in range(len(costs)):
        for message in range(len(costs[turn])):
            sizes = [sum(costs[at]) for at in range(first, turn)] + [sum(costs[turn][: message + 1])]
            if sum(sizes) > room:
                mean = sum(levels) / (len(levels) * room) if levels else 0.74
                low = int(min(0.85, max(0.15, 2 * 0.74 - 1 + 4 * (0.74 - mean))) * room)
                cut = True
                while len(sizes) > 1 and sum(sizes) > low:
                    sizes.pop(0)
                    first += 1
            if cut:
                levels.append(sum(sizes))
    return first


def talk(*texts: str) -> list[Message]:
    """What a user and an assistant say in turn."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def waiting_in(messages: Iterable[Message]) -> list[str]:
    """The ids of the calls that nobody has answered."""
    waiting: list[str] = []
    for message in messages:
        waiting += [call["id"] for call in message.get("tool_calls") or ()]
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
    return waiting


def step(call_id: str, result: str) -> list[Message]:
    """A call, and its answer."""
    call = {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": call_id, "content": result}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, answer]
