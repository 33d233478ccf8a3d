"""Fits a request whose parts do not add up: counts the whole, and asks the policies for less until it fits.

Estimates guide the search and a count of the whole request decides. Such a count needs a render and is slow, so there
are few: none if nothing changed, one or two after an append, and for a cold build two and a bisection of the turns.
A request that the template refuses is weighed by its estimates, since what the policies leave of it may be accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import attrs

from assembler.errors import ConversationError, UnsupportedContentError
from assembler.pipeline.build_memory import memory_of
from assembler.pipeline.ladder import Known, Trimmed, keep_all
from assembler.pipeline.newest_turns import Weighing, keep_most_turns
from assembler.pipeline.planned import Planned
from assembler.pipeline.trimming import trim
from assembler.policies.traits import asks, find_trimmer
from assembler.pricing.ledger import Ledger
from assembler.pricing.pricer import FixedPrices, WholePricer
from budgets import Count, Grade, Tokens

_MOST_GENTLER_ANSWERS = 3
"""How many gentler answers of the policies to count. Each takes a render."""


@attrs.frozen
class Sealed:
    """The result for one length of a history. The next search starts from it."""

    prices: FixedPrices
    """The prices of everything but the turns. The limit follows from them."""
    length: int
    kept: Trimmed
    count: Count
    weighed: Weighing
    overfull: bool = False
    """Whether the whole history was weighed and is too large. A longer one is, too."""


def fit_by_whole(
    plan: Planned, pricer: WholePricer, limit: Tokens, start: Known | None = None
) -> tuple[Planned, Count]:
    """The plan that fits by the count of the whole, and that count; or the smallest plan, which may not fit.

    `plan` keeps everything. Policies with a low-water mark continue from `start`, so that no cut is earlier than that
    of the billed request.
    """
    ledger, prices = plan.ledger, plan.measured.prices
    last, trimmer = memory_of(plan.settings, ledger), find_trimmer(plan.settings.active_rungs)
    start = start if trimmer is None else None  # the search for the newest turns that fit does not need it
    known = last.sealed if start is None else None
    if known is not None and (known.prices is not prices or known.length > ledger.length):
        known = None
    if known is not None and known.length == ledger.length:
        return attrs.evolve(plan, trimmed=known.kept, sealed=known.count), known.count

    def weigh(kept: Trimmed) -> Count:
        try:
            return pricer.count_whole(attrs.evolve(plan, trimmed=kept).layout)
        except ConversationError:  # the template refuses it, or a part of it
            return plan.fixed + kept.count(ledger)

    weighed = Weighing() if known is None else known.weighed
    overfull = known is not None and known.overfull
    if trimmer is not None:
        kept, count, weighed = keep_most_turns(ledger, *trimmer, limit, plan.fixed.upper, pricer, weigh, weighed)
    else:
        whole = keep_all(ledger) if start is None else start[1].grown_to(ledger)
        fits = not overfull and _may_fit(whole, ledger, limit - plan.fixed.upper + limit)
        first_try = (whole, weigh(whole)) if fits else None
        overfull = overfull or (first_try is not None and first_try[1].upper > limit)
        kept, count = _ask_policies(plan, limit, weigh, start, first_try)
    found = attrs.evolve(plan, trimmed=kept, sealed=count)
    if count.grade is not Grade.EXACT:
        _refuse_unsupported(found, pricer)
    if start is None:
        last.sealed = Sealed(prices, ledger.length, kept, count, weighed, overfull)
    return found, count


def _ask_policies(
    plan: Planned,
    limit: Tokens,
    weigh: Callable[[Trimmed], Count],
    start: Known | None,
    first_try: tuple[Trimmed, Count] | None,
) -> tuple[Trimmed, Count]:
    """What the policies keep so that the whole fits, and its count. `first_try` is the whole, if it was weighed."""

    def relieve(tokens_left: Tokens) -> Trimmed:
        return trim(ledger, plan.settings, tokens_left, start)

    ledger = plan.ledger
    kept, count = _ask_for_less(ledger, limit - plan.fixed.upper, limit, weigh, relieve, first_try)
    if start is None and not any(rung.traits.low_water or asks(rung) for rung in plan.settings.active_rungs):
        kept, count = _ask_for_more(ledger, plan.fixed.upper, limit, weigh, relieve, (kept, count))
    return kept, count


def _refuse_unsupported(plan: Planned, pricer: WholePricer) -> None:
    """Raise `UnsupportedContentError` for a part that stays and that no template can write."""
    try:
        pricer.count_whole(plan.layout)
    except UnsupportedContentError:
        raise
    except ConversationError:  # a later message may mend it; until then `build` raises this
        return


def _may_fit(kept: Trimmed, ledger: Ledger, most: Tokens) -> bool:
    """Whether what stays costs at most `most` by its estimates, which may be off by a factor of two."""
    if kept.cut.first_kept > ledger.first or kept.changed:
        return kept.count(ledger).upper <= most
    return most >= 0 and ledger.fits(most)


def _ask_for_less(
    ledger: Ledger,
    tokens_left: Tokens,
    limit: Tokens,
    weigh: Callable[[Trimmed], Count],
    relieve: Callable[[Tokens], Trimmed],
    first_try: tuple[Trimmed, Count] | None,
) -> tuple[Trimmed, Count]:
    """Ask the policies for fewer and fewer tokens until the whole fits. Counts once for each different answer.

    `first_try` is what stays if it fits, and its count; None if it is far too large.
    """
    if first_try is not None and (first_try[1].upper <= limit or _may_fit(first_try[0], ledger, tokens_left)):
        kept, count = first_try
    else:
        kept = relieve(max(tokens_left, 0))
        count = weigh(kept)
    while count.upper > limit and tokens_left > 0:
        fewer = min(tokens_left, kept.count(ledger).upper) - (count.upper - limit)
        found = _find_next_answer(kept, max(fewer, 0), relieve)
        if found is None:
            break
        tokens_left, kept = found
        count = weigh(kept)
    return kept, count


def _ask_for_more(
    ledger: Ledger,
    fixed: Tokens,
    limit: Tokens,
    weigh: Callable[[Trimmed], Count],
    relieve: Callable[[Tokens], Trimmed],
    fitting: tuple[Trimmed, Count],
) -> tuple[Trimmed, Count]:
    """Ask the policies for more tokens if the whole leaves some, as where a template writes less than estimated, or
    every text twice. Counts at most `_MOST_GENTLER_ANSWERS` answers, and none where the estimates are right.
    """
    kept, count = fitting
    high: Tokens | None = None
    for _ in range(_MOST_GENTLER_ANSWERS):
        used = kept.count(ledger).upper
        if not 0 < count.upper < limit or not kept.decisions:
            break
        spare = ceil((limit - count.upper) * (fixed + used) / count.upper)
        asked = used + spare if high is None else (used + high) // 2
        found = relieve(asked)
        if _are_one_request(found, kept) or found.count(ledger).upper <= used:
            break
        weighed = weigh(found)
        if weighed.upper <= limit:
            kept, count = found, weighed
        else:
            high = asked
    return kept, count


def _find_next_answer(
    kept: Trimmed, most: Tokens, relieve: Callable[[Tokens], Trimmed]
) -> tuple[Tokens, Trimmed] | None:
    """The first different answer of the policies from `most` tokens downwards, and at how many tokens, or None.

    The answer may stay the same over thousands of tokens. So the step doubles until the answer differs, and a bisection
    finds where it began to: O(log tokens) answers.
    """
    same, tried, step = most, most, 1
    while _are_one_request(answer := relieve(tried), kept):
        if tried == 0:
            return None
        same, tried, step = tried, max(tried - step, 0), 2 * step
    while same - tried > 1:
        middle = (same + tried) // 2
        if _are_one_request(other := relieve(middle), kept):
            same = middle
        else:
            tried, answer = middle, other
    return tried, answer


def _are_one_request(answer: Trimmed, other: Trimmed) -> bool:
    """Whether two answers are one request. A policy writes its note anew each time, so its text is compared."""
    cut, other_cut = answer.cut, other.cut
    if cut.first_kept != other_cut.first_kept or answer.changed.keys() != other.changed.keys():
        return False
    note, other_note = (None if summary is None else summary.parts for summary in (cut.summary, other_cut.summary))
    return note == other_note
