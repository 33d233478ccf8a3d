"""What a caller's function raises in the middle of a build reaches the caller, and the next build is like a first one.

Counters, summarizers and message readers, whose exceptions are wrapped, have tests of their own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from assembler import Assembler, Change, ChatRegions, Cosine, Cut, KeepRelevant, Offload, Passage, Summarize, TrimOldest
from assembler.conversation.messages import edited
from assembler.dialects import plain
from assembler.policies import PricedTurns
from assembler.strategies import Needs, Regions, Rendered, Space
from budgets import Budget, Limit

Strike = Callable[[], None]
"""Each function of the caller calls it first, and it raises at the chosen call."""


def talk(policy: Any, *, strategy: Any = None, limits: dict[str, Limit] | None = None) -> Assembler:
    assembler = Assembler(
        Budget(700, counter=len, limits=limits or {}),
        on_overflow=policy,
        dialect=plain,
        strategy=strategy or ChatRegions(),
    )
    call = {"id": "c1", "name": "read", "args": {}}
    assembler.set_messages(
        [
            ("user", "Read it."),
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "log " * 100},
            *((("assistant", "user")[place % 2], f"{place} says " + "abcdefgh"[place] * 40) for place in range(6)),
        ]
    )
    if limits is None:
        return assembler.add_knowledge("Rain.", type="weather")
    return assembler.set_tools([{"name": name, "description": "d" * 90, "parameters": {}} for name in ("find", "book")])


def pinning(strike: Strike) -> Assembler:
    def pins(message: Any) -> bool:
        strike()
        return "2 says" in str(message)

    return talk(TrimOldest(pins=pins))


def scoring(strike: Strike) -> Assembler:
    def score(_question: str, texts: Sequence[str]) -> list[float]:
        strike()
        return [float(len(text)) for text in texts]

    return talk(KeepRelevant(score=score))


def embedding(strike: Strike) -> Assembler:
    def embed(texts: Sequence[str]) -> list[list[float]]:
        strike()
        return [[float(len(text)), 1.0] for text in texts]

    return talk(KeepRelevant(score=Cosine(embed)))


def storing(strike: Strike) -> Assembler:
    class Store(dict[str, str]):
        def setdefault(self, key: str, default: str = "") -> str:
            strike()
            return super().setdefault(key, default)

    return talk([Offload(Store(), min_tokens=100, preview=20), TrimOldest()])


def cutting(strike: Strike) -> Assembler:
    class Cuts:
        def cut(self, ledger: PricedTurns, tokens_left: int) -> Cut:
            strike()
            return TrimOldest().cut(ledger, tokens_left)

    return talk(Cuts())


def rewriting(strike: Strike) -> Assembler:
    class Shortens:
        def rewrites(self, passage: Passage) -> Iterator[Change]:
            for index, message in passage:
                strike()
                if message.role == "assistant" and index < passage.newest:
                    yield Change(
                        {index: edited(message, ["x" if isinstance(p, str) else p for p in message.parts])}, ""
                    )

    return talk([Shortens(), TrimOldest()])


def laying_out(strike: Strike) -> Assembler:
    class Lays:
        def render(self, regions: Regions) -> Rendered:
            strike()
            return ChatRegions().render(regions)

    return talk(TrimOldest(), strategy=Lays())


def choosing(strike: Strike) -> Assembler:
    class Chooses(ChatRegions):
        needs = Needs.QUESTION

        def choose(self, regions: Regions, space: Space) -> Rendered:
            strike()
            return self.render(regions)

    return talk(TrimOldest(), strategy=Chooses())


def selecting(strike: Strike) -> Assembler:
    def select(_tools: Any, *_rest: Any) -> list[int]:
        strike()
        return [0]

    return talk(TrimOldest(), limits={"capability": Limit(cap=200, select=select)})


FUNCTIONS = [pinning, scoring, embedding, storing, cutting, rewriting, laying_out, choosing, selecting]
DOORS: dict[str, Callable[[Assembler], object]] = {
    "build": Assembler.build,
    "plan": Assembler.plan,
    "status": Assembler.status,
    "abuild": lambda assembler: asyncio.run(asyncio.wait_for(assembler.abuild(), 20)),
}


def said(assembler: Assembler) -> str:
    context = assembler.build()
    return json.dumps([context.request(), context.report.to_dict(), context.prefix_hash, context.state()])


def calls_of(function: Callable[[Strike], Assembler]) -> int:
    calls: list[None] = []
    function(lambda: calls.append(None)).build()
    return len(calls)


class RaisesAt:
    """Raises at the k-th call only."""

    def __init__(self, call: int, error: BaseException) -> None:
        self.left, self.error = call, error

    def __call__(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise self.error


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_a_function_of_the_caller_raises_reaches_the_caller_and_leaves_nothing_behind(
    function: Callable[[Strike], Assembler], door: str
) -> None:
    whole, calls = said(function(lambda: None)), calls_of(function)
    assert calls
    for error in (
        ValueError("x"),
        TypeError("x"),
        KeyError("x"),
        AttributeError("x"),
        ConnectionError(),
        MemoryError(),
    ):
        for call in {1, 2, calls // 2, calls} & set(range(1, calls + 1)):
            assembler = function(RaisesAt(call, error))
            with pytest.raises(type(error)) as caught:
                DOORS[door](assembler)
            assert caught.value is error
            assert said(assembler) == whole


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_stop_iteration_of_a_function_ends_an_awaited_build_with_an_error(
    function: Callable[[Strike], Assembler],
) -> None:
    """No future takes a StopIteration, so that the task once waited for good."""
    assembler = function(RaisesAt(1, StopIteration()))
    with pytest.raises(RuntimeError, match="raised StopIteration"):
        DOORS["abuild"](assembler)
    assert said(assembler) == said(function(lambda: None))


def test_a_stop_iteration_of_an_awaited_counters_build_ends_it_with_an_error() -> None:
    async def count(text: str) -> int:
        return len(text)

    def pins(_message: object) -> bool:
        return next(iter(()))

    assembler = Assembler(Budget(30, counter=count), on_overflow=TrimOldest(pins=pins), dialect=plain)
    assembler.set_messages([("user", "a" * 30), ("assistant", "b"), ("user", "c")])
    with pytest.raises(RuntimeError, match="raised StopIteration"):
        DOORS["abuild"](assembler)


def test_a_summarizer_that_stops_an_iteration_is_a_failed_summary_in_both_builds() -> None:
    def write(*_given: object) -> str:
        raise StopIteration

    for door in ("build", "abuild"):
        assembler = Assembler(Budget(40, counter=len), on_overflow=[Summarize(write, keep_turns=1), TrimOldest()])
        assembler.set_messages([("user", "a" * 90), ("assistant", "b"), ("user", "c")])
        context: Any = DOORS[door](assembler)
        assert [type(warning).__name__ for warning in context.warnings] == ["SummaryError"]
