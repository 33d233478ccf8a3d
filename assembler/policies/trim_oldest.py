"""`TrimOldest`: drops whole turns, oldest first.

A cut goes down to a share of the tokens left, the low-water mark. A low mark cuts seldom, so a prefix cache serves
more, but the window is emptier. How empty depends on the conversation: if turns are large, a cut overshoots the mark,
and the window is never quite full. So `AUTO` fixes how full the window is on average instead, and sets the mark of each
cut by how full the window was so far.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import attrs

from assembler.conversation.messages import user_message
from assembler.conversation.pins import NO_PINS, Pins, checked_pins
from assembler.policies.argument_checks import a_share, a_text
from assembler.policies.policy_views import PricedTurns
from assembler.policies.traits import KeepsNewest, Traits
from assembler.pricing.ledger import Cut
from assembler.pricing.timeline import Replay, Timeline
from assembler.validation import as_int, at_least_one
from budgets import Tokens
from budgets.numbers import hints_at, part_of
from budgets.value import Value

LowWater: TypeAlias = float | Literal["auto"]

AUTO: Final = "auto"
FULL = 0.74
"""How full the window should be on average, measured after each message since the first cut. A window is cut when the
next message does not fit, so it comes to a little less: 67 to 72 % on the ten kinds of session of
`tests/benchmarks/cache_economy.py`, with at most 1.05 times the tokens outside the cache of the best fixed mark that
fills it as much."""
_CORRECTION = 4
"""How strongly a mark corrects a mean that is off. Values from 3 to 6 give the same result on the ten kinds."""
_LOWEST_MARK, _HIGHEST_MARK = 0.15, 0.85
IN_A_LADDER = 0.5
"""The mark of `AUTO` in a ladder, where the other policies also decide how far down a cut goes."""


def a_share_or_auto(policy: object, field: attrs.Attribute[Any], value: object) -> None:
    """None, "auto", or a share of the tokens left above 0 and up to 1."""
    if not isinstance(value, str) or value != AUTO:
        a_share(policy, field, value)


@attrs.frozen(eq=False, repr=False)
class KeptSoFar(Value):
    """The tokens kept after each message since the first cut, added up, and the number of those messages."""

    messages: int = 0
    tokens: Tokens = 0

    def and_then(self, messages: int, tokens: Tokens) -> KeptSoFar:
        """The sums with one more stretch between two cuts."""
        return KeptSoFar(self.messages + messages, self.tokens + tokens)

    def share(self, low_water: LowWater, tokens_left: Tokens) -> float:
        """The share of the tokens left to which the next cut goes down. O(1)."""
        if low_water != "auto":
            return low_water
        mean = self.tokens / (self.messages * tokens_left) if self.messages and tokens_left else FULL
        return min(_HIGHEST_MARK, max(_LOWEST_MARK, 2 * FULL - 1 + _CORRECTION * (FULL - mean)))


@hints_at(
    keep="the number of turns that always stay is keep_turns=",
    keep_last="the number of turns that always stay is keep_turns=",
    max_tokens="the budget says how much fits: Assembler(Budget(…), on_overflow=TrimOldest())",
)
@attrs.frozen(eq=False, repr=False)
class TrimOldest(Value):
    """Drops whole turns, oldest first, until the rest fits; the `keep_turns` newest and pinned turns are never dropped.

    Without `low_water` it keeps as many turns as fit, and reads only one turn more: O(turns kept).

    With `low_water`, a share of the tokens left, a cut goes down to that share. The next many builds then cut nothing,
    and the provider's prompt cache keeps its prefix. To find the last cut, the policy replays the history from its
    start, as if a build had followed each message. So the cut depends on the history and the tokens left alone. The
    first replay prices the whole history once. Each cut in it costs O(log messages), with pins O(turns).

    With `low_water="auto"` each cut chooses its share by how full the window was since the first one, so that it is 74
    % full on average. In a ladder with other policies it is 0.5.

    `pins` names messages whose turns stay: a predicate on the caller's message, a set of indexes, or `first_user`.
    `note` is a text for a user message that stands in place of the dropped turns; its tokens are part of what must fit.
    """

    low_water: LowWater | None = attrs.field(default=None, validator=a_share_or_auto)
    keep_turns: int = attrs.field(default=1, converter=as_int, validator=at_least_one)
    pins: Pins = attrs.field(default=NO_PINS, kw_only=True, converter=checked_pins)
    note: str | None = attrs.field(default=None, kw_only=True, validator=attrs.validators.optional(a_text))

    @property
    def traits(self) -> Traits:
        """Declares the pins, the note and the low-water mark; without a mark, `KeepsNewest`."""
        if self.low_water is None:
            return Traits(keeps=KeepsNewest(self.keep_turns), pins=self.pins, note=self.note)
        unmarked = attrs.evolve(self, low_water=None)
        mark = IN_A_LADDER if self.low_water == "auto" else self.low_water
        return Traits(pins=self.pins, note=self.note, low_water=mark, unmarked=unmarked)

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        """Keep as many of the newest turns as fit."""
        note = None if self.note is None else user_message(self.note)
        noted = 0 if note is None else ledger.price(note).upper
        if self.low_water is None:
            reason = "older turns do not fit"
            first = ledger.newest_that_fit(tokens_left - noted, self.keep_turns)
        else:
            first = self._replay_history(ledger, tokens_left, noted, self.low_water)
            reason = _describe_cut(self.low_water)
        return Cut(first, reason, note if first > ledger.first else None)

    def _replay_history(self, ledger: PricedTurns, tokens_left: Tokens, noted: Tokens, low_water: LowWater) -> int:
        """Replay the history from the last overflow that an earlier replay found for the same tokens left.

        From the first cut on, the note takes `noted` tokens.
        """
        line = ledger.timeline()
        known = line.replays.find(self)
        if known is None or known.limit != tokens_left or known.stop > line.length or known.first < line.first:
            known = Replay(self, tokens_left, line.first, line.first)
        first, stop, filled = known.first, known.stop, KeptSoFar(known.messages, known.kept)
        while True:
            overflow = self._find_next_overflow(line, first, stop, tokens_left - noted * (first > line.first))
            if overflow is None:
                break
            if low_water == AUTO and stop > line.first:  # until the first cut the window was filling up
                filled = filled.and_then(overflow - stop, line.kept_after_each(first, stop, overflow))
            stop = overflow
            low = max(part_of(filled.share(low_water, tokens_left), tokens_left) - noted, 0)
            first = max(first, min(line.lowest(first, stop, low), self._find_first_kept(line, first, stop)))
        replay = Replay(self, tokens_left, first, stop, filled.messages, filled.tokens)
        if replay != known:
            line.replays.keep(replay)
        return first

    def _find_next_overflow(self, line: Timeline, first: int, stop: int, tokens_left: Tokens) -> int | None:
        """The length at which the history from `first` on next outgrows the tokens left, beyond `stop`; None if never.

        If the protected turns alone do not fit, the next chance to cut is when another turn has begun.
        """
        if line.tokens(first, stop) <= tokens_left:
            return line.overflow(first, stop, tokens_left)
        later = line.next_turn(stop, line.length)
        return later + 1 if later < line.length else None

    def _find_first_kept(self, line: Timeline, first: int, stop: int) -> int:
        start = line.turn_start(stop - 1)
        for _ in range(self.keep_turns - 1):
            if start <= first:
                break
            start = line.turn_start(start - 1)
        return start


def _describe_cut(low_water: LowWater) -> str:
    if low_water == AUTO:
        return "cut down by how full the window was so far"
    return f"cut down to {low_water:.0%} of the tokens left"
