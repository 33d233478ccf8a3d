"""Workflows of several agents: what each is sent is valid, fits, costs what was counted, and holds the task."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import pytest
from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient
from agent_framework.orchestrations import ConcurrentBuilder, GroupChatBuilder, SequentialBuilder

from assembler import Assembler, Context, TrimOldest, Truncate, count_request, first_user, verify
from budgets import Budget
from tests.integrations.agent_framework.test_on_the_wire import Watched, look_up
from tests.integrations.provider import Provider, providing

TASK = "Write about the sea in Greek style."
LIMIT = 700


def chat(agents: list[Any]) -> Any:
    names: Iterator[str] = cycle(agent.name for agent in agents)
    return GroupChatBuilder(participants=agents, selection_func=lambda _: next(names), max_rounds=12).build()


def orchestrated(agents: list[Any]) -> Any:
    manager, *others = agents
    return GroupChatBuilder(participants=others, orchestrator_agent=manager, max_rounds=8).build()


WORKFLOWS: dict[str, Callable[[list[Any]], Any]] = {
    "sequential": lambda agents: SequentialBuilder(participants=agents).build(),
    "concurrent": lambda agents: ConcurrentBuilder(participants=agents).build(),
    "chat": chat,
    "orchestrated": orchestrated,
}


def run(make: Callable[[list[Any]], Any], provider: Provider) -> list[Context]:
    contexts: list[Context] = []
    budget = Budget(LIMIT + 100, max_output_tokens=100, model="gpt-4o")
    assembler = Assembler(budget, on_overflow=[Truncate(20), TrimOldest(pins=first_user)])
    client: Any = OpenAIChatCompletionClient(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1")
    more: Any = {"client": client, "middleware": [Watched(assembler, contexts)]}
    agents = [
        Agent(name=name, description=name, instructions=f"You are the {name}.", tools=tools, **more)
        for name, tools in (("critic", []), ("writer", [look_up]), ("reader", []))
    ]
    asyncio.run(make(agents).run(TASK))
    return contexts


def chooses(body: dict[str, Any]) -> bool:
    """Whether a group chat's orchestrating agent is asked who speaks next."""
    return "next_speaker" in json.dumps(body.get("response_format"))


@pytest.mark.parametrize("make", WORKFLOWS.values(), ids=WORKFLOWS)
def test_each_agent_of_a_workflow_is_sent_the_task_in_a_request_that_fits(
    make: Callable[[list[Any]], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = Provider._choose_answer

    def choose_writer(self: Provider, speaker: Any, body: dict[str, Any]) -> Any:
        answer = choose(self, speaker, body)
        if not chooses(body):
            return answer
        choice = {"terminate": False, "reason": "r", "next_speaker": "writer", "final_message": None}
        return type(answer)("", None, (), json.dumps(choice))

    monkeypatch.setattr(Provider, "_choose_answer", choose_writer)
    with providing(hosted=(), thinks=False) as provider:
        contexts = run(make, provider)
    assert len(provider.bodies) >= 4
    counted = {context.count.tokens for context in contexts}
    for body in provider.bodies:
        count = count_request(body, dialect="openai_chat")
        assert count.upper <= LIMIT
        assert count.tokens in counted
        assert verify(body, dialect="openai_chat", model="gpt-4o") == []
        assert any(message.get("content") == TASK for message in body["messages"] if message["role"] == "user")
