"""Repeats what an earlier build did to a history, with the same policies at the same places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from assembler.conversation.messages import user_message
from assembler.pipeline.ladder import RungChanges, RungDecision, Trimmed, find_useful_changes, take_change
from assembler.policies.traits import RewritingRung, Rung
from assembler.pricing.ledger import Cut, Ledger
from budgets import AssemblyError

if TYPE_CHECKING:
    from assembler.pipeline.build_memory import BuildMemory


@attrs.frozen
class Recipe:
    """A decision about a history of `length` messages. Its only text is the summary or note that stood in."""

    length: int
    first_kept: int
    reason: str
    summary: str | None = attrs.field(repr=False)
    made: tuple[RungChanges, ...] = ()
    decisions: tuple[RungDecision, ...] = ()
    failures: tuple[AssemblyError, ...] = attrs.field(default=(), eq=False)

    @classmethod
    def of(cls, length: int, kept: Trimmed, ledger: Ledger) -> Recipe:
        """The recipe of a decision, without the changes to messages that were dropped since."""
        cut, summary = kept.cut, kept.cut.summary
        summary_text = None if summary is None else "".join(part for part in summary.parts if isinstance(part, str))
        staying = [*ledger.pinned_turns(), (cut.first_kept, length)]

        def stays(indexes: Sequence[int]) -> bool:
            return any(start <= index < stop for start, stop in staying for index in indexes)

        made = (attrs.evolve(changes, indexes=tuple(filter(stays, changes.indexes))) for changes in kept.made)
        staying_changes = tuple(changes for changes in made if changes.indexes)
        return cls(length, cut.first_kept, cut.reason, summary_text, staying_changes, kept.decisions, kept.failures)

    def made_again(
        self, ledger: Ledger, rungs: Sequence[Rung], memory: BuildMemory | None = None
    ) -> tuple[int, Trimmed] | None:
        """The length then, and the decision made again; None if these policies no longer make the same changes.

        O(messages) for each entry of `made`; O(entries) if the memory has the same changes from the last bill.
        """
        if not ledger.first <= self.first_kept < self.length <= ledger.length:
            return None
        if self.first_kept != ledger.first and not ledger.begins_turn(self.first_kept):
            return None
        summary = None if self.summary is None else user_message(self.summary)
        cut = Cut(self.first_kept, self.reason, summary)
        kept = Trimmed(cut, decisions=self.decisions, failures=self.failures, made=self.made)
        if not self.made or memory is None:
            again = self._repeat_all(ledger, rungs, kept)
        else:
            known, which = memory.remade, self._list_what_decides(ledger)
            again = self._repeat_all(ledger, rungs, kept) if known is None or known[0] != which else known[1]
            if again is not None:
                memory.remade = (which, again)
                again = attrs.evolve(kept, changed=again.changed, savings=again.savings, length=again.length)
        return None if again is None else (self.length, again.grown_to(ledger.until(self.length)))

    def _list_what_decides(self, ledger: Ledger) -> tuple[object, ...]:
        """All that decides which changes the same policies make to the same messages."""
        fits = all(0 < made.length <= self.length for made in self.made)
        pins = [ledger.until(made.length).pins for made in self.made] if fits else []
        return ledger.first, self.first_kept, self.summary, self.made, fits, pins

    def _repeat_all(self, ledger: Ledger, rungs: Sequence[Rung], kept: Trimmed) -> Trimmed | None:
        """What stays, with all of `made` repeated; None if these policies do not make the same changes."""
        for made in self.made:
            again = self._repeat_changes(ledger, rungs, made, kept)
            if again is None:
                return None
            kept = again
        return kept

    def _repeat_changes(
        self,
        ledger: Ledger,
        rungs: Sequence[Rung],
        made: RungChanges,
        kept: Trimmed,
    ) -> Trimmed | None:
        rung = rungs[made.place] if 0 <= made.place < len(rungs) else None
        if not isinstance(rung, RewritingRung) or not made.indexes or not 0 < made.length <= self.length:
            return None
        if not ledger.first <= made.first_kept <= min(self.first_kept, made.length):
            return None
        then, missing = ledger.until(made.length), list(made.indexes)
        kept = kept.grown_to(then)
        changed, savings = dict(kept.changed), dict(kept.savings)
        for change, gains in find_useful_changes(then, rung, made.first_kept, changed):
            if tuple(change.messages) == missing[0]:
                take_change(then, change, gains, changed, savings)
                del missing[0]
                if not missing:
                    return attrs.evolve(kept, changed=changed, savings=savings, length=made.length)
        return None
