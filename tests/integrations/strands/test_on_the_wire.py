"""Sixty turns through Strands and the providers' own clients: what arrives is valid, priced, and fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3
import pytest
from strands import Agent, ToolContext, tool
from strands.models import BedrockModel
from strands.models.openai_responses import OpenAIResponsesModel
from strands.multiagent import Swarm
from strands.multiagent.base import Status
from strands.session import FileSessionManager

from assembler import Assembler, Context, Summarize, TrimOldest
from assembler.dialects import Dialect, bedrock, openai_responses
from assembler.integrations.strands import AssemblerConversationManager
from budgets import Budget, Count, Grade
from tests.integrations.ledger import Line, line
from tests.integrations.provider import Provider, providing
from tests.integrations.script import MORE, Summarizer, Trip, looked_up, question

pytestmark = pytest.mark.timeout(600)  # the clients spell a hundred messages anew for each call

TURNS = 60
CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


@tool
def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


@tool(context=True)
def approve(question: str, tool_context: ToolContext) -> str:
    """Book what was planned, once the user agreed."""
    return f"booked {question}: {tool_context.interrupt('booking', reason=question)}"


class Watched(AssemblerConversationManager):
    """Keeps the context of every call."""

    def __init__(self, assembler: Assembler, contexts: list[Context]) -> None:
        super().__init__(assembler)
        self.contexts = contexts

    async def _fit_call(self, call: Any) -> Any:
        fitted = await super()._fit_call(call)
        assert self.last_context is not None
        self.contexts.append(self.last_context)
        return fitted


def base(model: str, dialect: Dialect, held: Count | None = None, policy: Any = None) -> Assembler:
    budget = Budget.for_model(model, context_window=11_000, max_output_tokens=1_000)
    assembler = Assembler(budget, dialect=dialect, on_overflow=policy or TrimOldest())
    return assembler.add_instruction("Be brief.").hold(held)


def found(client: str, provider: Provider, contexts: list[Context], dialect: Dialect, model: str, hosted: str) -> Line:
    more: Any = {"dialect": dialect, "model": model, "limit": 10_000, "hosted": hosted, "verbatim": False}
    return line("Strands 1.62", client, provider, contexts, **more)


def asked(agent: Agent, turn: int) -> Any:
    """The end of a turn; an interrupt is answered, and the run goes on."""
    result = agent(question(turn))
    while result.stop_reason == "interrupt":
        answers: Any = [{"interruptResponse": {"interruptId": one.id, "response": "yes"}} for one in result.interrupts]
        result = agent(answers)
    return result


def claude_at(provider: Provider) -> BedrockModel:
    session = boto3.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1")
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 2_000}}
    return BedrockModel(
        boto_session=session, endpoint_url=provider.url, model_id=CLAUDE, additional_request_fields=thinking
    )


def planner(model: Any, manager: AssemblerConversationManager, stored: Path, **more: Any) -> Agent:
    """An agent made for one turn from the stored session, as servers do."""
    booker = Agent(model=model, conversation_manager=manager, tools=[look_up], callback_handler=None)
    return Agent(
        model=model,
        conversation_manager=manager,
        session_manager=FileSessionManager("one", storage_dir=str(stored)),
        tools=[look_up, approve, booker.as_tool(name="delegate_to_booker")],
        system_prompt="You plan trips.",
        callback_handler=None,
        **more,
    )


def test_sixty_turns_from_a_stored_session_with_interrupts_a_schema_and_a_sub_agent_on_converse(tmp_path: Path) -> None:
    contexts: list[Context] = []
    assembler = base(CLAUDE, bedrock, Count(29, Grade.ESTIMATED, upper=180))
    with providing() as provider:
        model = claude_at(provider)
        for turn in range(TURNS):
            agent = planner(model, Watched(assembler, contexts), tmp_path, structured_output_model=Trip)
            assert isinstance(asked(agent, turn).structured_output, Trip)
        result = found("boto3, ConverseStream", provider, contexts, bedrock, CLAUDE, "")
    assert result.calls > 3 * TURNS
    assert any(context.dropped for context in contexts)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def gpt_at(provider: Provider) -> OpenAIResponsesModel:
    own: Any = {"tools": [{"type": "web_search"}, {"type": "code_interpreter", "container": {"type": "auto"}}]}
    client = {"api_key": "x", "base_url": f"{provider.url}/v1", "max_retries": 0}
    return OpenAIResponsesModel(client_args=client, model_id="gpt-5", params=own)


def test_sixty_turns_with_hosted_tools_and_a_schema_on_responses(tmp_path: Path) -> None:
    contexts: list[Context] = []
    watched = Watched(base("gpt-5", openai_responses), contexts)
    with providing(hosted=("web_search", "code_interpreter"), compacts=True) as provider:
        agent = planner(gpt_at(provider), watched, tmp_path, structured_output_model=Trip)
        for turn in range(TURNS):
            assert isinstance(asked(agent, turn).structured_output, Trip)
        result = found(
            "openai, Responses", provider, contexts, openai_responses, "gpt-5", "web_search, code_interpreter"
        )
    assert any(context.dropped for context in contexts)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def run_session(stored: Path, *, rebuilt: bool) -> tuple[list[Any], list[int]]:
    """The bodies of a session, and how many turns each summary was written of."""
    summarizer = Summarizer(MORE)
    policy = [Summarize(summarizer, keep_turns=4), TrimOldest(low_water=0.6)]
    assembler = base(CLAUDE, bedrock, policy=policy)
    with providing() as provider:
        model = claude_at(provider)
        agent = planner(model, AssemblerConversationManager(assembler), stored)
        for turn in range(24):
            if rebuilt and turn:
                agent = planner(model, AssemblerConversationManager(assembler), stored)
            asked(agent, turn)
        return provider.bodies, summarizer.written


def test_an_agent_that_is_rebuilt_at_each_turn_sends_the_bytes_of_one_that_stays(tmp_path: Path) -> None:
    stays, written = run_session(tmp_path / "stays", rebuilt=False)
    rebuilt, written_anew = run_session(tmp_path / "rebuilt", rebuilt=True)
    assert [body["messages"] for body in stays] == [body["messages"] for body in rebuilt]
    assert 0 < len(written) == len(written_anew) < 20


def test_sixty_turns_of_a_swarm_that_hands_over_on_converse() -> None:
    """The agents of a swarm start a new conversation for each task."""
    contexts: list[Context] = []
    assembler = base(CLAUDE, bedrock, Count(29, Grade.ESTIMATED, upper=180))
    with providing() as provider:
        more: Any = {"model": claude_at(provider), "tools": [look_up], "callback_handler": None}
        booker = Agent(name="booker", conversation_manager=Watched(assembler, contexts), **more)
        planner = Agent(name="planner", conversation_manager=Watched(assembler, contexts), **more)
        swarm = Swarm([planner, booker], entry_point=planner)
        handed = 0
        for turn in range(TURNS):
            result = swarm(question(turn))
            assert result.status is Status.COMPLETED
            handed += len(result.node_history) > 1
        line = found("boto3, ConverseStream, a swarm", provider, contexts, bedrock, CLAUDE, "")
    assert handed > TURNS // 4
    assert line.calls > 2 * TURNS
    assert (line.over, line.invalid, line.unpriced) == ([], [], [])
