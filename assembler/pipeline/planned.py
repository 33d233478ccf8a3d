"""A plan: which messages will be sent and which will not, not yet emitted for an API."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs

from assembler.conversation.history import HistoryView, Span
from assembler.conversation.messages import Message
from assembler.conversation.messages.edit import write_like
from assembler.conversation.turns import OpenCalls, open_calls_at_the_end, opens_turn, unanswered_error
from assembler.dialects import Emission
from assembler.dialects.writing.emit import emit_added, emit_layout
from assembler.dialects.writing.partly_sent import sent_at_all, sent_whole
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.pipeline.build_memory import BuildMemory, memory_of
from assembler.pipeline.draft import Draft
from assembler.pipeline.found_once import found_once, keep
from assembler.pipeline.ladder import Trimmed
from assembler.pipeline.measure import Measured
from assembler.pipeline.sent_order import with_summary
from assembler.pipeline.settings import Settings
from assembler.pricing.ledger import Ledger
from assembler.pricing.pricer import price_all
from assembler.regions.layout import Layout
from budgets import Count, Grade, RegionCosts, Tokens

if TYPE_CHECKING:
    from assembler.pipeline.recipe import Recipe


@attrs.frozen(eq=False)
class Dropped:
    """A message that was left out or shortened: its index in the history, and the caller's own object.

    `id` stays the same while the history grows.
    """

    id: str
    index: int
    message: object = attrs.field(repr=False)
    outcome: Literal["dropped", "shortened"] = "dropped"


@attrs.define(eq=False)
class Emitted:
    """A request that was emitted, for a later one to extend. Never changed."""

    trimmed: Trimmed
    measured: Measured
    length: int
    """The length of the history."""
    messages: Sequence[Message]
    """The messages that were sent, with a summary."""
    emission: Emission


_SAME_UNDER_ANY_BILL = frozenset(
    ["by_rule", "session_memory", "emitted", "kept_messages", "layout", "open_calls", "sent", "sent_messages"]
)
"""Cached properties of a plan that no bill changes."""


@attrs.define(eq=False, repr=False, slots=False)
class Planned:
    """A decision about one draft: the head of the history stays; `trimmed` says which turns do."""

    draft: Draft
    settings: Settings
    view: HistoryView
    measured: Measured
    ledger: Ledger
    trimmed: Trimmed
    sealed: Count | None = None
    """The count of the whole by our own prices, if the prices of its parts do not add up to it."""
    corrected: Count | None = None
    """The count of the whole by a known bill."""
    refused: ConversationError | None = None
    """Why no request can be made before another message is added."""
    last_length: int = 0
    """The length of the history at the last decision, if that still held when this plan began; then this build has
    already checked those messages for changes. 0 otherwise."""
    unsettled: bool = False
    """Whether the next build must decide anew: documents or tools gave way so that the smallest conversation fits, or
    more was cut than the sum of the prices asks for."""

    def leaving(self, trimmed: Trimmed, ledger: Ledger) -> Planned:
        """The same plan with another decision, which has not been counted yet."""
        return Planned(
            self.draft,
            self.settings,
            self.view,
            self.measured,
            ledger,
            trimmed,
            refused=self.refused,
            last_length=self.last_length,
        )

    def corrected_to(self, count: Count, settings: Settings) -> Planned:
        """The same plan with its count corrected by a bill, and the settings that hold the bill."""
        plan = attrs.evolve(self, settings=settings, corrected=count)
        keep(plan, **{name: found for name, found in self.__dict__.items() if name in _SAME_UNDER_ANY_BILL})
        return plan

    @property
    def fixed(self) -> Count:
        """The cost of everything but the turns."""
        return self.measured.fixed

    @property
    def first(self) -> int:
        """The first message after the cut: all turns from here on stay."""
        return self.trimmed.cut.first_kept

    @found_once
    def stretches(self) -> list[Span]:
        """The turns that stay, as stretches of the history: each pinned turn, then everything after the cut."""
        newest = (self.first, self.view.length)
        return [*self.ledger.pinned_turns(self.first), newest] if self.ledger.pins else [newest]

    @found_once
    def turns(self) -> list[Span]:
        """The turns that stay, oldest first, each by itself."""
        return [*self._remove_dropped_turns(self.stretches[:-1]), *self.turns_since(self.first)]

    def turns_since(self, index: int) -> list[Span]:
        """The turns that stay after the cut, from the one that begins at `index` on. O(turns)."""
        return self._remove_dropped_turns(self.view.turns_from(max(index, self.first)))

    def _remove_dropped_turns(self, turns: list[Span]) -> list[Span]:
        removed = {index for index, message in self.trimmed.changed.items() if message is None}
        return [turn for turn in turns if not removed.issuperset(range(*turn))] if removed else turns

    @found_once
    def sent(self) -> list[tuple[int, Message]]:
        """The messages that stay, with their indexes, as they will be sent: the host with its knowledge."""
        host = self.measured.host
        if host is None:
            return self.kept_messages
        return [(i, host.message if i == host.index else message) for i, message in self.kept_messages]

    @found_once
    def kept_messages(self) -> list[tuple[int, Message]]:
        """The messages that stay, with their indexes, as the policies left them."""
        changed = self.trimmed.changed
        if not changed:
            return self._messages_as_read
        found = [(i, changed.get(i, message)) for i, message in self._messages_as_read]
        return [(i, message) for i, message in found if message is not None]

    @property
    def _messages_as_read(self) -> list[tuple[int, Message]]:
        """The messages of the turns that stay, with their indexes, as they were added."""
        messages = self.view.messages
        return [pair for start, stop in self.stretches for pair in enumerate(messages(start, stop), start)]

    @found_once
    def sent_messages(self) -> list[Message]:
        """The messages of `sent`, without their indexes."""
        if self.trimmed.changed or self.measured.host is not None:
            return [message for _, message in self.sent]
        *pinned, newest = [self.view.messages(start, stop) for start, stop in self.stretches]
        return [message for stretch in [*pinned, newest] for message in stretch] if pinned else newest

    @found_once
    def layout(self) -> Layout:
        """The content of the request, in neutral form. O(messages that stay)."""
        messages, regions = self.sent_messages, self.measured.regions
        summary = self.trimmed.cut.summary
        layout = Layout(
            system=self.measured.system,
            head=self.measured.head,
            messages=messages if summary is None else with_summary(self, messages, summary),
            tools=regions.tools,
            output=regions.output,
            choice=regions.choice,
        )
        if regions.output is None and regions.choice is None and not regions.options:
            return layout
        return attrs.evolve(layout, options={**dict(regions.options), **self.settings.dialect.options(layout)})

    @found_once
    def objects(self) -> list[object]:
        """The caller's own objects that stay, the head first. Shortened messages and a summary are new objects."""
        raws, head = self.view.readings.raws, len(self.measured.head)
        first, own = raws(0, head) if head else [], list[object]()
        for start, stop in self.stretches if self.ledger.pins else ((self.trimmed.cut.first_kept, self.view.length),):
            own += raws(start, stop)
        if self.trimmed.changed or self.measured.host is not None:
            originals = {i: (message, raw) for (i, message), raw in zip(self._messages_as_read, own, strict=True)}
            own = [originals[i][1] if message is originals[i][0] else message.raw for i, message in self.sent]
        if self.trimmed.cut.summary is None:
            return first + own
        summary: Any = self.trimmed.cut.summary.raw
        return first + with_summary(self, own, write_like(raws(0, 1)[0], summary))

    def check(self) -> None:
        """Raise `ConversationError` unless calls and results pair up in what stays, but for open calls at the end."""
        self.view.check(self.first)
        for start, stop in self.stretches[:-1]:
            self.view.readings.check_turn(start, stop, self.view.length)
        _ = self.open_calls

    @found_once
    def open_calls(self) -> OpenCalls:
        """The calls at the end of the conversation that have no result yet."""
        if self.trimmed.changed:
            return open_calls_at_the_end(self.kept_messages)
        return self.view.readings.open_calls(*self.view.newest_turn())

    def refuse_unfinished(self) -> None:
        """Raise `ConversationError` if no request can be made before another message is added. O(1)."""
        if self.open_calls.left:
            raise unanswered_error(self.open_calls, None)
        if self.refused is not None:
            raise self.refused.with_traceback(None)

    @property
    def emission(self) -> Emission:
        """The request of this plan with its notes, emitted once. Callers get copies."""
        return self.emitted.emission

    @found_once
    def emitted(self) -> Emitted:
        """The request, O(new messages) if it extends the last one and the dialect can do that, else O(messages)."""
        dialect, last = self.settings.dialect, self.session_memory.emitted
        added = None if last is None or last.measured is not self.measured else self._find_added_messages(last)
        if last is not None and added is not None:
            grown = emit_added(dialect, last.emission, added)
            if grown is not None:
                return Emitted(self.trimmed, self.measured, self.view.length, [*last.messages, *added], grown)
        messages = self.layout.messages
        return Emitted(self.trimmed, self.measured, self.view.length, messages, emit_layout(dialect, self.layout))

    def _find_added_messages(self, last: Emitted) -> Sequence[Message] | None:
        """The messages after those of an earlier request; None if this request does not begin with those."""
        if self.trimmed is last.trimmed and self.view.length >= last.length:
            return self.view.messages(last.length, self.view.length)
        messages, known = self.layout.messages, len(last.messages)
        begins = known <= len(messages) and all(map(operator.is_, last.messages, messages))
        return messages[known:] if begins else None

    @found_once
    def session_memory(self) -> BuildMemory:
        """What the session remembers of this history, under any bill."""
        return memory_of(self.settings.session, self.ledger)

    @found_once
    def memory(self) -> BuildMemory:
        """What these settings remember of this history."""
        return memory_of(self.settings, self.ledger)

    @found_once
    def notes(self) -> tuple[str, ...]:
        """What the dialect folds or leaves out. Raises for what it cannot express, but not if there is no message."""
        try:
            return self.emission.notes
        except UnsupportedContentError:
            raise
        except ConversationError:
            if self.layout.messages:
                raise
            return ()

    @found_once
    def conversation(self) -> Count:
        """The cost of the turns that stay: the sum of the prices of their messages."""
        cost = self.trimmed.count(self.ledger)
        if cost.grade is Grade.EXACT or not self.trimmed.changed:
            return cost
        return attrs.evolve(cost, grade=self._grade_of_what_stays(cost.grade))

    def _grade_of_what_stays(self, at_worst: Grade) -> Grade:
        """The grade of what stays: only the dropped messages may have been estimated. O(messages that stay)."""
        price, changed = self.ledger.message, self.trimmed.changed
        kept = (i for i, _ in self.kept_messages if i not in changed)
        if any(price(i).grade == at_worst and not self._is_beside_a_change(i) for i in kept):
            return at_worst
        return price_all(self.settings.pricer, self._messages_without_knowledge).grade

    def _is_beside_a_change(self, index: int) -> bool:
        """Whether a message is priced together with one that was changed or dropped. O(its neighbours)."""
        run = self.ledger.run(index) if self.ledger.beside_others(index) else ()
        return any(i in self.trimmed.changed for i in run)

    @found_once
    def can_be_sent(self) -> bool:
        """Whether a request can be made without another message."""
        try:
            return bool(self.emission)
        except ConversationError:
            return False

    @found_once
    def by_rule(self) -> Count:
        """The cost of the request by our own prices: the sum of its parts, or the count of the whole if it differs.

        If the API merges neighbouring messages, the request is counted as it is sent, once it can be sent.
        """
        if self.sealed is not None:
            return self.sealed
        pricer = self.settings.merging_pricer
        if pricer is not None and self.can_be_sent:
            from assembler.pipeline.price_as_sent import count_as_sent

            known, regions = self.session_memory, self.measured.regions
            sent = {**dict(regions.options), **self.emission.request} if regions.options else self.emission.request
            count = count_as_sent(self.settings.dialect, pricer, sent, self.sent_messages, known)
            return count if regions.held is None else count + regions.held
        if self.ledger.overpriced or (self.trimmed.changed and self._changes_other_prices):
            from assembler.pipeline.late_head import price_with_late_head

            price = price_with_late_head(self.measured, self._messages_without_knowledge, self.settings)
        else:
            price = self.fixed + self.conversation
        return price if self.measured.saved is None else price + self.measured.saved

    def fits(self, tokens_left: Tokens) -> bool:
        """Whether the turns cost at most `tokens_left` as they are sent. O(messages that stay)."""
        return self.by_rule.upper <= self.fixed.upper + tokens_left

    @property
    def _messages_without_knowledge(self) -> list[Message]:
        """The messages of the turns, the host without its knowledge, which is priced apart."""
        summary, messages = self.trimmed.cut.summary, [message for _, message in self.kept_messages]
        return messages if summary is None else with_summary(self, messages, summary)

    @property
    def recipe(self) -> Recipe:
        """How to repeat this decision on the same messages. O(changed messages)."""
        from assembler.pipeline.recipe import Recipe  # for bills alone

        return Recipe.of(self.view.length, self.trimmed, self.ledger)

    @property
    def merges(self) -> bool:
        """Whether the request may cost less than the sum of its messages, and is counted as it is sent."""
        if self.settings.merging_pricer is not None or self.ledger.overpriced or self.measured.saved is not None:
            return True
        return bool(self.trimmed.changed) and self._changes_other_prices

    @property
    def _changes_other_prices(self) -> bool:
        """Whether a change of a policy's may affect the price of other messages, or of the fixed part."""
        first, changed = self.stretches[0][0], self.trimmed.changed  # a system message may now come first
        late_head = first in changed and not opens_turn(self.view.message(first))
        return late_head or self.ledger.is_of_long_run(changed)

    @property
    def count(self) -> Count:
        """The cost of the request: tokens, grade, upper bound."""
        return self.by_rule if self.corrected is None else self.corrected

    @found_once
    def costs(self) -> RegionCosts:
        """The cost of the request by region, in tokens.

        If the whole costs more than its parts (a template, a bill), the rest is framing. If it costs less (messages are
        merged), that is taken off the conversation, and off the other regions once the conversation is at 0.
        """
        return self.measured.costs(self.conversation).adding_up_to(self.count.tokens)

    @property
    def kept(self) -> list[int]:
        """The indexes of the messages that stay, in order."""
        return [*range(self.view.head), *(index for index, _ in self.kept_messages)]

    @found_once
    def _sent_whole(self) -> set[int]:
        """The indexes of the messages that are sent unchanged and in full."""
        placed = [*enumerate(self.measured.head), *self.kept_messages]
        whole = sent_whole(self.settings.dialect, placed, lambda: self.can_be_sent and self.emission)
        return whole - self.trimmed.changed.keys()

    @found_once
    def dropped(self) -> list[Dropped]:
        """The messages that are left out or sent only in part, oldest first."""
        sent = sent_at_all(self.settings.dialect, [*enumerate(self.measured.head), *self.kept_messages])
        return [
            Dropped(f"message-{i}", i, raw, "shortened" if i in sent else "dropped")
            for i, raw in enumerate(self.view.raws(0, self.view.length))
            if i not in self._sent_whole
        ]

    @property
    def left_out(self) -> int:
        """How many messages `dropped` lists."""
        return self.view.length - len(self._sent_whole)

    def __deepcopy__(self, memo: dict[int, object]) -> Planned:
        return self  # frozen

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kept={len(self.kept)}, of={self.view.length}, tokens={self.count.tokens})"
