"""Beside a template that is counted as a whole, every document that fits is sent, and what gives way is found soon."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

pytest.importorskip("transformers")

from assembler import Assembler, CitedSources, ClearReasoning, Context, ContextLengthError, Placement, TrimOldest
from assembler.dialects.chat_template.pricing import ChatTemplatePricer
from budgets import Budget
from tests.assembler.dialects.test_chat_template import DIALECTS
from tests.assembler.test_filled_windows import AMPLE, AT_QUESTION, TEMPLATE, Sending, sent

FACTS = ["A fact of some words.", "Another one."]
SUBSETS = [set(places) for size in range(3) for places in itertools.combinations(range(2), size)]


@pytest.mark.parametrize("strategy", [AT_QUESTION, CitedSources(), CitedSources(placement=Placement.TOOL), TEMPLATE])
@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_no_document_is_left_out_with_which_the_whole_template_fits(dialect: Any, strategy: Any) -> None:
    def built(window: int, layout: Any) -> Context:
        assembler = Assembler(Budget(window), dialect=dialect, strategy=layout)
        for place, fact in enumerate(FACTS):
            assembler.add_knowledge(fact, type="rag", score=1 - place / 10)
        return assembler.add_messages([("user", "And?"), ("assistant", "Well."), ("user", "Why?")]).build()

    costs = [(places, built(AMPLE, Sending(strategy, places)).count.upper) for places in SUBSETS]
    for window in {cost + more for _, cost in costs for more in (-1, 0, 1)}:
        try:
            stay = sent(built(window, strategy), FACTS)
        except ContextLengthError:
            assert all(cost > window for _, cost in costs)
            continue
        assert all(cost > window for places, cost in costs if places > stay)


def test_a_note_that_is_written_anew_is_no_other_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The policies were asked again at every token of the window, and each time the whole prompt was rendered."""
    weighed, whole = list[object](), ChatTemplatePricer.whole

    def weigh(pricer: ChatTemplatePricer, layout: Any) -> Any:
        weighed.append(layout)
        return whole(pricer, layout)

    monkeypatch.setattr(ChatTemplatePricer, "whole", weigh)
    ladder = [TrimOldest(note="Older turns are gone."), ClearReasoning()]
    assembler = Assembler(Budget(800), dialect=DIALECTS["chatml"], on_overflow=ladder)
    assembler.add_messages([("user", "And?"), ("assistant", "Well."), ("user", "w" * 1_000)])
    with pytest.raises(ContextLengthError):
        assembler.build()
    assert len(weighed) < 60
