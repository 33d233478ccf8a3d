"""A build writes its request once. Each caller gets a copy of its own."""

from __future__ import annotations

import copy
from typing import Any

import attrs
import pytest
from hypothesis import given

from assembler import Assembler
from assembler.dialects import DIALECTS, Emission
from assembler.dialects.anthropic.dialect import Anthropic
from assembler.dialects.blocks.turns import Ending
from tests.scaled import scaled

from ..drawn import histories

TOOLS = [
    {"name": name, "description": "d", "parameters": {"type": "object"}} for name in ("search", "get_weather", "refund")
]
QUESTION = {"role": "user", "content": "q"}


def built(dialect: Any, history: list[Any]) -> Any:
    return Assembler(dialect=dialect).add_capability(TOOLS).add_messages([*history, QUESTION]).build()


def spoil(value: Any) -> None:
    """Change every list and dict in it."""
    inner = list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
    for each in inner:
        spoil(each)
    if isinstance(value, dict):
        value["spoiled"] = True
    if isinstance(value, list):
        value.append("spoiled")


@pytest.mark.parametrize("dialect", list(DIALECTS))
@scaled(0.15)
@given(history=histories())
def test_changing_one_request_changes_no_other(dialect: str, history: list[Any]) -> None:
    before = copy.deepcopy(history)
    context = built(DIALECTS[dialect], history)
    first = context.request()
    expected = copy.deepcopy(first)
    spoil(first)
    second = context.request()
    assert second == expected == built(DIALECTS[dialect], history).request()
    spoil(second)
    assert context.request() == expected
    assert history == before


@attrs.frozen
class Counting:
    """A dialect that records how many messages it spelled."""

    inner: Any
    spelled: list[int]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def emit(self, layout: Any) -> Emission:
        self.spelled.append(len(layout.messages))
        emission: Emission = self.inner.emit(layout)
        return emission


@pytest.mark.parametrize("name", list(DIALECTS))
def test_a_build_its_report_and_its_requests_write_the_request_once(name: str) -> None:
    spelled: list[int] = []
    context = built(Counting(DIALECTS[name], spelled), [])
    assert context.request() == context.request()
    assert context.report
    assert context.prefix_hash
    assert spelled[:1] == [1]
    assert spelled.count(1) <= 2  # the newest turn alone, for the hash


def test_a_request_that_one_dialect_wrote_is_not_taken_for_anothers() -> None:
    history = [QUESTION, {"role": "assistant", "content": "so"}]
    prefilling = Anthropic(ending=Ending.ANY)
    context = built(DIALECTS["anthropic"], history)
    assert context.request(DIALECTS["bedrock"])["messages"][0]["content"] == [{"text": "q"}]
    assert context.request(prefilling) == context.request()
