"""The types of each API's request, for type checkers: `context.request("openai_chat")` is a `ChatRequest`.

A checker that knows a request's keys finds the right overload of an SDK's `create`. With a `dict[str, Any]` it knows no
key and loses the answer's type. The values are `Any`, because each SDK has its own types for them.
"""

from __future__ import annotations

from typing import Any, Required, TypedDict


class ChatRequest(TypedDict, total=False):
    """Keywords of `client.chat.completions.create`."""

    messages: Required[list[Any]]
    tools: list[Any]
    tool_choice: Any
    response_format: Any


class ResponsesRequest(TypedDict, total=False):
    """Keywords of `client.responses.create`."""

    input: Required[list[Any]]
    instructions: str
    tools: list[Any]
    tool_choice: Any
    text: Any


class AnthropicRequest(TypedDict, total=False):
    """Keywords of `client.messages.create`."""

    messages: Required[list[Any]]
    system: list[Any]
    tools: list[Any]
    tool_choice: Any
    output_config: Any


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


class MistralRequest(TypedDict, total=False):
    """Keywords of `client.chat.complete`."""

    messages: Required[list[Any]]
    tools: list[Any]
    tool_choice: Any
    response_format: Any
