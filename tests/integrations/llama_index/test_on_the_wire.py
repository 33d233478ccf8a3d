"""Sixty turns through LlamaIndex and OpenAI's client: what arrives is valid, priced, and fits."""

import asyncio  # annotations stand as they are: LlamaIndex reads those of tools
import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.workflow import Context as Run
from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent
from llama_index.llms.openai import OpenAIResponses

from assembler import Assembler, Context, Summarize, TrimOldest, count_request
from assembler.dialects import Dialect, openai_responses
from assembler.integrations.llama_index import AssemblerFunctionAgent, AssemblerMemory
from budgets import Budget
from tests.integrations.ledger import LINES, Line, line
from tests.integrations.provider import Provider, providing
from tests.integrations.referee import judged
from tests.integrations.script import MORE, Summarizer, Trip, looked_up, question

pytestmark = pytest.mark.timeout(1_200)  # the clients spell a hundred messages anew for each call

TURNS = 60
WINDOW, ANSWER = 11_000, 1_000
OWN: list[Any] = [{"type": "web_search"}, {"type": "code_interpreter", "container": {"type": "auto"}}]


def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


async def approve(ctx: Run, question: str) -> str:
    """Book what was planned, once the user agreed."""
    asked = InputRequiredEvent(prefix="may I?", user_name="u")  # type: ignore[call-arg]
    answer = await ctx.wait_for_event(HumanResponseEvent, waiter_id=question, waiter_event=asked)
    return f"booked {question}: {answer.response}"


class Watched(AssemblerFunctionAgent):
    """Keeps the context of every call that it fits."""

    async def take_step(self, *args: Any, **kwargs: Any) -> Any:
        output = await super().take_step(*args, **kwargs)
        assert self.last_context is not None
        SEEN.append(self.last_context)
        return output


SEEN: list[Context] = []


def base(model: str, dialect: Dialect, policy: Any = None) -> Assembler:
    budget = Budget.for_model(model, context_window=WINDOW, max_output_tokens=ANSWER)
    return Assembler(budget, dialect=dialect, on_overflow=policy or TrimOldest()).add_instruction("Be brief.")


def gpt_at(provider: Provider) -> OpenAIResponses:
    url = f"{provider.url}/v1"
    return OpenAIResponses(model="gpt-5", api_key="x", api_base=url, max_retries=0, built_in_tools=OWN)


def found(client: str, provider: Provider, dialect: Dialect, model: str, hosted: str) -> Line:
    more: Any = {"dialect": dialect, "model": model, "limit": WINDOW - ANSWER, "hosted": hosted, "verbatim": False}
    return line("LlamaIndex 0.14", client, provider, SEEN, **more)


def team_at(provider: Provider, assembler: Assembler) -> AgentWorkflow:
    more: Any = {"assembler": assembler, "llm": gpt_at(provider), "streaming": False}
    booker = Watched(name="booker", description="Books trips.", tools=[look_up], can_handoff_to=[], **more)
    planner = Watched(
        name="planner", description="Plans trips.", system_prompt="You plan.", tools=[look_up, approve], **more
    )
    return AgentWorkflow(agents=[planner, booker], root_agent="planner")


async def asked(team: Any, run: Run, turn: int, **more: Any) -> Any:
    """The end of a turn; what waits for the user is answered."""
    handler = team.run(user_msg=question(turn), ctx=run, max_iterations=30, **more)
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            handler.ctx.send_event(HumanResponseEvent(response="yes", user_name="u"))  # type: ignore[call-arg]
    return await handler


async def run_session(provider: Provider, assembler: Assembler, turns: int, *, rebuilt: bool) -> None:
    """A session whose workflow's context goes through JSON after each turn, where it is rebuilt."""
    team = team_at(provider, assembler)
    run, memory = Run(team), AssemblerMemory.from_defaults()
    for turn in range(turns):
        await asked(team, run, turn, memory=memory)
        await run.store.set("current_agent_name", "planner")
        if rebuilt:
            stored = json.dumps(run.to_dict())
            team = team_at(provider, assembler)
            run = Run.from_dict(team, json.loads(stored))


def test_sixty_turns_from_a_stored_context_with_hosted_tools_handoffs_and_waiting_on_responses() -> None:
    SEEN.clear()
    with providing(hosted=("web_search", "code_interpreter"), compacts=True) as provider:
        asyncio.run(run_session(provider, base("gpt-5", openai_responses), TURNS, rebuilt=True))
        result = found("openai, Responses", provider, openai_responses, "gpt-5", "web_search, code_interpreter")
    assert result.calls >= 3 * TURNS
    assert any(context.dropped for context in SEEN)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def test_sixty_turns_with_a_structured_answer_in_a_call_of_its_own() -> None:
    SEEN.clear()
    assembler = base("gpt-5", openai_responses)
    with providing(hosted=("web_search",)) as provider:
        agent = Watched(assembler=assembler, llm=gpt_at(provider), tools=[look_up], output_cls=Trip, streaming=False)
        memory = AssemblerMemory.from_defaults()

        async def run() -> None:
            for turn in range(TURNS):
                result = await agent.run(question(turn), memory=memory)
                assert "town" in result.structured_response

        asyncio.run(run())
    # The call for the answer is fitted by itself, and has no context.
    verdict = judged(provider, WINDOW - ANSWER, verbatim=False)
    counts = [count_request(body, dialect=openai_responses, model="gpt-5") for body in provider.bodies]
    answers = [body for body in provider.bodies if "text" in body]
    LINES.append(
        Line("LlamaIndex 0.14", "the same, output_cls", "web_search", verdict.calls, verdict.over, verdict.invalid, [])
    )
    assert len(answers) == TURNS
    assert len(SEEN) == len(provider.bodies) - TURNS
    assert max(count.upper for count in counts) <= WINDOW - ANSWER
    assert (verdict.over, verdict.invalid) == ([], [])


def summed_up(*, rebuilt: bool) -> tuple[list[Any], list[int]]:
    """The inputs of a session, and how many turns each summary was written of."""
    summarizer = Summarizer(MORE)
    policy = [Summarize(summarizer, keep_turns=4), TrimOldest(low_water=0.6)]
    with providing(hosted=("web_search",)) as provider:
        asyncio.run(run_session(provider, base("gpt-5", openai_responses, policy), 20, rebuilt=rebuilt))
        return [body["input"] for body in provider.bodies], summarizer.written


def test_a_workflow_that_is_rebuilt_at_each_turn_sends_the_bytes_of_one_that_stays() -> None:
    stays, written = summed_up(rebuilt=False)
    rebuilt, written_anew = summed_up(rebuilt=True)
    assert stays == rebuilt
    assert 0 < len(written) == len(written_anew) < 16
