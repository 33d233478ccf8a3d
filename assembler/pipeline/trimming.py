"""Trims a conversation to the tokens left, with the policies of the settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from assembler.conversation.policy_memory import read_remembered
from assembler.pipeline.build_memory import memory_of
from assembler.pipeline.draft import Draft
from assembler.pipeline.ladder import (
    AsSent,
    Known,
    Replayed,
    RungDecision,
    Trimmed,
    cut_to_mark,
    fits,
    keep_all,
    replay_ladder,
    show_as_sent,
    trim_by_rungs,
)
from assembler.pipeline.settings import Settings
from assembler.policies.contract import verify_cut
from assembler.policies.traits import CuttingRung, KeepsChosen, Rung, asks, without_mark
from assembler.pricing.ledger import Ledger
from budgets import Tokens
from budgets.numbers import part_of

if TYPE_CHECKING:
    from assembler.pipeline.recipe import Recipe


_MOST_REPEATED = 16
"""The most rewrites to repeat, each of which takes a pass over what stays. A ladder with a low-water mark rewrites
seldom; one without may do so at each call."""


def trim(
    ledger: Ledger,
    settings: Settings,
    tokens_left: Tokens,
    start: Known | None = None,
    as_sent: AsSent | None = None,
) -> Trimmed:
    """Trim to `tokens_left`. A single cutting policy is asked once, a ladder rung by rung, and a ladder with a
    low-water mark by replaying the history. `start` is what a billed request kept: trimming continues from there.
    Policies that ask a model go by `as_sent`, if it is given.
    """
    rungs = settings.active_rungs
    rung = rungs[0]
    if start is not None and not any(map(asks, rungs)):
        return _continue_from(start, ledger, rungs, tokens_left)
    if len(rungs) == 1 and isinstance(rung, CuttingRung):
        shown = show_as_sent(ledger, rung, keep_all(ledger), as_sent)
        cut = verify_cut(rung.policy, rung.policy.cut(shown, tokens_left), ledger)
        failures = () if cut.failure is None else (cut.failure,)
        return Trimmed(
            cut, decisions=(RungDecision(rung.name, 0, ((cut.reason, 0),)),), failures=failures, wanted=cut.wanted
        )
    low = _find_low_water(rungs)
    if low is None:
        return trim_by_rungs(ledger, rungs, tokens_left, as_sent=as_sent)
    without_marks = tuple(map(without_mark, rungs))
    if any(map(asks, rungs)):
        return _hold_or_trim(ledger, settings, without_marks, tokens_left, part_of(low, tokens_left), as_sent)
    last = memory_of(settings, ledger)
    known = last.replayed
    since = known[1] if known is not None and known[0] == tokens_left and known[1].leads_to(ledger) else None
    reached, kept = replay_ladder(ledger, without_marks, tokens_left, part_of(low, tokens_left), since)
    last.replayed = (tokens_left, reached)
    return kept


def repeat_recipe(ledger: Ledger, settings: Settings, recipe: Recipe) -> Trimmed | None:
    """What an earlier request kept, with the new messages; None if these policies cannot repeat it.

    A ladder without a low-water mark also decides anew if it chooses turns by the question, or if it would have to
    repeat more than `_MOST_REPEATED` rewrites.
    """
    rungs = settings.active_rungs
    if not recipe.decisions and ledger.first <= recipe.length <= ledger.length:
        return keep_all(ledger)
    choosing = any(isinstance(rung.traits.keeps, KeepsChosen) for rung in rungs)
    if _find_low_water(rungs) is None and (choosing or len(recipe.made) > _MOST_REPEATED):
        return None
    known = recipe.made_again(ledger, tuple(map(without_mark, rungs)), memory_of(settings.session, ledger))
    return None if known is None else known[1].grown_to(ledger)


def _continue_from(start: Known, ledger: Ledger, rungs: Sequence[Rung], tokens_left: Tokens) -> Trimmed:
    """Continue from what a request kept. With a low-water mark, as if there had been a build after each message."""
    length, kept = start
    now = kept.grown_to(ledger)
    if now.count(ledger).upper <= tokens_left:
        return now
    low, without_marks = _find_low_water(rungs), tuple(map(without_mark, rungs))
    if low is None:
        return trim_by_rungs(ledger, without_marks, tokens_left, kept)
    then, low_tokens = ledger.until(length), part_of(low, tokens_left)
    if kept.count(then).upper > tokens_left:  # the billed request was too large itself
        kept = cut_to_mark(then, without_marks, low_tokens, kept)
    return replay_ladder(ledger, without_marks, tokens_left, low_tokens, Replayed(ledger.first, length, kept))[1]


def _hold_or_trim(
    ledger: Ledger,
    settings: Settings,
    without_marks: Sequence[Rung],
    tokens_left: Tokens,
    low: Tokens,
    as_sent: AsSent | None,
) -> Trimmed:
    """Keep the last decision while it fits with the new messages; then cut down to the mark.

    For ladders that ask a model. A replay would ask for every summary of the past, so here only builds that overflow
    ask.
    """
    last = memory_of(settings.session, ledger)
    if last.restored is not None:
        last.held, last.restored = last.restored.made_again(ledger, without_marks), None
    before = None
    if last.held is not None and last.held[0] <= ledger.length and last.held[1].cut.first_kept >= ledger.first:
        before = last.held[1].grown_to(ledger)
    if before is not None and fits(before, ledger, tokens_left, as_sent):
        return before
    kept = trim_by_rungs(ledger, without_marks, low, before, as_sent)
    if fits(kept, ledger, tokens_left, as_sent):
        last.held = (ledger.length, attrs.evolve(kept, wanted=None))
    return kept


def held_decision(draft: Draft, settings: Settings) -> Known | None:
    """The last decision of a ladder with a low-water mark, and the length of the history then."""
    return memory_of(settings.session, Ledger.of(draft.history.view(), settings.pricer)).held


def restore_decision(draft: Draft, settings: Settings, held: Known | None) -> None:
    """Continue from a ladder's decision in another process. Reads the messages that policies remember, so that the next
    build notices if one of them changed.
    """
    read_remembered(draft.history.view())
    if held is not None:
        memory_of(settings.session, Ledger.of(draft.history.view(), settings.pricer)).held = held


def _find_low_water(rungs: Sequence[Rung]) -> float | None:
    """The low-water mark of a ladder: the first that a rung declares."""
    marks = (rung.traits.low_water for rung in rungs)
    return next((mark for mark in marks if mark is not None), None)
