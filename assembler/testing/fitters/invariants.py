"""The laws of trimming, each a value with a name, a claim, advice, and a test.

The test returns a sentence that describes the fault, or None if the law holds or does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import attrs

from assembler.testing.fitters.trial import Trial


@attrs.frozen
class Invariant:
    """A law of trimming. `broken` returns the fault in a trial, or None. `cure` is advice to the trimmer's author."""

    name: str
    claim: str
    cure: str
    broken: Callable[[Trial], str | None] = attrs.field(repr=False)


def _find_crash(trial: Trial) -> str | None:
    if trial.crash is None:
        return None
    return f"it raised {type(trial.crash).__name__}, which is not in `refuses`"


def _find_changed_input(trial: Trial) -> str | None:
    return "the list or a message in it is not what it was before the call" if trial.changed else None


def _find_stranger(trial: Trial) -> str | None:
    if None in (trial.kept or ()):
        return f"message {(trial.kept or ()).index(None)} of the result was not in the input"
    late = next((after for before, after in pairwise(trial.known) if after <= before), None)
    return None if late is None else f"message #{late} comes back out of order, or twice"


def _find_excess(trial: Trial) -> str | None:
    if trial.kept is None or trial.kept_cost <= trial.window:
        return None
    return (
        f"the result costs {trial.kept_cost}, the window is {trial.window}: {trial.kept_cost - trial.window} too many"
    )


def _find_needless_cut(trial: Trial) -> str | None:
    everything = range(len(trial.messages))
    if trial.crash or trial.known == tuple(everything):
        return None
    cost = trial.cost(everything)
    return f"everything costs {cost} and the window is {trial.window}" if cost <= trial.window else None


def _find_orphan(trial: Trial) -> str | None:
    called: set[str] = set()
    for place in trial.known:
        message = trial.messages[place]
        called.update(_list_calls(message))
        if message["role"] == "tool" and message["tool_call_id"] not in called:
            return f"message #{place} answers {message['tool_call_id']}, whose call was dropped"
    return None


def _find_unanswered(trial: Trial) -> str | None:
    answered = {trial.messages[place].get("tool_call_id") for place in trial.known}
    for place in trial.known:
        for call in _list_calls(trial.messages[place]):
            if call not in answered:
                return f"message #{place} calls {call}, whose result was dropped"
    return None


def _list_calls(message: dict[str, Any]) -> list[str]:
    return [call["id"] for call in message.get("tool_calls") or ()]


def _find_question(trial: Trial) -> int | None:
    users = [place for place, message in enumerate(trial.messages) if message["role"] == "user"]
    return users[-1] if users else None


def _find_lost_question(trial: Trial) -> str | None:
    question = _find_question(trial)
    if trial.kept is None or question is None or question in trial.known:
        return None
    return f"message #{question}, the user's last, was dropped"


def _find_lost_instruction(trial: Trial) -> str | None:
    lost = next((place for place in range(trial.head) if place not in trial.known), None)
    return None if trial.kept is None or lost is None else f"message #{lost}, a system message at the head, was dropped"


def _find_wrong_opening(trial: Trial) -> str | None:
    opening = next((place for place in trial.known if place >= trial.head), None)
    if opening is None or opening == trial.head or trial.messages[opening]["role"] == "user":
        return None
    return f"after the head comes message #{opening} of role {trial.messages[opening]['role']}"


def _find_unsteadiness(trial: Trial) -> str | None:
    again = trial.again()
    same = trial.kept == again.kept and (trial.refusal is None) == (again.refusal is None)
    return None if same else "a second call with equal messages gave another result"


def _find_second_cut(trial: Trial) -> str | None:
    if trial.kept is None or None in trial.kept or not trial.kept:
        return None
    again = trial.refitted()
    if again.kept == tuple(range(len(trial.kept))):
        return None
    return "called on its own result, it raised" if again.kept is None else "called on its own result, it cut again"


def _find_newest_turn(trial: Trial) -> range:
    question = _find_question(trial)
    return range(trial.head if question is None else question, len(trial.messages))


def _find_needless_refusal(trial: Trial) -> str | None:
    if trial.refusal is None:
        return None
    cost = trial.cost([*range(trial.head), *_find_newest_turn(trial)])
    if cost > trial.window:
        return None
    return (
        f"it raised {type(trial.refusal).__name__}, but the newest turn costs {cost} and the window is {trial.window}"
    )


def _find_torn_turn(trial: Trial) -> str | None:
    lost = next((place for place in _find_newest_turn(trial) if place not in trial.known), None)
    return None if trial.kept is None or lost is None else f"message #{lost} of the newest turn was dropped"


def _find_gap(trial: Trial) -> str | None:
    body = [place for place in trial.known if place >= trial.head]
    if trial.kept is None or body == [*range(len(trial.messages) - len(body), len(trial.messages))]:
        return None
    return "what stays after the head is not the end of the history"


def _find_turn_that_would_fit(trial: Trial) -> str | None:
    if trial.kept is None:
        return None
    dropped = [turn for turn in trial.turns if not set(turn) & set(trial.known)]
    if not dropped:
        return None
    cost = trial.cost(sorted({*trial.known, *dropped[-1]}))
    if cost > trial.window:
        return None
    return f"with the turn from message #{dropped[-1].start} it would cost {cost}, and the window is {trial.window}"


def _find_fewer_kept(trial: Trial) -> str | None:
    roomier = trial.again(trial.window + 1)
    lost = [place for place in trial.known if place not in roomier.known]
    return f"message #{lost[0]} stays, but not when the window is {trial.window + 1}" if lost else None


ANSWERS = Invariant(
    "answers-or-refuses",
    "every valid history is answered, or refused with an error that says so",
    "Handle this history, or raise one of the errors in `refuses`.",
    _find_crash,
)
INPUT_UNTOUCHED = Invariant(
    "input-untouched",
    "what was passed in is not changed",
    "Build a new list and copy what you edit.",
    _find_changed_input,
)
SAME_MESSAGES = Invariant(
    "same-messages-in-order",
    "what comes back are messages that were passed in, in their order",
    "Return a selection of the input. For a trimmer that shortens or summarises, leave this invariant out.",
    _find_stranger,
)
FITS = Invariant(
    "fits",
    "what comes back costs no more than the window",
    "Count what you return, framing and head included.",
    _find_excess,
)
UNDER_BUDGET = Invariant(
    "unchanged-when-it-fits",
    "a history that fits comes back whole",
    "Ask first whether anything must go.",
    _find_needless_cut,
)
NO_ORPHAN = Invariant(
    "no-orphan-result",
    "every kept result has its call before it",
    "Drop a call and its results together.",
    _find_orphan,
)
NO_OPEN_CALL = Invariant(
    "no-unanswered-call",
    "every kept call has all its results",
    "Drop a call and its results together.",
    _find_unanswered,
)
QUESTION_STAYS = Invariant(
    "question-stays",
    "the user's last message is kept",
    "Cut before the last user message, or raise when it does not fit.",
    _find_lost_question,
)
INSTRUCTION_STAYS = Invariant(
    "instruction-stays",
    "system messages at the head are kept",
    "Take the head off first, and its cost.",
    _find_lost_instruction,
)
OPENS_WITH_USER = Invariant(
    "opens-with-the-user",
    "what was cut begins with a user message after the head",
    "Cut only where a user message begins a turn.",
    _find_wrong_opening,
)
DETERMINISTIC = Invariant(
    "same-again", "equal messages give equal results", "Keep no state between calls.", _find_unsteadiness
)
IDEMPOTENT = Invariant(
    "fixed-point", "what comes back is left alone by a second call", "Do not cut what already fits.", _find_second_cut
)
REFUSES_ONLY_WHEN_NEEDED = Invariant(
    "refuses-only-when-needed",
    "an error means that not even the newest turn fits",
    "Drop older turns before giving up.",
    _find_needless_refusal,
)

NEWEST_TURN_STAYS = Invariant(
    "newest-turn-stays", "everything after the user's last message is kept", "Cut whole turns only.", _find_torn_turn
)
"""Everything after the user's last message is kept."""
SUFFIX = Invariant(
    "suffix", "what stays after the head is the end of the history", "Drop from the front only.", _find_gap
)
"""What stays after the head is the end of the history."""
MAXIMAL = Invariant(
    "maximal",
    "the newest dropped turn would not have fitted",
    "Keep turns while they fit, framing counted once.",
    _find_turn_that_would_fit,
)
"""The newest dropped turn would not have fitted."""
MONOTONE = Invariant(
    "monotone",
    "one token more of window drops nothing that stayed",
    "Let the cut depend on costs only.",
    _find_fewer_kept,
)
"""One token more of window drops nothing that stayed."""

ESSENTIAL: tuple[Invariant, ...] = (
    ANSWERS,
    INPUT_UNTOUCHED,
    SAME_MESSAGES,
    FITS,
    NO_ORPHAN,
    NO_OPEN_CALL,
    QUESTION_STAYS,
    INSTRUCTION_STAYS,
    OPENS_WITH_USER,
    UNDER_BUDGET,
    REFUSES_ONLY_WHEN_NEEDED,
    DETERMINISTIC,
    IDEMPOTENT,
)
"""The laws that every trimmer should keep: a breach makes a request invalid, wrong or surprising.

`NEWEST_TURN_STAYS`, `SUFFIX`, `MAXIMAL` and `MONOTONE` depend on the policy: add those that yours promises.
"""
