"""The types of each API's request, for type checkers: `context.request("openai_chat")` is a `ChatRequest`.

A checker that knows a request's keys finds the right overload of an SDK's `create`. With a `dict[str, Any]` it knows no
key and loses the answer's type. The values are `Any`, because each SDK has its own types for them.
"""

from __future__ import annotations

from typing import Any, Required, TypedDict


class _ToolKeys(TypedDict, total=False):
    """The keys for tools, where they stand in the request itself."""

    tools: list[Any]
    tool_choice: Any


class _ChatKeys(_ToolKeys, total=False):
    """The keys of OpenAI's chat API, and of the APIs that follow it."""

    messages: Required[list[Any]]
    response_format: Any


class ChatRequest(_ChatKeys):
    """Keywords of `client.chat.completions.create`."""


class ResponsesRequest(_ToolKeys, total=False):
    """Keywords of `client.responses.create`."""

    input: Required[list[Any]]
    instructions: str
    text: Any


class AnthropicRequest(_ToolKeys, total=False):
    """Keywords of `client.messages.create`."""

    messages: Required[list[Any]]
    system: list[Any]
    output_config: Any
    thinking: Any


class GeminiRequest(TypedDict, total=False):
    """Keywords of `client.models.generate_content`."""

    contents: Required[list[Any]]
    config: Any


class BedrockRequest(TypedDict, total=False):
    """Keywords of `client.converse`."""

    messages: Required[list[Any]]
    system: list[Any]
    toolConfig: Any
    outputConfig: Any
    additionalModelRequestFields: Any


class MistralRequest(_ChatKeys):
    """Keywords of `client.chat.complete`."""
