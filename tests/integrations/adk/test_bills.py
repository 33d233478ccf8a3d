"""Sixty turns against a provider with hidden tokens, through ADK, its own Gemini model and Google's client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import Gemini
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types
from google.genai.errors import ClientError

from assembler.dialects import gemini
from assembler.integrations.adk import AssemblerPlugin
from tests.integrations.bills import AssertFits, base, either_way
from tests.integrations.provider import Provider
from tests.integrations.script import look_up, question

pytestmark = pytest.mark.timeout(900)
MODEL = "gemini-2.5-flash"


@either_way
@pytest.mark.parametrize("mode", [StreamingMode.NONE, StreamingMode.SSE])
def test_a_session_that_is_loaded_at_each_turn_fits_what_the_provider_takes(
    tmp_path: Path, mode: StreamingMode, assert_fits: AssertFits
) -> None:
    def run(provider: Provider, turns: int) -> None:
        model = Gemini(model=MODEL, base_url=provider.url, client_kwargs={"api_key": "x"})
        agent = LlmAgent(name="planner", model=model, instruction="You plan.", tools=[look_up])

        async def talk() -> None:
            stored = str(tmp_path / f"{turns}")
            await SqliteSessionService(stored).create_session(app_name="trips", user_id="u", session_id="one")
            for turn in range(turns):

                def anew() -> Runner:
                    plugins = [AssemblerPlugin(base(MODEL, gemini))]
                    sessions = SqliteSessionService(stored)
                    return Runner(app_name="trips", agent=agent, plugins=plugins, session_service=sessions)

                content = types.Content(role="user", parts=[types.Part(text=question(turn))])
                asked = {"user_id": "u", "session_id": "one", "new_message": content}
                await again_while_refused(anew, {**asked, "run_config": RunConfig(streaming_mode=mode)})

        asyncio.run(talk())

    assert_fits(run, MODEL, gemini)


async def again_while_refused(anew: Callable[[], Runner], asked: dict[str, Any]) -> None:
    """Each time in a process that knows the session from its store alone."""
    for last in (False, False, False, True):
        try:
            async for _ in anew().run_async(**asked):
                pass
        except ClientError:
            if last:
                raise
        else:
            return
