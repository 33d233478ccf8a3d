"""What a caller gave to an assembler is freed when the assembler is, without waiting for Python's collector.

A server of many short conversations would otherwise hold a multiple of those that are alive.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from assembler import (
    Assembler,
    CitedSources,
    ContextLengthError,
    KeepRelevant,
    Placement,
    Policy,
    Summarize,
    TokenCountError,
    TrimOldest,
    Truncate,
    calibrate,
)
from budgets import Budget, Limit


class Watched(dict[str, Any]):
    """A message that can be watched."""

    __slots__ = ("__weakref__",)


class Counter:
    def __call__(self, text: str) -> int:
        return len(text)


class Failing(Counter):
    def __call__(self, text: str) -> int:
        raise OSError


class Awaited:
    async def __call__(self, text: str) -> int:
        return len(text)


def history() -> list[Watched]:
    return [Watched(role=("user", "assistant")[n % 2], content=f"number {n} " * 4) for n in range(61)]


def gathered(counter: Any, policy: Any = None, window: int = 1_400, **settings: Any) -> tuple[Assembler, list[Any]]:
    """An assembler, and weak references to what the caller gave it."""

    def tool(x: int) -> int:
        """Look it up."""
        return x

    messages = history()
    budget = Budget(window, counter=counter, limits=settings.pop("limits", {}))
    assembler = Assembler(budget, on_overflow=policy or TrimOldest(), **settings)
    assembler.set_instruction("Be brief.").set_tools([tool]).set_messages(messages)
    assembler.add_knowledge("k" * 40, type="fact").add_knowledge("l" * 40, type="fact")
    assembler.set_output_schema({"title": "T", "type": "object", "properties": {}})
    return assembler, [weakref.ref(one) for one in (*messages, tool, counter, assembler.inside[1])]


def use(assembler: Assembler) -> None:
    context = assembler.build()
    for tell in (lambda: str(context.report), context.report.to_dict, context.request, context.manifest, context.state):
        tell()
    assembler.fork().add_message({"role": "assistant", "content": "x"}).plan()
    assembler.status()
    assembler.costs()
    assembler.anchor(calibrate(context, context.count.tokens + 5)).build()


def built(policy: Policy | list[Policy], **settings: Any) -> list[Any]:
    assembler, given = gathered(Counter(), policy, **settings)
    use(assembler)
    return given


def write(*_wanted: object) -> str:
    return "short"


def fail(*_wanted: object) -> str:
    raise OSError


async def fail_later(*_wanted: object) -> str:
    raise OSError


def edited() -> list[Any]:
    assembler, given = gathered(Counter(), TrimOldest(low_water=0.5))
    assembler.build()
    assembler.messages[-1]["content"] = "other"
    assembler.build()
    assembler.messages[0]["pinned"] = True
    assembler.build()
    return given


def too_long() -> list[Any]:
    assembler, given = gathered(Counter(), window=20)
    with pytest.raises(ContextLengthError):
        assembler.build()
    return given


def under_limits_too_long() -> list[Any]:
    assembler, given = gathered(Counter(), window=210, limits={"knowledge": Limit(floor=100)})
    with pytest.raises(ContextLengthError):
        assembler.build()
    return given


def uncounted() -> list[Any]:
    assembler, given = gathered(Failing())
    with pytest.raises(TokenCountError):
        assembler.build()
    return given


def failed_while_awaited(summarizer: Any) -> list[Any]:
    assembler, given = gathered(Counter(), [Summarize(summarizer, keep_turns=1), TrimOldest()])
    assert len(asyncio.run(assembler.abuild()).warnings) == 1
    return given


def awaited() -> list[Any]:
    assembler, given = gathered(Awaited())
    asyncio.run(assembler.abuild())
    for thread in threading.enumerate():
        if thread.name == "assembler.abuild":  # it has answered, and is about to end
            thread.join()
    return given


LIVES: dict[str, Callable[[], list[Any]]] = {
    "trimmed": lambda: built(TrimOldest()),
    "with a mark": lambda: built(TrimOldest(low_water=0.5)),
    "summarised": lambda: built([Summarize(write, keep_turns=1), TrimOldest()]),
    "not summarised": lambda: built([Summarize(fail, keep_turns=1), TrimOldest()]),
    "not summarised in a thread": lambda: failed_while_awaited(fail),
    "not summarised in a task": lambda: failed_while_awaited(fail_later),
    "summarised later": lambda: built([Summarize(None, keep_turns=1), TrimOldest()]),
    "shortened": lambda: built([Truncate(10), TrimOldest()]),
    "relevant": lambda: built(KeepRelevant(lambda _question, texts: [1.0 for _ in texts])),
    "cited": lambda: built(TrimOldest(), strategy=CitedSources()),
    "around the question": lambda: built(TrimOldest(), strategy=CitedSources(placement=Placement.QUESTION)),
    "under limits": lambda: built(TrimOldest(), limits={"knowledge": Limit(cap=100)}),
    "merged": lambda: built(TrimOldest(), dialect="bedrock"),
    "in place": edited,
    "too long": too_long,
    "too long under limits": under_limits_too_long,
    "uncounted": uncounted,
    "awaited": awaited,
}


@pytest.mark.parametrize("life", LIVES.values(), ids=LIVES)
def test_what_was_given_is_freed_with_the_assembler(life: Callable[[], list[Any]]) -> None:
    gc.collect()
    gc.disable()
    try:
        assert [given() for given in life() if given() is not None] == []
    finally:
        gc.enable()
