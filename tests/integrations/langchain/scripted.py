"""A chat model that follows the script and remembers what it was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

from tests.integrations.script import answer, looked_up, wanted

CHAT = ChatOpenAI(model="gpt-4o", api_key="none")


@tool
def look_up(question: str) -> str:
    """Look a question up in the almanac."""
    return looked_up(question)


class Scripted(BaseChatModel):
    _seen: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _bodies: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def seen(self) -> list[list[BaseMessage]]:
        return self._seen

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What ChatOpenAI would have posted, call by call: LangChain's own conversion."""
        return self._bodies

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=CHAT.bind_tools(tools).kwargs["tools"])

    def _next(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> AIMessage:
        call = len(self._seen)
        self._seen.append(list(messages))
        self._bodies.append(CHAT._get_request_payload(messages, stop=None, **kwargs))
        asked = wanted(call)
        if asked is None:
            return AIMessage(answer(call), id=f"answer-{call}")
        calls = [{"id": call_id, "name": "look_up", "args": {"question": text}} for call_id, text in asked]
        return AIMessage("", id=f"asked-{call}", tool_calls=calls, response_metadata={"call": call})

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages, kwargs))])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._next(messages, kwargs)
        chunks = [
            {"id": call["id"], "name": call["name"], "args": json.dumps(call["args"]), "index": index}
            for index, call in enumerate(answer.tool_calls)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content=answer.text, id=answer.id, tool_call_chunks=chunks))
