"""An ADK model that follows a script and keeps what it was sent, and the body that Gemini would have been sent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def look_up(topic: str, depth: int) -> dict[str, str]:
    """Look a topic up in the archive."""
    return {"found": f"{topic}: " + " ".join(WORDS * depth)}


class Scripted(BaseLlm):
    """Calls `look_up` once or twice after a question, once more after every third result, then answers."""

    model: str = "gemini-2.5-flash"
    _seen: list[dict[str, Any]] = PrivateAttr(default_factory=list)
    _made: int = PrivateAttr(default=0)

    @property
    def seen(self) -> list[dict[str, Any]]:
        return self._seen

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self._seen.append({"contents": list(llm_request.contents), "config": llm_request.config.model_copy()})
        answered = any(part.function_response for part in llm_request.contents[-1].parts)
        count = len(self._seen)
        calls = int(count % 3 == 0) if answered else 1 + count % 2
        if not calls:
            text = f"Answer {count}: " + " ".join(WORDS)
            if stream:
                yield _response([types.Part(text=text[:8])], partial=True)
            yield _response([types.Part(text=text)])
            return
        yield _response([types.Part(text="I should look.", thought=True), *(self._call(count) for _ in range(calls))])

    def _call(self, count: int) -> types.Part:
        self._made += 1
        given = {"topic": WORDS[self._made % 10], "depth": 1 + self._made % 4}
        return types.Part(
            function_call=types.FunctionCall(name="look_up", args=given), thought_signature=f"sig-{count}".encode()
        )


def _response(parts: list[types.Part], partial: bool | None = None) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=parts), partial=partial)


def gemini_request(call: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a call, as google-genai writes it: its own serializer, in the wire's camelCase."""
    written = [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in call["contents"]]
    request: dict[str, Any] = {"contents": written}
    config = call["config"].model_dump(mode="json", by_alias=True, exclude_none=True)
    if "systemInstruction" in config:
        request["systemInstruction"] = config["systemInstruction"]
    if "tools" in config:
        request["tools"] = config["tools"]
    return request
