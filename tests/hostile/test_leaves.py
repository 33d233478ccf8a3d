"""Every value of every API's request is replaced by any JSON value or left out: it is counted and built, or refused.

`leaves.json` holds a valid request of each API with most of what it can hold. Nothing else in it is changed, so that
a reader gets past what is checked first.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from assembler import Assembler, AssemblyError, TrimOldest, count_request, fit_request, repair, verify
from budgets import Budget

REQUESTS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("leaves.json").read_text("utf-8"))
GONE = object()
ODD: dict[str, Any] = {
    "left out": GONE,
    "null": None,
    "true": True,
    "a number": 7,
    "a fraction": -1.5,
    "a huge number": 10**400,
    "an empty text": "",
    "a blank": " ",
    "a word": "x",
    "an empty list": [],
    "a list of words": ["x"],
    "a list of nothing": [None],
    "an empty object": {},
    "a part": {"type": "text"},
    "an object": {"a": {"b": 1}},
}
HISTORIES = {"gemini": "contents", "openai_responses": "input"}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value below this one."""
    inside: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in inside:
        yield (*path, key)
        yield from places(held, (*path, key))


def changed(body: dict[str, Any], path: tuple[Any, ...], odd: Any) -> dict[str, Any]:
    """A copy of the body with another value in one place, or none."""
    other: Any = copy.deepcopy(body)
    holder = other
    for key in path[:-1]:
        holder = holder[key]
    if odd is GONE:
        del holder[path[-1]]
    else:
        holder[path[-1]] = copy.deepcopy(odd)
    return other


def tried(api: str, body: dict[str, Any]) -> None:
    """Every entry point takes the body or refuses it by an error of the library; what is built costs what it says."""
    model, history = REQUESTS[api]["model"], body.get(HISTORIES.get(api, "messages"))
    before = repr(body)
    budget = Budget(10**6, model=model)
    for enter in (
        lambda: count_request(body, dialect=api, model=model),
        lambda: fit_request(body, dialect=api, assembler=Assembler(budget, dialect=api, on_overflow=TrimOldest())),
        lambda: repair(history),  # type: ignore[arg-type]
    ):
        try:
            enter()
        except AssemblyError as error:
            assert len(str(error)) < 1_500
    assert all(one.rule for one in verify(body, dialect=api))
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {}}}]
    try:
        context = Assembler(budget, dialect=api).add_capability(tools).add_messages(history).build()
        request = context.request()
    except AssemblyError:
        pass
    else:
        assert count_request(request, dialect=api, model=model) == context.count
    assert repr(body) == before


@pytest.mark.parametrize("api", REQUESTS)
def test_a_request_with_an_odd_value_in_any_place_is_taken_or_refused(api: str) -> None:
    """Every second place, and all of them with every value in the slow test."""
    body, odd = REQUESTS[api]["body"], list(ODD.values())
    for number, path in enumerate(islice(places(body), 0, None, 2)):
        tried(api, changed(body, path, odd[number % len(odd)]))


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("api", REQUESTS)
def test_a_request_with_each_odd_value_in_every_place_is_taken_or_refused(api: str, odd: str) -> None:
    for path in places(REQUESTS[api]["body"]):
        tried(api, changed(REQUESTS[api]["body"], path, ODD[odd]))
