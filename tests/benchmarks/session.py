"""An agent session of 300 turns in a 16k window: what assembling costs, and how much of each prompt a cache can serve.

    python tests/benchmarks/session.py [--low-water 0.5] [--rounds 7] [--peers] [--report]

The session is made of the standard library's own sources: questions, tool calls and file excerpts as results. Each
model call is one build and one request. Figures are ratios of CPU time within this one run: `tokenise once` is the
bare encoder over every text of the session, each exactly once. A round measures everything once, one after the other,
so that a busy machine slows all of it; the figure is the median of the rounds' ratios. The referee that counts tokens,
overflows and broken pairs reads the emitted request and shares no code with the library but the vocabulary.

`--peers` lets langchain-core's trim_messages (where it is installed) live the same session, which takes minutes.
`--report` prints the report of the last build.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import random
import statistics
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import tiktoken

from assembler import Assembler, TrimOldest
from assembler.dialects import openai_chat
from budgets import Budget, fastest_counter, memoised, tiktoken_counter
from tests.assembler.by_hand import pairs_hold

Message = dict[str, Any]

TURNS = 300
WINDOW = 16_000
RESERVE = 1_000
CACHE_STEP = 128
"""Tokens: a prefix cache serves whole blocks (OpenAI, Prompt caching guide: 1,024 at least, then steps of 128)."""
CACHE_LEAST = 1_024
BEGINNING = 4_500
"""Tokens: three tenths of the room, for a beginning of the session that stays."""
INSTRUCTION = "You are a careful maintainer of the Python standard library. Read before you answer. " * 12
TOOLS: list[dict[str, Any]] = [
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


def texts(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        if message.get("content"):
            yield message["content"]
        for one in message.get("tool_calls", ()):
            yield one["function"]["name"]
            yield one["function"]["arguments"]


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of `work`, with no garbage of others to collect."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def tool_tokens(tools: Sequence[dict[str, Any]], count: Callable[[str], int]) -> int:
    """Definitions as the OpenAI cookbook counts them for gpt-4o (How to count tokens with tiktoken, read 2026-11)."""
    tokens = 12 if tools else 0
    for tool in tools:
        function = tool["function"]
        tokens += 7 + count(f"{function['name']}:{function['description']}")
        properties = function["parameters"]["properties"]
        tokens += 3 if properties else 0
        for name, schema in properties.items():
            tokens += 3 + count(f"{name}:{schema['type']}:{schema.get('description', '')}")
    return tokens


def beginning(arrivals: Iterable[list[Message]], tokens: int) -> frozenset[int]:
    """The indexes of the first messages, of at most so many tokens."""
    count = memoised(tiktoken_counter())
    every = (message for messages in arrivals for message in messages)
    sizes = itertools.accumulate(sum(map(count, texts([message]))) for message in every)
    return frozenset(index for index, _ in enumerate(itertools.takewhile(lambda size: size <= tokens, sizes)))


class Referee:
    """Counts and checks what is emitted, by its own arithmetic: 3 a message, 1 a role, 3 to prime the reply.

    `window` is what the prompt may use. The cache it plays serves whole blocks of what this request and the one before
    begin with in common: OpenAI's.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self.count = memoised(tiktoken_counter())
        self.overflows = self.invalid = 0
        self.fills: list[float] = []
        self.shares: list[float] = []
        self.cut_at: list[int] = []
        self.prompt = self.outside = 0
        self.before: list[tuple[str, int]] = []

    def judge(self, request: dict[str, Any]) -> None:
        self.invalid += not self.valid(request["messages"])
        tools = request.get("tools", [])
        now = [(json.dumps(tools), tool_tokens(tools, self.count))]
        now += [(json.dumps(message), self.message(message)) for message in request["messages"]]
        total = 3 + sum(size for _, size in now)
        self.overflows += total > self.window
        self.fills.append(total / self.window)
        shared = 0
        for (old, size), (new, _) in zip(self.before, now, strict=False):
            if old != new:
                self.cut_at.append(len(self.fills) - 1)
                break
            shared += size
        served = shared // CACHE_STEP * CACHE_STEP if shared >= CACHE_LEAST else 0
        self.shares.append(served / total)
        self.prompt += total
        self.outside += total - served
        self.before = now

    def message(self, message: Message) -> int:
        return 4 + sum(map(self.count, texts([message])))

    @staticmethod
    def valid(messages: list[Message]) -> bool:
        rest = [message for message in messages if message["role"] != "system"]
        return pairs_hold(messages) and bool(rest) and rest[0]["role"] == "user"

    def verdict(self) -> str:
        return (
            f"over budget {self.overflows}, invalid {self.invalid}, prefix changed {len(self.cut_at)} x, "
            f"served by a prefix cache {1 - self.outside / self.prompt:.1%}, outside it {self.outside:,} tokens, "
            f"mean fill {statistics.mean(self.fills):.1%}"
        )


def assembler_for(on_overflow: Any, engine: Callable[[], Callable[[str], int]]) -> Assembler:
    # A counter of its own: nothing is remembered from the run before.
    budget = Budget(WINDOW, max_output_tokens=RESERVE, model="gpt-4o", counter=memoised(engine()))
    assembler = Assembler(budget, dialect=openai_chat, on_overflow=on_overflow)
    return assembler.add_instruction(INSTRUCTION).add_capability(TOOLS)


def replay(
    arrivals: list[list[Message]],
    on_overflow: Any,
    read: Callable[[Any, dict[str, Any]], object],
    engine: Callable[[], Callable[[str], int]] = tiktoken_counter,
) -> None:
    """The session as an agent lives it: each arrival appended, then a build and a request."""
    assembler = assembler_for(on_overflow, engine)
    for messages in arrivals:
        for message in messages:
            assembler.add_message(message)
        context = assembler.build()
        read(context, context.request())


def judged(arrivals: list[list[Message]], on_overflow: Any) -> Referee:
    referee = Referee(WINDOW - RESERVE)
    replay(arrivals, on_overflow, lambda context, request: referee.judge(request))
    return referee


def peer(arrivals: list[list[Message]], counter: Callable[[str], int]) -> tuple[float, Referee]:
    """CPU seconds of langchain-core's trim_messages over the session, and what the referee says of it.

    Conversion into its messages is not timed. Its counter prices what ours must: text, calls, 4 a message.
    """
    from langchain_core.messages import convert_to_messages, trim_messages

    def tokens(messages: list[Any]) -> int:
        return sum(
            4
            + counter(str(message.content))
            + sum(
                counter(call["name"]) + counter(json.dumps(call["args"])) for call in getattr(message, "tool_calls", ())
            )
            for message in messages
        )

    referee = Referee(WINDOW - RESERVE)
    fixed = 3 + 4 + counter(INSTRUCTION) + tool_tokens(TOOLS, counter)
    history: list[Message] = []
    converted: list[Any] = []
    spent = 0.0
    for messages in arrivals:
        history += messages
        converted += convert_to_messages(messages)
        start = time.process_time()
        kept = trim_messages(
            converted, max_tokens=WINDOW - RESERVE - fixed, token_counter=tokens, strategy="last", start_on="human"
        )
        spent += time.process_time() - start
        # It copies what it keeps, newest last: as many of the newest are the ones.
        emitted = [{"role": "system", "content": INSTRUCTION}, *history[len(history) - len(kept) :]]
        referee.judge({"messages": emitted, "tools": TOOLS})
    return spent, referee


def peers(arrivals: list[list[Message]], once: float, ours: Referee) -> None:
    """langchain-core's trim_messages over the same session, where it is installed."""
    try:
        version = metadata.version("langchain-core")
    except metadata.PackageNotFoundError:
        print("peers: langchain-core is not installed here; pip install langchain-core")
        return
    print(f"langchain-core {version}, trim_messages(strategy='last', start_on='human') at every call:")
    for name, counter in (("memoised counter", memoised(tiktoken_counter())), ("plain counter", tiktoken_counter())):
        spent, referee = peer(arrivals, counter)
        print(f"  {name}: {spent / once:.0f} x tokenise-once; {referee.verdict()}")
        print(f"  prompt tokens outside the prefix cache, ours / theirs: {ours.outside / referee.outside:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--low-water", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--report", action="store_true")
    chosen = parser.parse_args()
    arrivals = session()
    every = [text for messages in arrivals for text in texts(messages)]
    bare = tiktoken_counter()
    total = sum(map(bare, every))
    print(f"{TURNS} turns, {len(arrivals)} builds, {total:,} tokens of history, {WINDOW:,} window")
    policy = TrimOldest(low_water=chosen.low_water)
    sum(map(fastest_counter(), every))  # its tables are loaded before the first round
    rounds: list[tuple[float, float, float, float]] = []
    for _ in range(chosen.rounds):
        before = cpu(lambda: [bare(text) for text in every])
        build = cpu(lambda: replay(arrivals, policy, lambda context, request: None))
        between = cpu(lambda: [bare(text) for text in every])
        report = cpu(lambda: replay(arrivals, policy, lambda context, request: context.report.to_dict()))
        fastest = cpu(lambda: replay(arrivals, policy, lambda context, request: None, fastest_counter))
        once = (before + between) / 2
        rounds.append((once, build / once, report / once, fastest / once))
    once, build, report, fastest = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(
        f"tokenise once: {once * 1e3:.0f} ms CPU (tiktoken {tiktoken.__version__}); medians of {chosen.rounds} rounds"
    )
    print(f"build() and request() at every call:   {build:.2f} x tokenise-once")
    print(f"and report.to_dict() at every call:    {report:.2f} x tokenise-once")
    print(f"build() and request(), {fastest_counter().name}: {fastest:.2f} x tokenise-once by tiktoken")
    ours = judged(arrivals, TrimOldest(low_water=0.6, pins=beginning(arrivals, BEGINNING)))
    for name, referee in (
        ("", judged(arrivals, TrimOldest())),
        (f"low_water={chosen.low_water}", judged(arrivals, policy)),
        (f"low_water=0.6, pins=the first {BEGINNING:,} tokens", ours),
    ):
        print(f"TrimOldest({name}): {referee.verdict()}")
    if chosen.peers:
        peers(arrivals, once, ours)
    if chosen.report:
        last: dict[str, Any] = {}
        replay(arrivals, policy, lambda context, request: last.update(context=context))
        print(last["context"].report)


if __name__ == "__main__":
    main()
