"""One build spells a request once; whoever asks for it owns it, and the next one is as it was."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given

from assembler import Assembler
from assembler.dialects import DIALECTS
from assembler.dialects.anthropic.dialect import Anthropic
from assembler.dialects.blocks.blocks import Ending
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


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock", "gemini"])
@scaled(0.3)
@given(history=histories())
def test_what_a_caller_does_to_a_request_changes_no_other(dialect: str, history: list[Any]) -> None:
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


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock", "gemini"])
def test_a_build_and_its_request_spell_a_message_once(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = __import__(f"assembler.dialects.{dialect}.dialect", fromlist=["turns_of"])
    spelled: list[int] = []
    real = module.turns_of

    def counting(messages: Any, writer: Any) -> Any:
        spelled.append(len(messages))
        return real(messages, writer)

    monkeypatch.setattr(module, "turns_of", counting)
    context = built(DIALECTS[dialect], [])
    context.request()
    assert spelled == [1]
    context.request()
    assert spelled == [1, 1]


def test_what_one_dialect_spelled_is_not_another_s() -> None:
    history = [QUESTION, {"role": "assistant", "content": "so"}]
    prefilling = Anthropic(ending=Ending.ANY)
    context = built(DIALECTS["anthropic"], history)
    assert context.request(DIALECTS["bedrock"])["messages"][0]["content"] == [{"text": "q"}]
    assert context.request(prefilling) == context.request()


def test_a_pickled_layout_holds_its_messages_once() -> None:
    context = built(DIALECTS["anthropic"], [{"role": "user", "content": "x" * 10_000}])
    layout = context.inside.layout
    before = len(pickle.dumps(layout))
    DIALECTS["anthropic"].notes(layout)
    assert len(pickle.dumps(layout)) == before
    assert DIALECTS["anthropic"].emit(pickle.loads(pickle.dumps(layout))) == context.request()
