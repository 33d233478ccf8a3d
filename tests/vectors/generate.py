"""Writes the vectors: what this library does, as data, for ports to other languages.

    python -m tests.vectors.generate

Everything follows from seeds in this file. `tests/vectors/test_vectors.py` holds the files to what is made now.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from assembler import Assembler, count_request
from assembler.cli.request_file.policies import read_ladder
from assembler.dialects import DIALECTS, plain
from assembler.files.place import Place
from budgets import Budget, ContextLengthError, tiktoken_counter

HERE = Path(__file__).parent
VERSION = 1
"""Of the format. A new version may rename fields; new cases and new files do not make one."""

Case = dict[str, Any]

WORDS = (
    "order",
    "refund",
    "the",
    "café",
    "naïve",
    "Straße",
    "don't",
    "it's",
    "42",
    "3.14",
    "ÜBER",
    "請求書",
    "заказ",
    "🙂",
)
GAPS = (" ", " ", " ", "\n", "  ", ", ", ". ", "\t", "\r\n", "\u00a0", "-")
PLAIN_TEXTS = (
    "", " ", "\n", "a", "Hello, world!", "I'LL they'Ve we're 'S", "1234567890", "   leading", "trailing   ", "a\n\n\nb",
    "\u0085\ufeff\u2028", "e\u0301\u0323", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "ก็ำ",
    "https://example.org/a/b?c=d&e=f", "def f(x):\n    return x ** 2\n", '{"a": [1, 2, {"b": null}]}', "<|endoftext|>",
    "ſ's 'ſ", "ALLCAPS CamelCase snake_case", "\x00\x01\x7f", "日本語のテキストです。", "مرحبا بالعالم",
    "0x1F 1e-9 ½ Ⅷ",
)  # fmt: skip
TOOLS = [
    {
        "name": name,
        "description": f"{name} an order.",
        "parameters": {
            "type": "object",
            "properties": {"number": {"type": "string", "description": "Of the order"}, "fast": {"type": "boolean"}},
            "required": ["number"],
        },
    }
    for name in ("find", "cancel")
]
MODELS = {
    "openai_chat": "gpt-4o",
    "openai_responses": "gpt-5",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
}
POLICIES: list[Any] = [
    "refuse",
    "trim_oldest",
    {"trim_oldest": {"keep_turns": 2}},
    {"trim_oldest": {"low_water": 0.5}},
    {"trim_oldest": {"note": "(older turns are left out)"}},
    "keep_relevant",
    {"keep_relevant": {"low_water": 0.5}},
    [{"trim_steps": {"keep": 1}}],
    [{"clear_tool_results": {"keep": 1}}, "trim_oldest"],
    [{"truncate": {"max_tokens": 40}}, "trim_oldest"],
]


def text(draw: random.Random, words: int) -> str:
    return "".join(draw.choice(WORDS) + draw.choice(GAPS) for _ in range(words)).strip() or "-"


def call(draw: random.Random, turn: int, call_id: str) -> dict[str, Any]:
    function = {"name": draw.choice(["find", "cancel"]), "arguments": json.dumps({"number": str(turn)})}
    return {"id": call_id, "type": "function", "function": function}


def talk(draw: random.Random, turns: int, *, calls: bool) -> list[dict[str, Any]]:
    """A conversation in OpenAI's words: questions, steps with one or two calls, answers."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": text(draw, draw.randrange(1, 15))})
        for step in range(draw.randrange(3) if calls else 0):
            asked = [
                {
                    "id": f"call_{turn}_{step}_{one}",
                    "type": "function",
                    "function": {
                        "name": draw.choice(["find", "cancel"]),
                        "arguments": json.dumps({"number": str(turn)}),
                    },
                }
                for one in range(draw.choice([1, 1, 2]))
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": asked})
            for one in asked:
                content = draw.choice([text(draw, draw.randrange(1, 30)), json.dumps({"state": "sent", "days": turn})])
                messages.append({"role": "tool", "tool_call_id": one["id"], "content": content})
        messages.append({"role": "assistant", "content": text(draw, draw.randrange(1, 20))})
    return messages[:-1] if draw.random() < 0.5 else [*messages, {"role": "user", "content": "And now?"}]


def texts() -> Iterator[Case]:
    """Tokens of texts under the two public encodings."""
    draw = random.Random(1)
    drawn = [*PLAIN_TEXTS, *(text(draw, draw.randrange(1, 40)) for _ in range(150))]
    count = {name: tiktoken_counter(name) for name in ("o200k_base", "cl100k_base")}
    for one in drawn:
        yield {"text": one, **{name: counter(one) for name, counter in count.items()}}


def counts() -> Iterator[Case]:
    """Whole requests and what they cost."""
    draw = random.Random(2)
    for number in range(120):
        dialect = "openai_chat" if number < 60 else draw.choice([*MODELS])
        with_tools = number >= 40
        messages = talk(draw, draw.randrange(1, 4), calls=number >= 15)
        made = Assembler(dialect=DIALECTS[dialect])
        if draw.random() < 0.5:
            made.add_instruction(text(draw, 8))
        if with_tools:
            made.add_capability(TOOLS)
        request = made.add_messages(messages).build().request() if with_tools or dialect == "openai_chat" else None
        if request is None:
            continue
        if dialect == "openai_chat" and draw.random() < 0.2:
            request["messages"][-1]["name"] = "ada"
        found = count_request(request, dialect=DIALECTS[dialect], model=MODELS[dialect])
        counted = {"tokens": found.tokens, "upper": found.upper, "grade": str(found.grade)}
        yield {
            "dialect": dialect,
            "model": MODELS[dialect],
            "features": features(request),
            "request": request,
            **counted,
        }


def features(request: dict[str, Any]) -> list[str]:
    """What a port must know to count a request."""
    messages: list[dict[str, Any]] = request.get("messages", [])
    found = {"text"}
    found |= {key for key in ("tools",) if request.get(key)}
    found |= {"names" for message in messages if "name" in message}
    found |= {"calls" for message in messages if message.get("tool_calls")}
    found |= {"parallel calls" for message in messages if len(message.get("tool_calls") or ()) > 1}
    return sorted(found)


def cuts() -> Iterator[Case]:
    """Conversations in too small a window: which messages stay, under each policy. One token is one character."""
    draw = random.Random(3)
    for number in range(120):
        policy, messages = POLICIES[number % len(POLICIES)], talk(draw, draw.randrange(2, 7), calls=number % 3 > 0)
        whole = Assembler(Budget(10**6, counter=len), dialect=plain).add_messages(messages).plan().count.tokens
        window = draw.randrange(whole // 4, whole + 2)
        rungs = read_ladder(Place("case").key("policy"), policy)
        case: Case = {"policy": policy, "window": window, "messages": messages}
        try:
            context = (
                Assembler(Budget(window, counter=len), dialect=plain, on_overflow=rungs).add_messages(messages).build()
            )
        except ContextLengthError as error:
            yield {**case, "error": {"required": error.required, "available": error.available}}
            continue
        case |= {"kept": context.inside.kept, "tokens": context.count.tokens}
        sent = context.request()["messages"]
        as_they_were = [messages[index] for index in case["kept"]]
        yield {**case, **({} if sent == as_they_were else {"sent": sent})}


def emitted() -> Iterator[Case]:
    """One conversation in the words of each API: the request as the bytes of its compact JSON."""
    draw = random.Random(4)
    for _ in range(12):
        instruction, messages = text(draw, 6), talk(draw, 2, calls=True)
        messages = (
            messages if messages[-1]["role"] != "assistant" else [*messages, {"role": "user", "content": "Go on."}]
        )
        requests: dict[str, str] = {}
        for name in ("openai_chat", "openai_responses", "anthropic", "gemini", "bedrock", "mistral"):
            made = Assembler(dialect=DIALECTS[name]).add_instruction(instruction).add_capability(TOOLS)
            requests[name] = _compact(made.add_messages(messages).build().request())
        yield {"instruction": instruction, "tools": TOOLS, "messages": messages, "requests": requests}


FILES: dict[str, Callable[[], Iterator[Case]]] = {"texts": texts, "counts": counts, "cuts": cuts, "emitted": emitted}


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def written(name: str) -> str:
    """One file: a version, and a case a line."""
    cases = ",\n".join(map(_compact, FILES[name]()))
    return f'{{"version":{VERSION},"kind":"{name}","cases":[\n{cases}\n]}}\n'


def main() -> None:
    for name in FILES:
        (HERE / f"{name}.json").write_text(written(name), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
