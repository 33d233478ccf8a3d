"""Each kind of part costs what OpenAIChatModel sends of it, and the kept parts are the very objects."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    DocumentUrl,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    VideoUrl,
)
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.native_tools import WebSearchTool
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

from assembler import Assembler, ClearReasoning, TrimOldest, Truncate, UnsupportedContentError, count_request
from assembler.dialects import Dialect, anthropic, openai_chat, openai_responses
from assembler.integrations.pydantic_ai import FitContext
from budgets import Budget, Grade
from tests.integrations.provider import providing
from tests.integrations.pydantic_ai.scripted import CHAT, fitted


def fitting(window: int = 4_000, policy: Any = None, dialect: Dialect = openai_chat, **more: int) -> FitContext:
    budget = Budget.for_model("gpt-4o", context_window=window, max_output_tokens=100, **more)
    return FitContext(Assembler(budget, on_overflow=policy or TrimOldest(), dialect=dialect))


def body(request: ModelRequestContext) -> dict[str, Any]:
    parameters = request.model_request_parameters
    prepared = CHAT.prepare_messages(request.messages, parameters)
    return {"messages": asyncio.run(CHAT._map_messages(prepared, parameters))}


def asked(*content: Any) -> ModelRequest:
    return ModelRequest([UserPromptPart(content[0] if len(content) == 1 else list(content))])


def called(*parts: Any) -> list[ModelMessage]:
    call = ToolCallPart("look_up", '{"question": "é"}', tool_call_id="t")
    return [asked("q"), ModelResponse([*parts, call]), ModelRequest([ToolReturnPart("look_up", {"é": 1}, "t")])]


AGAIN = RetryFeedbackPart("Say more.", retry=RetryInfo("model_retry", attempt=1, max_retries=2))

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

HISTORIES: dict[str, list[ModelMessage]] = {
    "texts": [asked("one", TextContent("two"), CachePoint(), "three")],
    "several texts of a response": [asked("q"), ModelResponse([TextPart("a"), TextPart("b")]), asked("q")],
    "reasoning": [asked("q"), ModelResponse([ThinkingPart("hm"), TextPart("a")]), asked("q")],
    "reasoning before a call": called(ThinkingPart("hm")),
    "arguments as text and a result as an object": called(),
    "an empty response": [asked("q"), ModelResponse([]), asked("q")],
    "feedback": [asked("q"), ModelResponse([TextPart("a")]), ModelRequest([AGAIN])],
}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_costs_what_is_sent_of_it(name: str) -> None:
    capability = fitting()
    request = fitted(capability, HISTORIES[name])
    assert capability.last_context is not None
    sent = count_request(body(request), dialect=openai_chat, model="gpt-4o")
    assert sent.tokens == capability.last_context.count.tokens
    messages = [message for message in HISTORIES[name] if message.parts]
    assert all(a is b for a, b in zip(request.messages, messages, strict=True))


def test_an_answer_without_a_word_is_left_out_and_so_are_its_costs() -> None:
    capability = fitting()
    history: list[ModelMessage] = [asked("q"), ModelResponse([TextPart("")]), asked("q")]
    request = fitted(capability, history)
    assert [id(message) for message in request.messages] == [id(history[0]), id(history[2])]
    assert capability.last_context is not None
    sent = count_request(body(request), dialect=openai_chat, model="gpt-4o")
    assert sent.tokens == capability.last_context.count.tokens


def test_on_the_responses_api_an_answer_without_a_word_costs_what_is_sent_of_it() -> None:
    model = OpenAIResponsesModel("gpt-4o", provider=OpenAIProvider(api_key="none"))
    capability = fitting(dialect=openai_responses)
    call = ToolCallPart("look_up", "{}", tool_call_id="t")
    result = ModelRequest([ToolReturnPart("look_up", "r", "t")])
    history: list[ModelMessage] = [asked("q"), ModelResponse([TextPart("")]), asked("q")]
    history += [ModelResponse([TextPart(""), call]), result]
    request = fitted(capability, history)
    settings: Any = {}
    _, items = asyncio.run(model._map_messages(request.messages, settings, request.model_request_parameters))
    assert capability.last_context is not None
    on_the_wire = count_request({"input": items}, dialect=openai_responses, model="gpt-4o")
    assert capability.last_context.count.upper >= on_the_wire.upper


@pytest.mark.parametrize("text", ["I look it up.", ""])
def test_a_text_after_a_call_is_sent_to_the_responses_api_as_the_framework_sends_it(text: str) -> None:
    # As an item without a type it would stand where only the model's items may.
    model = OpenAIResponsesModel("gpt-4o", provider=OpenAIProvider(api_key="none"))
    capability = fitting(dialect=openai_responses)
    call = ToolCallPart("look_up", "{}", tool_call_id="t")
    history: list[ModelMessage] = [asked("q"), ModelResponse([call, TextPart(text)])]
    history.append(ModelRequest([ToolReturnPart("look_up", "r", "t")]))
    request = fitted(capability, history)
    assert request.messages == history
    settings: Any = {}
    _, items = asyncio.run(model._map_messages(request.messages, settings, request.model_request_parameters))
    assert [item.get("type") or item["role"] for item in items][1] == "function_call"
    assert capability.last_context is not None
    on_the_wire = count_request({"input": items}, dialect=openai_responses, model="gpt-4o")
    assert capability.last_context.count.upper >= on_the_wire.upper


def test_instructions_are_priced_as_the_messages_that_they_become() -> None:
    capability = fitting()
    parts = [InstructionPart("Be brief."), InstructionPart("Be kind.", dynamic=True)]
    request = fitted(capability, [asked("q")], instruction_parts=parts)
    assert capability.last_context is not None
    assert len(body(request)["messages"]) == 3
    priced = count_request(body(request), dialect=openai_chat, model="gpt-4o").tokens
    assert priced == capability.last_context.count.tokens


def test_a_silent_part_goes_where_its_neighbour_goes() -> None:
    news = ToolAvailabilityDeltaPart(tools_added=["look_up"])
    first, last = asked("old " * 50), ModelRequest([news, UserPromptPart("new")])
    history: list[ModelMessage] = [first, ModelResponse([TextPart("a " * 50)]), last]
    request = fitted(fitting(170), history)
    assert request.messages == [last]
    assert request.messages[0] is last
    both = ModelRequest([UserPromptPart("long " * 300), news])
    shortened = fitted(fitting(200, Truncate(max_tokens=30)), [both]).messages[0]
    assert shortened.parts[1] is news
    assert len(shortened.parts[0].content) < 200


def test_a_shortened_prompt_keeps_its_other_items() -> None:
    pixel = BinaryContent(b"\x89PNG\r\n\x1a\n", media_type="image/png")
    mark = CachePoint()
    history: list[ModelMessage] = [asked("short", TextContent("long " * 300), mark, TextContent("kept"), pixel)]
    kept = fitted(fitting(1_800, Truncate(max_tokens=30)), history).messages[0].parts[0].content
    assert kept[0] == "short"
    assert isinstance(kept[1], str)
    assert len(kept[1]) < 200
    assert kept[2] is mark
    assert kept[3] is history[0].parts[0].content[3]
    assert kept[4] is pixel


def test_a_shortened_response_costs_what_was_counted() -> None:
    message = ModelResponse([ThinkingPart("hm"), TextPart("long " * 200), TextPart("and more " * 200)])
    capability = fitting(400, Truncate(max_tokens=60))
    request = fitted(capability, [asked("q"), message, asked("q")])
    assert capability.last_context is not None
    priced = count_request(body(request), dialect=openai_chat, model="gpt-4o").tokens
    assert priced == capability.last_context.count.tokens
    assert len(request.messages[1].parts) == 1


def test_reasoning_goes_back_to_apis_that_take_it_and_may_be_cleared_there() -> None:
    signed = ThinkingPart("hm " * 100, signature="c2lnbmVk")
    history: list[ModelMessage] = [
        asked("q"),
        ModelResponse([signed, TextPart("a")]),
        asked("q"),
        ModelResponse([signed, TextPart("a")]),
        asked("q"),
    ]
    roomy = fitting(dialect=anthropic)
    whole = fitted(roomy, history).messages
    assert all(a is b for a, b in zip(whole, history, strict=True))
    assert roomy.last_context is not None
    edge = roomy.last_context.count.upper - 1 + 100
    cleared = fitted(fitting(edge, ClearReasoning(keep=1), anthropic), history).messages
    assert [part.part_kind for part in cleared[1].parts] == ["text"]
    assert cleared[3] is history[3]


def test_reasoning_that_claude_does_not_take_back_costs_the_text_that_it_becomes() -> None:
    thought = ThinkingPart("They want the weather. " * 20)
    sealed = ThinkingPart("They want the weather. " * 20, id="rs_1", signature="Z0FB" * 20, provider_name="openai")
    budget = Budget.for_model("claude-sonnet-4-5", context_window=20_000, max_output_tokens=100)
    for part in (thought, sealed):
        capability = FitContext(Assembler(budget))
        with providing(thinks=False) as provider:
            own = AnthropicProvider(base_url=provider.url, api_key="none")
            agent = Agent(AnthropicModel("claude-sonnet-4-5", provider=own), capabilities=[capability])
            history = [asked("q"), ModelResponse([part, TextPart("a")], provider_name=part.provider_name)]
            agent.run_sync("and now?", message_history=history)
            messages = provider.bodies[0]["messages"]
        assert "They want the weather." in str(messages)
        assert capability.last_context is not None
        on_the_wire = count_request({"messages": messages}, dialect=anthropic, model="claude-sonnet-4-5")
        assert capability.last_context.count.tokens == pytest.approx(on_the_wire.tokens, abs=2)


@pytest.mark.parametrize(
    ("file", "least"),
    [
        (BinaryContent(b"%PDF-1.4\n", media_type="application/pdf"), 2_000),
        (DocumentUrl("https://example.org/a.pdf"), 20_000),
        (BinaryContent(b"ID3" * 32_000, media_type="audio/mpeg"), 50),
    ],
    ids=["a short PDF", "a PDF at an address", "a sound of 6 s"],
)
def test_a_file_whose_length_cannot_be_seen_costs_a_typical_one(file: Any, least: int) -> None:
    fit, history = fitting(200_000), [asked("what is this?", file)]
    assert fitted(fit, history).messages == history
    assert fit.last_context is not None
    assert least < fit.last_context.count.tokens < 3 * least
    assert fit.last_context.count.grade is Grade.ESTIMATED


def test_a_video_is_refused_by_an_api_that_takes_none() -> None:
    with pytest.raises(UnsupportedContentError):
        fitted(fitting(), [asked("what is this?", VideoUrl("https://example.org/a.mp4"))])


def test_a_result_with_an_image_costs_the_image() -> None:
    pixel = BinaryContent(PIXEL, media_type="image/png")
    history: list[ModelMessage] = [
        asked("q"),
        ModelResponse([ToolCallPart("look_up", {}, tool_call_id="t")]),
        ModelRequest([ToolReturnPart("look_up", ["seen", pixel], "t")]),
    ]
    capability = fitting()
    request = fitted(capability, history)
    assert request.messages[2] is history[2]
    assert capability.last_context is not None
    priced = count_request(body(request), dialect=openai_chat, model="gpt-4o").tokens
    assert priced == capability.last_context.count.tokens
    tool = ToolDefinition(name="look_up")
    assert fitted(fitting(dialect=anthropic), history, function_tools=[tool]).messages[2] is history[2]


def test_a_schema_and_a_tool_of_the_provider() -> None:
    schema = OutputObjectDefinition(
        json_schema={"type": "object", "properties": {"town": {"type": "string"}}}, name="trip", description="Where."
    )
    bare, schemed = fitting(), fitting()
    fitted(bare, [asked("q")])
    fitted(schemed, [asked("q")], output_mode="native", output_object=schema)
    assert bare.last_context is not None
    assert schemed.last_context is not None
    assert bare.last_context.costs.capability < schemed.last_context.costs.capability
    hosted, known = fitting(20_000, dialect=openai_responses), fitting(20_000, dialect=openai_responses, overhead=300)
    assert searched(hosted).messages
    assert searched(known).messages
    assert hosted.last_context is not None
    assert known.last_context is not None
    assert known.last_context.costs.capability == 0 < hosted.last_context.costs.capability


def searched(capability: FitContext) -> ModelRequestContext:
    class Run:
        conversation_id = run_id = "one"
        prompt = None

    request = ModelRequestContext(
        model=OpenAIResponsesModel("gpt-4o", provider=OpenAIProvider(api_key="none")),
        messages=[asked("q")],
        model_settings=None,
        model_request_parameters=ModelRequestParameters(native_tools=[WebSearchTool()]),
    )
    return asyncio.run(capability.prepare_model_request(Run(), request))


def test_the_capability_is_not_written_in_a_spec() -> None:
    assert FitContext.get_serialization_name() is None
    assert fitting().report is None


def test_parts_that_the_responses_api_takes_back_are_priced_as_they_are_sent() -> None:
    sealed = base64.b64encode(b"x" * 1_200).decode()
    thought = ThinkingPart("They want the weather.", id="rs_1", signature=sealed, provider_name="openai")
    searched = NativeToolCallPart(
        "web_search", {"query": "weather in Köln", "type": "search"}, "ws_1", provider_name="openai"
    )
    found = NativeToolReturnPart("web_search", {"status": "completed"}, "ws_1", provider_name="openai")
    call = ToolCallPart("look_up", {"question": "é"}, "c1")
    message = ModelResponse(
        [thought, searched, found, TextPart("I look."), call], provider_name="openai", model_name="gpt-5"
    )
    history: list[ModelMessage] = [asked("q"), message, ModelRequest([ToolReturnPart("look_up", "sunny", "c1")])]
    model = OpenAIResponsesModel("gpt-5", provider=OpenAIProvider(api_key="none"))
    budget = Budget.for_model("gpt-5", max_output_tokens=100)
    capability = FitContext(Assembler(budget, on_overflow=TrimOldest(), dialect=openai_responses))

    class Run:
        conversation_id = run_id = "one"
        prompt = None

    parameters = ModelRequestParameters()
    request = ModelRequestContext(
        model=model, messages=history, model_settings=None, model_request_parameters=parameters
    )
    asyncio.run(capability.prepare_model_request(Run(), request))
    settings: Any = {"openai_send_reasoning_ids": True}
    _, items = asyncio.run(model._map_messages(history, settings, parameters))
    assert {item.get("type") for item in items} >= {"reasoning", "web_search_call", "function_call"}
    wire = count_request({"input": items}, dialect=openai_responses, model="gpt-5")
    assert capability.last_context is not None
    assert wire.tokens > 300
    assert wire.upper <= capability.last_context.count.upper


def test_a_hosted_search_on_anthropic_is_priced_with_its_results() -> None:
    searched = NativeToolCallPart("web_search", {"query": "walrus"}, "srv_1", provider_name="anthropic")
    page = {"type": "web_search_result", "url": "https://a.org", "title": "Walruses eat clams. " * 40}
    found = NativeToolReturnPart("web_search", [page], "srv_1", provider_name="anthropic")
    thought = ThinkingPart("They want clams.", signature="c2ln", provider_name="anthropic")
    costs: list[int] = []
    for parts in ([thought, TextPart("Clams.")], [thought, searched, found, TextPart("Clams.")]):
        capability = fitting(20_000, dialect=anthropic)
        history = [asked("q"), ModelResponse(parts, provider_name="anthropic"), asked("and?")]
        assert fitted(capability, history).messages == history
        assert capability.last_context is not None
        costs.append(capability.last_context.count.tokens)
    assert costs[1] - costs[0] > 200
