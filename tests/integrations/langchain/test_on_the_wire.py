"""Sixty turns through LangGraph and the providers' own clients: what arrives is valid, priced, and fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain.agents.structured_output import ProviderStrategy
from langchain.tools import InjectedState, InjectedToolCallId
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import create_react_agent
from langgraph.prebuilt.chat_agent_executor import AgentState as OlderState
from langgraph.types import Command, interrupt

from assembler import Assembler, Context, Summarize, TrimOldest, count_request
from assembler.dialects import Dialect, anthropic, openai_chat, openai_responses
from assembler.dialects.anthropic.dialect import Anthropic
from assembler.integrations.langchain import AssemblerMiddleware, PreModelHook
from budgets import Budget
from tests.integrations.bots import THINKING
from tests.integrations.langchain.scripted import look_up
from tests.integrations.ledger import Line, line
from tests.integrations.provider import Provider, providing
from tests.integrations.referee import judged
from tests.integrations.script import MORE, Summarizer, Trip, question

pytestmark = pytest.mark.timeout(600)  # the clients spell a hundred items anew for each call

TURNS = 60
THREAD: Any = {"configurable": {"thread_id": "one"}}
WEB: Any = {"type": "web_search"}
CODE: Any = {"type": "code_interpreter", "container": {"type": "auto"}}


class Remembered(OlderState):
    """The older agent's state, with a place for what the conversation remembers."""

    context_assembler: NotRequired[dict[str, Any]]


@tool
def approve(question: str) -> str:
    """Book what was planned, once the user agreed."""
    return f"booked {question}: {interrupt('may I?')}"


@tool
def transfer_to_booker(state: Annotated[Any, InjectedState], call: Annotated[str, InjectedToolCallId]) -> Any:
    """Hand over to the one who books."""
    done = ToolMessage("handed over", tool_call_id=call)
    return Command(goto="booker", graph=Command.PARENT, update={"messages": [state["messages"][-1], done]})


class Watched(AssemblerMiddleware):
    """Keeps the context of every call."""

    def __init__(self, assembler: Assembler) -> None:
        super().__init__(assembler)
        self.contexts: list[Context] = []

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        def noted(fitted: Any) -> Any:
            assert self.last_context is not None
            self.contexts.append(self.last_context)
            return handler(fitted)

        return super().wrap_model_call(request, noted)


def base(model: str, dialect: Dialect) -> Assembler:
    budget = Budget.for_model(model, context_window=11_000, max_output_tokens=1_000)
    return Assembler(budget, dialect=dialect, on_overflow=TrimOldest()).add_instruction("Be brief.")


def openai_at(provider: Provider) -> ChatOpenAI:
    return ChatOpenAI(
        model="gpt-5",
        api_key="x",
        base_url=f"{provider.url}/v1",
        max_retries=0,
        use_responses_api=True,
        output_version="responses/v1",
        store=False,
        include=["reasoning.encrypted_content"],
    )


def asked(agent: Any, turn: int) -> Any:
    """The end of a turn; an interrupt is answered, and the run goes on from its checkpoint."""
    state = agent.invoke({"messages": [HumanMessage(question(turn))]}, THREAD)
    while "__interrupt__" in state:
        state = agent.invoke(Command(resume="yes"), THREAD)
    return state


def found(client: str, provider: Provider, watched: Watched, dialect: Dialect, model: str, hosted: str) -> Line:
    assert watched._fitting.assembler.budget is not None
    limit = watched._fitting.assembler.budget.input_limit
    name = "LangChain 1.4, LangGraph 1.2"
    more: Any = {"dialect": dialect, "model": model, "limit": limit, "hosted": hosted}
    return line(name, client, provider, watched.contexts, **more)


def test_sixty_turns_with_hosted_tools_interrupts_and_a_schema_on_responses() -> None:
    watched = Watched(base("gpt-5", openai_responses))
    with providing(hosted=("web_search", "code_interpreter"), compacts=True) as provider:
        agent: Any = create_agent(
            openai_at(provider),
            [look_up, approve, WEB, CODE],
            system_prompt="You plan trips.",
            middleware=[watched],
            checkpointer=InMemorySaver(),
            response_format=ProviderStrategy(Trip),
        )
        for turn in range(TURNS):
            assert isinstance(asked(agent, turn)["structured_response"], Trip)
        result = found("langchain-openai, Responses", provider, watched, openai_responses, "gpt-5", "web, code")
    assert result.calls == 3 * TURNS
    assert any(context.dropped for context in watched.contexts)
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def test_sixty_turns_of_two_agents_that_hand_over() -> None:
    watched = Watched(base("gpt-5", openai_responses))
    with providing() as provider:
        model = openai_at(provider)
        planner: Any = create_agent(model, [look_up, transfer_to_booker, WEB], name="planner", middleware=[watched])
        booker: Any = create_agent(model, [approve, WEB], name="booker", middleware=[watched])
        graph: Any = StateGraph(AgentState)
        graph.add_node("planner", planner)
        graph.add_node("booker", booker)
        graph.add_edge(START, "planner")
        agent = graph.compile(checkpointer=InMemorySaver())
        for turn in range(TURNS):
            asked(agent, turn)
        result = found("the same, two agents", provider, watched, openai_responses, "gpt-5", "web")
    assert "transfer_to_booker" in str(provider.bodies[-1]["tools"]) + str(provider.bodies[-2]["tools"])
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def test_sixty_turns_with_thinking_hosted_search_and_an_answer_tool_on_anthropic() -> None:
    watched = Watched(base("claude-sonnet-4-5", Anthropic(thinking=THINKING)))
    with providing(compacts=True) as provider:
        model: Any = ChatAnthropic(
            model="claude-sonnet-4-5",
            api_key="x",
            base_url=provider.url,
            max_retries=0,
            max_tokens=4_000,
            thinking=THINKING,
        )
        search = {"type": "web_search_20250305", "name": "web_search"}
        agent: Any = create_agent(model, [look_up, approve, search], middleware=[watched], checkpointer=InMemorySaver())
        for turn in range(TURNS):
            assert isinstance(asked(agent, turn)["messages"][-1], AIMessage)
        result = found("langchain-anthropic, Messages", provider, watched, anthropic, "claude-sonnet-4-5", "web search")
    assert result.calls == 3 * TURNS
    assert (result.over, result.invalid, result.unpriced) == ([], [], [])


def rebuilt_through(anew: Callable[[Provider, Any], Any], turns: int) -> list[Any]:
    """The bodies of a run whose agent is made anew for each turn, or not, over one checkpointer."""
    with providing() as provider:
        saver = InMemorySaver()
        for turn in range(turns):
            asked(anew(provider, saver), turn)
        return provider.bodies


@pytest.mark.parametrize("hooked", [False, True])
def test_a_thread_from_a_checkpoint_continues_in_another_process_with_the_same_bytes(hooked: bool) -> None:
    summarizer = Summarizer(MORE)

    def agent_of(provider: Provider, saver: Any) -> Any:
        budget = Budget.for_model("gpt-4o", context_window=2_500, max_output_tokens=200)
        assembler = Assembler(budget, on_overflow=[Summarize(summarizer, keep_turns=1), TrimOldest()])
        model = ChatOpenAI(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1", max_retries=0)
        if not hooked:
            watched = AssemblerMiddleware(assembler)
            return create_agent(model, [look_up, approve], middleware=[watched], checkpointer=saver)
        hook = PreModelHook(assembler.add_capability([look_up, approve]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return create_react_agent(
                model, [look_up, approve], pre_model_hook=hook, checkpointer=saver, state_schema=Remembered
            )

    one: list[Any] = []

    def the_same(provider: Provider, saver: Any) -> Any:
        one.extend([] if one else [agent_of(provider, saver)])
        return one[0]

    stays = rebuilt_through(the_same, 12)
    alone = summarizer.written.copy()
    summarizer.written.clear()
    assert rebuilt_through(agent_of, 12) == stays
    assert summarizer.written == alone != []


def test_a_summary_that_is_written_between_two_turns_is_sent_from_the_next_on_and_by_another_process_too() -> None:
    budget = Budget.for_model("gpt-4o", context_window=2_500, max_output_tokens=200)
    assembler = Assembler(budget, on_overflow=[Summarize(None, keep_turns=1), TrimOldest()])
    written: list[str] = []
    with providing(thinks=False) as provider:
        saver, model = InMemorySaver(), ChatOpenAI(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1")
        for process in range(3):
            middleware = AssemblerMiddleware(assembler)
            agent: Any = create_agent(model, [look_up], middleware=[middleware], checkpointer=saver)
            for turn in range(6):
                asked(agent, 6 * process + turn)
                assert not written or written[-1] in str(provider.bodies[-1]["messages"])
                assert middleware.last_context is not None
                if (wanted := middleware.last_context.wanted) is not None:
                    written.append(f"Summary {len(written)} of {len(wanted.dropped)} messages.")
                    assert middleware.add_summary(wanted, written[-1])
                    asked(agent, 99)
        verdict = judged(provider, budget.input_limit)
    assert 1 < len(written) < 18
    assert (verdict.over, verdict.invalid) == ([], [])


def test_the_structured_answer_of_the_older_agent_is_fitted_too() -> None:
    budget = Budget.for_model("gpt-4o", context_window=2_200, max_output_tokens=200)
    hook = PreModelHook(Assembler(budget, on_overflow=TrimOldest()).add_capability([look_up]))
    with providing() as provider, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ChatOpenAI(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1", max_retries=0)
        agent: Any = create_react_agent(
            hook.around(model), [look_up], pre_model_hook=hook, response_format=Trip, checkpointer=InMemorySaver()
        )
        warnings.simplefilter("error", UserWarning)
        for turn in range(30):
            assert isinstance(asked(agent, turn)["structured_response"], Trip)
        verdict = judged(provider, budget.input_limit)
    assert verdict.calls == 4 * 30
    assert (verdict.over, verdict.invalid) == ([], [])
    answers = [body for body in provider.bodies if "response_format" in body]
    assert len(answers) == 30
    assert all(count_request(body, dialect=openai_chat, model="gpt-4o").upper <= budget.input_limit for body in answers)


def test_beside_langchains_own_summary_each_call_stays_valid_and_fits() -> None:
    watched = Watched(base("gpt-4o", openai_chat))
    with providing() as provider:
        model = ChatOpenAI(model="gpt-4o", api_key="x", base_url=f"{provider.url}/v1", max_retries=0)
        own = SummarizationMiddleware(model, trigger=("tokens", 2_000), keep=("messages", 6))
        agent: Any = create_agent(model, [look_up], middleware=[own, watched], checkpointer=InMemorySaver())
        for turn in range(20):
            asked(agent, turn)
        verdict = judged(provider, 10_000)
    own_calls = [body for body in provider.bodies if not body.get("tools")]
    assert own_calls
    assert len(provider.bodies) == len(watched.contexts) + len(own_calls)
    assert (verdict.over, verdict.invalid) == ([], [])
