"""Checks the answers of a policy that is asked by itself, as the pipeline asks it: its cuts, or its changes."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping

import attrs

from assembler.conversation.messages import Message
from assembler.policies.contract import kept_by_edits, read_changes, refuse_unlawful, verify_cut
from assembler.policies.passage import Change, PassageView
from assembler.policies.traits import CuttingRung, KeepsAll, KeepsChosen, KeepsNewest, RewritingRung
from assembler.pricing.ledger import Cut, Ledger
from assembler.testing.conformance.checking import Checked, quotes
from assembler.testing.conformance.policy_cases import long_texts
from assembler.testing.conformance.policy_windows import Window
from budgets import Tokens

PURE = "the same ledger and tokens left give the same answer"
UNCHANGED = "it changes nothing that it is given"
_MOST_CHANGES = 10_000
"""The most changes of one short conversation: a policy with more never ends."""
_KEPT = object()
"""Stands for an unchanged message."""
_NAMED = 3
"""The most messages that an error names."""


@attrs.frozen
class CuttingCheck:
    """The check of a policy that cuts, in one window."""

    checked: Checked
    rung: CuttingRung
    window: Window

    def check(self) -> bool:
        """Raise unless its cut is lawful. Returns whether it drops or wants to change something."""
        ledger, tokens_left = self.window.ledger(self.rung), self.window.tokens_left
        whole = ledger.since(ledger.first).upper
        if whole <= tokens_left or ledger.first == ledger.length:
            return False  # a policy is only asked if the conversation is too large
        cut = self._check_same_twice(ledger, tokens_left)
        _check_reason(self.checked, cut.reason, self.window)
        left = ledger.kept(cut).upper
        if left > whole:
            raise self.checked.broken("it lets nothing grow", f"{left} tokens are left of {whole}")
        self._check_least(ledger, tokens_left, left)
        self._check_idempotent(ledger, cut, tokens_left)
        self._check_declared(ledger, cut, tokens_left)
        return cut.first_kept > ledger.first or cut.wanted is not None

    def _ask_policy(self, ledger: Ledger, tokens_left: Tokens) -> Cut:
        return verify_cut(self.rung.policy, self.rung.policy.cut(ledger, tokens_left), ledger)

    def _check_same_twice(self, ledger: Ledger, tokens_left: Tokens) -> Cut:
        cut = self._ask_policy(ledger, tokens_left)
        self._ask_policy(ledger, tokens_left // 2)  # another question must not change the answer to this one
        again = self._ask_policy(ledger, tokens_left)
        anew = self._ask_policy(self.window.ledger(self.rung), tokens_left)
        if not _list_fields(cut) == _list_fields(again) == _list_fields(anew):
            kept = f"{cut.first_kept}, {again.first_kept} and {anew.first_kept}"
            raise self.checked.broken(PURE, f"asked three times for {tokens_left} tokens it keeps from {kept}")
        return cut

    def _check_least(self, ledger: Ledger, tokens_left: Tokens, left: Tokens) -> None:
        if left > tokens_left:
            least = ledger.kept(self._ask_policy(self.window.ledger(self.rung), 0)).upper
            if least < left:
                problem = f"{left} tokens where {tokens_left} are left, and {least} where none are"
                raise self.checked.broken("what does not fit is the least that it keeps", problem)

    def _check_idempotent(self, ledger: Ledger, cut: Cut, tokens_left: Tokens) -> None:
        """Ask again about the kept messages, except with pins by index, which would mean other messages."""
        if cut.summary is not None or ledger.pins or ledger.kept(cut).upper > tokens_left:
            return
        raws = self.window.messages
        messages = [*raws[: ledger.first], *raws[cut.first_kept :]]
        kept = attrs.evolve(self.window, request={"messages": messages}).ledger(self.rung)
        again = self._ask_policy(kept, tokens_left)
        if again.first_kept != kept.first:
            problem = f"of {kept.length} messages that it kept it drops {again.first_kept - kept.first} more"
            raise self.checked.broken("it is idempotent", problem)

    def _check_declared(self, ledger: Ledger, cut: Cut, tokens_left: Tokens) -> None:
        keeps = self.rung.traits.keeps
        if isinstance(keeps, KeepsAll) and cut.first_kept != ledger.first:
            raise self.checked.broken("KeepsAll: every turn stays", f"it keeps from message {cut.first_kept}")
        if isinstance(keeps, KeepsNewest | KeepsChosen) and cut.first_kept > ledger.newest_turns(keeps.at_least):
            problem = f"it keeps from message {cut.first_kept}"
            raise self.checked.broken(f"the {keeps.at_least} newest turns stay, as it declares", problem)
        if isinstance(keeps, KeepsNewest):
            more = tokens_left + self.window.more
            if ledger.since(ledger.first).upper > more:
                larger = self._ask_policy(self.window.ledger(self.rung), more)
                if larger.first_kept > cut.first_kept:
                    kept = f"from message {cut.first_kept} in {tokens_left} tokens"
                    problem = f"{kept}, from {larger.first_kept} in {more}"
                    raise self.checked.broken("KeepsNewest: more tokens left never keep less", problem)
            self._check_most(ledger, cut, tokens_left)

    def _check_most(self, ledger: Ledger, cut: Cut, tokens_left: Tokens) -> None:
        older = max((start for start, _ in ledger.turns() if start < cut.first_kept), default=None)
        if older is not None and ledger.kept(attrs.evolve(cut, first_kept=older)).upper <= tokens_left:
            problem = f"in {tokens_left} tokens the turn at message {older} would fit too"
            raise self.checked.broken("KeepsNewest: as many turns stay as fit", problem)


def _check_reason(checked: Checked, reason: str, window: Window) -> None:
    """Raise if a reason, which the report shows, holds a text of the conversation."""
    if any(quotes(reason, text) for text in long_texts(window.messages)):
        raise checked.broken(
            "its reasons quote no message", "one holds a text of the conversation; say what is done, and how often"
        )


def _list_fields(cut: Cut) -> tuple[object, ...]:
    return cut.first_kept, cut.reason, None if cut.summary is None else cut.summary.raw


@attrs.frozen
class RewritingCheck:
    """The check of a policy that rewrites, on one conversation."""

    checked: Checked
    rung: RewritingRung
    window: Window
    ledger: Ledger

    def check(self) -> None:
        """Raise unless its changes are lawful."""
        readings = [self.ledger.reading(index) for index in range(self.ledger.first, self.ledger.length)]
        before = copy.deepcopy([(message.raw, message.seen, message.parts) for message in readings])
        changed: dict[int, Message | None] = {}
        first, again = self._list_proposals(changed), self._list_proposals(changed)
        unused = self.window.ledger(self.rung)  # remembers nothing
        anew = attrs.evolve(self, ledger=unused)._list_proposals(changed)
        if not list(map(_show_change, first)) == list(map(_show_change, again)) == list(map(_show_change, anew)):
            raise self.checked.broken(PURE, "it proposes other changes the second time")
        for change in first:
            _check_reason(self.checked, change.reason, self.window)
        self._take_changes(changed)
        self._check_declared(changed)
        if [(message.raw, message.seen, message.parts) for message in readings] != before:
            raise self.checked.broken(UNCHANGED, "a message that it was shown changed")
        self._check_idempotent(changed)

    def _view_passage(self, changed: Mapping[int, Message | None]) -> PassageView:
        stretches = [(self.ledger.first, self.ledger.length)]
        return PassageView(self.ledger, changed, self.rung.policy, stretches, self.ledger.newest_turns(1))

    def _list_proposals(self, changed: Mapping[int, Message | None]) -> list[Change]:
        passage = self._view_passage(dict(changed))
        found = list(itertools.islice(read_changes(self.rung.policy, passage), _MOST_CHANGES))
        if len(found) == _MOST_CHANGES:
            raise self.checked.broken("its proposals end", f"it proposes {_MOST_CHANGES} changes and more")
        return found

    def _take_changes(self, changed: dict[int, Message | None]) -> None:
        passage = self._view_passage(changed)
        for change in itertools.islice(read_changes(self.rung.policy, passage), _MOST_CHANGES):
            self._check_same_speaker(passage, change)
            refuse_unlawful(self.rung.policy, passage, change)
            if sum(gain.saved for gain in passage.gains(change).values()) > 0:
                changed.update(change.messages)

    def _check_same_speaker(self, passage: PassageView, change: Change) -> None:
        for index, message in change.messages.items():
            if message is not None and passage.holds(index):
                old = passage.current(index)
                if kept_by_edits(message) != kept_by_edits(old):
                    problem = f"message {index} has another role, call or result"
                    raise self.checked.broken("a rewritten message keeps role, calls and results", problem)

    def _check_declared(self, changed: Mapping[int, Message | None]) -> None:
        keeps = self.rung.traits.keeps
        if isinstance(keeps, KeepsAll) and None in changed.values():
            raise self.checked.broken("KeepsAll: every turn stays", "it drops messages")
        if isinstance(keeps, KeepsNewest | KeepsChosen):
            floor = self.ledger.newest_turns(keeps.at_least)
            touched = [index for index in changed if index >= floor]
            if touched:
                problem = f"it changes message {touched[0]}"
                raise self.checked.broken(f"the {keeps.at_least} newest turns stay, as it declares", problem)
            self._check_whole_turns(changed)

    def _check_whole_turns(self, changed: Mapping[int, Message | None]) -> None:
        turns = [set(range(*self.ledger.turn_span(index))) for index in changed]
        torn = next((turn for turn in turns if any(changed.get(index, _KEPT) is not None for index in turn)), None)
        if torn is not None:
            problem = f"of the turn at message {min(torn)} something else changed than all of it being dropped"
            raise self.checked.broken("only whole turns are dropped, as it declares", problem)

    def _check_idempotent(self, changed: dict[int, Message | None]) -> None:
        once = dict(changed)
        self._take_changes(changed)
        again = {index: message for index, message in changed.items() if not _are_same(once.get(index, _KEPT), message)}
        if again:
            problem = f"asked again it {_describe_done(again)}; first it {_describe_done(once)}"
            raise self.checked.broken("it is idempotent", problem)


def _are_same(before: object, after: Message | None) -> bool:
    if isinstance(before, Message) and after is not None:
        return before.raw == after.raw
    return before is after


def _describe_done(changed: Mapping[int, Message | None]) -> str:
    done = [f"{'dropped' if changed[index] is None else 'rewrote'} message {index}" for index in sorted(changed)]
    more = [f"{len(done) - _NAMED} more"] if len(done) > _NAMED else []
    return " and ".join([", ".join(done[:_NAMED]) or "changed nothing", *more])


def _show_change(change: Change) -> tuple[object, ...]:
    messages = {index: None if message is None else message.raw for index, message in change.messages.items()}
    return messages, change.reason
