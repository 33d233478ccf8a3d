"""The plugin in ADK's own runner, with a model that keeps what it was sent."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest
from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.apps import App
from google.adk.models.llm_request import LlmRequest
from google.adk.runners import InMemoryRunner
from google.genai import types

from assembler import Assembler, ContextLengthError, ConversationError, count_request, verify
from assembler.dialects import gemini, plain
from assembler.integrations.adk import AssemblerPlugin
from assembler.policies import Refuse, Summarize, TrimOldest, TrimSteps
from budgets import Budget
from tests.integrations.adk.scripted import Scripted, gemini_request, look_up
from tests.integrations.script import Summarizer, librarian, shortening

WINDOW = 900
TURNS = 50


def base(window: int = WINDOW, on_overflow: Any = None, **options: Any) -> Assembler:
    budget = Budget(window, max_output_tokens=100, model="gemini-2.5-flash", **options)
    return librarian(Assembler(budget, on_overflow=TrimOldest() if on_overflow is None else on_overflow))


def agent_of(model: Scripted, **options: Any) -> LlmAgent:
    options = {"instruction": "You are a librarian.", "tools": [look_up], **options}
    return LlmAgent(name="librarian", model=model, **options)


async def asked(runner: InMemoryRunner, questions: list[str], *, stream: bool = False) -> Any:
    session = await runner.session_service.create_session(app_name="library", user_id="u")
    mode = StreamingMode.SSE if stream else StreamingMode.NONE
    for question in questions:
        content = types.Content(role="user", parts=[types.Part(text=question)])
        async for _ in runner.run_async(
            user_id="u", session_id=session.id, new_message=content, run_config=RunConfig(streaming_mode=mode)
        ):
            pass
    return await runner.session_service.get_session(app_name="library", user_id="u", session_id=session.id)


def runner_of(agent: LlmAgent, *plugins: Any) -> InMemoryRunner:
    return InMemoryRunner(app=App(name="library", root_agent=agent, plugins=list(plugins)))


def assert_sendable(model: Scripted, limit: int) -> None:
    for call in model.seen:
        request = gemini_request(call)
        assert verify(request, dialect="gemini", model="gemini-2.5-flash") == []
        assert count_request(request, dialect=gemini, model="gemini-2.5-flash").upper <= limit


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_fifty_turns_with_tools_stay_valid_and_within_the_budget(stream: bool) -> None:
    model, plugin = Scripted(), AssemblerPlugin(base())
    session = asyncio.run(
        asked(runner_of(agent_of(model), plugin), [f"Question {n}?" for n in range(TURNS)], stream=stream)
    )
    assert len(model.seen) > 2 * TURNS
    assert_sendable(model, WINDOW - 100)
    assert len(session.events) > 4 * len(model.seen[-1]["contents"]), "meant to overflow"
    assert plugin.report is not None
    assert plugin.last_context is not None
    assert plugin.last_context.dropped
    questions = [event for event in session.events if event.author == "user"]
    assert len(questions) == TURNS, "the session keeps what was not sent"


def test_the_synchronous_runner_is_served_too() -> None:
    model = Scripted()
    runner = runner_of(agent_of(model), AssemblerPlugin(base()))
    session = asyncio.run(runner.session_service.create_session(app_name="library", user_id="u"))
    for turn in range(12):
        content = types.Content(role="user", parts=[types.Part(text=f"Question {turn}?")])
        list(runner.run(user_id="u", session_id=session.id, new_message=content))
    assert len(model.seen) >= 24
    assert_sendable(model, WINDOW - 100)


def test_the_count_is_that_of_what_was_sent() -> None:
    model, plugin = Scripted(), AssemblerPlugin(base())
    asyncio.run(asked(runner_of(agent_of(model), plugin), [f"Question {n}?" for n in range(8)]))
    recount = count_request(gemini_request(model.seen[-1]), dialect=gemini, model="gemini-2.5-flash")
    assert plugin.last_context is not None
    assert plugin.last_context.count.tokens == recount.tokens


def letters(call: dict[str, Any]) -> int:
    """The letters of all texts, names, arguments and tools of a call: the least it can cost by the letter."""
    total = len(call["config"].system_instruction or "")
    for content in call["contents"]:
        for part in content.parts:
            total += len(part.text or "") if not part.thought else 0
            if part.function_call:
                total += len(part.function_call.name) + len(compact(part.function_call.args))
            if part.function_response:
                total += len(compact(part.function_response.response))
    for tool in call["config"].tools:
        total += sum(len(f.name) + len(f.description) for f in tool.function_declarations)
    return total


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_a_recount_by_the_letter_never_exceeds_the_budget() -> None:
    budget = Budget(3_000, max_output_tokens=500, counter=len)
    model, plugin = Scripted(), AssemblerPlugin(Assembler(budget, dialect=plain, on_overflow=TrimOldest()))
    asyncio.run(asked(runner_of(agent_of(model), plugin), [f"Question {n}?" for n in range(20)]))
    costs = [letters(call) for call in model.seen]
    assert 1_500 < max(costs) <= 2_500


def history(turns: int, size: int = 40) -> list[types.Content]:
    contents: list[types.Content] = []
    for n in range(turns):
        calls = [
            types.Part(
                function_call=types.FunctionCall(id=f"c{n}-{k}", name="look_up", args={"topic": "x" * 30, "depth": 1}),
                thought_signature=f"s{n}".encode() if k == 0 else None,
            )
            for k in (0, 1)
        ]
        results = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=f"c{n}-{k}", name="look_up", response={"found": "word " * size}
                )
            )
            for k in (0, 1)
        ]
        contents += [
            types.Content(role="user", parts=[types.Part(text=f"Question {n}")]),
            types.Content(role="model", parts=[types.Part(text="Let me see.", thought=True), *calls]),
            types.Content(role="user", parts=results),
            types.Content(role="model", parts=[types.Part(text=f"Answer {n}")]),
        ]
    return [*contents, types.Content(role="user", parts=[types.Part(text="And now?")])]


def request_of(contents: list[types.Content], **config: Any) -> LlmRequest:
    declared = types.FunctionDeclaration(
        name="look_up",
        description="Look a topic up.",
        parameters=types.Schema(type=types.Type.OBJECT, properties={"topic": types.Schema(type=types.Type.STRING)}),
    )
    options = {"tools": [types.Tool(function_declarations=[declared])], "system_instruction": "You are a librarian."}
    return LlmRequest(contents=contents, config=types.GenerateContentConfig(**{**options, **config}))


def sent(request: LlmRequest) -> dict[str, Any]:
    return gemini_request({"contents": request.contents, "config": request.config})


def test_the_kept_contents_are_the_very_objects_in_order() -> None:
    contents = history(10)
    request = request_of(list(contents))
    AssemblerPlugin(base()).fit(request)
    assert 0 < len(request.contents) < len(contents)
    for kept, own in zip(reversed(request.contents), reversed(contents), strict=False):
        assert kept is own


def test_everything_that_fits_stays() -> None:
    contents = history(3)
    request = request_of(list(contents))
    AssemblerPlugin(base(100_000)).fit(request)
    assert all(kept is own for kept, own in zip(request.contents, contents, strict=True))


@pytest.mark.parametrize("policy", shortening(20).values(), ids=shortening(20))
def test_a_shortened_content_keeps_its_ids_its_signature_and_its_other_parts(policy: Any) -> None:
    contents = history(8)
    before = copy.deepcopy(contents)
    request = request_of(list(contents))
    AssemblerPlugin(base(1_000, policy)).fit(request)
    assert contents == before
    known = {id(content) for content in contents}
    changed = [content for content in request.contents if id(content) not in known]
    assert changed
    assert all(type(content) is types.Content for content in changed)
    parts = [part for content in request.contents for part in content.parts]
    calls = [part.function_call.id for part in parts if part.function_call]
    assert calls == [part.function_response.id for part in parts if part.function_response]
    assert calls
    for part in parts:
        if part.function_call and part.function_call.id.endswith("-0"):
            assert part.thought_signature == f"s{part.function_call.id[1:-2]}".encode()
    assert verify(sent(request), dialect="gemini", model="gemini-2.5-flash") == []
    assert count_request(sent(request), dialect=gemini, model="gemini-2.5-flash").upper <= 900


def test_a_long_turn_gives_up_its_oldest_steps() -> None:
    model = Scripted()
    plugin = AssemblerPlugin(base(480, (TrimOldest(), TrimSteps(keep=1))))
    asyncio.run(asked(runner_of(agent_of(model), plugin), [f"Question {n}?" for n in range(10)]))
    assert_sendable(model, 380)


def test_a_summary_is_a_content_and_is_made_once() -> None:
    summarizer = Summarizer()
    plugin = AssemblerPlugin(base(1_000, (Summarize(summarizer, keep_turns=2), TrimOldest())))
    for _ in range(2):
        request = request_of(history(10))
        plugin.fit(request)
        assert request.contents[0].parts[0].text.endswith("They talked about the weather.")
    assert len(summarizer.written) == 1


def test_instruction_and_knowledge_follow_the_instruction_of_the_agent() -> None:
    model = Scripted()
    asyncio.run(asked(runner_of(agent_of(model), AssemblerPlugin(base())), ["Hello?"]))
    system = model.seen[0]["config"].system_instruction
    assert system.startswith("You are a librarian.")
    assert "\n\nAnswer from the archive.\n\n<context " in system
    assert "Mondays &amp; Tuesdays" in system


@pytest.mark.parametrize(
    "own",
    [
        types.Content(parts=[types.Part(text="You are a librarian."), types.Part(text="Be kind.")]),
        [types.Part(text="You are a librarian."), "Be kind."],
    ],
    ids=["content", "parts"],
)
def test_an_instruction_of_parts_keeps_them(own: Any) -> None:
    request = request_of(history(1), system_instruction=own)
    plugin = AssemblerPlugin(base(10_000))
    plugin.fit(request)
    written = request.config.system_instruction
    assert isinstance(written, types.Content)
    assert written.parts is not None
    texts = [part.text for part in written.parts]
    assert texts[:2] == ["You are a librarian.", "Be kind."]
    assert str(texts[2]).startswith("Answer from the archive.")
    assert plugin.last_context is not None
    recount = count_request(sent(request), dialect=gemini, model="gemini-2.5-flash")
    assert recount.tokens == plugin.last_context.count.tokens


def test_a_request_without_an_instruction_is_left_without_one() -> None:
    request = request_of(history(1), system_instruction=None)
    AssemblerPlugin(Assembler(Budget(10_000, model="gemini-2.5-flash"))).fit(request)
    assert request.config.system_instruction is None


def test_tools_and_instruction_are_priced_with_the_contents() -> None:
    plugin = AssemblerPlugin(base(10_000))
    plugin.fit(request_of(history(0)))
    assert plugin.last_context is not None
    full = plugin.last_context.costs
    plugin.fit(request_of(history(0), tools=None, system_instruction=None))
    assert plugin.last_context.costs.capability == 0 < full.capability
    assert plugin.last_context.costs.instruction < full.instruction
    assert full.knowledge > 1


@pytest.mark.parametrize("contents", [history(1)[:-1], []], ids=["an answer", "nothing"])
def test_a_request_that_does_not_end_with_the_user_continues_as_adk_would(contents: list[types.Content]) -> None:
    request, theirs = request_of(list(contents)), request_of(list(contents))
    Scripted()._maybe_append_user_content(theirs)
    plugin = AssemblerPlugin(base(10_000))
    plugin.fit(request)
    Scripted()._maybe_append_user_content(request)
    assert request.contents == theirs.contents
    assert plugin.last_context is not None
    recount = count_request(sent(request), dialect=gemini, model="gemini-2.5-flash")
    assert recount.tokens == plugin.last_context.count.tokens


def test_a_private_name_that_the_plugin_uses_is_still_there() -> None:
    from google.adk.models.base_llm import BaseLlm

    assert callable(BaseLlm._maybe_append_user_content)


def test_a_built_in_tool_is_priced_or_stands_in_the_overhead() -> None:
    search = types.Tool(google_search=types.GoogleSearch())
    plugin = AssemblerPlugin(base(10_000))
    plugin.fit(request_of(history(1), tools=[search]))
    without = AssemblerPlugin(base(10_000))
    without.fit(request_of(history(1), tools=[]))
    assert plugin.last_context is not None
    assert without.last_context is not None
    assert plugin.last_context.count.upper >= without.last_context.count.upper + 1_000
    request = request_of(history(1), tools=[search])
    AssemblerPlugin(base(10_000, overhead=100)).fit(request)
    assert request.config.tools == [search]


def test_an_overflow_reaches_the_user_of_the_callback_as_an_error_of_this_library() -> None:
    model = Scripted()
    agent = agent_of(model, before_model_callback=AssemblerPlugin(base(400, Refuse())).before_model_callback)
    with pytest.raises(ContextLengthError) as caught:
        asyncio.run(asked(runner_of(agent), ["word " * 2_000]))
    assert model.seen == []
    assert caught.value.available == 300


def test_an_overflow_reaches_the_user_of_the_plugin_as_the_cause_of_adks_own_error() -> None:
    model = Scripted()
    with pytest.raises(RuntimeError) as caught:
        asyncio.run(asked(runner_of(agent_of(model), AssemblerPlugin(base(400, Refuse()))), ["word " * 2_000]))
    assert isinstance(caught.value.__cause__, ContextLengthError)
    assert model.seen == []


def test_a_malformed_history_is_refused_and_left_as_it_was() -> None:
    orphan = types.Part(function_response=types.FunctionResponse(id="nobody", name="look_up", response={}))
    contents = [types.Content(role="user", parts=[orphan])]
    request = request_of(list(contents))
    with pytest.raises(ConversationError):
        AssemblerPlugin(base()).fit(request)
    assert request.contents == contents
    assert request.config.system_instruction == "You are a librarian."


def test_sessions_that_share_a_plugin_do_not_mix() -> None:
    model, plugin = Scripted(), AssemblerPlugin(base())
    runner = runner_of(agent_of(model), plugin)

    async def both() -> list[Any]:
        return await asyncio.gather(*(asked(runner, [f"Question {who} {n}?" for n in range(10)]) for who in ("A", "B")))

    asyncio.run(both())
    assert_sendable(model, WINDOW - 100)
    for call in model.seen:
        written = str(gemini_request(call)["contents"])
        assert not ("Question A" in written and "Question B" in written)


def test_nothing_is_reported_before_the_first_call() -> None:
    plugin = AssemblerPlugin(base())
    assert plugin.last_context is None
    assert plugin.report is None


def test_contents_of_the_user_side_by_side_go_out_as_the_one_that_was_priced() -> None:
    texts = ["Question?", "For context: another agent was asked.", "It said nothing."]
    request = request_of([types.Content(role="user", parts=[types.Part(text=text)]) for text in texts])
    plugin = AssemblerPlugin(base(10_000))
    plugin.fit(request)
    (content,) = request.contents
    assert [part.text for part in content.parts or ()] == texts
    assert plugin.last_context is not None
    recount = count_request(sent(request), dialect=gemini, model="gemini-2.5-flash")
    assert recount == plugin.last_context.count


def test_a_state_is_stored_in_the_session_only_if_there_is_something_to_remember() -> None:
    for policy, says in ((TrimOldest(), False), ([Summarize(lambda *_: "They talked.", 2), TrimOldest()], True)):
        runner = runner_of(agent_of(Scripted()), AssemblerPlugin(base(on_overflow=policy)))
        session = asyncio.run(asked(runner, [f"Question {n}?" for n in range(12)]))
        assert ("They talked." in str(session.state.get("context_assembler.librarian"))) is says


def test_what_a_tool_says_that_it_returns_is_priced_with_its_parameters() -> None:
    """As ADK declares the tools of an MCP server that has an output schema."""
    found = {"type": "object", "properties": {"found": {"type": "string", "description": "What was found. " * 9}}}
    counts: list[int] = []
    for more in ({}, {"response_json_schema": found}):
        declared: Any = {"name": "look_up", "description": "Look up.", "parameters_json_schema": {"type": "object"}}
        request = request_of([types.Content(role="user", parts=[types.Part(text="q")])])
        function = types.FunctionDeclaration(**declared, **more)
        request.config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[function])])
        plugin = AssemblerPlugin(base(10_000))
        plugin.fit(request)
        assert plugin.last_context is not None
        counts.append(plugin.last_context.count.tokens)
        assert count_request(sent(request), dialect=gemini, model="gemini-2.5-flash") == plugin.last_context.count
    assert counts[1] > counts[0] + 30
