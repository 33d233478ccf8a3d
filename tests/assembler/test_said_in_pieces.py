"""Several messages of the model in a row cost what they are sent as, in every API and spelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assembler import Assembler, ContextLengthError, TrimOldest, TrimSteps, Truncate, count_request
from assembler.dialects import DIALECTS
from budgets import Budget
from tests.assembler.test_one_price import APIS, GATEWAYS, Api
from tests.scaled import scaled

FIND = {"name": "find", "description": "Finds it.", "parameters": {"type": "object", "properties": {"q": {}}}}
PIECES = st.lists(st.sampled_from(["thought", "", "Let me look.", "word " * 9]), max_size=4)
Message = dict[str, Any]


def in_chat(said: Sequence[str], call: str | None) -> list[Message]:
    asked = [{"id": call, "type": "function", "function": {"name": "find", "arguments": '{"q": 1}'}}]
    spoken: list[Message] = [
        {"role": "assistant", "content": "", "reasoning_content": "hm"}
        if one == "thought"
        else {"role": "assistant", "content": one}
        for one in said
    ]
    if call is None:
        return spoken
    return [
        *spoken,
        {"role": "assistant", "content": None, "tool_calls": asked},
        {"role": "tool", "tool_call_id": call, "content": "found"},
    ]


def in_gemini(said: Sequence[str], call: str | None) -> list[Message]:
    spoken: list[Message] = [
        {"role": "model", "parts": [{"text": "hm", "thought": True} if one == "thought" else {"text": one}]}
        for one in said
    ]
    if call is None:
        return spoken
    return [
        *spoken,
        {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {"q": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"output": "found"}}}]},
    ]


def in_blocks(said: Sequence[str], call: str | None) -> list[Message]:
    spoken: list[Message] = [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
                if one == "thought"
                else {"type": "text", "text": one}
            ],
        }
        for one in said
    ]
    if call is None:
        return spoken
    return [
        *spoken,
        {"role": "assistant", "content": [{"type": "tool_use", "id": call, "name": "find", "input": {"q": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": "found"}]},
    ]


def in_items(said: Sequence[str], call: str | None) -> list[Message]:
    spoken: list[Message] = [
        {"type": "reasoning", "id": f"rs_{place}", "summary": [{"type": "summary_text", "text": "hm"}]}
        if one == "thought"
        else {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": one}]}
        for place, one in enumerate(said)
    ]
    if call is None:
        return spoken
    return [
        *spoken,
        {"type": "function_call", "call_id": call, "name": "find", "arguments": '{"q": 1}'},
        {"type": "function_call_output", "call_id": call, "output": "found"},
    ]


Spelled = Callable[[Sequence[str], str | None], list[Message]]
SPELLINGS = [in_chat, in_gemini, in_blocks, in_items]
Step = tuple[Spelled, Sequence[str], bool]
STEPS = st.lists(st.tuples(st.sampled_from(SPELLINGS), PIECES, st.booleans()), min_size=1, max_size=4)
LADDERS = st.sampled_from(
    [(TrimOldest(),), (TrimSteps(keep=0), TrimOldest()), (Truncate(4), TrimOldest(low_water=0.7))]
)


def history_of(steps: Sequence[Step]) -> list[Message]:
    told: list[Message] = [{"role": "user", "content": "Where is it?"}]
    for place, (spelled, said, calls) in enumerate(steps):
        told += spelled(said, f"call_{place}" if calls else None)
    return [*told, {"role": "user", "content": "And now?"}]


@pytest.mark.parametrize("api", [*APIS, *GATEWAYS], ids=str)
@scaled(0.3)
@given(steps=STEPS, ladder=LADDERS, share=st.floats(0.3, 1.0))
@example([(in_chat, ["Let me look."], True)], (TrimOldest(),), 1.0)
@example([(in_gemini, ["Let me look."], True)], (TrimOldest(),), 1.0)
@example([(in_blocks, ["Let me look.", "thought", "word " * 9], True)], (TrimOldest(),), 1.0)
@example([(in_items, ["thought"], False), (in_chat, ["thought"], False)], (TrimOldest(),), 1.0)
def test_messages_of_the_model_in_a_row_cost_what_they_are_sent_as(
    api: Api, steps: Sequence[Step], ladder: Any, share: float
) -> None:
    def built(window: int) -> Any:
        made = Assembler(Budget(window, model=api.model), dialect=DIALECTS[api.dialect], on_overflow=ladder)
        return made.add_capability([FIND]).add_messages(history_of(steps)).build()

    whole = built(1_000_000)
    assert whole.count == count_request(whole.request(), dialect=DIALECTS[api.dialect], model=api.model)
    try:
        tight = built(max(1, int(whole.count.upper * share)))
    except ContextLengthError:
        return
    assert tight.count == count_request(tight.request(), dialect=DIALECTS[api.dialect], model=api.model)
