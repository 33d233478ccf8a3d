"""An agent of Pydantic AI, fifty turns long, under a window that holds eight of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext, Tool
from pydantic_ai.messages import (
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from assembler import Assembler, count_request, verify
from assembler.integrations.pydantic_ai import FitContext
from assembler.policies import ClearToolResults, Summarize, TrimOldest, TrimSteps, Truncate
from budgets import Budget
from tests.integrations.contexts import contexts_of
from tests.integrations.independent import assert_orphaned, assert_overflows, assert_sendable
from tests.integrations.pydantic_ai.scripted import CHAT, Script, fitted
from tests.integrations.script import ANSWER, CALLS_OF_A_TURN, TURNS, WINDOW, Summarizer, looked_up, planner, question


def base(window: int = WINDOW, policy: Any = None) -> Assembler:
    budget = Budget.for_model("gpt-4o", context_window=window, max_output_tokens=ANSWER)
    return planner(Assembler(budget, on_overflow=policy or TrimOldest()))


def agent_of(model: Any, capability: FitContext, **more: Any) -> Agent[None, Any]:
    agent: Agent[None, Any] = Agent(model, capabilities=[capability], **more)

    @agent.tool_plain
    def look_up(question: str) -> str:
        """Look a question up in the almanac."""
        return looked_up(question)

    return agent


class Threadless(asyncio.SelectorEventLoop):
    """A loop such as that of Temporal's workflows, which offers no threads."""

    def run_in_executor(self, *_: Any) -> Any:
        raise NotImplementedError


def test_an_agent_runs_where_there_are_no_threads() -> None:
    script, capability = Script(), FitContext(base())

    async def look_up(question: str) -> str:
        """Look a question up in the almanac."""
        return looked_up(question)

    agent: Agent[None, Any] = Agent(script.model, tools=[look_up], capabilities=[capability])
    with asyncio.Runner(loop_factory=Threadless) as runner:
        history = runner.run(agent.run("Where to?")).all_messages()
        runner.run(agent.run("And then?", message_history=history))
    assert capability.last_context is not None
    assert_sendable(script.bodies[-1], capability.last_context, base())


def invoked(agent: Agent[None, Any], text: str, history: list[ModelMessage]) -> list[ModelMessage]:
    return agent.run_sync(text, message_history=history).all_messages()


def awaited(agent: Agent[None, Any], text: str, history: list[ModelMessage]) -> list[ModelMessage]:
    return asyncio.run(agent.run(text, message_history=history)).all_messages()


def streamed(agent: Agent[None, Any], text: str, history: list[ModelMessage]) -> list[ModelMessage]:
    async def run() -> list[ModelMessage]:
        async with agent.run_stream(text, message_history=history) as result:
            assert [chunk async for chunk in result.stream_text()]
            return result.all_messages()

    return asyncio.run(run())


RUNS: list[Callable[..., list[ModelMessage]]] = [invoked, awaited, streamed]


def turns(count: int) -> list[ModelMessage]:
    """Each question comes in one request with the results before it, as a run with deferred tools leaves it."""
    history: list[ModelMessage] = []
    before: list[Any] = [SystemPromptPart("You plan trips.")]
    for turn in range(count):
        calls = [ToolCallPart("look_up", {"question": "é"}, tool_call_id=f"{turn}-{which}") for which in "ab"]
        history += [
            ModelRequest([*before, UserPromptPart(question(turn))]),
            ModelResponse([ThinkingPart("hm", signature="c2lnbmVk"), TextPart("One"), TextPart("moment."), *calls]),
        ]
        before = [ToolReturnPart("look_up", "found " * 60, tool_call_id=call.tool_call_id) for call in calls]
    return [*history, ModelRequest([*before, UserPromptPart("and now?")])]


@pytest.mark.parametrize("run", RUNS)
def test_fifty_turns_stay_valid_and_within_budget(run: Callable[..., list[ModelMessage]]) -> None:
    script, assembler = Script(), base()
    capability = FitContext(assembler)
    contexts = contexts_of(capability)
    agent = agent_of(script.model, capability, instructions="You plan trips.", system_prompt="Always in English.")
    history: list[ModelMessage] = []
    for turn in range(TURNS):
        history = run(agent, question(turn), history)
    assert len(script.bodies) == len(contexts) == TURNS * CALLS_OF_A_TURN
    for body, context in zip(script.bodies, contexts, strict=True):
        assert_sendable(body, context, assembler)
    assert len(script.seen[-1]) < 60
    asked = [part for message in history for part in message.parts if isinstance(part, UserPromptPart)]
    assert [part.content for part in asked] == [question(turn) for turn in range(TURNS)]
    heads = [message["content"] for message in script.bodies[-1]["messages"] if message["role"] == "system"]
    assert heads[:2] == ["Always in English.", "You plan trips."]
    assert heads[2].startswith("Be brief.\n\n<context")
    assert "Köln &amp; Bonn" in heads[2]


def test_the_kept_messages_are_the_very_objects() -> None:
    history = turns(40)
    sent = fitted(FitContext(base()), history).messages
    assert 1 < len(sent) < len(history)
    came = {id(part) for message in history for part in message.parts}
    assert all(id(part) in came for message in sent for part in message.parts)
    # The system prompt stays and the question beside it went; so did the results before the first question that stays.
    assert [part.part_kind for part in sent[0].parts] == ["system-prompt"]
    assert [part.part_kind for part in sent[1].parts] == ["user-prompt"]
    assert all(a is b for a, b in zip(sent[2:], history[-len(sent) + 2 :], strict=True))


def test_a_request_that_fits_is_left_alone() -> None:
    history = turns(3)
    request = fitted(FitContext(Assembler()), history)
    assert all(a is b for a, b in zip(request.messages, history, strict=True))
    assert not request.model_request_parameters.instruction_parts


@pytest.mark.parametrize(
    "policy", [ClearToolResults(keep=2), Truncate(max_tokens=20), [TrimSteps(keep=1), Truncate(max_tokens=10)]]
)
def test_a_shortened_history_is_valid_and_costs_what_was_counted(policy: Any) -> None:
    history = turns(8)
    capability = FitContext(base(1_500, policy))
    request = fitted(capability, history)
    parameters = request.model_request_parameters
    sent = asyncio.run(CHAT._map_messages(CHAT.prepare_messages(request.messages, parameters), parameters))
    assert capability.last_context is not None
    assert_sendable({"messages": sent}, capability.last_context, base(1_500))
    thoughts = [part for message in request.messages for part in message.parts if isinstance(part, ThinkingPart)]
    assert all(part.signature == "c2lnbmVk" for part in thoughts)
    assert verify({"messages": sent}, dialect="openai_chat") == []


def test_a_result_that_failed_is_framed_once_when_it_is_shortened() -> None:
    call = ToolCallPart("look_up", {}, tool_call_id="t")
    failed = ToolReturnPart("look_up", "no route " * 500, tool_call_id="t", outcome="failed")
    history: list[ModelMessage] = [
        ModelRequest([UserPromptPart("q")]),
        ModelResponse([call]),
        ModelRequest([failed]),
    ]
    capability = FitContext(base(500, Truncate(max_tokens=100)))
    request = fitted(capability, history)
    sent = asyncio.run(CHAT._map_messages(request.messages, request.model_request_parameters))
    assert capability.last_context is not None
    assert_sendable({"messages": sent}, capability.last_context, base(500))


def test_a_retry_belongs_to_the_turn_that_it_corrects() -> None:
    tries: list[int] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        tries.append(len(messages))
        return ModelResponse([TextPart("x " * 200)])

    capability = FitContext(base(1_200))
    agent: Agent[None, str] = Agent(FunctionModel(model), capabilities=[capability], retries=2)

    @agent.output_validator
    def longer(text: str) -> str:
        if len(tries) < 3:
            raise ModelRetry("Say it in other words.")
        return text

    agent.run_sync("What is the weather?")
    # Three tries in one turn, the question among them: nothing of it may give way.
    assert tries == [1, 3, 5]


def test_tools_and_the_schema_of_an_answer_are_priced() -> None:
    class Trip(BaseModel):
        """Where to go."""

        town: str

    def answers(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if info.output_tools:
            return ModelResponse([ToolCallPart(info.output_tools[0].name, {"town": "Köln"})])
        return ModelResponse([TextPart("Köln")])

    bare, tooled, answered = (FitContext(base()) for _ in range(3))
    Agent(FunctionModel(answers), capabilities=[bare]).run_sync("where?")
    agent_of(FunctionModel(answers), tooled).run_sync("where?")
    agent_of(FunctionModel(answers), answered, output_type=Trip).run_sync("where?")
    costs = [capability.last_context.costs.capability for capability in (bare, tooled, answered)]
    assert costs[0] == 0 < costs[1] < costs[2]


def test_an_image_is_priced_as_one() -> None:
    capability = FitContext(base())
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    url = f"data:image/png;base64,{pixel}"
    fitted(capability, [ModelRequest([UserPromptPart(["what is this?", ImageUrl(url)])])])
    assert capability.last_context is not None
    assert capability.last_context.costs.conversation > 85


@pytest.mark.parametrize("run", RUNS)
def test_an_overflow_reaches_the_caller_as_an_error_of_this_library(run: Callable[..., list[ModelMessage]]) -> None:
    agent = agent_of(Script().model, FitContext(base(300)))
    assert_overflows(lambda: run(agent, "much too long " * 200, []))


def test_a_broken_history_reaches_the_caller_as_an_error_of_this_library() -> None:
    orphan: list[ModelMessage] = [
        ModelRequest([UserPromptPart("q")]),
        ModelRequest([ToolReturnPart("look_up", "r", tool_call_id="nobody"), UserPromptPart("q")]),
    ]
    assert_orphaned("nobody", lambda: fitted(FitContext(base()), orphan))


def test_a_summary_is_written_once_for_many_requests() -> None:
    summarizer = Summarizer()
    script = Script()
    agent = agent_of(script.model, FitContext(base(1_500, [Summarize(summarizer, keep_turns=1), TrimOldest()])))
    history: list[ModelMessage] = []
    for turn in range(8):
        history = invoked(agent, question(turn), history)
    assert 0 < len(summarizer.written) < 8
    assert any("They talked about" in str(message["content"]) for message in script.bodies[-1]["messages"][:3])


def test_conversations_that_share_a_capability_keep_their_own_reports() -> None:
    capability = FitContext(base())

    async def session(name: int) -> tuple[str, int]:
        agent = agent_of(Script().model, capability)
        history: list[ModelMessage] = []
        for turn in range(name + 1):
            result = await agent.run(question(turn), message_history=history)
            history = result.all_messages()
        context = capability.context_of(result.conversation_id)
        assert context is not None
        return result.conversation_id, len(context.messages)

    async def together() -> list[tuple[str, int]]:
        return await asyncio.gather(*map(session, range(4)))

    found = asyncio.run(together())
    assert len({name for name, _ in found}) == 4
    # A question, two calls with their results, a call with its own, and an answer: the last is not sent.
    assert [length for _, length in found] == [7 * (name + 1) - 1 for name in range(4)]


def test_the_usage_of_a_test_model_is_not_taken_as_a_bill() -> None:
    """Pydantic AI estimates it by words and adds 50 tokens, which exceeds an exact count of few words."""
    for model in (TestModel(), FunctionModel(lambda messages, info: ModelResponse([TextPart("Hello.")]))):
        capability = FitContext(Assembler(Budget.for_model("gpt-4o"), on_overflow=TrimOldest()))
        agent: Agent[None, Any] = Agent(model, capabilities=[capability])
        first = agent.run_sync("Hi!")
        assert capability.last_context is not None
        assert first.usage.input_tokens >= capability.last_context.count.tokens
        agent.run_sync("And now?", message_history=first.all_messages())
        assert capability.last_context.calibration is None


def beside_the_result(ctx: RunContext[None], question: str) -> Any:
    """Look a question up in the almanac."""
    return ToolReturn(return_value="Found.", content=looked_up(question) * 3)


def enqueued(ctx: RunContext[None], question: str) -> Any:
    """Look a question up in the almanac."""
    ctx.enqueue(looked_up(question) * 3)
    return "Found."


@pytest.mark.parametrize("look_up", [beside_the_result, enqueued])
def test_the_question_stays_when_a_tool_says_more_to_the_model_than_its_result(look_up: Any) -> None:
    """Pydantic AI writes it as the user's words."""
    script = Script()
    tool = Tool(look_up, name="look_up")
    agent: Agent[None, Any] = Agent(script.model, tools=[tool], capabilities=[FitContext(base(1_000))])
    history: list[ModelMessage] = []
    for turn in range(3):
        begun = len(script.bodies)
        history = invoked(agent, question(turn), history)
        for body in script.bodies[begun:]:
            assert verify(body, dialect="openai_chat") == []
            assert {"role": "user", "content": question(turn)} in body["messages"]
    assert len(script.bodies[-1]["messages"]) < 10, "meant to overflow"


def test_a_note_of_the_framework_is_counted_wherever_a_cut_leaves_it() -> None:
    """It stands once in a request, before the first feedback that is left: a cut moves it to another turn."""
    history: list[ModelMessage] = []
    for turn in range(6):
        feedback = RetryFeedbackPart("Say more.", retry=RetryInfo("model_retry", attempt=1, max_retries=2))
        history += [
            ModelRequest(parts=[UserPromptPart(content=question(turn))]),
            ModelResponse(parts=[TextPart("No.")]),
            ModelRequest(parts=[feedback]),
            ModelResponse(parts=[TextPart(looked_up("Yes"))]),
        ]
    history.append(ModelRequest(parts=[UserPromptPart(content=question(6))]))
    for window in range(500, 1_300, 25):
        assembler = Assembler(Budget.for_model("gpt-4o", context_window=window), on_overflow=TrimOldest())
        request = fitted(FitContext(assembler), history)
        parameters = request.model_request_parameters
        prepared = CHAT.prepare_messages(request.messages, parameters)
        body = {"messages": asyncio.run(CHAT._map_messages(prepared, parameters))}
        assert count_request(body, dialect="openai_chat", model="gpt-4o").upper <= window
