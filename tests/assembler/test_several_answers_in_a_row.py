"""Several messages of the model in a row cost what they are sent as, in every API and spelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.assembler.one_price import APIS, GATEWAYS, LADDERS, SHARES, TRIM, Api, costs_its_request_whole_and_cut
from tests.assembler.steps import SPELLINGS, Message, answering, calling, saying, thinking
from tests.scaled import scaled

PIECES = st.lists(st.sampled_from(["thought", "cited", "", "Let me look.", "word " * 9]), max_size=4)
CITED: Message = {
    "role": "assistant",
    "content": "It is there.",
    "annotations": [{"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}],
}
"""An answer of Chat's with a field that other APIs do not get."""
Step = tuple[str, Sequence[str], bool]
STEPS = st.lists(st.tuples(st.sampled_from(SPELLINGS), PIECES, st.booleans()), min_size=1, max_size=4)


def history_of(steps: Sequence[Step]) -> list[Message]:
    """Each step with its pieces, and with a call if it says so."""
    messages: list[Message] = [{"role": "user", "content": "Where is it?"}]
    for place, (spelling, texts, calls) in enumerate(steps):
        messages += [_spell_piece(spelling, one) for one in texts]
        if calls:
            call = None if spelling == "gemini" else f"call_{place}"
            messages += [*calling(spelling, [call], arguments={"q": 1}), answering(spelling, call, "found")]
    return [*messages, {"role": "user", "content": "And now?"}]


def _spell_piece(spelling: str, piece: str) -> Message:
    if piece == "cited":
        return dict(CITED)
    return thinking(spelling, "hm") if piece == "thought" else saying(spelling, piece)


@pytest.mark.parametrize("model", ["grok-4", "qwen3-32b", "deepseek-chat"])
def test_a_text_and_a_call_in_chats_spelling_are_one_message_for_a_host_of_responses(model: str) -> None:
    history = history_of([("openai_chat", ["Let me look."], True)])
    costs_its_request_whole_and_cut(Api("openai_responses", model), history, TRIM, 1.0)


@pytest.mark.parametrize("api", [*APIS, *GATEWAYS], ids=str)
@scaled(0.1)
@given(steps=STEPS, ladder=LADDERS, share=SHARES)
@example([("openai_chat", ["Let me look."], True)], TRIM, 1.0)
@example([("gemini", ["Let me look."], True)], TRIM, 1.0)
@example([("anthropic", ["Let me look.", "thought", "word " * 9], True)], TRIM, 1.0)
@example([("openai_chat", ["cited", "Let me look."], False)], TRIM, 1.0)
@example([("openai_responses", ["thought"], False), ("openai_chat", ["thought"], False)], TRIM, 1.0)
def test_messages_of_the_model_in_a_row_cost_what_they_are_sent_as(
    api: Api, steps: Sequence[Step], ladder: Any, share: float
) -> None:
    costs_its_request_whole_and_cut(api, history_of(steps), ladder, share)
