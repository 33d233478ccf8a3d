"""Conversations in every spelling, drawn from an abstract one, and readers of the requests of three APIs.

Shares no code with `assembler`: what a request must say is worked out from the abstract conversation alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from hypothesis import strategies as st

from tests.assembler.drawn import HOSTILE

Dict = dict[str, Any]
Shape = Literal["openai", "anthropic", "bedrock", "gemini"]
Entry = tuple[Any, ...]
Turn = tuple[str, list[Entry]]

SHAPES: tuple[Shape, ...] = ("openai", "anthropic", "bedrock", "gemini")
NAMES = ("search", "get_weather", "_x-1")
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "d",
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
        },
    }
    for name in NAMES
]
NO_ERROR_TEXT = "The tool failed without a message."


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: Dict
    result: str
    error: bool


@dataclass(frozen=True)
class Utterance:
    """One utterance: texts, or calls with texts before them, or the results of the calls before."""

    role: Literal["system", "user", "assistant"]
    texts: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    answers: tuple[Call, ...] = ()
    thinking: str | None = None
    shape: Shape = "openai"


@dataclass(frozen=True)
class Conversation:
    utterances: tuple[Utterance, ...]
    parallel_results_apart: bool = field(default=False)


texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
full_texts = st.text("abc de", min_size=1, max_size=9).filter(str.strip)
arguments = st.sampled_from([{}, {"q": "x"}, {"n": [1, 2.5, None, True]}, {"ключ": {"deep": "значение"}}])
ids = st.one_of(
    st.text("abcXYZ019_-", min_size=1, max_size=6),
    st.sampled_from(["call 1", "a" * 64, "b" * 65, "id.with:marks", "идент", "call_1", "x" * 300]),
)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Ends with the user or with results; may begin with a greeting, hold system messages and blank texts anywhere."""
    utterances: list[Utterance] = []
    if draw(st.integers(0, 4)) == 0:
        utterances.append(Utterance("assistant", (draw(full_texts),)))
    for _ in range(draw(st.integers(1, 4))):
        utterances += draw(_exchange())
    if draw(st.booleans()) or utterances[-1].role == "assistant":
        utterances.append(Utterance("user", (draw(full_texts),), shape=draw(st.sampled_from(SHAPES))))
    return Conversation(tuple(utterances), draw(st.booleans()))


@st.composite
def _exchange(draw: st.DrawFn) -> list[Utterance]:
    shape: Shape = draw(st.sampled_from(SHAPES))
    several = st.lists(texts, min_size=1, max_size=2).map(tuple)
    utterances = [Utterance("user", draw(several), shape=shape)]
    if draw(st.integers(0, 3)) == 0:
        utterances.append(Utterance("system", (draw(texts),)))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        wanted = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
        calls = tuple(
            Call(
                call_id,
                draw(st.sampled_from(NAMES)),
                draw(arguments),
                draw(texts),
                shape in ("anthropic", "bedrock") and draw(st.booleans()),
            )
            for call_id in wanted
        )
        thinking = draw(st.none() | full_texts) if shape != "openai" else None
        utterances.append(Utterance("assistant", draw(st.just(()) | several), calls, thinking=thinking, shape=shape))
        utterances.append(Utterance("user", answers=tuple(draw(st.permutations(calls))), shape=shape))
    if draw(st.booleans()):
        utterances.append(Utterance("assistant", draw(several), shape=shape))
    return utterances


# ── how each provider spells it ──────────────────────────────────────────────────────────────────────────────────────


def sent_again(dialect: Any, request: Dict) -> Dict:
    """What a dialect emits of a request that it has read."""
    again: Dict = dialect.emit(dialect.parse(request)).request
    return again


def spelled(conversation: Conversation) -> list[Dict]:
    messages: list[Dict] = []
    for utterance in conversation.utterances:
        spell = SPELLERS[utterance.shape]
        if utterance.answers and conversation.parallel_results_apart:
            messages += [
                m
                for call in utterance.answers
                for m in spell(Utterance("user", answers=(call,), shape=utterance.shape))
            ]
        else:
            messages += spell(utterance)
    return messages


def _openai(utterance: Utterance) -> list[Dict]:
    if utterance.answers:
        return [{"role": "tool", "tool_call_id": call.id, "content": call.result} for call in utterance.answers]
    content: Any = (
        utterance.texts[0] if len(utterance.texts) == 1 else [{"type": "text", "text": t} for t in utterance.texts]
    )
    message: Dict = {"role": utterance.role, "content": content if utterance.texts else None}
    if utterance.calls:
        message["tool_calls"] = [
            {
                "id": c.id,
                "type": "function",
                "function": {"name": c.name, "arguments": json.dumps(c.arguments, ensure_ascii=False)},
            }
            for c in utterance.calls
        ]
    return [message]


def _anthropic(utterance: Utterance) -> list[Dict]:
    blocks: list[Dict] = [
        {"type": "tool_result", "tool_use_id": c.id, "content": c.result, "is_error": c.error}
        for c in utterance.answers
    ]
    if utterance.thinking is not None:
        blocks.append({"type": "thinking", "thinking": utterance.thinking, "signature": "c2ln"})
    blocks += [{"type": "text", "text": text} for text in utterance.texts]
    blocks += [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in utterance.calls]
    return [{"role": utterance.role, "content": blocks}]


def _bedrock(utterance: Utterance) -> list[Dict]:
    blocks: list[Dict] = [
        {
            "toolResult": {
                "toolUseId": c.id,
                "content": [{"text": c.result}],
                "status": "error" if c.error else "success",
            }
        }
        for c in utterance.answers
    ]
    if utterance.thinking is not None:
        blocks.append({"reasoningContent": {"reasoningText": {"text": utterance.thinking, "signature": "c2ln"}}})
    blocks += [{"text": text} for text in utterance.texts]
    blocks += [{"toolUse": {"toolUseId": c.id, "name": c.name, "input": c.arguments}} for c in utterance.calls]
    return [{"role": utterance.role, "content": blocks}]


def _gemini(utterance: Utterance) -> list[Dict]:
    parts: list[Dict] = [
        {"function_response": {"id": c.id, "name": c.name, "response": {"result": c.result}}} for c in utterance.answers
    ]
    if utterance.thinking is not None:
        parts.append({"text": utterance.thinking, "thought": True})
    parts += [{"text": text} for text in utterance.texts]
    parts += [
        {"function_call": {"id": c.id, "name": c.name, "args": c.arguments}, "thought_signature": "c2ln"}
        for c in utterance.calls
    ]
    return [{"role": "model" if utterance.role == "assistant" else "user", "parts": parts}]


SPELLERS: dict[Shape, Callable[[Utterance], list[Dict]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "gemini": _gemini,
}


# ── what an API must be told ─────────────────────────────────────────────────────────────────────────────────────────


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def result_text(call: Call, shape: Shape) -> str:
    return compact({"result": call.result}) if shape == "gemini" else call.result


def expected(conversation: Conversation, blank: Callable[[str], bool], no_error_text: str) -> list[Turn]:
    """Turns of (side, entries): results first, blanks and the greeting left out, one side never twice in a row.

    A blank message of the user's that an answer follows keeps its place, with a stand-in.
    """
    turns: list[Turn] = []
    asked = False
    for utterance in conversation.utterances:
        side = "assistant" if utterance.role == "assistant" else "user"
        entries: list[Entry] = []
        for call in utterance.answers:
            text = result_text(call, utterance.shape)
            shown = "" if blank(text) or not text.strip() else text
            failed = call.error and not shown
            entries.append(("result", call.name, compact(call.arguments), no_error_text if failed else shown))
        entries += [("text", text) for text in utterance.texts if not blank(text)]
        entries += [("call", call.name, compact(call.arguments)) for call in utterance.calls]
        if not entries:
            asked = asked or (utterance.role == "user" and (not turns or turns[-1][0] == "assistant"))
            continue
        if asked and side == "assistant":
            turns.append(("user", [("text", "(no text)")]))
        if not turns and not asked and (utterance.role != "user" or utterance.answers):
            continue
        asked = False
        if turns and turns[-1][0] == side:
            turns[-1][1].extend(entries)
        else:
            turns.append((side, entries))
    return [(side, sorted(entries, key=lambda entry: entry[0] != "result")) for side, entries in turns]


class Calls:
    """The calls of a request by id, so that a result is compared together with its call."""

    def __init__(self) -> None:
        self.known: dict[str, Entry] = {}

    def ask(self, call_id: str, name: str, arguments: Any) -> Entry:
        self.known[call_id] = (name, compact(arguments))
        return ("call", *self.known[call_id])

    def answer(self, call_id: str, text: str) -> Entry:
        return ("result", *self.known[call_id], text)


def entries_of(blocks: list[Dict], read: Callable[[Dict, Calls], Entry | None], calls: Calls) -> list[Entry]:
    return [entry for block in blocks if (entry := read(block, calls)) is not None]


def anthropic_turns(request: Dict) -> list[Turn]:
    def read(block: Dict, calls: Calls) -> Entry | None:
        match block["type"]:
            case "text":
                return "text", block["text"]
            case "tool_use":
                return calls.ask(block["id"], block["name"], block["input"])
            case "tool_result":
                inner = block.get("content", "")
                text = inner if isinstance(inner, str) else "".join(part["text"] for part in inner)
                return calls.answer(block["tool_use_id"], text)
            case _:
                return None

    def blocks(content: Any) -> list[Dict]:
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    calls = Calls()
    return [(each["role"], entries_of(blocks(each["content"]), read, calls)) for each in request["messages"]]


def bedrock_turns(request: Dict) -> list[Turn]:
    def read(block: Dict, calls: Calls) -> Entry | None:
        if "text" in block:
            return "text", block["text"]
        if "toolUse" in block:
            use = block["toolUse"]
            return calls.ask(use["toolUseId"], use["name"], use["input"])
        if "toolResult" in block:
            answer = block["toolResult"]
            return calls.answer(answer["toolUseId"], "".join(inner["text"] for inner in answer["content"]))
        return None

    calls = Calls()
    return [(each["role"], entries_of(each["content"], read, calls)) for each in request["messages"]]


def gemini_turns(request: Dict) -> list[Turn]:
    def read(part: Dict, calls: Calls) -> Entry | None:
        if "function_call" in part:
            call = part["function_call"]
            return calls.ask(call["id"], call["name"], call["args"])
        if "function_response" in part:
            answer = part["function_response"]
            assert answer["name"] == calls.known[answer["id"]][0]
            given = answer["response"]
            text = next(iter(given.values())) if [*given] in (["output"], ["error"]) else compact(given)
            return calls.answer(answer["id"], text if text.strip() else "")
        return None if "thought" in part else ("text", part["text"])

    calls = Calls()
    turns: list[Turn] = []
    for content in request["contents"]:
        entries = entries_of(content["parts"], read, calls)
        side = "assistant" if content["role"] == "model" else "user"
        if turns and turns[-1][0] == side:
            turns[-1][1].extend(entries)
        else:
            turns.append((side, entries))
    return turns
