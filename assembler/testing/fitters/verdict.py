"""The result of `check_fitter`: its numbers, and the error with the smallest failing case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assembler.testing.fitters.invariants import Invariant
from assembler.testing.fitters.trial import Trial
from budgets.errors import Evidence

_SHOWN_CHARACTERS = 16
"""The characters of a drawn text that are shown, to identify its message."""
_FIRST_ROWS, _LAST_ROWS = 3, 5
"""The messages of a long history that an error shows, which has no place for more."""


@attrs.frozen
class Verdict:
    """The number of `examples`, how many of them the fitter `refused`, and by law how many it broke."""

    examples: int
    refused: int
    broken: Mapping[str, int]

    def __str__(self) -> str:
        lines = [f"{self.examples} examples, {self.refused} refused"]
        lines += [f"  {name:<26}{count:>6} broken" for name, count in self.broken.items()]
        return "\n".join(lines if self.broken else [f"{lines[0]}, nothing broken"])


class FitterError(Evidence, AssertionError):
    """A history trimmer breaks a law. Every text in the error was drawn by the check.

    `invariant` is the first of the checked laws that an example breaks. `messages` (OpenAI Chat) and `window` are the
    smallest failing example. `kept` are the places of the returned messages: None if the trimmer raised, and None for a
    message that was not in the input. `problem` says what is wrong. `verdict` has the numbers of the whole run.
    """

    def __init__(self, trial: Trial, invariant: Invariant, problem: str, verdict: Verdict) -> None:
        self.invariant = invariant
        self.messages = list(trial.messages)
        self.window = trial.window
        self.kept = trial.kept
        self.problem = problem
        self.verdict = verdict
        super().__init__("\n".join(_write_lines(trial, invariant, problem, verdict)))


def _write_lines(trial: Trial, invariant: Invariant, problem: str, verdict: Verdict) -> list[str]:
    outcome = "nothing came back" if trial.kept is None else f"what came back costs {trial.kept_cost}"
    others = [f"{name} {count}" for name, count in verdict.broken.items() if name != invariant.name]
    return [
        f"broken: {invariant.name} ({invariant.claim})",
        f"  {problem}",
        f"  window {trial.window}, {outcome}:",
        *(f"    {line}" for line in _write_rows(trial)),
        f"  in {verdict.broken[invariant.name]} of {verdict.examples} examples"
        + (f"; broken too: {', '.join(others)}" if others else ""),
        f"  {invariant.cure}",
    ]


def _write_rows(trial: Trial) -> list[str]:
    rows: list[str] = []
    for place, message in enumerate(trial.messages):
        outcome = "kept" if place in trial.known else "dropped"
        cost = trial.cost([place])
        rows.append(f"#{place:<3}{outcome:<9}{message['role']:<11}{_describe_message(message):<32}{cost:>6}".rstrip())
    if (left_out := len(rows) - _FIRST_ROWS - _LAST_ROWS) > 1:
        rows[_FIRST_ROWS:-_LAST_ROWS] = [f"… {left_out} more: see `messages` and `kept` of this error"]
    strangers = sum(place is None for place in trial.kept or ())
    return [*rows, f"and {strangers} that was never given"] if strangers else rows


def _describe_message(message: Mapping[str, Any]) -> str:
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    if calls:
        return f"calls {', '.join(call['id'] for call in calls)}"
    content = message["content"]
    words = content if isinstance(content, str) else f"{len(content)} parts"
    shown = words if len(words) <= _SHOWN_CHARACTERS else f"{words[:_SHOWN_CHARACTERS]}…"
    return f"{shown!r}" + (f" for {message['tool_call_id']}" if message["role"] == "tool" else "")
