"""`Offload` by brute force: every state between the whole conversation and all results stored is built and counted.

The oracle edits the messages of the caller by hand, in their own spelling, and takes the first state that fits.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError, ConversationError, Offload, Refuse, TrimOldest, count_request
from budgets import Budget
from tests.assembler.loosely_spelled import SHAPES, Call, Message, Utterance, words
from tests.scaled import scaled

from .by_hand import MODELS, TOOLS

SMALLEST = 60
"""Results are far larger than this, or far smaller, whatever a model makes of a text."""


def text_of(draw: Random) -> str:
    text = ""
    while len(text) < draw.choice([300, 400, 900]):
        text += words(draw) + " "
    return text


def agent_talk(draw: Random) -> list[Utterance]:
    """One or two questions, with steps whose results are large, small, and often equal."""
    pool = [text_of(draw) for _ in range(3)]
    spoken: list[Utterance] = []
    for turn in range(draw.randrange(1, 3)):
        spoken.append(Utterance("user", words(draw)))
        for step in range(draw.randrange(3)):
            results = [draw.choice([words(draw, 4), *pool, text_of(draw)]) for _ in range(draw.choice([1, 1, 2, 3]))]
            calls = (Call(f"call_{turn}_{step}_{at}", "run", {"a": 1}, result) for at, result in enumerate(results))
            spoken.append(Utterance("assistant", draw.choice(["", words(draw)]), tuple(calls)))
        spoken.append(Utterance("assistant", words(draw)))
    return [*spoken, Utterance("user", words(draw))]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def results_in(messages: list[Message]) -> Iterator[tuple[str, Callable[[str], None]]]:
    """The text of each result, oldest first, and a function that writes another in its place."""
    for message in messages:
        if message.get("role") == "tool":
            yield message["content"], lambda text, m=message: m.update(content=text)
        if str(message.get("type")).endswith("call_output"):
            yield message["output"], lambda text, m=message: m.update(output=text)
        for block in message.get("parts") or message.get("content") or ():
            if isinstance(block, dict):
                yield from results_of(block)


def results_of(block: Message) -> Iterator[tuple[str, Callable[[str], None]]]:
    if block.get("type") == "tool_result":
        yield block["content"], lambda text: block.update(content=text)
    if "functionResponse" in block:
        response = block["functionResponse"]
        yield compact(response["response"]), lambda text: response.update(response={"result": text})
    if "toolResult" in block:
        result = block["toolResult"]
        (held,) = result["content"]
        body = held["text"] if "text" in held else compact(held["json"])
        yield body, lambda text: result.update(content=[{"text": text}])


def states(messages: list[Message], cost: Callable[[list[Message]], int]) -> Iterator[tuple[list[Message], int]]:
    """What stays after each change that saves tokens, the whole first, and what it costs."""
    now = copy.deepcopy(messages)
    found = [*results_in(now)]
    changes: list[tuple[int, str]] = []
    first: dict[str, int] = {}
    for place, (text, _) in enumerate(found):
        if text in first and len(text) > 80:
            changes.append((place, "the same as an earlier result"))
        first.setdefault(text, place)
    last = {text: place for place, (text, _) in enumerate(found)}
    large = [text for text in sorted(first, key=lambda text: last[text]) if len(text) >= 300]
    changes += [(first[text], f"stored, {len(text):,} characters") for text in large]
    yield copy.deepcopy(now), (before := cost(now))
    for place, what in changes:
        kept, (text, put) = copy.deepcopy(now), found[place]
        put(f'[{what}; fetch_result(id="{hashlib.sha256(text.encode()).hexdigest()[:16]}") gives it back]')
        if (after := cost(now)) < before:
            before = after
            yield copy.deepcopy(now), after
        else:
            now[:] = kept
            found = [*results_in(now)]


@scaled(0.4)
@given(st.integers(0, 2**32))
def test_no_result_leaves_that_could_have_stayed_as_it_is_sent(seed: int) -> None:
    draw = Random(seed)
    shape = draw.choice(list(SHAPES))
    dialect, model = draw.choice(MODELS)
    messages = SHAPES[shape](agent_talk(draw), draw)

    def made(window: int, policy: Any, of: list[Message]) -> Assembler:
        budget = Budget(window, model=model)
        return Assembler(budget, dialect=dialect, on_overflow=policy).set_tools(TOOLS).add_messages(copy.deepcopy(of))

    def cost(of: list[Message]) -> int:
        return count_request(made(10**6, Refuse(), of).build().request(), dialect=dialect, model=model).upper

    try:
        every = [*states(messages, cost)]
    except ConversationError:  # what this API takes none of
        return
    edges = {draw.choice(every)[1] + draw.randrange(-2, 3) for _ in range(3)}
    for window in {every[-1][1], *edges}:
        policy = Offload({}, min_tokens=SMALLEST, preview=0)
        fitting = next(((kept, tokens) for kept, tokens in every if tokens <= window), None)
        if fitting is None:
            with pytest.raises(ContextLengthError) as raised:
                made(window, policy, messages).build()
            assert raised.value.required == every[-1][1]
            continue
        context = made(window, policy, messages).build()
        assert context.request() == made(10**6, Refuse(), fitting[0]).build().request()
        assert context.count.upper == fitting[1]


def gemini_step(key: str, text: str) -> list[Message]:
    call = {"functionCall": {"name": "run", "args": {}}}
    result = {"functionResponse": {"name": "run", "response": {key: text}}}
    return [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}]


@pytest.mark.parametrize("key", ["output", "error", "result"])
def test_a_pointer_in_an_answer_of_gemini_is_neither_stored_nor_replaced(key: str) -> None:
    """It was stored again by each build to which the messages of the last one were given."""
    store: dict[str, str] = {}
    texts = ["alpha " * 400, "gamma " * 400, "alpha " * 400]
    said = [{"role": "user", "parts": [{"text": "q"}]}, *(m for text in texts for m in gemini_step(key, text))]

    def contents(messages: list[Message], window: int) -> list[Message]:
        policies = [Offload(store, min_tokens=20, preview=200), TrimOldest()]
        made = Assembler(Budget(window, counter=len), dialect="gemini", on_overflow=policies).set_tools(TOOLS)
        return made.add_messages(messages).build().request()["contents"]

    pointing = contents(said, 1_100)
    assert [[*held["functionResponse"]["response"]] for m in pointing[2::2] for held in m["parts"]] == [[key]] * 3
    assert {json.loads(body)[key] for body in store.values()} == {*texts}
    with pytest.raises(ContextLengthError):
        contents(pointing, 600)
    assert len(store) == 2
