"""A second, slow and simple implementation as an oracle. It imports nothing of the library."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

Message = dict[str, Any]
History = list[Message]

CLEARED = "[cleared]"
SEARCH_TOOL: Message = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Find a page.",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    },
}


class Tally:
    """A counter of characters that records the texts it counts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> int:
        self.texts.append(text)
        return len(text)

    def asked(self) -> list[str]:
        """The texts counted since the last call of this, without empty ones."""
        texts, self.texts = [text for text in self.texts if text], []
        return texts


def texts_of(message: Message) -> list[str]:
    """Every text that a plain price counts, of an OpenAI or an Anthropic message."""
    content = message.get("content")
    texts: list[str] = [content] if isinstance(content, str) else []
    for block in content if isinstance(content, list) else []:
        kind = block["type"]
        if kind == "tool_use":
            texts += [block["name"], json.dumps(block["input"], ensure_ascii=False, separators=(",", ":"))]
        elif kind == "tool_result":
            inner = block["content"]
            texts += [inner] if isinstance(inner, str) else [part["text"] for part in inner]
        else:
            texts.append(block[kind])
    for call in message.get("tool_calls", []):
        texts += [call["function"]["name"], call["function"]["arguments"]]
    return texts


def cost(messages: Sequence[Message]) -> int:
    """Characters: what `len` as a counter makes a conversation cost."""
    return sum(len(text) for message in messages for text in texts_of(message))


def results_of(message: Message) -> list[str]:
    """The ids of the calls that a message answers."""
    if message["role"] == "tool":
        return [message["tool_call_id"]]
    return [block["tool_use_id"] for block in blocks(message) if block["type"] == "tool_result"]


def calls_of(message: Message) -> list[str]:
    """The ids of the calls that a message makes."""
    used = [block["id"] for block in blocks(message) if block["type"] == "tool_use"]
    return used + [call["id"] for call in message.get("tool_calls", [])]


def blocks(message: Message) -> list[dict[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def pairs_hold(messages: Sequence[Message]) -> bool:
    """Every call answered exactly once, before anything that is no answer; no answer without its call."""
    waiting: list[str] = []
    for message in messages:
        answered = results_of(message)
        if any(answer not in waiting for answer in answered) or len(set(answered)) < len(answered):
            return False
        waiting = [call for call in waiting if call not in answered]
        if not answered:
            if waiting:
                return False
            waiting = calls_of(message)
    return not waiting


def opens_turn(message: Message) -> bool:
    return message["role"] == "user" and not results_of(message)


def turns_of(history: Sequence[Message]) -> list[History]:
    turns: list[History] = []
    for message in history:
        if opens_turn(message) or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def flat(turns: Sequence[History]) -> History:
    return [message for turn in turns for message in turn]


def split_head(history: list[Message]) -> tuple[list[Message], list[Message]]:
    for place, message in enumerate(history):
        if message["role"] not in ("system", "developer"):
            return history[:place], history[place:]
    return history, []


def suffixes(history: list[Message]) -> list[list[Message]]:
    """Every conversation that dropping whole old turns can leave, longest first; the newest turn always stays."""
    turns = turns_of(split_head(history)[1])
    return [[message for turn in turns[cut:] for message in turn] for cut in range(max(len(turns), 1))]


def canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def lived_cut(
    costs: list[list[int]], pinned: Sequence[int], room: int, low: int, keep_turns: int = 1, noted: int = 0
) -> int:
    """The first turn that a low-water trim keeps, found by replaying the session message by message.

    `costs` holds, for each turn, the cost of each of its messages; `pinned` the turns that stay.
    """
    first = 0
    for turn in range(len(costs)):
        for message in range(len(costs[turn])):
            sizes = [sum(sizes) for sizes in costs[:turn]] + [sum(costs[turn][: message + 1])]

            def left(cut: int, sizes: list[int] = sizes) -> int:
                return sum(size for at, size in enumerate(sizes) if at >= cut or at in pinned)

            if left(first) + (noted if first else 0) > room:
                while first < len(sizes) - keep_turns and left(first) + noted > low:
                    first += 1
    return first


def auto_cut(costs: list[list[int]], room: int) -> int:
    """The first turn that `low_water="auto"` keeps, found by replaying the session message by message.

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
    """The ids of the calls without an answer."""
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


# ── what each policy must leave


def is_pinned(turn: History, pinned: Callable[[Message], bool]) -> bool:
    return any(pinned(message) for message in turn)


def kept_with_pins(
    history: History, pinned: Callable[[Message], bool], limit: int, keep_turns: int = 1, noted: int = 0
) -> History | None:
    """By brute force: the pinned turns and the longest suffix that fit; None if not even the shortest does."""
    turns = turns_of(history)
    for cut in range(max(len(turns) - keep_turns, 0) + 1):
        kept = flat([turn for place, turn in enumerate(turns) if place >= cut or is_pinned(turn, pinned)])
        if cost(kept) + (noted if cut else 0) <= limit:
            return kept
    return None


def steps_of(turn: History) -> list[list[int]]:
    """The places, in a turn, of the messages of each of its steps."""
    steps: list[list[int]] = []
    for place, message in enumerate(turn):
        if calls_of(message):
            steps.append([place])
        elif results_of(message):
            steps[-1].append(place)
    return steps


def without_steps(history: History, limit: int, keep: int) -> History | None:
    """The oldest steps of the newest turn left out, as few as needed."""
    turns = turns_of(history)
    newest, rest = turns[-1], flat(turns[:-1])
    steps = steps_of(newest)
    for gone in range(max(len(steps) - keep, 0) + 1):
        left_out = {place for step in steps[:gone] for place in step}
        kept = rest + [message for place, message in enumerate(newest) if place not in left_out]
        if cost(kept) <= limit:
            return kept
    return None


def bodies(history: History) -> Iterator[tuple[str, Callable[[], str], Callable[[str], None]]]:
    """Every tool result in order: the id of its call, its text, and a function that replaces the text."""
    for message in history:
        if message["role"] == "tool":
            yield (
                message["tool_call_id"],
                lambda m=message: m["content"],
                lambda text, m=message: m.update(content=text),
            )
        for block in blocks(message):
            if block["type"] == "tool_result":
                yield block["tool_use_id"], lambda b=block: b["content"], lambda text, b=block: b.update(content=text)


def without_bodies(history: History, limit: int, keep: int, exclude: Sequence[str] = ()) -> History | None:
    """Old results cleared one by one, each with the arguments of its call, until it fits."""
    left = copy.deepcopy(history)
    names = {call_id: name for message in left for call_id, name in named_calls(message)}
    every = list(bodies(left))
    for call_id, says, say in every[: max(len(every) - keep, 0)]:
        if names[call_id] in exclude:
            continue
        if cost(left) <= limit:
            return left
        if len(says()) > len(CLEARED):
            say(CLEARED)
        if cost(left) <= limit:
            return left
        empty_arguments(left, call_id)
    return left if cost(left) <= limit else None


def named_calls(message: Message) -> list[tuple[str, str]]:
    used = [(block["id"], block["name"]) for block in blocks(message) if block["type"] == "tool_use"]
    return used + [(call["id"], call["function"]["name"]) for call in message.get("tool_calls", [])]


def empty_arguments(history: History, call_id: str) -> None:
    for message in history:
        for block in blocks(message):
            if block["type"] == "tool_use" and block["id"] == call_id:
                block["input"] = {}
        for call in message.get("tool_calls", []):
            if call["id"] == call_id and len(call["function"]["arguments"]) > 2:
                call["function"]["arguments"] = "{}"


def without_thinking(history: History, limit: int, keep: int) -> History | None:
    """Thinking left out of one old message after the other, until it fits."""
    turns = turns_of(copy.deepcopy(history))
    for message in flat(turns[: max(len(turns) - max(keep, 1), 0)]):
        if cost(flat(turns)) <= limit:
            break
        spoken = [block for block in blocks(message) if block["type"] != "thinking"]
        if any(block.get("text") != "" for block in spoken):
            message["content"] = spoken
    left = flat(turns)
    return left if cost(left) <= limit else None


def public(messages: Sequence[Message]) -> History:
    """The messages without the mark that is never sent."""
    return [{key: value for key, value in message.items() if key != "pinned"} for message in messages]


def prefixes(history: History) -> Iterator[int]:
    """The lengths at which a growing history has no open call."""
    return (stop for stop in range(1, len(history) + 1) if pairs_hold(history[:stop]))


def starts(history: History) -> list[int]:
    """The index at which each turn begins."""
    lengths = [len(turn) for turn in turns_of(history)]
    return [0, *itertools.accumulate(lengths)][:-1]
