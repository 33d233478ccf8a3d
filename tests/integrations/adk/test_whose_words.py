"""Contents that ADK writes as the user's: other agents' words, an instruction or a memory in the running turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.adk.agents import LlmAgent, LoopAgent
from google.adk.agents.base_agent import BaseAgent
from google.adk.models.llm_response import LlmResponse
from google.adk.tools import preload_memory_tool
from google.genai import types

from assembler import Assembler, ConversationError, TrimOldest, TrimSteps, count_request, verify
from assembler.dialects import gemini
from assembler.integrations.adk import AssemblerPlugin
from budgets import Budget
from tests.integrations.adk.scripted import WORDS, Scripted, gemini_request, look_up
from tests.integrations.adk.test_adk import asked, history, request_of, runner_of, sent

MODEL = "gemini-2.5-flash"
LIMIT = 500
QUESTION = "Write about the sea."


class Drafting(Scripted):
    """Answers with some eighty words."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self.seen.append({"contents": list(llm_request.contents), "config": llm_request.config.model_copy()})
        text = f"Draft {len(self.seen)}: " + " ".join(WORDS * 8)
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


class Searching(Scripted):
    """Calls `look_up` nine times before it answers, whoever speaks in between."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self.seen.append({"contents": list(llm_request.contents), "config": llm_request.config.model_copy()})
        part = types.Part(text="Done.") if len(self.seen) > 9 else self._call(len(self.seen))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def run(agent: BaseAgent, *policies: Any) -> AssemblerPlugin:
    budget = Budget(LIMIT + 100, max_output_tokens=100, model=MODEL)
    plugin = AssemblerPlugin(Assembler(budget, on_overflow=[TrimOldest(), *policies]))
    asyncio.run(asked(runner_of(agent, plugin), [QUESTION]))
    return plugin


def assert_asked_in_each(model: Scripted) -> None:
    for call in model.seen:
        request = gemini_request(call)
        assert any(QUESTION in str(part.get("text")) for content in request["contents"] for part in content["parts"])
        assert verify(request, dialect="gemini", model=MODEL) == []
        assert count_request(request, dialect=gemini, model=MODEL).upper <= LIMIT


def test_agents_in_a_loop_keep_the_question_that_all_their_words_follow() -> None:
    model = Drafting()
    pair = [LlmAgent(name=name, model=model, instruction="Improve it.") for name in ("writer", "critic")]
    plugin = run(LoopAgent(name="loop", sub_agents=pair, max_iterations=6))
    assert len(model.seen) == 12
    assert_asked_in_each(model)
    assert plugin.last_context is not None
    assert plugin.last_context.dropped


def test_an_instruction_after_the_results_begins_no_turn() -> None:
    model = Searching()
    settings: Any = {"static_instruction": "You search.", "instruction": "Today is Friday.", "tools": [look_up]}
    run(LlmAgent(name="searcher", model=model, **settings), TrimSteps(keep=1))
    assert len(model.seen) == 10
    assert_asked_in_each(model)
    last = gemini_request(model.seen[-1])["contents"]
    assert [next(iter(part)) for part in last[-2]["parts"]] == ["functionResponse"]
    assert "Today is Friday." in last[-1]["parts"][0]["text"]
    assert len(last) < 20, "meant to overflow"


def test_a_memory_after_the_results_begins_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    async def remember(self: object, *, tool_context: Any, llm_request: Any) -> None:
        content = types.Content(role="user", parts=[types.Part(text="In the past: they like ships.")])
        llm_request._insert_transient_user_content([content])

    tool = preload_memory_tool.PreloadMemoryTool()
    monkeypatch.setattr(type(tool), "process_llm_request", remember)
    model = Searching()
    run(LlmAgent(name="searcher", model=model, instruction="You search.", tools=[look_up, tool]), TrimSteps(keep=1))
    assert len(model.seen) == 10
    assert_asked_in_each(model)


def test_a_picture_beside_results_is_sent_apart_from_them() -> None:
    """As ADK's `MultimodalToolResultsPlugin` puts it there, and Gemini 3 refuses it."""
    contents = history(1)[:3]
    picture = types.Part(inline_data=types.Blob(data=b"hello", mime_type="text/plain"))
    results = contents[2].parts or []
    contents[2] = types.Content(role="user", parts=[*results, picture])
    request = request_of(contents)
    plugin = AssemblerPlugin(Assembler(Budget(10_000, model="gemini-3-pro-preview")))
    plugin.fit(request)
    assert [content.parts for content in request.contents[2:]] == [results, [picture]]
    assert verify(sent(request), dialect="gemini", model="gemini-3-pro-preview") == []
    assert plugin.last_context is not None
    assert count_request(sent(request), dialect=gemini, model="gemini-3-pro-preview") == plugin.last_context.count


def test_contents_that_the_server_holds_are_not_said_to_be_dropped() -> None:
    budget = Budget(900, max_output_tokens=100, model=MODEL)
    plugin = AssemblerPlugin(Assembler(budget, on_overflow=TrimOldest()))
    held, whole = request_of(history(10)), request_of(history(1))
    held.previous_interaction_id = whole.previous_interaction_id = "v1_x"
    before = list(held.contents)
    with pytest.raises(ConversationError, match="use_interactions_api=False"):
        plugin.fit(held)
    assert held.contents == before
    plugin.fit(whole)
    held.previous_interaction_id = None
    plugin.fit(held)
    assert len(held.contents) < len(before)
