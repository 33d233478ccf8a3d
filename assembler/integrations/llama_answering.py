"""An LLM of LlamaIndex whose refused calls are made again, smaller."""

from __future__ import annotations

from typing import Any, cast

from assembler.integrations.retries import Retries


def answering(llm: Any, retries: Retries) -> Any:
    """Return a copy of the LLM that makes a call again, smaller, after a refusal as too long."""
    kind = cast("Any", type(llm))

    class Answering(kind):  # type: ignore[misc,valid-type,unused-ignore]
        def chat(self, messages: Any, **more: Any) -> Any:
            return retries.call(messages, lambda given: kind.chat(self, given, **more))

        async def achat(self, messages: Any, **more: Any) -> Any:
            return await retries.acall(messages, lambda given: kind.achat(self, given, **more))

        def stream_chat(self, messages: Any, **more: Any) -> Any:
            return retries.stream(messages, lambda given: kind.stream_chat(self, given, **more))

        async def astream_chat(self, messages: Any, **more: Any) -> Any:
            return await retries.astream(messages, lambda given: kind.astream_chat(self, given, **more))

    copied = llm.model_copy()
    copied.__class__ = Answering
    return copied
