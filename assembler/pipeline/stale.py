"""What a decision hangs on, held against what the messages say now. Compares; decides nothing and reads nothing anew.

A caller may change a message in place. One that stays is compared, and so is one that went, as far as the decision
hangs on it: a message that was too long may have become short, and an old one may have got a mark that pins it.
"""

from __future__ import annotations

from assembler.pipeline.planned import Planned
from assembler.pipeline.steps import settled_by_turns


def first_changed(plan: Planned) -> int | None:
    """The first message that the plan hangs on and that its owner changed or marked after it was read, or None.

    Where the newest turns stay that fit, and no other rule says what stays, that is the front of the history, what
    stays, and one turn more, whose price shows that it does not fit: O(what stays), and a look at each message for a
    mark. Any other policy may have read anything: O(messages that were read).
    """
    sight = plan.sight
    if not (plan.what.decisions and _newest_that_fit(plan)):
        return sight.first_stale()
    front = min(max(sight.head, plan.ledger.first) + 1, sight.length)
    for start, stop in ((0, front), (_one_turn_more(plan), sight.length)):
        changed = sight.first_changed(start, stop)
        if changed is not None:
            return changed
    return sight.remarked


def _newest_that_fit(plan: Planned) -> bool:
    return not plan.ledger.pins and not plan.settings.pins and settled_by_turns(plan)


def _one_turn_more(plan: Planned) -> int:
    return plan.ledger.turn_start(plan.first - 1) if plan.first > plan.ledger.first else plan.first
