"""The referee sees each fault that a provider answers with a 400."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from tests.integrations.bots import ANTHROPIC, RESPONSES, Api, Body, lived_through
from tests.integrations.provider import Provider
from tests.integrations.referee import judged, recounted


@functools.cache
def _run(name: str) -> Provider:
    api: Api = {"responses": RESPONSES, "anthropic": ANTHROPIC}[name]
    provider = Provider("", hosted=api.kinds)
    lived_through(api, lambda body: provider.answer(api.path, json.loads(json.dumps(body))), turns=2)
    return provider


def _without(kind: str) -> Callable[[list[Any]], None]:
    def change(items: list[Any]) -> None:
        items.remove(next(item for item in items if item.get("type") == kind))

    return change


def _first(kind: str, items: list[Any]) -> Any:
    return next(item for item in items if item.get("type") == kind)


def _said_otherwise(items: list[Any]) -> None:
    _first("web_search_call", items)["action"]["query"] = "seals"


def _said_twice(items: list[Any]) -> None:
    items.insert(1, _first("message", items))


KINDS = ("function_call", "function_call_output", "reasoning", "web_search_call")


@pytest.mark.parametrize("change", [*map(_without, KINDS), _said_otherwise, _said_twice])
def test_a_torn_list_of_items_is_invalid(change: Callable[[list[Any]], None]) -> None:
    provider = attrs.evolve(_run("responses"), bodies=copy.deepcopy(_run("responses").bodies))
    assert judged(provider, 10_000).invalid == []
    change(provider.bodies[-1]["input"])
    assert judged(provider, 10_000).invalid


@pytest.mark.parametrize("kind", ["thinking", "tool_use", "server_tool_use", "web_search_tool_result"])
def test_a_torn_list_of_blocks_is_invalid(kind: str) -> None:
    provider = attrs.evolve(_run("anthropic"), bodies=copy.deepcopy(_run("anthropic").bodies))
    assert judged(provider, 10_000).invalid == []
    content = provider.bodies[-1]["messages"][1]["content"]
    block = next(block for block in content if block["type"] == kind)
    if kind == "thinking":
        block["thinking"] = "other"
    else:
        content.remove(block)
    assert judged(provider, 10_000).invalid


def test_a_request_of_more_tokens_than_the_limit_is_over() -> None:
    provider = _run("responses")
    most = max(recounted(body) for body in provider.bodies)
    assert judged(provider, most).over == []
    assert judged(provider, most - 1).over


def test_the_recount_is_a_floor_of_hand_counted_words() -> None:
    body: Body = {"instructions": "be brief", "input": [{"role": "user", "content": "q", "id": "msg_1"}]}
    assert recounted(body) == 3
