"""A LlamaIndex model that follows a script and keeps what it was sent, and what OpenAI would have been sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool
from pydantic import PrivateAttr

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def look_up(topic: str, depth: int) -> str:
    """Look a topic up in the archive."""
    return f"{topic}: " + " ".join(WORDS * depth)


TOOL = FunctionTool.from_defaults(look_up)


class Scripted(MockFunctionCallingLLM):
    """Calls `look_up` once or twice after a question, once more after every third result, then answers."""

    _seen: list[dict[str, Any]] = PrivateAttr(default_factory=list)
    _made: int = PrivateAttr(default=0)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._response_generator = self._answer

    @property
    def seen(self) -> list[dict[str, Any]]:
        return self._seen

    def _answer(self, messages: Sequence[ChatMessage], **options: Any) -> ChatMessage:
        self._seen.append({"messages": list(messages), "tools": list(options.get("tools") or [])})
        count = len(self._seen)
        answered = messages[-1].role.value == "tool"
        calls = (int(count % 3 == 0) if answered else 1 + count % 2) if options.get("tools") else 0
        if not calls:
            return ChatMessage(role="assistant", content=f"Answer {count}: " + " ".join(WORDS))
        blocks: list[Any] = [
            ThinkingBlock(content="I should look.", additional_information={"signature": f"sig-{count}"})
        ]
        for _ in range(calls):
            self._made += 1
            given = {"topic": WORDS[self._made % 10], "depth": 1 + self._made % 4}
            kwargs: Any = json.dumps(given) if self._made % 2 else given
            blocks.append(ToolCallBlock(tool_call_id=f"t{self._made}", tool_name="look_up", tool_kwargs=kwargs))
        return ChatMessage(role="assistant", blocks=blocks)


def openai_request(call: dict[str, Any]) -> dict[str, Any]:
    """The body of OpenAI's chat completions for a call, as LlamaIndex's OpenAI integration writes it."""
    request: dict[str, Any] = {"messages": [_message(message) for message in call["messages"]]}
    if call["tools"]:
        request["tools"] = [tool.metadata.to_openai_tool() for tool in call["tools"]]
    return request


def _message(message: ChatMessage) -> dict[str, Any]:
    texts = [block.text for block in message.blocks if isinstance(block, TextBlock)]
    calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    written: dict[str, Any] = {"role": message.role.value, "content": "\n".join(texts) if texts else None}
    if calls:
        written["tool_calls"] = [
            {"id": c.tool_call_id, "type": "function", "function": {"name": c.tool_name, "arguments": _arguments(c)}}
            for c in calls
        ]
    if "tool_call_id" in message.additional_kwargs:
        written["tool_call_id"] = message.additional_kwargs["tool_call_id"]
    return written


def _arguments(call: ToolCallBlock) -> str:
    given = call.tool_kwargs
    return given if isinstance(given, str) else json.dumps(given, separators=(",", ":"))
