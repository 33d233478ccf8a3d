"""Runs a fitter on many histories, most with a window on the edge of what fits, and shrinks failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import attrs

from assembler.drawn.engine import DrawFn, Flaky, NoSuchExample, Phase, SearchStrategy, find, given, st, steadily
from assembler.testing.fitters.histories import History, histories
from assembler.testing.fitters.invariants import ESSENTIAL, Invariant
from assembler.testing.fitters.trial import CountMessages, Fit, Spell, Subject
from assembler.testing.fitters.verdict import FitterError, Verdict
from budgets import AssemblyError

Case: TypeAlias = tuple[History, int]

_NUDGE = 2
"""The offsets of a window from the cost of some end of the history, where off-by-one errors show."""
_PHASES = (Phase.generate, Phase.shrink)
_SEARCH_LONGER = 5
"""The search for the smallest example may run this many times the number of failing examples."""


def check_fitter(
    fit: Fit,
    *,
    count: CountMessages,
    invariants: Sequence[Invariant] = ESSENTIAL,
    refuses: tuple[type[Exception], ...] = (AssemblyError, ValueError),
    conversations: SearchStrategy[History] | None = None,
    spell: Spell = list,
    max_examples: int = 200,
) -> Verdict:
    """Check `fit(messages, window) -> messages` against the laws of trimming. `FitterError` names the first broken one.

    `count` returns the cost of a list of messages, in the unit of the window. `refuses` are the errors that the fitter
    may raise if nothing fits; any other error is a crash. The histories are OpenAI Chat messages; `spell` turns a list
    of them into the fitter's own, one for one, and `conversations` draws others (`assembler.testing.conversations()`).
    The examples are the same each time. Calls `fit` three to four times an example. Raises `ValueError` without a law.
    """
    __tracebackhide__ = True
    if not invariants:
        raise ValueError("invariants is empty: nothing would be checked; leave it out for ESSENTIAL")
    subject = Subject(fit, count, spell, refuses)
    cases = _draw_case(subject, histories() if conversations is None else conversations)
    survey = _survey_cases(subject, invariants, cases, max_examples)
    verdict = survey.verdict(invariants)
    broken = next((each for each in invariants if each.name in verdict.broken), None)
    if broken is None:
        return verdict
    messages, window = _find_smallest(subject, broken, cases, max_examples) or survey.seen[broken.name]
    trial = subject.run(messages, window)
    problem = broken.broken(trial) or "only in some of the runs: its results differ from run to run"
    raise FitterError(trial, broken, problem, verdict)


@attrs.define
class _Survey:
    """The results of the examples so far, in one check."""

    examples: int = 0
    refused: int = 0
    broken: Counter[str] = attrs.Factory(Counter[str])
    seen: dict[str, Case] = attrs.Factory(dict[str, Case])
    """The shortest history in which each law was broken."""

    def note(self, name: str, case: Case) -> None:
        self.broken[name] += 1
        if name not in self.seen or len(case[0]) < len(self.seen[name][0]):
            self.seen[name] = case

    def verdict(self, invariants: Sequence[Invariant]) -> Verdict:
        in_order = {each.name: self.broken[each.name] for each in invariants if self.broken[each.name]}
        return Verdict(self.examples, self.refused, in_order)


def _survey_cases(
    subject: Subject, invariants: Sequence[Invariant], cases: SearchStrategy[Case], max_examples: int
) -> _Survey:
    survey = _Survey()

    @steadily(max_examples, *_PHASES)
    @given(cases)
    def run(case: Case) -> None:
        trial = subject.run(*case)
        survey.examples += 1
        survey.refused += trial.refusal is not None
        for each in invariants:
            if each.broken(trial) is not None:
                survey.note(each.name, case)

    run()
    return survey


def _find_smallest(subject: Subject, broken: Invariant, cases: SearchStrategy[Case], max_examples: int) -> Case | None:
    """The smallest case that Hypothesis finds; None if the law breaks too rarely, or not each time."""

    def is_broken(case: Case) -> bool:
        return broken.broken(subject.run(*case)) is not None

    try:
        return find(cases, is_broken, settings=steadily(max_examples * _SEARCH_LONGER, *_PHASES))
    except (NoSuchExample, Flaky):
        return None


@st.composite
def _draw_case(draw: DrawFn, subject: Subject, drawn: SearchStrategy[History]) -> Case:
    """Draw a history, and a window near the cost of the head and some end of the history."""
    history: list[dict[str, Any]] = draw(drawn)
    head = [message for message in history if message["role"] in ("system", "developer")]
    place = draw(st.integers(0, len(history)))
    end = [message for message in history[place:] if message["role"] not in ("system", "developer")]
    edge = subject.cost([*head, *end]) + draw(st.integers(-_NUDGE, _NUDGE))
    return history, max(1, edge)
