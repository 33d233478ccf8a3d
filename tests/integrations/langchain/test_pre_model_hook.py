"""LangGraph's older agent, whose hook sees messages only."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent

from assembler import ContextLengthError
from assembler.integrations.langchain import PreModelHook
from tests.integrations.independent import assert_sendable
from tests.integrations.langchain.scripted import Scripted, look_up
from tests.integrations.langchain.test_middleware import THREAD, base
from tests.integrations.script import CALLS_OF_A_TURN, TURNS, question


def agent_of(model: Any, hook: PreModelHook) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return create_react_agent(model, [look_up], pre_model_hook=hook, checkpointer=InMemorySaver())


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_fifty_turns_stay_valid_and_within_budget(mode: str) -> None:
    model, assembler = Scripted(), base().add_capability([look_up])
    hook = PreModelHook(assembler)
    agent = agent_of(model, hook)
    for turn in range(TURNS):
        asked = {"messages": [HumanMessage(question(turn))]}
        if mode == "async":
            asyncio.run(agent.ainvoke(asked, THREAD))
        else:
            agent.invoke(asked, THREAD)
        assert hook.last_context is not None
        assert_sendable(model.bodies[-1], hook.last_context, assembler)
    assert len(model.bodies) == TURNS * CALLS_OF_A_TURN
    assert model.seen[-1][0].text.startswith("Be brief.\n\n<context")
    kept = agent.get_state(THREAD).values["messages"]
    assert sum(isinstance(message, HumanMessage) for message in kept) == TURNS


def test_an_overflow_reaches_the_caller_as_an_error_of_this_library() -> None:
    agent = agent_of(Scripted(), PreModelHook(base(300)))
    with pytest.raises(ContextLengthError):
        agent.invoke({"messages": [HumanMessage("much too long " * 200)]}, THREAD)
