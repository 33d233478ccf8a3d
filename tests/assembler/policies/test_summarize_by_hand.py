"""`Summarize` by brute force: the conversation with a summary is written by hand, built whole and counted."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import (
    Assembler,
    Context,
    ContextLengthError,
    ConversationError,
    Refuse,
    Summarize,
    TrimOldest,
    count_request,
)
from budgets import Budget
from tests.assembler.loosely_spelled import SHAPES, Message, talk
from tests.scaled import scaled

from .by_hand import MODELS, TOOLS

HEADING = "Summary of the conversation so far:\n"


class Drawn:
    """A conversation of some spelling for some model, cut by hand."""

    def __init__(self, draw: Random) -> None:
        self.shape, (self.dialect, self.model) = draw.choice(list(SHAPES)), draw.choice(MODELS)
        self.messages = SHAPES[self.shape](talk(draw), draw)
        self.head = 1 if self.messages[0]["role"] in ("system", "developer") else 0
        self.starts = [place for place, message in enumerate(self.messages) if asks_something(message)]

    def made(self, window: int, policy: Any, messages: list[Message]) -> Assembler:
        made = Assembler(Budget(window, model=self.model), dialect=self.dialect, on_overflow=policy)
        return made.set_tools(TOOLS).add_messages(copy.deepcopy(messages))

    def whole(self, messages: list[Message]) -> Context:
        return self.made(10**6, Refuse(), messages).build()

    def cost(self, messages: list[Message]) -> int:
        return count_request(self.whole(messages).request(), dialect=self.dialect, model=self.model).upper

    def summarised(self, text: str, first: int) -> list[Message]:
        said = HEADING + text
        written: Message = {"role": "user", "content": said}
        if self.shape == "gemini":
            written = {"role": "user", "parts": [{"text": said}]}
        if self.shape == "bedrock":
            written = {"role": "user", "content": [{"text": said}]}
        return [*self.messages[: self.head], written, *self.messages[first:]]


def asks_something(message: Message) -> bool:
    listed: Any = message.get("parts", message.get("content"))
    blocks = listed if isinstance(listed, list) else []
    results = any({"functionResponse", "toolResult", "tool_use_id"} & {*block} for block in blocks)
    return message.get("role") == "user" and not results


def write_briefly(dropped: list[Any], _previous: str | None, _most: int) -> str:
    return f"{len(dropped)} said"


def write_too_much(_dropped: list[Any], _previous: str | None, most: int) -> str:
    return "sum " * most


def write_nothing(_dropped: list[Any], _previous: str | None, _most: int) -> str:
    return "  "


def fail(_dropped: list[Any], _previous: str | None, _most: int) -> str:
    raise ValueError("no model answers")


def built(drawn: Drawn, window: int, policies: Any, *, awaited: bool) -> Context | None:
    made = drawn.made(window, policies, drawn.messages)
    try:
        return asyncio.run(made.abuild()) if awaited else made.build()
    except ContextLengthError:
        return None


@scaled(0.2)
@given(st.integers(0, 2**32), st.sampled_from([write_briefly, write_too_much, write_nothing, fail]), st.booleans())
def test_a_summary_is_asked_for_and_taken_if_and_only_if_the_request_fits_with_it(
    seed: int, write: Callable[..., str], awaited: bool
) -> None:
    draw = Random(seed)
    drawn, keep, asked = Drawn(draw), draw.choice([1, 1, 2]), list[tuple[int, str | None, int]]()
    if len(drawn.starts) <= keep:
        return
    first = drawn.starts[-keep]
    try:
        whole, bare = drawn.cost(drawn.messages), drawn.cost(drawn.summarised("", first))
    except ConversationError:  # what this API takes none of
        return

    def summarise(dropped: list[Any], previous: str | None, most: int) -> str:
        asked.append((len(dropped), previous, most))
        return write(dropped, previous, most)

    async def summarise_async(dropped: list[Any], previous: str | None, most: int) -> str:
        return summarise(dropped, previous, most)

    policy = Summarize(summarise_async if awaited else summarise, keep)
    brief = drawn.cost(drawn.summarised(f"{first - drawn.head} said", first))
    for window in {draw.choice([whole, bare, brief]) + draw.randrange(-2, 3) for _ in range(3)}:
        asked.clear()
        context = built(drawn, window, policy, awaited=awaited)
        if window >= whole:
            assert (asked, context and context.count.upper) == ([], whole)
        elif window <= bare:
            assert (asked, context) == ([], None)
        else:
            assert asked == [(first - drawn.head, None, window - bare)]
            try:
                text = write([0] * (first - drawn.head), None, window - bare)
            except ValueError:
                text = ""
            kept = drawn.summarised(text, first)
            fits = bool(text.strip()) and drawn.cost(kept) <= min(window, whole - 1)
            assert (context is not None) is fits
            if context is not None:
                assert (context.request(), context.count) == (drawn.whole(kept).request(), drawn.whole(kept).count)


@scaled(0.4)
@given(st.integers(0, 2**32))
def test_after_a_summary_that_failed_no_turn_goes_that_could_have_stayed_as_it_is_sent(seed: int) -> None:
    """By the sum of their prices, the next policy dropped a turn for the tokens that merging saves."""
    draw = Random(seed)
    drawn = Drawn(draw)
    try:
        kept = [drawn.messages[: drawn.head] + drawn.messages[start:] for start in drawn.starts]
        costs = [drawn.cost(messages) for messages in kept]
    except ConversationError:  # what this API takes none of
        return
    ladder = [Summarize(fail, draw.choice([1, 2])), TrimOldest()]
    for window in {max(draw.choice(costs) + draw.randrange(-2, 3), costs[-1]) for _ in range(3)}:
        context = built(drawn, window, ladder, awaited=draw.random() < 0.5)
        fitting = next(messages for messages, cost in zip(kept, costs, strict=True) if cost <= window)
        assert context is not None
        assert context.request() == drawn.whole(fitting).request()


def chat_of(questions: int, steps: int) -> list[Message]:
    """Questions with steps of two calls side by side, which some APIs bill together."""
    said: list[Message] = []
    for turn in range(questions):
        said.append({"role": "user", "content": f"question {turn}, please"})
        for step in range(steps):
            ids = [f"call{turn:02}{step:02}{side}" for side in "ab"]
            asked = {"name": "search", "arguments": '{"a": "x"}'}
            calls = [{"id": one, "type": "function", "function": asked} for one in ids]
            said.append({"role": "assistant", "content": "ok", "tool_calls": calls})
            said += [{"role": "tool", "tool_call_id": one, "content": "found it"} for one in ids]
        said.append({"role": "assistant", "content": "done"})
    return [*said, {"role": "user", "content": "and?"}]


@pytest.mark.parametrize(
    ("dialect", "model", "low_water"),
    [
        ("anthropic", "claude-sonnet-4-5", None),
        ("bedrock", "amazon.nova-lite-v1:0", None),
        ("mistral", "mistral-large-latest", None),
        ("mistral", "mistral-large-latest", 0.9),
        ("openai_chat", "gpt-4o", None),
    ],
)
def test_no_new_summary_is_asked_for_while_the_last_one_fits_with_the_later_turns(
    dialect: str, model: str, low_water: float | None
) -> None:
    """Mistral's summary was written anew 100 tokens, a tenth of the window, before it was needed."""
    messages, asked = chat_of(7, 4), list[int]()

    def summarise(dropped: list[Any], _previous: str | None, _most: int) -> str:
        asked.append(len(dropped))
        return "short"

    def made(window: int, said: list[Message], *policies: Any) -> Assembler:
        budget = Budget(window, model=model)
        return Assembler(budget, dialect=dialect, on_overflow=policies or Refuse()).set_tools(TOOLS).add_messages(said)

    window = made(10**6, chat_of(3, 4)).build().count.upper
    marks = [] if low_water is None else [TrimOldest(low_water=low_water)]
    assembler, stop = made(window, [], Summarize(summarise, 2), *marks), 0
    following = [message["role"] for message in messages[1:]] + ["none"]
    for length, (message, next_role) in enumerate(zip(messages, following, strict=True), 1):
        assembler.add_message(message)
        if message["role"] == "assistant" or next_role == "tool":
            continue
        held = [{"role": "user", "content": f"{HEADING}short"}] * bool(stop) + messages[stop:length]
        asked.clear()
        assembler.build()
        assert bool(asked) is (made(10**6, held).build().count.upper > window)
        stop += sum(asked)
    assert stop > len(messages) // 2
