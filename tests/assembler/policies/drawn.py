"""Agent sessions in OpenAI's and Anthropic's form, with everything that a policy may meet; and ladders."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from assembler.policies import (
    ClearReasoning,
    ClearToolResults,
    KeepRelevant,
    Offload,
    Policy,
    Refuse,
    Summarize,
    TrimOldest,
    TrimSteps,
    Truncate,
    first_user,
)
from tests.assembler.by_hand import History, Message

from .examples import BUILT_IN, examples_of

NAMES = ("search", "read", "run")
EMOJI = (
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7 e\u0301\u0323 \u0e01\u0e33 "
)

short = st.text("abcdefg", min_size=1, max_size=8)
texts = st.one_of(
    short,
    st.builds(lambda unit, times: (unit * times).strip(), short, st.integers(2, 20)),
    st.builds(lambda times, tail: EMOJI * times + tail, st.integers(1, 4), short),
)


@st.composite
def openai_steps(draw: st.DrawFn, tag: str) -> History:
    calls = [
        {
            "id": f"{tag}_{place}",
            "type": "function",
            "function": {"name": draw(st.sampled_from(NAMES)), "arguments": json.dumps({"q": draw(texts)})},
        }
        for place in range(draw(st.integers(1, 3)))
    ]
    asked = {"role": "assistant", "content": draw(st.one_of(st.none(), short)), "tool_calls": calls}
    answers = [{"role": "tool", "tool_call_id": call["id"], "content": draw(texts)} for call in calls]
    return [asked, *draw(st.permutations(answers))]


def _thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": f"sig-{len(text)}"}


@st.composite
def anthropic_steps(draw: st.DrawFn, tag: str) -> History:
    blocks: list[dict[str, Any]] = [_thinking(draw(texts))] if draw(st.booleans()) else []
    blocks += [{"type": "text", "text": draw(texts)}] if draw(st.booleans()) else []
    calls = [
        {"type": "tool_use", "id": f"{tag}_{place}", "name": draw(st.sampled_from(NAMES)), "input": {"q": draw(texts)}}
        for place in range(draw(st.integers(1, 3)))
    ]
    answers = [{"type": "tool_result", "tool_use_id": call["id"], "content": draw(texts)} for call in calls]
    return [{"role": "assistant", "content": [*blocks, *calls]}, {"role": "user", "content": answers}]


@st.composite
def closings(draw: st.DrawFn, form: str) -> Message:
    if form == "openai":
        return {"role": "assistant", "content": draw(texts)}
    blocks: list[dict[str, Any]] = [_thinking(draw(texts))] if draw(st.booleans()) else []
    return {"role": "assistant", "content": [*blocks, *({"type": "text", "text": draw(texts)} for _ in range(2))]}


@st.composite
def sessions(
    draw: st.DrawFn, form: str, max_turns: int = 4, max_steps: int = 3, marks: tuple[int, ...] = (0, 0, 0, 1)
) -> History:
    """Turns of a user's question, steps, and mostly an answer. `marks`: how often a question is pinned by its mark."""
    history: History = []
    steps = openai_steps if form == "openai" else anthropic_steps
    for turn in range(draw(st.integers(1, max_turns))):
        asked: Message = {"role": "user", "content": draw(texts)}
        if draw(st.sampled_from(marks)):
            asked["pinned"] = True
        history.append(asked)
        for step in range(draw(st.integers(0, max_steps))):
            history += draw(steps(f"t{turn}s{step}"))
        if draw(st.integers(0, 3)):
            history.append(draw(closings(form)))
    return history


forms = st.sampled_from(["openai", "anthropic"])
any_session = forms.flatmap(sessions)
unmarked = forms.flatmap(lambda form: sessions(form, marks=(0,)))


def gist(dropped: Any, before: str | None, most: int) -> str:
    """A deterministic summarizer that writes how many messages it got."""
    return f"{before or ''}/{len(dropped)}"[-most:]


NOT_DRAWN = {Offload, Refuse}
"""`Refuse` lets nothing give way, and `Offload` writes to a store."""
OPTIONS: dict[type[Policy], st.SearchStrategy[Policy]] = {
    TrimOldest: st.builds(
        TrimOldest,
        keep_turns=st.integers(1, 3),
        pins=st.sampled_from([frozenset(), first_user, frozenset({2})]),
        note=st.sampled_from([None, "[older turns left out]"]),
    ),
    KeepRelevant: st.builds(
        KeepRelevant, keep_turns=st.integers(1, 3), pins=st.sampled_from([frozenset(), first_user])
    ),
    TrimSteps: st.builds(TrimSteps, keep=st.integers(0, 2)),
    ClearToolResults: st.builds(ClearToolResults, keep=st.integers(0, 3), exclude=st.sampled_from([(), ("read",)])),
    ClearReasoning: st.builds(ClearReasoning, keep=st.integers(0, 2)),
    Truncate: st.builds(Truncate, st.integers(18, 60), where=st.sampled_from(["ends", "head", "tail"])),
    Summarize: st.builds(Summarize, st.just(gist), keep_turns=st.integers(1, 3)),
}
"""How the options of a policy are drawn; of any other its examples are."""
rungs = st.one_of(
    *(OPTIONS.get(policy, st.sampled_from(examples_of(policy))) for policy in BUILT_IN if policy not in NOT_DRAWN)
)
ladders = st.lists(rungs, min_size=1, max_size=4)
calm_rungs = rungs.filter(lambda rung: not isinstance(rung, Summarize))
low_ladders = st.builds(
    lambda rungs, share, last: [*rungs, TrimOldest(low_water=share)] if last else [TrimOldest(low_water=share), *rungs],
    st.lists(calm_rungs, min_size=1, max_size=3),
    st.sampled_from([0.3, 0.5, 0.8]),
    st.sampled_from([1, 1, 0]),
)
low_summaries = st.builds(
    lambda summary, before, after, share: [*before, summary, *after, TrimOldest(low_water=share)],
    st.builds(Summarize, st.just(gist), keep_turns=st.integers(1, 3)),
    st.lists(calm_rungs, max_size=2),
    st.lists(calm_rungs, max_size=1),
    st.sampled_from([0.3, 0.5, 0.8]),
)
"""Ladders with a mark and a summary: when they gave way depends on when they were built."""
