"""Once an instruction, tools or a first message has changed, the next build is a fresh assembler's, to the token."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, CitedSources, ContextLengthError, Placement, TrimOldest, calibrate
from assembler.dialects import DIALECTS
from budgets import Budget
from tests.assembler.dialects import test_chat_template as templates
from tests.scaled import in_turns

MODELS = {"anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro", "openai_chat": "gpt-4o"}
EVERY = {**{name: DIALECTS[name] for name in MODELS}, "chatml": templates.DIALECTS["chatml"]}
TOOL = {"name": "search", "description": "Finds it.", "parameters": {"type": "object", "properties": {}}}
SAID = [("user", "one " * 9), ("assistant", "two " * 9), ("user", "three")]


def changed(assembler: Assembler, how: str) -> Assembler:
    if how == "instruction":
        return assembler.set_instruction("Be very brief, and say so at once.")
    if how == "tools":
        return assembler.set_tools([TOOL])
    return assembler.add_messages([("system", "Be kind to whoever asks."), *SAID])


def assembler_at(dialect: str, window: int, placement: Placement) -> Assembler:
    budget = Budget(window, model=MODELS.get(dialect))
    strategy = CitedSources(placement=placement)
    made = Assembler(budget, dialect=EVERY[dialect], on_overflow=TrimOldest(), strategy=strategy)
    for number in range(5):
        made.add_knowledge(f"Fact {number} is this. " * (number + 1), type="rag", source=f"d{number}", score=number)
    return made.set_instruction("Be brief.").add_messages(SAID)


def answer(assembler: Assembler) -> Any:
    try:
        return assembler.build().request()
    except ContextLengthError as error:
        return str(error)


@pytest.mark.parametrize(
    ("how", "placement", "dialect"),
    in_turns(2, ["instruction", "tools", "system message"], [Placement.SYSTEM, Placement.QUESTION], EVERY),
)
def test_a_changed_region_is_laid_out_as_in_a_fresh_assembler(dialect: str, placement: Placement, how: str) -> None:
    whole = changed(assembler_at(dialect, 100_000, placement), how).build().count.upper
    for window in [*range(whole - 3, whole + 2), *range(whole // 2, whole, 41)]:
        live = assembler_at(dialect, window, placement)
        answer(live)
        assert answer(changed(live, how)) == answer(changed(assembler_at(dialect, window, placement), how))


@pytest.mark.parametrize("dialect", MODELS)
def test_a_pin_that_a_message_gets_after_a_bill_is_kept(dialect: str) -> None:
    history: list[Any] = [{"role": "user", "content": f"question {turn} " * 6} for turn in range(8)]
    history = [one for question in history for one in (question, {"role": "assistant", "content": "answer " * 4})]
    history.append({"role": "user", "content": "last"})

    def at(window: int, messages: list[Any]) -> Assembler:
        budget = Budget(window, model=MODELS[dialect])
        return Assembler(budget, dialect=DIALECTS[dialect], on_overflow=TrimOldest(pins={2})).add_messages(messages)

    window = at(100_000, history).build().count.upper * 2 // 3
    first = at(window, history).build()
    assert 2 in first.inside.kept
    assert 4 not in first.inside.kept
    bill = calibrate(first, first.by_rule.tokens + 3)
    more = at(window, [*history, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "and?"}]).anchor(
        bill
    )
    again = more.build()
    assert {2, 3} <= {*again.inside.kept}
    assert again.inside.kept[:2] == first.inside.kept[:2]
    assert again.costs.total == again.count.tokens
    assert sum(row.after for row in again.report.rows) == again.count.tokens
