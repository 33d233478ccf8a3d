"""Runs a fitter on many histories, most with a window on the edge of what fits, and shrinks failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

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
    drawn = histories() if conversations is None else conversations
    survey = _survey_cases(subject, invariants, _draw_case(subject, drawn), max_examples)
    verdict = survey.verdict(invariants)
    broken = next((each for each in invariants if each.name in verdict.broken), None)
    if broken is None:
        return verdict
    messages, window = _find_smallest(subject, broken, drawn, max_examples) or survey.seen[broken.name]
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


def _find_smallest(
    subject: Subject, broken: Invariant, drawn: SearchStrategy[History], max_examples: int
) -> Case | None:
    """The smallest history that Hypothesis finds, and its smallest window; None if the law does not break each time.

    Tries every window that `_draw_case` may draw. A drawn one would be another with each message that is taken out, so
    that many a history would not shrink.
    """

    def find_window(history: History) -> int | None:
        edges = {_find_edge(subject, history, place) for place in range(len(history) + 1)}
        windows = sorted({max(1, edge + nudge) for edge in edges for nudge in range(-_NUDGE, _NUDGE + 1)})
        return next((each for each in windows if broken.broken(subject.run(history, each)) is not None), None)

    try:
        found = find(drawn, lambda history: find_window(history) is not None, settings=steadily(max_examples, *_PHASES))
    except (NoSuchExample, Flaky):
        return None
    window = find_window(found)
    return None if window is None else (found, window)


@st.composite
def _draw_case(draw: DrawFn, subject: Subject, drawn: SearchStrategy[History]) -> Case:
    """Draw a history, and a window near the cost of the head and some end of the history."""
    history = draw(drawn)
    edge = _find_edge(subject, history, draw(st.integers(0, len(history))))
    return history, max(1, edge + draw(st.integers(-_NUDGE, _NUDGE)))


def _find_edge(subject: Subject, history: History, place: int) -> int:
    """The cost of the head and of what follows `place`."""
    head = [message for message in history if message["role"] in ("system", "developer")]
    end = [message for message in history[place:] if message["role"] not in ("system", "developer")]
    return subject.cost([*head, *end])
