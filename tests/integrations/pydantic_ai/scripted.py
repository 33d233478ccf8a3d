"""A function model that follows the script and remembers what OpenAI would have been posted for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from assembler.integrations.pydantic_ai import FitContext
from tests.integrations.script import answer, wanted

CHAT = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(api_key="none"))


class Script:
    def __init__(self) -> None:
        self.seen: list[list[ModelMessage]] = []
        self.bodies: list[dict[str, Any]] = []
        """What OpenAIChatModel would have posted, call by call: Pydantic AI's own conversion."""
        self.model = FunctionModel(self._answers, stream_function=self._streams)

    async def _answers(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        call = len(self.seen)
        await self._note(messages, info)
        asked = wanted(call)
        if asked is None:
            return ModelResponse(parts=[TextPart(answer(call)), TextPart("Anything else?")])
        calls = [ToolCallPart("look_up", {"question": text}, tool_call_id=call_id) for call_id, text in asked]
        return ModelResponse(parts=[ThinkingPart("which town?"), *calls])

    async def _streams(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        response = await self._answers(messages, info)
        for index, part in enumerate(response.parts):
            if isinstance(part, ToolCallPart):
                yield {index: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}
            elif isinstance(part, TextPart):
                yield part.content

    async def _note(self, messages: list[ModelMessage], info: AgentInfo) -> None:
        parameters = info.model_request_parameters
        sent = await CHAT._map_messages(CHAT.prepare_messages(messages, parameters), parameters)
        tools = [CHAT._map_tool_definition(tool, {}) for tool in (*info.function_tools, *info.output_tools)]
        self.seen.append(list(messages))
        self.bodies.append({"messages": sent, **({"tools": tools} if tools else {})})


def fitted(capability: FitContext, messages: list[ModelMessage], **parameters: Any) -> ModelRequestContext:
    """What the model is given of one request, by the capability alone."""

    class Run:
        conversation_id = run_id = "one"
        prompt = None

    request = ModelRequestContext(
        model=CHAT,
        messages=messages,
        model_settings=None,
        model_request_parameters=ModelRequestParameters(**parameters),
    )
    return asyncio.run(capability.prepare_model_request(Run(), request))
