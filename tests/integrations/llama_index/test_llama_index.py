"""The memory and the agent in LlamaIndex's own workflows and chat engines, with a model that keeps what it was sent."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest
from llama_index.core.agent.utils import messages_to_xml_format
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import (
    AudioBlock,
    CacheControl,
    CachePoint,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context
from openai.types.chat import ChatCompletionMessageToolCall
from pydantic import Field

from assembler import (
    Assembler,
    AssemblyError,
    ChatRegions,
    ContextLengthError,
    ConversationError,
    Placement,
    UnsupportedContentError,
    count_request,
    verify,
)
from assembler.dialects import gemini, openai_chat, openai_responses
from assembler.integrations.llama_index import AssemblerFunctionAgent, AssemblerMemory
from assembler.integrations.llama_messages import message_fields
from assembler.policies import ClearToolResults, Refuse, Summarize, TrimOldest, TrimSteps, Truncate
from assembler.testing import check_reader
from budgets import Budget
from tests.integrations.independent import recount
from tests.integrations.llama_index.scripted import TOOL, WORDS, Scripted, openai_request
from tests.integrations.script import Summarizer, Trip, librarian, shortening

WINDOW = 900
TURNS = 50


def base(window: int = WINDOW, on_overflow: Any = None, **options: Any) -> Assembler:
    budget = Budget(window, max_output_tokens=100, model="gpt-4o")
    return librarian(Assembler(budget, on_overflow=TrimOldest() if on_overflow is None else on_overflow, **options))


def agent_of(assembler: Assembler, **options: Any) -> tuple[AssemblerFunctionAgent, Scripted]:
    model = Scripted()
    options = {"tools": [TOOL], "system_prompt": "You are a librarian.", **options}
    return AssemblerFunctionAgent(assembler=assembler, llm=model, **options), model


async def session(agent: Any, questions: list[str], **options: Any) -> Context:
    context = Context(agent)
    for question in questions:
        await agent.run(question, ctx=context, max_iterations=30, **options)
    return context


def assert_sendable(model: Scripted, limit: int) -> None:
    for call in model.seen:
        request = openai_request(call)
        assert verify(request, dialect="openai_chat") == []
        assert count_request(request, dialect=openai_chat, model="gpt-4o").upper <= limit
        assert recount(request) <= limit


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_fifty_turns_with_tools_stay_valid_and_within_the_budget(streaming: bool) -> None:
    agent, model = agent_of(base(), streaming=streaming)
    memory = AssemblerMemory.from_defaults()
    context = asyncio.run(session(agent, [f"Question {n}?" for n in range(TURNS)], memory=memory))
    memory = asyncio.run(context.store.get("memory"))  # the context has a copy of its own from its second run on
    assert len(model.seen) > 2 * TURNS
    assert_sendable(model, WINDOW - 100)
    assert len(memory.get_all()) > 4 * len(model.seen[-1]["messages"]), "meant to overflow"
    assert sum(message.role == "user" for message in memory.get_all()) == TURNS
    assert agent.report is not None
    assert agent.last_context is not None
    assert agent.last_context.dropped


def test_the_count_is_that_of_what_was_sent() -> None:
    agent, model = agent_of(base())
    memory = AssemblerMemory.from_defaults()
    asyncio.run(session(agent, [f"Question {n}?" for n in range(8)], memory=memory))
    assert agent.last_context is not None
    recount = count_request(openai_request(model.seen[-1]), dialect=openai_chat, model="gpt-4o")
    assert agent.last_context.count.tokens == recount.tokens


def test_the_rounds_of_the_running_turn_are_fitted_too() -> None:
    agent, model = agent_of(base(480, (TrimOldest(), TrimSteps(keep=1))))
    asyncio.run(session(agent, [f"Question {n}?" for n in range(8)]))
    assert_sendable(model, 380)


def test_a_memory_alone_does_not_see_the_rounds_of_a_running_turn() -> None:
    model = Scripted()
    agent = FunctionAgent(llm=model, tools=[TOOL])
    memory = AssemblerMemory.from_defaults(assembler=base(400).add_capability([TOOL]))
    asyncio.run(session(agent, [f"Question {n}?" for n in range(8)], memory=memory))
    costs = [count_request(openai_request(call), dialect=openai_chat, model="gpt-4o").upper for call in model.seen]
    assert max(costs) > 300, "if this holds no more, the page can promise more"


def test_fifty_turns_of_a_chat_engine_stay_within_the_budget() -> None:
    model = Scripted()
    memory = AssemblerMemory.from_defaults(assembler=base(300))
    engine = SimpleChatEngine.from_defaults(llm=model, memory=memory)
    for turn in range(TURNS):
        if turn % 3 == 0:
            engine.chat(f"Question {turn}?")
        elif turn % 3 == 1:
            asyncio.run(engine.achat(f"Question {turn}?"))
        else:
            list(engine.stream_chat(f"Question {turn}?").response_gen)
    assert len(model.seen) == TURNS
    assert_sendable(model, 200)
    assert len(memory.get_all()) == 2 * TURNS
    assert memory.report is not None
    assert memory.last_context is not None
    recount = count_request(openai_request(model.seen[-1]), dialect=openai_chat, model="gpt-4o")
    assert memory.last_context.count.tokens == recount.tokens


def test_the_tools_named_to_the_assembler_are_priced_in_a_memory() -> None:
    bare = AssemblerMemory.from_defaults([ChatMessage("Hello?")], assembler=base())
    with_tools = AssemblerMemory.from_defaults([ChatMessage("Hello?")], assembler=base().add_capability([TOOL]))
    bare.get()
    with_tools.get()
    assert bare.last_context is not None
    assert with_tools.last_context is not None
    assert with_tools.last_context.costs.capability > bare.last_context.costs.capability == 0


def test_a_memory_of_an_answered_question_can_be_read() -> None:
    messages = [ChatMessage("Hello?"), ChatMessage("Hello.", role="assistant")]
    budget = Budget(1_000)
    memory = AssemblerMemory.from_defaults(messages, assembler=Assembler(budget, dialect=gemini))
    assert memory.get() == messages
    assert memory.report is None
    small = AssemblerMemory.from_defaults(messages, assembler=Assembler(Budget(2), dialect=gemini))
    assert small.get() == messages


def test_a_memory_refuses_a_prefix_that_it_cannot_see() -> None:
    memory = AssemblerMemory.from_defaults([ChatMessage("Hello?")], assembler=base())
    with pytest.raises(AssemblyError, match="instruction"):
        memory.get(initial_token_count=10)


def history(turns: int, size: int = 40) -> list[ChatMessage]:
    messages: list[ChatMessage] = []
    for n in range(turns):
        given: Any = {"topic": "x" * 30, "depth": 1}
        blocks: list[Any] = [
            ThinkingBlock(content="Let me see.", additional_information={"signature": f"s{n}"}),
            TextBlock(text=f"I look it up, {n}."),
            ToolCallBlock(tool_call_id=f"c{n}-0", tool_name="look_up", tool_kwargs=given),
            ToolCallBlock(tool_call_id=f"c{n}-1", tool_name="look_up", tool_kwargs=json.dumps(given)),
        ]
        messages += [ChatMessage(f"Question {n}"), ChatMessage(role="assistant", blocks=blocks)]
        messages += [
            ChatMessage("word " * size, role="tool", additional_kwargs={"tool_call_id": f"c{n}-{k}", "mark": n})
            for k in (0, 1)
        ]
        messages.append(ChatMessage(f"Answer {n}", role="assistant"))
    return [*messages, ChatMessage("And now?")]


def test_the_kept_messages_are_the_very_objects_in_order() -> None:
    messages = history(10)
    memory = AssemblerMemory.from_defaults(messages, assembler=base())
    given = memory.get()
    assert given[0].role == "system"
    kept = given[1:]
    assert 0 < len(kept) < len(messages)
    for sent, own in zip(reversed(kept), reversed(messages), strict=False):
        assert sent is own


def test_everything_that_fits_stays() -> None:
    messages = history(3)
    given = AssemblerMemory.from_defaults(messages, assembler=base(100_000)).get()
    assert all(sent is own for sent, own in zip(given[1:], messages, strict=True))


def test_a_memory_without_an_assembler_gives_everything() -> None:
    messages = history(3)
    given = AssemblerMemory.from_defaults(messages).get()
    assert all(sent is own for sent, own in zip(given, messages, strict=True))


@pytest.mark.parametrize("policy", shortening(6).values(), ids=shortening(6))
def test_a_shortened_message_keeps_its_ids_its_signature_and_its_other_parts(policy: Any) -> None:
    messages = history(8)
    before = copy.deepcopy(messages)
    given = AssemblerMemory.from_defaults(messages, assembler=base(900, policy).add_capability([TOOL])).get()[1:]
    assert messages == before
    known = {id(message): message for message in messages}
    changed = [message for message in given if id(message) not in known]
    assert changed
    for message in changed:
        if message.role == "tool":
            assert set(message.additional_kwargs) == {"tool_call_id", "mark"}
        for block in message.blocks:
            if isinstance(block, ToolCallBlock):
                assert isinstance(block.tool_kwargs, str) == str(block.tool_call_id).endswith("-1")
            if isinstance(block, ThinkingBlock):
                assert block.additional_information["signature"].startswith("s")
    calls = [block.tool_call_id for m in given for block in m.blocks if isinstance(block, ToolCallBlock)]
    assert calls == [m.additional_kwargs["tool_call_id"] for m in given if m.role == "tool"]
    assert calls
    request = openai_request({"messages": given, "tools": [TOOL]})
    assert verify(request, dialect="openai_chat") == []
    assert count_request(request, dialect=openai_chat, model="gpt-4o").upper <= 800


def test_knowledge_at_the_question_makes_a_new_question_and_leaves_the_old() -> None:
    question = ChatMessage(role="user", blocks=[TextBlock(text="When is it open?")], additional_kwargs={"mark": 1})
    strategy = ChatRegions(placement=Placement.QUESTION)
    memory = AssemblerMemory.from_defaults([question], assembler=base(strategy=strategy))
    given = memory.get()
    assert given[-1].content is not None
    assert given[-1].content.startswith("<context ")
    assert given[-1].content.endswith("When is it open?")
    assert given[-1].additional_kwargs == {"mark": 1}
    assert question.content == "When is it open?"


def test_a_summary_is_a_chat_message_and_is_made_once() -> None:
    summarizer = Summarizer()
    ladder = (Summarize(summarizer, keep_turns=2), TrimOldest())
    memory = AssemblerMemory.from_defaults(history(8), assembler=base(800, ladder))
    assert str(memory.get()[1].content).endswith("They talked about the weather.")
    assert str(asyncio.run(memory.aget())[1].content).endswith("They talked about the weather.")
    assert len(summarizer.written) == 1


def test_instruction_and_knowledge_follow_the_prompt_of_the_agent() -> None:
    agent, model = agent_of(base())
    asyncio.run(session(agent, ["Hello?"]))
    first, second, *_ = model.seen[0]["messages"]
    assert first.content == "You are a librarian."
    assert second.role == "system"
    assert second.content.startswith("Answer from the archive.\n\n<context ")
    assert "Mondays &amp; Tuesdays" in second.content


def test_an_overflow_reaches_the_user_as_an_error_of_this_library_before_the_model_is_asked() -> None:
    agent, model = agent_of(base(400, Refuse()))
    with pytest.raises(ContextLengthError) as caught:
        asyncio.run(session(agent, ["word " * 2_000]))
    assert model.seen == []
    assert caught.value.available == 300


def test_a_memory_raises_an_error_of_this_library_in_an_engine_and_in_an_agent() -> None:
    memory = AssemblerMemory.from_defaults(assembler=base(200, Refuse()))
    with pytest.raises(ContextLengthError):
        SimpleChatEngine.from_defaults(llm=Scripted(), memory=memory).chat("word " * 2_000)
    with pytest.raises(ContextLengthError):
        asyncio.run(session(FunctionAgent(llm=Scripted(), tools=[TOOL]), ["Hello?"], memory=memory))


def test_a_malformed_history_raises_an_error_of_this_library() -> None:
    orphan = ChatMessage("x", role="tool", additional_kwargs={"tool_call_id": "nobody"})
    memory = AssemblerMemory.from_defaults([ChatMessage("Hello?"), orphan], assembler=base())
    with pytest.raises(ConversationError):
        memory.get()


def test_an_assembler_in_agent_and_memory_is_refused() -> None:
    agent, model = agent_of(base())
    memory = AssemblerMemory.from_defaults(assembler=base())
    with pytest.raises(AssemblyError, match="not to both"):
        asyncio.run(session(agent, ["Hello?"], memory=memory))
    assert model.seen == []


def test_a_failed_call_leaves_the_rounds_so_far() -> None:
    class Failing(Scripted):
        def _answer(self, messages: Any, **options: Any) -> ChatMessage:
            if len(self.seen) == 1:
                raise RuntimeError("the provider is down")
            return super()._answer(messages, **options)

    agent = AssemblerFunctionAgent(assembler=base(), llm=Failing(), tools=[TOOL], streaming=False)
    context = Context(agent)

    async def run() -> list[Any]:
        with pytest.raises(RuntimeError, match="provider"):
            await agent.run("Hello?", ctx=context)
        kept: list[Any] = await context.store.get(agent.scratchpad_key)
        return kept

    assert [message.role.value for message in asyncio.run(run())][:2] == ["assistant", "tool"]


def test_a_run_that_is_saved_during_a_call_keeps_the_rounds_so_far() -> None:
    saved: list[str] = []

    class Saving(Scripted):
        def _answer(self, messages: Any, **options: Any) -> ChatMessage:
            saved.append(str(context.to_dict()["state"]))
            return super()._answer(messages, **options)

    agent = AssemblerFunctionAgent(assembler=base(), llm=Saving(), tools=[TOOL], streaming=False)
    context = Context(agent)

    async def run() -> None:
        await agent.run("Hello?", ctx=context)

    asyncio.run(run())
    assert ["I should look." in state for state in saved] == [False] + [True] * (len(saved) - 1)
    assert len(saved) > 1


def test_a_team_of_agents_hands_over_within_the_budget() -> None:
    agent, model = agent_of(base(1_200), name="librarian", description="Looks things up.", can_handoff_to=["clerk"])
    clerk, _ = agent_of(base(1_200), name="clerk", description="Writes things down.")
    team = AgentWorkflow(agents=[agent, clerk], root_agent="librarian")

    async def run() -> None:
        context = Context(team)
        for n in range(20):
            await team.run(f"Question {n}?", ctx=context, memory=AssemblerMemory.from_defaults())

    asyncio.run(run())
    assert any(len(call["tools"]) == 2 for call in model.seen), "the tool that hands over"
    assert_sendable(model, 1_100)


def test_another_memory_may_be_named() -> None:
    agent, model = agent_of(base())
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    asyncio.run(session(agent, ["Hello?", "And now?"], memory=memory))
    assert len(memory.get_all()) > 4
    assert_sendable(model, WINDOW - 100)


def test_nothing_is_reported_before_the_first_call() -> None:
    agent, _ = agent_of(base())
    memory = AssemblerMemory.from_defaults(assembler=base())
    assert agent.last_context is agent.report is memory.last_context is memory.report is None


PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
    b"\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"
)
PDF = b"%PDF-1.4 /Type /Page"


@pytest.mark.parametrize(
    ("block", "parts"),
    [
        (TextBlock(text="hi"), "hi"),
        (ThinkingBlock(content="hm"), [{"type": "thinking", "thinking": "hm"}]),
        (ImageBlock(url="https://example.org/a.png"), [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]),
        (CachePoint(cache_control=CacheControl(type="ephemeral")), ""),
        (CitableBlock(title="t", source="s", content=[TextBlock(text="cited")]), "cited"),
        (
            CitationBlock(cited_content=TextBlock(text="said"), source="s", title="t", additional_location_info={}),
            "said",
        ),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_block_is_read_as_the_part_that_it_is(block: Any, parts: Any) -> None:
    assert message_fields(ChatMessage(role="user", blocks=[block])) == {"role": "user", "content": parts}


def test_media_are_read_with_their_bytes() -> None:
    paper = DocumentBlock(data=PDF, document_mimetype="application/pdf")
    blocks = [ImageBlock(image=PNG), paper, AudioBlock(audio=b"RIFF\x00\x00\x00\x00WAVE", format="wav")]
    image, document, sound = message_fields(ChatMessage(role="user", blocks=blocks))["content"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert document["file"]["file_data"].startswith("data:application/pdf;base64,JVBE")
    assert sound["input_audio"]["format"] == "wav"
    assert sound["input_audio"]["data"].startswith("UklGR")


def test_an_image_in_a_memory_is_priced_and_returned_unchanged() -> None:
    picture = ChatMessage(role="user", blocks=[TextBlock(text="What is it?"), ImageBlock(image=PNG)])
    memory = AssemblerMemory.from_defaults([picture], assembler=base())
    assert memory.get()[1] is picture
    assert memory.last_context is not None
    assert memory.last_context.costs.conversation > 80


def test_a_video_has_no_price() -> None:
    film = ChatMessage(role="user", blocks=[VideoBlock(url="https://example.org/a.mp4")])
    with pytest.raises(UnsupportedContentError):
        AssemblerMemory.from_defaults([film], assembler=base()).get()


def beside(calls: list[Any], blocks: list[Any] | None = None) -> list[ChatMessage]:
    """Calls in `additional_kwargs`, as integrations before 0.14 have them, with their results and a long past."""
    asked = ChatMessage(role="assistant", blocks=blocks or [], additional_kwargs={"tool_calls": calls})
    answer = ChatMessage("word " * 300, role="tool", additional_kwargs={"tool_call_id": "a"})
    return [ChatMessage("Look."), asked, answer, ChatMessage("Done.", role="assistant"), ChatMessage("And now?")]


OPENAI_CALL = {
    "id": "a",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"topic":"' + "xxxx " * 200 + '"}'},
}


@pytest.mark.parametrize(
    "call",
    [OPENAI_CALL, ToolSelection(tool_id="a", tool_name="look_up", tool_kwargs={"topic": "xxxx " * 200})],
    ids=["dict", "selection"],
)
def test_calls_beside_the_blocks_are_read_and_cleared(call: Any) -> None:
    messages = beside([call])
    before = copy.deepcopy(messages)
    whole = AssemblerMemory.from_defaults(messages, assembler=base(100_000)).get()
    assert whole[2] is messages[1]
    given = AssemblerMemory.from_defaults(messages, assembler=base(220, ClearToolResults(keep=0))).get()
    assert messages == before
    assert message_fields(given[2])["tool_calls"][0]["id"] == "a"
    assert "xxxx" not in str(given[2].additional_kwargs)
    assert len(str(given[3].content)) < 100


def test_a_call_said_in_both_places_is_priced_once() -> None:
    block = ToolCallBlock(tool_call_id="a", tool_name="look_up", tool_kwargs=OPENAI_CALL["function"]["arguments"])  # type: ignore[index]
    twice, once = beside([OPENAI_CALL], [block])[1], ChatMessage(role="assistant", blocks=[block])
    assert message_fields(twice) == message_fields(once)


def test_a_call_of_openais_own_object_is_cleared_in_its_own_kind() -> None:
    call = ChatCompletionMessageToolCall.model_validate(OPENAI_CALL)
    given = AssemblerMemory.from_defaults(beside([call]), assembler=base(220, ClearToolResults(keep=0))).get()
    (left,) = given[2].additional_kwargs["tool_calls"]
    assert type(left) is type(call)
    assert left.function.arguments == "{}"


def test_roles_of_other_providers_are_the_assistants() -> None:
    assert message_fields(ChatMessage("hi", role="model"))["role"] == "assistant"
    assert message_fields(ChatMessage("hi", role="chatbot"))["role"] == "assistant"


def test_a_question_with_a_picture_keeps_it_when_its_text_is_cut() -> None:
    picture = ImageBlock(image=PNG)
    messages = [
        ChatMessage(role="user", blocks=[TextBlock(text=" ".join(WORDS * 30)), picture]),
        ChatMessage("Done.", role="assistant"),
        ChatMessage("And now?"),
    ]
    tight = Assembler(Budget(450, model="gpt-4o"), on_overflow=Truncate(10))
    given = AssemblerMemory.from_defaults(messages, assembler=tight).get()[0]
    assert given is not messages[0]
    text, kept = given.blocks
    assert kept is picture
    assert len(text.text) < 100


@pytest.mark.parametrize("written", ["dict", "string"])
def test_a_memory_that_was_written_down_reads_back(written: str) -> None:
    memory = AssemblerMemory.from_defaults(chat_history=history(3), assembler=base(), chat_store_key="one")
    if written == "dict":
        data = memory.to_dict()
        before = copy.deepcopy(data)
        again = AssemblerMemory.from_dict(data, assembler=base())
        assert data == before
    else:
        again = AssemblerMemory.from_string(memory.to_string(), assembler=base())
    assert again.chat_store_key == "one"
    assert again.get_all() == memory.get_all()
    assert again.get() == memory.get()
    assert AssemblerMemory.from_dict(memory.to_dict()).assembler is memory.assembler
    assert AssemblerMemory.from_string(memory.to_string()).assembler is None


def test_a_memory_with_an_assembler_still_fits_in_the_second_run_of_a_context() -> None:
    model = Scripted()
    agent = FunctionAgent(llm=model, tools=[])
    memory = AssemblerMemory.from_defaults(assembler=base(220))
    asyncio.run(session(agent, [f"Question {n}?" for n in range(12)], memory=memory))
    assert len(memory.get_all()) == 24
    assert_sendable(model, 120)


def test_a_conversation_continues_though_each_run_has_another_copy_of_its_memory() -> None:
    def summaries(*, copied: bool) -> list[int]:
        summarizer = Summarizer()

        async def run() -> None:
            agent, _ = agent_of(base(700, (Summarize(summarizer, keep_turns=2), TrimOldest())))
            memory = AssemblerMemory.from_defaults()
            context = Context(agent)
            for turn in range(12):
                await agent.run(f"Question {turn}?", memory=memory, ctx=context if copied else None)

        asyncio.run(run())
        return summarizer.written

    assert summaries(copied=True) == summaries(copied=False) != []


def test_tools_of_the_provider_that_the_llm_holds_are_priced() -> None:
    class Own(Scripted):
        built_in_tools: list[Any] = Field(default_factory=lambda: [{"type": "web_search"}])

    budget = Budget(100_000, model="gpt-5")
    agent = AssemblerFunctionAgent(assembler=Assembler(budget, dialect=openai_responses), llm=Own(), tools=[TOOL])
    asyncio.run(session(agent, ["Question?"], memory=AssemblerMemory.from_defaults()))
    assert agent.last_context is not None
    assert {"type": "web_search"} in agent.last_context.request()["tools"]


def test_the_call_for_a_structured_answer_is_fitted_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[ChatMessage]] = []

    async def answered(messages: list[ChatMessage], llm: Any, output_cls: Any) -> dict[str, Any]:
        seen.append(messages_to_xml_format(messages))
        return {"town": "Köln"}

    monkeypatch.setattr("assembler.integrations.llama_index.generate_structured_response", answered)
    agent, _ = agent_of(base(), output_cls=Trip)
    memory = AssemblerMemory.from_defaults(chat_history=history(40))

    async def run() -> Any:
        return await agent.run("and now?", memory=memory)

    assert asyncio.run(run()).structured_response == {"town": "Köln"}
    assert agent.output_cls is None
    (sent,) = seen
    body = {"messages": [message_fields(message) for message in sent]}
    assert count_request(body, dialect=openai_chat, model="gpt-4o").upper <= agent.assembler.budget.input_limit
    assert len(memory.get_all()) > 40


def test_the_reader_of_chat_messages_keeps_the_contract_of_readers() -> None:
    calls = [ToolCallBlock(tool_call_id=f"c{n}", tool_name="look_up", tool_kwargs={"n": n}) for n in range(2)]
    results = [ChatMessage(f"found {n}", role="tool", additional_kwargs={"tool_call_id": f"c{n}"}) for n in range(2)]
    asked = ChatMessage("Which books are late?", role="user")
    called = ChatMessage(role="assistant", blocks=[TextBlock(text="I look both up."), *calls])
    history = [
        asked,
        called,
        *results,
        ChatMessage("Two of them.", role="assistant"),
        ChatMessage("Which?", role="user"),
    ]
    check_reader(ChatMessage, message_fields, histories=[history])
