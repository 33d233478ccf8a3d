"""Conversations of an agent, each in a loose form that its API accepts and this library does not write.

Results of one step stand together or apart and in any order, calls have ids or none, texts are strings or parts,
reasoning, images, names, marks of a cache and words of the user stand where the APIs allow them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from random import Random
from typing import Any

import attrs

Message = dict[str, Any]
WORDS = ["alpha", "bravo", "ünïcode", "東京", "emoji🙂", "1234", "{json}", "<tag>", "\n\n", "{}", "[]"]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@attrs.frozen
class Call:
    id: str
    name: str
    arguments: dict[str, Any]
    result: str


@attrs.frozen
class Utterance:
    """Words of one side; with calls it is a step of the model and the results."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()
    image: bool = False


def words(draw: Random, most: int = 12) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randrange(1, most)))


def talk(draw: Random) -> list[Utterance]:
    """One to four questions, each with up to two steps of one to three calls; a question comes last."""
    utterances: list[Utterance] = []
    for turn in range(draw.randrange(1, 5)):
        utterances.append(Utterance("user", words(draw), image=draw.random() < 0.12))
        for step in range(draw.randrange(3)):
            calls = tuple(_call(draw, f"call_{turn}_{step}_{place}") for place in range(draw.choice([1, 1, 2, 3])))
            utterances.append(Utterance("assistant", draw.choice(["", words(draw)]), calls))
        utterances.append(Utterance("assistant", words(draw)))
    return [*utterances, Utterance("user", words(draw))]


def detail(draw: Random) -> dict[str, str]:
    """How closely a picture is to be looked at: OpenAI's models are billed by it."""
    asked = draw.choice([None, None, "low", "high", "auto"])
    return {} if asked is None else {"detail": asked}


def _call(draw: Random, call_id: str) -> Call:
    values = [1, "x", None, [1, 2], {"k": "v"}]
    arguments = {draw.choice("abc"): draw.choice(values) for _ in range(draw.randrange(3))}
    result = draw.choice([words(draw, 20), "", json.dumps({"r": words(draw)}), "[]", "{}"])
    return Call(call_id, draw.choice(["search", "run"]), arguments, result)


def in_chat(utterances: list[Utterance], draw: Random) -> list[Message]:
    messages: list[Message] = []
    if draw.random() < 0.2:
        messages.append({"role": draw.choice(["system", "developer"]), "content": words(draw)})
    for utterance in utterances:
        if not utterance.calls:
            picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}", **detail(draw)}}
            content: Any = [{"type": "text", "text": utterance.text}, picture] if utterance.image else utterance.text
            name = {"name": "ann"} if utterance.role == "user" and draw.random() < 0.1 else {}
            messages.append({"role": utterance.role, "content": content, **name})
            continue
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in utterance.calls
        ]
        thought = {"reasoning_content": words(draw)} if draw.random() < 0.1 else {}
        messages.append({"role": "assistant", "content": utterance.text or None, "tool_calls": calls, **thought})
        results = [{"role": "tool", "tool_call_id": call.id, "content": call.result} for call in utterance.calls]
        messages += draw.sample(results, len(results)) if draw.random() < 0.3 else results
    return messages


def in_responses(utterances: list[Utterance], draw: Random) -> list[Message]:
    items: list[Message] = []
    for utterance in utterances:
        if utterance.calls and draw.random() < 0.3:
            cipher = "AAAA" * draw.randrange(1, 60)
            items.append({"type": "reasoning", "id": f"rs_{len(items)}", "summary": [], "encrypted_content": cipher})
        if utterance.image:
            picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", **detail(draw)}
            items.append({"role": "user", "content": [{"type": "input_text", "text": utterance.text}, picture]})
        elif utterance.role == "assistant" and draw.random() < 0.5:
            written = {"type": "output_text", "text": utterance.text, "annotations": list[Any]()}
            fields = {"type": "message", "id": f"msg_{len(items)}", "status": "completed"}
            items.append({**fields, "role": "assistant", "content": [written]})
        elif utterance.text:
            items.append({"role": utterance.role, "content": utterance.text})
        asked, answered = (
            zip(*(_items_of(call, draw) for call in utterance.calls), strict=True) if utterance.calls else ((), ())
        )
        items += [*asked, *answered]
    return items


def _items_of(call: Call, draw: Random) -> tuple[Message, Message]:
    """A call and its answer, of a function or of a custom tool: both may stand in one step."""
    arguments = json.dumps(call.arguments)
    if draw.random() < 0.1:
        asked: Message = {"type": "custom_tool_call", "call_id": call.id, "name": call.name, "input": arguments}
        return asked, {"type": "custom_tool_call_output", "call_id": call.id, "output": call.result}
    asked = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}
    return asked, {"type": "function_call_output", "call_id": call.id, "output": call.result}


@attrs.frozen
class Blocks:
    """How an API of blocks spells what is said. `step` says how a call and its result are spelled, by a draw."""

    model: str
    blocks: str
    text: Callable[[str], Message]
    image: Message
    thought: Callable[[str], Message]
    call: Callable[[Call, bool], Message]
    result: Callable[[Call, bool], Message]
    mark: Message | None = None

    def __call__(self, utterances: list[Utterance], draw: Random) -> list[Message]:
        named, messages = draw.random() < 0.5, list[Message]()
        for utterance in utterances:
            own = self.model if utterance.role == "assistant" else "user"
            parts = [self.text(utterance.text)] if utterance.text or not utterance.calls else []
            if utterance.role == "assistant" and draw.random() < 0.2:
                parts.insert(0, self.thought(words(draw)))
            parts += [self.image] if utterance.image else []
            parts += [self.call(call, named) for call in utterance.calls]
            messages.append({"role": own, self.blocks: parts})
            results = [self.result(call, named) for call in utterance.calls]
            if draw.random() < 0.25:
                messages += [{"role": "user", self.blocks: [result]} for result in results]
                continue
            behind = [self.text(words(draw))] if draw.random() < 0.2 else []
            behind += [self.mark] if self.mark and draw.random() < 0.1 else []
            messages += [{"role": "user", self.blocks: [*results, *behind]}] if results else []
        return messages


def _gemini_id(call: Call, named: bool) -> Message:
    return {"id": call.id} if named else {}


SHAPES: dict[str, Callable[[list[Utterance], Random], list[Message]]] = {
    "chat": in_chat,
    "responses": in_responses,
    "anthropic": Blocks(
        model="assistant",
        blocks="content",
        text=lambda text: {"type": "text", "text": text},
        image={"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
        thought=lambda text: {"type": "thinking", "thinking": text, "signature": "c2ln"},
        call=lambda call, _: {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments},
        result=lambda call, _: {"type": "tool_result", "tool_use_id": call.id, "content": call.result},
    ),
    "gemini": Blocks(
        model="model",
        blocks="parts",
        text=lambda text: {"text": text},
        image={"inlineData": {"mimeType": "image/png", "data": PIXEL}},
        thought=lambda text: {"text": text, "thought": True},
        call=lambda call, named: {
            "functionCall": {**_gemini_id(call, named), "name": call.name, "args": call.arguments},
            **({"thoughtSignature": "c2ln"} if named else {}),
        },
        result=lambda call, named: {
            "functionResponse": {**_gemini_id(call, named), "name": call.name, "response": {"result": call.result}}
        },
    ),
    "bedrock": Blocks(
        model="assistant",
        blocks="content",
        text=lambda text: {"text": text},
        image={"image": {"format": "png", "source": {"bytes": base64.b64decode(PIXEL)}}},
        thought=lambda text: {"reasoningContent": {"reasoningText": {"text": text, "signature": "c2ln"}}},
        call=lambda call, _: {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}},
        result=lambda call, named: {
            "toolResult": {
                "toolUseId": call.id,
                "content": [{"json": {"v": call.result}} if named else {"text": call.result}],
            }
        },
        mark={"cachePoint": {"type": "default"}},
    ),
}
