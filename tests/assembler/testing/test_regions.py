"""Drawn documents, budgets and assemblers are accepted by the library and lie on edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from defusedxml import ElementTree
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from assembler import Assembler, Context, ContextLengthError, TrimOldest
from assembler.conversation.messages import Call, Message, Result, Thinking
from assembler.dialects import plain
from assembler.pipeline.draft import Draft
from assembler.regions.knowledge import Document
from assembler.regions.tools import Tool
from assembler.testing import assemblers, budgets, documents
from assembler.testing.for_hypothesis import load
from budgets import Budget, Count, Grade, Limit, RegionCosts
from tests.assembler.by_hand import cost
from tests.scaled import scaled

few = scaled(0.3)
HISTORY = [
    {"role": "system", "content": "s" * 3},
    {"role": "user", "content": "q" * 10},
    {"role": "assistant", "content": "a" * 100},
    {"role": "user", "content": "q" * 1_000},
]
ENDINGS = {3 + 1_000, 3 + 10 + 100 + 1_000}
"""What the head and the newest turn cost, and what everything does, in characters."""


@few
@given(documents())
def test_a_drawn_document_is_taken_and_its_tag_parses_back(document: Document) -> None:
    tag = Assembler.xml_tag(document.text, type=document.type, trusted=document.trusted, source=document.source)
    element = ElementTree.fromstring(tag)
    assert element.get("type") == document.type
    assert element.get("source") == document.source
    assert element.get("trusted") == ("true" if document.trusted else "false")


@pytest.mark.parametrize("fragment", ["</context>", "<|im_start|>", "\u202e", "{{", "]]>"])
def test_hostile_fragments_are_among_the_documents(fragment: str) -> None:
    find(
        documents(),
        lambda document: fragment in document.text,
        settings=settings(few, max_examples=10_000, phases=[Phase.generate]),
    )


@few
@given(budgets())
def test_any_budget_leaves_a_limit_that_is_not_negative(budget: Budget) -> None:
    assert 0 <= budget.input_limit <= budget.context_window


def held(budget: Budget | None = None) -> Assembler:
    return Assembler(budget or Budget(5, counter=len), dialect=plain).add_messages(HISTORY)


def test_budgets_for_an_assembler_lie_on_an_edge_only() -> None:
    seen: set[int] = set()

    @settings(max_examples=80, deadline=None, phases=[Phase.generate])
    @given(budgets(for_=held()))
    def look(budget: Budget) -> None:
        assert budget.counter is len
        seen.add(budget.input_limit)

    look()
    assert seen == {edge + nudge for edge in ENDINGS for nudge in range(-2, 3)}


@few
@given(budgets(for_=held()))
def test_a_trimmer_keeps_what_the_edge_says(budget: Budget) -> None:
    trimming = Assembler(budget, dialect=plain, on_overflow=TrimOldest()).add_messages(HISTORY)
    fitting = [edge for edge in sorted(ENDINGS) if edge <= budget.input_limit]
    if fitting:
        assert cost(trimming.build().messages) == fitting[-1]  # type: ignore[arg-type]
    else:
        with pytest.raises(ContextLengthError):
            trimming.build()


@few
@given(
    budgets(for_=held(Budget(900, counter=len, max_output_tokens=7, safety_margin=5, limits={"knowledge": Limit(0.5)})))
)
def test_an_assemblers_own_reserves_stay_and_its_limits_go(budget: Budget) -> None:
    assert (budget.max_output_tokens, budget.safety_margin, budget.limits) == (7, 5, {})


@few
@given(budgets(for_=held(Budget(900, counter=len, max_output_tokens=7, least_output_tokens=3))))
def test_the_edge_is_beside_the_least_answer(budget: Budget) -> None:
    assert (budget.max_output_tokens, budget.least_output_tokens) == (7, 3)
    assert min(abs(budget.context_window - 3 - edge) for edge in ENDINGS) <= 2


@pytest.mark.parametrize("kind", [lambda least: least is None, lambda least: least == 0, bool])
def test_any_budget_may_mark_the_least_answer(kind: Callable[[int | None], bool]) -> None:
    def marked(budget: Budget) -> bool:
        return kind(budget.least_output_tokens) and budget.max_output_tokens > 1 and budget.input_limit > 0

    find(budgets(), marked, settings=settings(few, max_examples=5_000, phases=[Phase.generate]))


@few
@given(st.data())
def test_a_draft_is_priced_as_an_assembler_without_a_budget(data: st.DataObject) -> None:
    draft = Assembler().add_messages(HISTORY[1:]).inside[0]
    budget = data.draw(budgets(for_=draft))
    whole = Assembler().add_messages(HISTORY[1:]).build().count.upper
    newest = Assembler().add_messages(HISTORY[3:]).build().count.upper
    assert min(abs(budget.input_limit - whole), abs(budget.input_limit - newest)) <= 2


def test_nothing_gathered_has_an_edge_too() -> None:
    assert find(budgets(for_=Assembler()), lambda _: True).input_limit == 1


@few
@given(assemblers())
def test_a_drawn_assembler_builds_or_says_that_it_cannot_fit(assembler: Assembler) -> None:
    try:
        context = assembler.build()
    except ContextLengthError as error:
        assert error.required > error.available
    else:
        assert assembler.budget is not None
        assert context.count.upper <= assembler.budget.input_limit


@few
@given(assemblers(plain))
def test_an_assembler_speaks_the_dialect_that_was_asked_for(assembler: Assembler) -> None:
    assert "dialect='plain'" in repr(assembler)


VARIED: dict[type[Any], Callable[[Any], object]] = {
    Assembler: lambda drawn: drawn.budget.input_limit,
    Budget: lambda drawn: drawn.input_limit,
    Call: lambda drawn: (drawn.name, drawn.arguments),
    Context: lambda drawn: drawn.count.tokens,
    Count: lambda drawn: drawn.grade,
    Document: lambda drawn: drawn.text,
    Draft: lambda drawn: len(drawn.history),
    Limit: lambda drawn: (drawn.cap, drawn.floor),
    Message: lambda drawn: (drawn.role, drawn.shape, len(drawn.parts)),
    RegionCosts: lambda drawn: drawn.total,
    Result: lambda drawn: drawn.parts,
    Thinking: lambda drawn: drawn.text,
    Tool: lambda drawn: (drawn.name, len(drawn.parameters["properties"])),
}
"""What differs between drawn values of each type."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", VARIED, ids=lambda kind: kind.__name__)
def test_a_type_draws_values_that_are_not_trivial(kind: type[Any]) -> None:
    load()
    seen: set[object] = set()

    @settings(max_examples=25, deadline=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck])
    @given(st.from_type(kind))
    def look(drawn: object) -> None:
        assert isinstance(drawn, kind)
        seen.add(VARIED[kind](drawn))

    look()
    assert len(seen) >= min(3, len(Grade) if kind is Count else 8)
