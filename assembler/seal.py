"""Fitting where no sum is a proof: the whole request is counted, and the plan tightened until the count holds.

Estimates say where to look; a count of the spelled whole decides. Such a count is dear (a render), so that few are
asked for: none where nothing changed, one or two after an append, two and a bisection of the turns for a cold build.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from assembler.ladder import Decision, Kept, whole
from assembler.ledger import Cut, Ledger
from assembler.plan import Plan
from assembler.policies import TrimOldest
from assembler.pricing import WholePricer
from budgets import Count, Tokens


@attrs.frozen
class Sealed:
    """What was found for one length of a history, to go on from there."""

    regions: object
    limit: Tokens
    length: int
    kept: Kept
    count: Count


def sealed(plan: Plan, pricer: WholePricer, limit: Tokens, relieve: Callable[[Tokens], Kept]) -> tuple[Plan, Count]:
    """The plan that fits by the count of its whole, and that count; or the smallest one, which may not fit.

    `plan` keeps everything; `relieve` is what the policies leave for a room in estimated tokens.
    """
    ledger, regions = plan.ledger, plan.draft.regions
    place = (type(plan).__name__, plan.terms)
    known: Sealed | None = ledger.memory.get(place)
    if known is not None and (known.regions is not regions or known.limit != limit or known.length > ledger.length):
        known = None
    if known is not None and known.length == ledger.length:
        return attrs.evolve(plan, what=known.kept, sealed=known.count), known.count

    def weigh(kept: Kept) -> Count:
        return pricer.whole(attrs.evolve(plan, what=kept).layout)

    room = limit - plan.fixed.upper
    policies = plan.terms.willing_policies
    if len(policies) == 1 and isinstance(policies[0], TrimOldest) and policies[0].low_water is None:
        kept, count = _most_turns(ledger, policies[0], room, limit, weigh, known)
    else:
        kept, count = _tightened(ledger, room, limit, weigh, relieve)
    ledger.memory[place] = Sealed(regions, limit, ledger.length, kept, count)
    return attrs.evolve(plan, what=kept, sealed=count), count


def _tightened(
    ledger: Ledger, room: Tokens, limit: Tokens, weigh: Callable[[Kept], Count], relieve: Callable[[Tokens], Kept]
) -> tuple[Kept, Count]:
    """Ask the policies for less and less room until the whole fits. One count for each answer that differs."""
    kept = whole(ledger) if room >= 0 and ledger.fits(room) else relieve(max(room, 0))
    count = weigh(kept)
    while count.upper > limit and room > 0:
        room = min(room, kept.count(ledger).upper) - max(count.upper - limit, 1)
        tighter = relieve(max(room, 0))
        if tighter.cut == kept.cut and tighter.changed.keys() == kept.changed.keys():
            continue
        kept, count = tighter, weigh(tighter)
    return kept, count


def _most_turns(
    ledger: Ledger,
    policy: TrimOldest,
    room: Tokens,
    limit: Tokens,
    weigh: Callable[[Kept], Count],
    known: Sealed | None,
) -> tuple[Kept, Count]:
    """The oldest turn from which all may stay, found by bisection around where the estimate or the last build cut."""
    starts = [start for start, _ in ledger.turns()][::-1] or [ledger.first]
    last = max(len(starts) - policy.keep_turns, 0)
    cuts: dict[int, tuple[Kept, Count]] = {}

    def fits(place: int) -> bool:
        if place not in cuts:
            kept = _from(ledger, policy, starts[place], room)
            cuts[place] = kept, weigh(kept)
        return cuts[place][1].upper <= limit

    too_large, place = -1, last
    if known is not None and known.kept.cut.first_kept in starts:
        place = starts.index(known.kept.cut.first_kept)
        too_large = place - 1  # what did not fit has only grown
    elif room >= 0:
        place = starts.index(policy.cut(ledger, room).first_kept)
    place = min(place, last)
    if fits(place):
        step = place - 1
        while step > too_large and fits(step):
            place, step = step, (too_large + step) // 2 if step - too_large > 1 else too_large
        return cuts[_bisected(max(too_large, step), place, fits)]
    if place < last and fits(place + 1):
        return cuts[place + 1]
    fits(last)
    return cuts[_bisected(min(place + 1, last), last, fits)]


def _bisected(too_large: int, fitting: int, fits: Callable[[int], bool]) -> int:
    """The least place that fits, between one that does not and one that does (or is the last)."""
    while fitting - too_large > 1:
        middle = (too_large + fitting) // 2
        if fits(middle):
            fitting = middle
        else:
            too_large = middle
    return fitting


def _from(ledger: Ledger, policy: TrimOldest, start: int, room: Tokens) -> Kept:
    if start == ledger.first:
        return whole(ledger)
    cut = policy.cut(ledger, max(room, 0))
    decision = Decision(type(policy).__name__, 0, (("older turns do not fit", 0),))
    return Kept(Cut(start, cut.reason, cut.summary), decisions=(decision,))
