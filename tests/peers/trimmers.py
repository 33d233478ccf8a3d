"""The trimmers of other projects as `(messages, window) -> messages`, each with its own messages and its own unit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

Dicts = list[dict[str, Any]]


@dataclass(frozen=True)
class Peer:
    """A trimmer: where it is from, its setting, how it is called, and what its window counts."""

    package: str
    setting: str
    unit: str
    fit: Callable[[list[Any], int], list[Any]]
    count: Callable[[list[Any]], int]
    spell: Callable[[Dicts], list[Any]]


def _calls(message: dict[str, Any]) -> list[tuple[str, str, str]]:
    spelled = message.get("tool_calls", ())
    return [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in spelled]


# ── langchain-core ───────────────────────────────────────────────────────────────────────────────────────────────────


def _langchain_characters(messages: list[Any]) -> int:
    calls = [call for message in messages for call in getattr(message, "tool_calls", ())]
    spoken = sum(len(message.content) for message in messages)
    return spoken + sum(len(call["name"]) + len(json.dumps(call["args"])) for call in calls)


def _langchain(**options: Any) -> Callable[[list[Any], int], list[Any]]:
    from langchain_core.messages import trim_messages

    def fit(messages: list[Any], window: int) -> list[Any]:
        kept = trim_messages(messages, max_tokens=window, token_counter=_langchain_characters, **options)
        return list(kept)

    return fit


def langchain() -> list[Peer]:
    from langchain_core.messages import convert_to_messages

    advised = {"strategy": "last", "start_on": "human", "end_on": ("human", "tool"), "include_system": True}
    settings = {"trim_messages, as it comes": {}, "trim_messages, as its docs advise for chat": advised}
    return [
        Peer("langchain-core", setting, "characters", _langchain(**options), _langchain_characters, convert_to_messages)
        for setting, options in settings.items()
    ]


# ── llama-index-core ─────────────────────────────────────────────────────────────────────────────────────────────────


def _llama_spelled(messages: Dicts) -> list[Any]:
    from llama_index.core.llms import ChatMessage

    extra = ("tool_calls", "tool_call_id")
    return [
        ChatMessage(
            role=message["role"],
            content=message["content"],
            additional_kwargs={key: message[key] for key in extra if key in message},
        )
        for message in messages
    ]


def _llama_characters(messages: list[Any]) -> int:
    """As ChatMemoryBuffer adds: the contents joined by blanks; what a call costs it does not ask."""
    return len(" ".join(str(message.content) for message in messages)) if messages else 0


def _llama_fit(messages: list[Any], window: int) -> list[Any]:
    from llama_index.core.memory import ChatMemoryBuffer

    memory = ChatMemoryBuffer.from_defaults(chat_history=messages, token_limit=window, tokenizer_fn=list)
    return memory.get()


def llama_index() -> list[Peer]:
    return [
        Peer("llama-index-core", "ChatMemoryBuffer", "characters", _llama_fit, _llama_characters, _llama_spelled),
    ]


# ── semantic-kernel ──────────────────────────────────────────────────────────────────────────────────────────────────


def _kernel_spelled(messages: Dicts) -> list[Any]:
    from semantic_kernel.contents import (
        AuthorRole,
        ChatMessageContent,
        FunctionCallContent,
        FunctionResultContent,
        TextContent,
    )

    spelled: list[Any] = []
    for message in messages:
        items: list[Any] = [FunctionCallContent(id=i, name=n, arguments=a) for i, n, a in _calls(message)]
        if message["role"] == "tool":
            items = [FunctionResultContent(id=message["tool_call_id"], name="look", result=message["content"])]
        elif message["content"] is not None:
            items = [TextContent(text=message["content"])]
        spelled.append(ChatMessageContent(role=AuthorRole(message["role"]), items=items))
    return spelled


def _kernel_fit(messages: list[Any], window: int) -> list[Any]:
    from semantic_kernel.contents import ChatHistoryTruncationReducer

    reducer = ChatHistoryTruncationReducer(target_count=window, threshold_count=0, messages=messages)
    asyncio.run(reducer.reduce())
    return reducer.messages


def semantic_kernel() -> list[Peer]:
    setting = "ChatHistoryTruncationReducer"
    return [Peer("semantic-kernel", setting, "messages", _kernel_fit, len, _kernel_spelled)]


# ── autogen-core ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _autogen_spelled(messages: Dicts) -> list[Any]:
    from autogen_core import FunctionCall
    from autogen_core.models import (
        AssistantMessage,
        FunctionExecutionResult,
        FunctionExecutionResultMessage,
        SystemMessage,
        UserMessage,
    )

    spelled: list[Any] = []
    for message in messages:
        content = message["content"]
        match message["role"]:
            case "user":
                spelled.append(UserMessage(content=content, source="user"))
            case "assistant":
                calls = [FunctionCall(id=i, name=n, arguments=a) for i, n, a in _calls(message)]
                spelled.append(AssistantMessage(content=calls or content, source="assistant"))
            case "tool":
                result = FunctionExecutionResult(content=content, name="look", call_id=message["tool_call_id"])
                spelled.append(FunctionExecutionResultMessage(content=[result]))
            case _:
                spelled.append(SystemMessage(content=content))
    return spelled


def _autogen_characters(messages: list[Any]) -> int:
    characters = 0
    for message in messages:
        parts = message.content if isinstance(message.content, list) else [message.content]
        for part in parts:
            texts = (part.name, part.arguments) if hasattr(part, "arguments") else (getattr(part, "content", part),)
            characters += sum(map(len, texts))
    return characters


def _autogen_limited(messages: list[Any], window: int) -> list[Any]:
    from autogen_core.model_context import TokenLimitedChatCompletionContext

    client: Any = SimpleNamespace(count_tokens=lambda messages, tools: _autogen_characters(messages))
    context = TokenLimitedChatCompletionContext(client, token_limit=window, initial_messages=messages)
    return list(asyncio.run(context.get_messages()))


def _autogen_buffered(messages: list[Any], window: int) -> list[Any]:
    from autogen_core.model_context import BufferedChatCompletionContext

    context = BufferedChatCompletionContext(buffer_size=window, initial_messages=messages)
    return list(asyncio.run(context.get_messages()))


def autogen() -> list[Peer]:
    limited, buffered = "TokenLimitedChatCompletionContext", "BufferedChatCompletionContext"
    return [
        Peer("autogen-core", limited, "characters", _autogen_limited, _autogen_characters, _autogen_spelled),
        Peer("autogen-core", buffered, "messages", _autogen_buffered, len, _autogen_spelled),
    ]


# ── strands-agents ───────────────────────────────────────────────────────────────────────────────────────────────────


def _strands_spelled(messages: Dicts) -> list[Any]:
    """System texts are a user's here: in Strands they do not stand in the history."""
    spelled: list[Any] = []
    for message in messages:
        blocks: list[Any] = [{"text": message["content"]}]
        if message["role"] == "tool":
            result = {"toolUseId": message["tool_call_id"], "status": "success", "content": blocks}
            blocks = [{"toolResult": result}]
        elif calls := _calls(message):
            blocks = [{"toolUse": {"toolUseId": i, "name": n, "input": json.loads(a)}} for i, n, a in calls]
        spelled.append({"role": "assistant" if message["role"] == "assistant" else "user", "content": blocks})
    return spelled


def _strands_fit(messages: list[Any], window: int) -> list[Any]:
    from strands.agent.conversation_manager import SlidingWindowConversationManager

    agent: Any = SimpleNamespace(messages=messages)
    SlidingWindowConversationManager(window_size=window).apply_management(agent)
    return list(agent.messages)


def strands() -> list[Peer]:
    setting = "SlidingWindowConversationManager"
    return [Peer("strands-agents", setting, "messages", _strands_fit, len, _strands_spelled)]


PEERS = (langchain, llama_index, semantic_kernel, autogen, strands)
"""One function a project, so that one that is not installed costs only itself."""
