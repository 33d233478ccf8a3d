"""A session that was built or inspected on its way equals one that got all its messages at once.

Limits, marks, bills, documents, strategies, tools and pins are drawn together: what a build goes on from depends on all
of them.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import attrs
from hypothesis import given, reject
from hypothesis import strategies as st

from assembler import Assembler, AssemblyError, CalibratedCounter, Context, calibrate, first_user
from assembler.dialects import DIALECTS
from assembler.policies import ClearToolResults, KeepRelevant, Policy, Refuse, TrimOldest, TrimSteps, Truncate
from assembler.strategies import Strategy
from budgets import Budget, BudgetError, Limit
from tests.scaled import scaled

from . import by_hand
from .drawn import STRATEGIES

Message = dict[str, Any]

LADDERS: list[list[Policy]] = [
    [Refuse()],
    [TrimOldest()],
    [TrimOldest(keep_turns=2)],
    [TrimOldest(note="gone")],
    [TrimOldest(0.5)],
    [TrimOldest("auto")],
    [TrimOldest(0.6, pins=first_user, note="gone")],
    [TrimOldest(pins={2, 5})],
    [ClearToolResults(1), TrimOldest()],
    [ClearToolResults(1), TrimOldest(0.5)],
    [TrimSteps(1), Truncate(9), TrimOldest(0.7, note="gone")],
    [TrimOldest(0.5), Truncate(9)],
    [KeepRelevant()],
    [KeepRelevant(low_water=0.5, keep_turns=2)],
    [Truncate(12), KeepRelevant(low_water=0.6), TrimSteps(0)],
]
TOOLS = [{"name": name, "description": name * 3, "parameters": {}} for name in ("look", "f", "buy")]


def first_places(items: Any, tokens: Any, tokens_left: int) -> list[int]:
    """As many of the first items as fit."""
    return [place for place, used in enumerate(itertools.accumulate(tokens)) if used <= tokens_left]


@attrs.frozen
class Wish:
    """The settings and regions of an assembler, without the conversation."""

    window: int
    ladder: list[Policy]
    dialect: str = "plain"
    strategy: Strategy = STRATEGIES[0]
    limits: dict[str, Limit] = attrs.field(factory=dict[str, Limit])
    documents: tuple[int, ...] = ()
    tools: int = 0
    most: int | None = None

    def assembled(self, bill: CalibratedCounter | None = None) -> Assembler:
        """Raises `BudgetError` for limits that no such window holds."""
        budget = Budget(self.window, counter=len, limits=self.limits, max_input_tokens=self.most)
        made = Assembler(budget, dialect=DIALECTS[self.dialect], on_overflow=self.ladder, strategy=self.strategy)
        made.add_capability(TOOLS[: self.tools])
        for number, size in enumerate(self.documents):
            made.add_knowledge("k" * size, type="t", source="s" if number else None, score=number % 3 or None)
        return made.anchor(bill)


amounts = st.sampled_from([0, 15, 40, 0.2, 0.5, 0.9])
limits = st.dictionaries(
    st.sampled_from(["knowledge", "conversation", "capability"]),
    st.builds(
        lambda cap, floor, select: (cap, floor, select),
        st.one_of(st.none(), amounts),
        st.sampled_from([0, 0, 20, 0.3]),
        st.booleans(),
    ),
    max_size=2,
).map(
    lambda drawn: {
        name: Limit(cap=cap, floor=floor if _holds(cap, floor) else 0, select=first_places if select else None)
        for name, (cap, floor, select) in drawn.items()
    }
)


def _holds(cap: float | None, floor: float) -> bool:
    return cap is None or (type(cap) is type(floor) and floor <= cap)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Questions, answers and steps; some questions are pinned by their mark."""
    history: list[Message] = []
    kinds = st.sampled_from(["question", "question", "answer", "step", "pinned"])
    for number, (kind, size) in enumerate(
        draw(st.lists(st.tuples(kinds, st.integers(0, 25)), min_size=2, max_size=14))
    ):
        text = ("ab c" * 7)[:size] + f"{number}"
        if kind == "step" and history:
            history += by_hand.step(f"c{number}", text)
        elif kind == "answer":
            history.append({"role": "assistant", "content": text})
        else:
            history.append({"role": "user", "content": text} | ({"pinned": True} if kind == "pinned" else {}))
    return history


wishes = st.builds(
    Wish,
    window=st.integers(30, 260),
    ladder=st.sampled_from(LADDERS),
    dialect=st.sampled_from(["plain", "plain", "plain", "openai_chat", "openai_responses", "anthropic", "gemini"]),
    strategy=st.sampled_from(STRATEGIES),
    limits=limits,
    documents=st.lists(st.integers(1, 40), max_size=3).map(tuple),
    tools=st.integers(0, 3),
    most=st.sampled_from([None, None, None, 150]),
)


def outcome_of(assembler: Assembler) -> tuple[Context | None, list[Any]]:
    """All that is said of a build, and of what would be without one."""
    outcome: list[Any] = [_or_why(lambda: assembler.available_for_messages()), _or_why(lambda: assembler.costs())]
    try:
        plan = assembler.plan()
        outcome += [plan.count, plan.costs, plan.kept, [(message.id, message.outcome) for message in plan.dropped]]
        context = assembler.build()
    except AssemblyError as error:
        return None, [*outcome, type(error), str(error)]
    report = context.report
    outcome += [json.dumps(context.request()), context.count, context.by_rule, report.to_dict(), str(report)]
    return context, [*outcome, [repr(one) for one in context.warnings], report.steps()]


def _or_why(ask: Any) -> Any:
    try:
        return ask()
    except AssemblyError as error:
        return str(error)


@scaled(0.5)
@given(
    wish=wishes,
    history=conversations(),
    looks=st.lists(st.sampled_from([None, False, False, 0, 3, 20]), min_size=1, max_size=7),
)
def test_a_growing_session_ends_like_one_that_is_built_at_once(
    wish: Wish, history: list[Message], looks: list[Any]
) -> None:
    """`looks`: None for no build after a message, a number for a build that is billed so many tokens more."""
    try:
        lived = wish.assembled()
    except BudgetError:
        reject()
    bill: CalibratedCounter | None = None
    for stop, look in zip(range(1, len(history) + 1), itertools.cycle(looks)):
        lived.add_message(history[stop - 1])
        if look is None:
            continue
        context, outcome = outcome_of(lived)
        assert outcome == outcome_of(wish.assembled(bill).add_messages(history[:stop]))[1]
        if context is not None and not isinstance(look, bool):
            bill = calibrate(context, context.by_rule.tokens + look)
            lived.anchor(bill)
