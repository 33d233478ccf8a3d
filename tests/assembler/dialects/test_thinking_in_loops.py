"""Thinking is asked for only when the API accepts it: a running tool loop must have begun with it."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, Context, TrimSteps, count_request, fit_request, verify
from assembler.dialects import Anthropic, Bedrock
from budgets import Budget

Dict = dict[str, Any]

ON: Dict = {"type": "enabled", "budget_tokens": 2_000}
TOOL: Dict = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
THOUGHT: Dict = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
ASKED: Dict = {"role": "user", "content": "q"}
NOTE = "1 option(s) `thinking` left out, since the running tool loop does not begin with thinking"
DIALECTS = [Anthropic(thinking=ON), Bedrock(thinking=ON)]
MODELS = {"anthropic": "claude-sonnet-4-5", "bedrock": "anthropic.claude-sonnet-4-5-20250929-v1:0"}


def _step(name: str, *thoughts: Dict, result: str = "r") -> list[Dict]:
    use = {"type": "tool_use", "id": name, "name": "look", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": name, "content": result}
    return [{"role": "assistant", "content": [*thoughts, use]}, {"role": "user", "content": [answer]}]


def _asks(context: Context[Any]) -> bool:
    request = context.request()
    return "thinking" in request or "additionalModelRequestFields" in request


def _is_sound(context: Context[Any], dialect: Anthropic | Bedrock) -> bool:
    request = context.request()
    assert context.count == count_request(request, dialect=dialect, model=MODELS[dialect.name])
    return not verify(request, dialect=dialect)


def _bot(dialect: Anthropic | Bedrock, window: int = 50_000, **policy: Any) -> Assembler[int | None]:
    budget = Budget(window, model=MODELS[dialect.name])
    return Assembler(budget, dialect=dialect, **policy).add_capability([TOOL])


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("history", "asks"),
    [
        ([ASKED], True),
        ([ASKED, *_step("a")], False),
        ([ASKED, *_step("a", THOUGHT)], True),
        ([ASKED, *_step("a", THOUGHT), *_step("b")], True),
        ([ASKED, *_step("a"), *_step("b")], False),
        ([ASKED, *_step("a"), *_step("b", THOUGHT)], True),
        ([ASKED, *_step("a"), {"role": "assistant", "content": "so"}, ASKED], True),
    ],
)
def test_thinking_is_left_out_only_while_a_loop_runs_that_does_not_begin_with_it(
    dialect: Anthropic | Bedrock, history: list[Dict], asks: bool
) -> None:
    context = _bot(dialect).add_messages(history).build()
    assert _is_sound(context, dialect)
    assert _asks(context) is asks
    assert (NOTE in context.notes()) is not asks


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_growing_conversation_asks_for_thinking_like_one_that_is_built_at_once(dialect: Anthropic | Bedrock) -> None:
    history = [ASKED, *_step("a"), {"role": "assistant", "content": "so"}, ASKED, *_step("b", THOUGHT), *_step("c")]
    history += [{"role": "assistant", "content": "so"}, ASKED, *_step("d")]
    growing = _bot(dialect)
    for place, message in enumerate(history):
        growing.add_message(message)
        if message["role"] == "user":
            context = growing.build()
            assert _is_sound(context, dialect)
            assert context.request() == _bot(dialect).add_messages(history[: place + 1]).build().request()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_loop_whose_thinking_was_dropped_is_sent_without_the_option(dialect: Anthropic | Bedrock) -> None:
    steps = [*_step("a", THOUGHT, result="word " * 300), *_step("b", result="word " * 300), *_step("c")]
    bot = _bot(dialect, 1_200, on_overflow=TrimSteps(keep=1)).add_messages([ASKED, *steps])
    context = bot.build()
    assert len(context.messages) < len(steps) + 1
    assert _is_sound(context, dialect)
    assert not _asks(context)


def test_adaptive_thinking_needs_no_loop_that_begins_with_it() -> None:
    dialect = Anthropic(thinking={"type": "adaptive"})
    assert _asks(_bot(dialect).add_messages([ASKED, *_step("a")]).build())


@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("dialect", [Anthropic(), Bedrock()])
@pytest.mark.parametrize("beside", [{}, {"top_k": 5}])
def test_a_callers_body_asks_for_thinking_only_while_its_loop_begins_with_it(
    dialect: Anthropic | Bedrock, begins: bool, beside: Dict
) -> None:
    """The step with the thinking was dropped and the caller's option stayed, which the API refuses."""
    thoughts = [THOUGHT] if begins else []
    steps = [*_step("a", THOUGHT, result="word " * 300), *_step("b", result="word " * 300), *_step("c", *thoughts)]
    body = Assembler(dialect=dialect).add_capability([TOOL]).add_messages([ASKED, *steps]).build().request()
    key = "additionalModelRequestFields"
    body |= {"thinking": ON, **beside} if dialect.name == "anthropic" else {key: {"thinking": ON, **beside}}
    bot = Assembler(Budget(1_300, model=MODELS[dialect.name]), dialect=dialect, on_overflow=TrimSteps(keep=1))
    fitted = fit_request(body, dialect=dialect, assembler=bot)
    assert len(fitted["messages"]) < len(body["messages"])
    assert not verify(fitted, dialect=dialect)
    asked = fitted.get(key, {}) if dialect.name == "bedrock" else fitted
    assert ("thinking" in asked) is begins
    assert beside.items() <= asked.items()
    assert begins or beside or key not in fitted
