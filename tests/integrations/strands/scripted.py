"""A Strands model that follows a script and keeps what it was sent, and what Bedrock would have been sent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from strands import tool
from strands.models.model import Model

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


@tool
def look_up(topic: str, depth: int = 1) -> str:
    """Look a topic up in the archive.

    Args:
        topic: What to look for.
        depth: How far to follow references.
    """
    return f"{topic}: " + " ".join(WORDS * depth)


class Scripted(Model):
    """Calls `look_up` once or twice after a question, once more after every third result, then answers."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.made = 0

    def update_config(self, **model_config: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, output_model: Any, prompt: Any, system_prompt: Any = None, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self,
        messages: Any,
        tool_specs: Any = None,
        system_prompt: str | None = None,
        *,
        system_prompt_content: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        self.seen.append(
            {
                "messages": list(messages),
                "tools": tool_specs,
                "system": system_prompt,
                "blocks": system_prompt_content,
            }
        )
        asked = not any("toolResult" in block for block in messages[-1]["content"])
        calls = 1 + len(self.seen) % 2 if asked else int(len(self.seen) % 3 == 0)
        yield {"messageStart": {"role": "assistant"}}
        for event in self._reasoning() if calls else ():
            yield event
        for _ in range(calls):
            self.made += 1
            given = {"topic": WORDS[self.made % 10], "depth": 1 + self.made % 4}
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": f"t{self.made}", "name": "look_up"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(given)}}}}
            yield {"contentBlockStop": {}}
        if not calls:
            yield {"contentBlockDelta": {"delta": {"text": f"Answer {len(self.seen)}: " + " ".join(WORDS)}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}
        usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}

    def _reasoning(self) -> list[dict[str, Any]]:
        block = {"reasoningContent": {"text": "I should look."}}
        signed = {"reasoningContent": {"signature": f"sig-{len(self.seen)}"}}
        return [
            {"contentBlockDelta": {"delta": block}},
            {"contentBlockDelta": {"delta": signed}},
            {"contentBlockStop": {}},
        ]


def bedrock_request(call: dict[str, Any]) -> dict[str, Any]:
    """The body that Strands' Bedrock model would send for a call: what it does to messages is written out here."""
    messages = [{"role": m["role"], "content": m["content"]} for m in call["messages"]]
    request: dict[str, Any] = {"messages": messages}
    blocks = call["blocks"] or ([{"text": call["system"]}] if call["system"] else [])
    if blocks:
        request["system"] = blocks
    if call["tools"]:
        request["toolConfig"] = {"tools": [{"toolSpec": spec} for spec in call["tools"]]}
    return request
