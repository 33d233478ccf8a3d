"""Reasoning is priced where an API is sent it, and nowhere else, in every spelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from assembler import Truncate, count_request
from tests.assembler.one_price import Api, assembled

THOUGHT = "hm " * 60
SEALED = "QUJD" * 60
ASKED = {"role": "user", "content": "q"}


def _blocks(*thoughts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": [*thoughts, {"type": "text", "text": "a"}]}]


def _of_bedrock(**reasoning: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": [{"reasoningContent": reasoning}, {"text": "a"}]}]


def _item(**fields: Any) -> list[dict[str, Any]]:
    return [{"type": "reasoning", "id": "rs_1", "summary": [], **fields}, {"role": "assistant", "content": "a"}]


SPELLED: dict[str, list[dict[str, Any]]] = {
    "signed, of Anthropic's": _blocks({"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"}),
    "sealed, of Anthropic's": _blocks({"type": "redacted_thinking", "data": SEALED}),
    "signed, of Converse's": _of_bedrock(reasoningText={"text": THOUGHT, "signature": "c2ln"}),
    "unsigned, of Converse's": _of_bedrock(reasoningText={"text": THOUGHT}),
    "sealed, of Converse's": _of_bedrock(redactedContent=b"abc" * 60),
    "of Gemini's": [{"role": "model", "parts": [{"text": THOUGHT, "thought": True}, {"text": "a"}]}],
    "a field of Chat's": [{"role": "assistant", "content": "a", "reasoning_content": THOUGHT}],
    "chunks of Mistral's": _blocks({"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}),
    "an item of Responses": _item(summary=[{"type": "summary_text", "text": THOUGHT}]),
    "a sealed item of Responses": _item(encrypted_content=SEALED),
}
APIS = [
    Api("anthropic", "claude-opus-4-8"),
    Api("bedrock", "anthropic.claude-opus-4-8"),
    Api("bedrock", "amazon.nova-pro-v1:0"),
    Api("bedrock", "meta.llama3-1-70b-instruct-v1:0"),
    Api("gemini", "gemini-2.5-flash"),
    Api("mistral", "magistral-medium-latest"),
    Api("openai_responses", "gpt-5"),
    *(
        Api(dialect, model)
        for dialect in ("openai_chat", "openai_responses")
        for model in (
            "openrouter/anthropic/claude-opus-4.8",
            "openrouter/google/gemini-2.5-pro",
            "openrouter/mistralai/magistral-medium",
            "grok-4",
            "nobody-knows-this-model",
        )
    ),
]


def _conversation(answer: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [ASKED, *answer, ASKED]


@pytest.mark.parametrize("spelled", SPELLED)
@pytest.mark.parametrize("api", APIS, ids=str)
def test_reasoning_that_is_not_sent_cuts_nothing(api: Api, spelled: str) -> None:
    history = _conversation(SPELLED[spelled])
    whole = assembled(api, history).build()
    tight = assembled(api, history, whole.count.upper, [Truncate(2)]).build()
    assert tight.request() == whole.request()
    assert tight.count == whole.count == count_request(whole.request(), dialect=api.dialect, model=api.model)


@pytest.mark.parametrize("spelled", ["an item of Responses", "a sealed item of Responses", "a field of Chat's"])
@pytest.mark.parametrize("api", [api for api in APIS if api.dialect.startswith("openai")], ids=str)
def test_reasoning_that_is_sent_to_a_gateway_is_in_the_bound(api: Api, spelled: str) -> None:
    history = _conversation(SPELLED[spelled])
    bare = _conversation([{"role": "assistant", "content": "a"}])
    with_it, without = (assembled(api, given).build() for given in (history, bare))
    sent = any(text in str(with_it.request()) for text in (THOUGHT, SEALED))
    assert (with_it.count.upper > without.count.upper + 20) == sent
