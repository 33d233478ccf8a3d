"""An agent session of 300 turns in a 16k window: what assembling costs, and how much of each prompt a cache can serve.

    python tests/benchmarks/session.py [--low-water 0.5] [--peers]

The session is made of the standard library's own sources: questions, tool calls and file excerpts as results. Each
model call is one build and one request. Figures are ratios of CPU time within this one run: `tokenise once` is the
bare encoder over every text of the session, each exactly once. The referee that counts overflows and broken pairs
reads the emitted request and shares no code with the library but the vocabulary.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from assembler import Assembler, TrimOldest
from assembler.dialects import openai_chat
from budgets import Budget, memoised, tiktoken_counter

Message = dict[str, Any]

TURNS = 300
WINDOW = 16_000
RESERVE = 1_000
CACHE_STEP = 128
"""Tokens: a prefix cache serves whole blocks (OpenAI, Prompt caching guide: 1,024 at least, then steps of 128)."""
CACHE_LEAST = 1_024
INSTRUCTION = "You are a careful maintainer of the Python standard library. Read before you answer. " * 12
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{verb} a file of the standard library.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string", "description": "Relative path"}, "line": {"type": "integer"}},
                "required": ["path"],
            },
        },
    }
    for name, verb in (("read_file", "Read"), ("search", "Search in"), ("run_tests", "Run the tests of"))
]


def sources() -> list[tuple[str, str]]:
    """The standard library's modules, by name, as text."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    return [(path.name, path.read_text("utf-8", "replace")) for path in sorted(folder.glob("*.py"))]


def session(turns: int = TURNS, seed: int = 7) -> list[list[Message]]:
    """The messages that arrive before each model call: about 2.4 calls a turn, 220k tokens in all."""
    draw = random.Random(seed)
    files = sources()
    arrivals: list[list[Message]] = []
    pending: list[Message] = []
    for turn in range(turns):
        name, text = draw.choice(files)
        pending.append({"role": "user", "content": f"In {name}: what does this do?\n{excerpt(draw, text, 300)}"})
        for step in range(draw.choice([0, 1, 1, 2, 3])):
            arrivals.append(pending)
            calls = [call(draw, f"call_{turn}_{step}_{n}", files) for n in range(draw.choice([1, 1, 2]))]
            results = [
                {"role": "tool", "tool_call_id": one["id"], "content": excerpt(draw, draw.choice(files)[1], 900)}
                for one in calls
            ]
            pending = [{"role": "assistant", "content": None, "tool_calls": calls}, *results]
        arrivals.append(pending)
        pending = [{"role": "assistant", "content": excerpt(draw, text, 500)}]
    return arrivals


def excerpt(draw: random.Random, text: str, about: int) -> str:
    size = draw.randint(about // 3, about * 2)
    start = draw.randrange(max(1, len(text) - size))
    return text[start : start + size] or "(empty)"


def call(draw: random.Random, call_id: str, files: list[tuple[str, str]]) -> dict[str, Any]:
    arguments = json.dumps({"path": draw.choice(files)[0], "line": draw.randrange(500)})
    tool = draw.choice(TOOLS)["function"]["name"]
    return {"id": call_id, "type": "function", "function": {"name": tool, "arguments": arguments}}


def texts(messages: list[Message]) -> Iterator[str]:
    for message in messages:
        if message.get("content"):
            yield message["content"]
        for one in message.get("tool_calls", ()):
            yield one["function"]["name"]
            yield one["function"]["arguments"]


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


class Referee:
    """Counts and checks what is emitted, by its own arithmetic: 3 a message, 1 a role, 3 to prime the reply."""

    def __init__(self) -> None:
        self.count = memoised(tiktoken_counter())
        self.overflows = self.invalid = 0
        self.fills: list[float] = []
        self.prompt = self.outside = 0
        self.before: list[tuple[str, int]] = []

    def judge(self, request: dict[str, Any], tokens: int, limit: int) -> None:
        self.overflows += tokens > limit
        self.invalid += not self.valid(request["messages"])
        self.fills.append(tokens / limit)
        tools = json.dumps(request.get("tools", []))
        now = [(tools, self.count(tools))]
        now += [(json.dumps(message), 4 + sum(map(self.count, texts([message])))) for message in request["messages"]]
        shared = 0
        for (old, size), (new, _) in zip(self.before, now, strict=False):
            if old != new:
                break
            shared += size
        served = shared // CACHE_STEP * CACHE_STEP if shared >= CACHE_LEAST else 0
        total = sum(size for _, size in now)
        self.prompt += total
        self.outside += total - served
        self.before = now

    @staticmethod
    def valid(messages: list[Message]) -> bool:
        waiting: list[str] = []
        for message in messages:
            if message["role"] == "tool":
                if message["tool_call_id"] not in waiting:
                    return False
                waiting.remove(message["tool_call_id"])
                continue
            if waiting:
                return False
            waiting = [one["id"] for one in message.get("tool_calls", ())]
        rest = [message for message in messages if message["role"] != "system"]
        return not waiting and bool(rest) and rest[0]["role"] == "user"


def assembler_for(low_water: float | None) -> Assembler:
    # A counter of its own: nothing is remembered from the run before.
    budget = Budget(WINDOW, max_output_tokens=RESERVE, model="gpt-4o", counter=memoised(tiktoken_counter()))
    policy = TrimOldest(low_water=low_water)
    assembler = Assembler(budget, dialect=openai_chat, on_overflow=policy)
    return assembler.add_instruction(INSTRUCTION).add_capability(TOOLS)


def lived(arrivals: list[list[Message]], low_water: float | None, read: Callable[[Any], object]) -> None:
    """The session as an agent lives it: each arrival appended, then a build and a request."""
    assembler = assembler_for(low_water)
    for messages in arrivals:
        for message in messages:
            assembler.add_message(message)
        context = assembler.build()
        context.request()
        read(context)


def judged(arrivals: list[list[Message]], low_water: float | None) -> Referee:
    referee = Referee()
    limit = WINDOW - RESERVE
    lived(arrivals, low_water, lambda context: referee.judge(context.request(), context.count.tokens, limit))
    return referee


def peers(arrivals: list[list[Message]], once: float) -> None:
    """langchain-core's trim_messages over the same session, where it is installed."""
    from langchain_core.messages import convert_to_messages, trim_messages

    count = memoised(tiktoken_counter())
    bare = tiktoken_counter()
    for name, counter in (("plain counter", bare), ("memoised counter", count)):
        referee = Referee()
        history: list[Message] = []
        spent = 0.0

        def cost(message: Any, counter: Callable[[str], int] = counter) -> int:
            calls = sum(counter(json.dumps(one)) for one in getattr(message, "tool_calls", []))
            return 4 + counter(str(message.content)) + calls

        def tokens(messages: list[Any], cost: Callable[[Any], int] = cost) -> int:
            return sum(map(cost, messages))

        fixed = bare(INSTRUCTION) + 300
        for messages in arrivals[: len(arrivals) // 4]:
            history += messages
            converted = convert_to_messages(history)
            start = time.process_time()
            kept = trim_messages(converted, max_tokens=WINDOW - RESERVE - fixed, token_counter=tokens, start_on="human")
            spent += time.process_time() - start
            places = {id(message): place for place, message in enumerate(converted)}
            emitted = [{"role": "system", "content": INSTRUCTION}, *(history[places[id(m)]] for m in kept)]
            referee.judge({"messages": emitted, "tools": TOOLS}, fixed + tokens(kept), WINDOW - RESERVE)
        print(
            f"langchain-core trim_messages, {name}, first quarter of the session: "
            f"{spent / (once / 4):.0f} x tokenise-once, outside the cache {referee.outside / referee.prompt:.1%}, "
            f"invalid {referee.invalid}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--low-water", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    chosen = parser.parse_args()
    arrivals = session()
    every = [text for messages in arrivals for text in texts(messages)]
    bare = tiktoken_counter()
    total = sum(map(bare, every))
    print(f"{TURNS} turns, {len(arrivals)} builds, {total:,} tokens of history, {WINDOW:,} window")
    rounds: list[tuple[float, float, float]] = []
    for _ in range(chosen.rounds):
        once = cpu(lambda: [bare(text) for text in every])
        build = cpu(lambda: lived(arrivals, chosen.low_water, lambda context: None))
        report = cpu(lambda: lived(arrivals, chosen.low_water, lambda context: context.report.to_dict()))
        rounds.append((once, build / once, report / once))
    once, build, report = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"tokenise once: {once * 1e3:.0f} ms CPU")
    print(f"build() and request() at every call:   {build:.2f} x tokenise-once")
    print(f"and report.to_dict() at every call:    {report:.2f} x tokenise-once")
    for low_water in (chosen.low_water, None):
        referee = judged(arrivals, low_water)
        print(
            f"TrimOldest(low_water={low_water}): over budget {referee.overflows}, invalid {referee.invalid}, "
            f"served by a prefix cache {1 - referee.outside / referee.prompt:.1%}, "
            f"outside it {referee.outside:,} tokens, mean fill {statistics.mean(referee.fills):.1%}"
        )
    if chosen.peers:
        peers(arrivals, once)


if __name__ == "__main__":
    main()
