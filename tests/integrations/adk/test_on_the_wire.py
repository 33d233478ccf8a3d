"""Sixty turns through ADK, its own Gemini model and Google's client: what arrives is valid, priced, and fits."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.code_executors import BuiltInCodeExecutor
from google.adk.models import Gemini
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import FunctionTool
from google.genai import types

from assembler import Assembler, Context, Summarize, TrimOldest
from assembler.dialects import gemini
from assembler.integrations.adk import AssemblerPlugin
from budgets import Budget
from tests.integrations.ledger import Line, line
from tests.integrations.provider import Provider, providing
from tests.integrations.script import MORE, Summarizer, Trip, look_up, question

pytestmark = pytest.mark.timeout(1_200)  # the client and the store read a hundred contents anew for each call

TURNS = 60
MODEL = "gemini-2.5-flash"
WINDOW, ANSWER = 11_000, 1_000


def approve(question: str) -> str:
    """Book what was planned, once the user agreed."""
    return f"booked {question}"


class Watched(AssemblerPlugin):
    """Keeps the context of every call."""

    def __init__(self, assembler: Assembler, contexts: list[Context]) -> None:
        super().__init__(assembler)
        self.contexts = contexts

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        await super().before_model_callback(callback_context=callback_context, llm_request=llm_request)
        assert self.last_context is not None
        self.contexts.append(self.last_context)


def base(policy: Any = None) -> Assembler:
    budget = Budget.for_model(MODEL, context_window=WINDOW, max_output_tokens=ANSWER)
    return Assembler(budget, dialect=gemini, on_overflow=policy or TrimOldest()).add_instruction("Be brief.")


def model_at(provider: Provider) -> Gemini:
    return Gemini(model=MODEL, base_url=provider.url, client_kwargs={"api_key": "x"})


def found(provider: Provider, contexts: list[Context], hosted: str) -> Line:
    more: Any = {"dialect": gemini, "model": MODEL, "limit": WINDOW - ANSWER, "hosted": hosted}
    return line("Google ADK 2.13", "google-genai", provider, contexts, **more)


def planner_at(provider: Provider) -> LlmAgent:
    model = model_at(provider)
    thinking = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True))
    alone: Any = {"disallow_transfer_to_parent": True, "disallow_transfer_to_peers": True}
    booker = LlmAgent(name="booker", description="Books trips.", model=model, tools=[look_up], **alone)
    return LlmAgent(
        name="planner",
        model=model,
        instruction="You plan trips.",
        tools=[look_up, FunctionTool(approve, require_confirmation=True)],
        code_executor=BuiltInCodeExecutor(),
        generate_content_config=thinking,
        sub_agents=[booker],
    )


async def asked(
    agent: LlmAgent,
    plugin: AssemblerPlugin,
    stored: Path,
    turn: int,
    compaction: EventsCompactionConfig | None = None,
) -> list[Any]:
    """The events of a turn in a process that knows the session only from its store; what is asked is confirmed."""
    sessions = SqliteSessionService(str(stored))
    app = App(name="trips", root_agent=agent, plugins=[plugin], events_compaction_config=compaction)
    runner = Runner(app=app, session_service=sessions)
    if await sessions.get_session(app_name="trips", user_id="u", session_id="one") is None:
        await sessions.create_session(app_name="trips", user_id="u", session_id="one")
    content: types.Content | None = types.Content(role="user", parts=[types.Part(text=question(turn))])
    events: list[Any] = []
    while content is not None:
        new = [event async for event in runner.run_async(user_id="u", session_id="one", new_message=content)]
        events += new
        calls = [call for event in new for call in event.get_function_calls()]
        answers = [
            types.FunctionResponse(id=call.id, name=call.name, response={"confirmed": True})
            for call in calls
            if call.name == "adk_request_confirmation"
        ]
        content = types.Content(role="user", parts=[types.Part(function_response=one) for one in answers])
        content = content if answers else None
    return events


def test_sixty_turns_from_a_stored_session_with_hosted_code_confirmations_and_a_sub_agent(tmp_path: Path) -> None:
    contexts: list[Context] = []
    assembler = base()
    with providing(hosted=("code_execution",)) as provider:
        agent = planner_at(provider)

        async def run() -> None:
            for turn in range(TURNS):
                await asked(agent, Watched(assembler, contexts), tmp_path / "db", turn)

        asyncio.run(run())
        result = found(provider, contexts, "code execution")
    assert result.calls >= 3 * TURNS
    assert any(context.dropped for context in contexts)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


@pytest.mark.parametrize("tools", [[], [look_up]], ids=["schema", "answer-tool"])
def test_sixty_turns_with_an_output_schema(tmp_path: Path, tools: list[Any]) -> None:
    contexts: list[Context] = []
    with providing() as provider:
        agent = LlmAgent(name="planner", model=model_at(provider), tools=tools, output_schema=Trip)
        watched = Watched(base(), contexts)

        async def run() -> None:
            for turn in range(TURNS):
                events = await asked(agent, watched, tmp_path / "db", turn)
                Trip.model_validate_json(events[-1].content.parts[-1].text)

        asyncio.run(run())
        result = found(provider, contexts, "")
    assert result.calls == TURNS * (3 if tools else 1)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def test_sixty_turns_whose_events_adk_compacts(tmp_path: Path) -> None:
    """ADK makes the calls for summaries itself, past any hook. Summarized events are not sent; the rest fits."""
    contexts: list[Context] = []
    assembler = base()
    with providing() as provider, providing() as summing:
        agent = LlmAgent(name="planner", model=model_at(provider), instruction="You plan trips.", tools=[look_up])
        summarizer = LlmEventSummarizer(llm=model_at(summing))
        compaction = EventsCompactionConfig(summarizer=summarizer, compaction_interval=6, overlap_size=1)

        async def run() -> None:
            for turn in range(TURNS):
                await asked(agent, Watched(assembler, contexts), tmp_path / "db", turn, compaction)

        asyncio.run(run())
        result = found(provider, contexts, "")
        summaries = [part["text"] for answer in summing.answers for part in text_parts(answer)]
    assert len(summing.bodies) >= TURNS // 6 - 1
    sent = json.dumps(provider.bodies[-1]["contents"], ensure_ascii=False)
    assert any(json.dumps(summary, ensure_ascii=False)[1:-1] in sent for summary in summaries)
    assert question(0) not in sent
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def text_parts(answer: Any) -> list[Any]:
    parts = answer["candidates"][0]["content"]["parts"]
    return [part for part in parts if "text" in part and not part.get("thought")]


def run_session(stored: Path, *, rebuilt: bool) -> tuple[list[Any], list[int]]:
    """The bodies of a session, and how many turns each summary was written of."""
    summarizer = Summarizer(MORE)
    assembler = base([Summarize(summarizer, keep_turns=4), TrimOldest(low_water=0.6)])
    with providing(hosted=("code_execution",)) as provider:
        agent, stays = planner_at(provider), AssemblerPlugin(assembler)

        async def run() -> None:
            for turn in range(16):
                await asked(agent, AssemblerPlugin(assembler) if rebuilt else stays, stored, turn)

        asyncio.run(run())
        return provider.bodies, summarizer.written


def test_a_process_that_is_rebuilt_at_each_turn_sends_the_bytes_of_one_that_stays(tmp_path: Path) -> None:
    stays, written = run_session(tmp_path / "stays", rebuilt=False)
    rebuilt, written_anew = run_session(tmp_path / "rebuilt", rebuilt=True)
    assert [without_ids(body["contents"]) for body in stays] == [without_ids(body["contents"]) for body in rebuilt]
    assert 0 < len(written) == len(written_anew) < 20


def without_ids(value: Any) -> Any:
    """The contents without the ids that ADK draws for calls of its own."""
    if isinstance(value, dict):
        return {key: without_ids(held) for key, held in value.items() if key != "id"}
    return [without_ids(held) for held in value] if isinstance(value, list) else value
