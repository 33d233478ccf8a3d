"""A model that follows the script and remembers what OpenAI would have been posted for it, in both of its APIs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Model, ModelResponse, Usage, function_tool
from agents.models.chatcmpl_converter import Converter as ChatConverter
from agents.models.openai_responses import Converter as ResponsesConverter
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_reasoning_item import Summary

from tests.integrations.script import answer, looked_up, wanted


@function_tool
def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


class Scripted(Model):
    def __init__(self, *, reasons: str = "") -> None:
        self.reasons = reasons
        self.seen: list[list[Any]] = []
        self.chats: list[dict[str, Any]] = []
        """What the SDK would have posted to Chat Completions, call by call: its own conversion."""
        self.responses: list[dict[str, Any]] = []
        """The same for Responses, which takes the items as they are."""

    async def get_response(
        self, system_instructions: str | None, input: Any, *given: Any, **more: Any
    ) -> ModelResponse:
        return ModelResponse(self._next(system_instructions, input, *given, **more), Usage(), None)

    async def stream_response(
        self, system_instructions: str | None, input: Any, *given: Any, **more: Any
    ) -> AsyncIterator[Any]:
        response = Response(
            id="r",
            created_at=0,
            model="gpt-4o",
            object="response",
            output=self._next(system_instructions, input, *given, **more),
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(response=response, sequence_number=0, type="response.completed")

    def _next(
        self,
        system: str | None,
        items: list[Any],
        model_settings: Any,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        *_: Any,
        **__: Any,
    ) -> list[Any]:
        call = len(self.seen)
        self.seen.append(list(items))
        messages: list[Any] = [{"role": "system", "content": system}] if system else []
        chat_tools = [*map(ChatConverter.tool_to_openai, tools), *map(ChatConverter.convert_handoff_tool, handoffs)]
        sent = [*messages, *ChatConverter.items_to_messages(items)]
        self.chats.append({"messages": sent, **({"tools": chat_tools} if chat_tools else {})})
        spoken = ResponsesConverter.convert_tools(tools, handoffs).tools
        asked = {"instructions": system} if system else {}
        self.responses.append({**asked, "input": list(items), **({"tools": spoken} if spoken else {})})
        thought = [_thought(call, self.reasons)] if self.reasons else []
        return [*thought, *_answer_items(call)]


def _thought(call: int, text: str) -> ResponseReasoningItem:
    return ResponseReasoningItem(id=f"rs_{call}", type="reasoning", summary=[Summary(text=text, type="summary_text")])


def _answer_items(call: int) -> list[Any]:
    asked = wanted(call)
    if asked is not None:
        return [
            ResponseFunctionToolCall(
                arguments=json.dumps({"question": text}), call_id=call_id, name="look_up", type="function_call"
            )
            for call_id, text in asked
        ]
    text = ResponseOutputText(text=answer(call), type="output_text", annotations=[])
    return [
        ResponseOutputMessage(id=f"msg_{call}", role="assistant", status="completed", type="message", content=[text])
    ]
