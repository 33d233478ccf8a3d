"""Remembers what each message of a history costs.

Prices are stored with the readings of a history, so drafts and forks that share the history share its prices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assembler.conversation.history import HistoryView, Span
from assembler.conversation.messages import Message
from assembler.conversation.readings import known_before
from assembler.pricing.pricer import Pricer, is_merging
from assembler.pricing.timeline import BilledReasoning, Replays, Rewritten, Sums
from budgets import Count, Tokens

if TYPE_CHECKING:
    from assembler.pipeline.build_memory import BuildMemories


PRICERS = 4
"""How many pricers' prices a history remembers. Forks share a pricer; another model or counter needs another."""


class Prices:
    """The known prices of one history under one pricer, and the results computed from them.

    Threads share it by the same rule as the `Readings` that hold it.
    """

    __slots__ = (
        "adding_up",
        "all_turns",
        "around_text",
        "beyond",
        "fitting",
        "forgetting",
        "hopeless",
        "last_run",
        "long_runs",
        "lost",
        "memories",
        "messages",
        "most_reasoning",
        "open_calls",
        "overpriced",
        "passed",
        "pricer",
        "reasoning",
        "replays",
        "rewritten",
        "running",
        "sums",
        "tail",
        "thoughts",
    )

    def __init__(self, pricer: Pricer, length: int = 0) -> None:
        self.pricer = pricer
        self.forgetting = pricer if is_merging(pricer) and pricer.forgets_reasoning() else None
        """The pricer, if it bills reasoning only until the next question."""
        self.messages: list[Count | None] = [None] * length
        """The price of each message; under such a pricer without its reasoning."""
        self.reasoning: list[BilledReasoning | None] = []
        """What the reasoning costs that is billed in a history of the first 0, 1, 2 … messages."""
        self.last_run: tuple[tuple[Message, ...], Count] | None = None
        """The last items that were priced merged, and their price. The next one usually joins them."""
        self.long_runs: dict[int, int] = {}
        """The starts of the runs of more than `NEIGHBOURS` items, by the index after the last item priced."""
        self.adding_up: dict[Span, bool] = {}
        """Whether the prices of a long run's items add up to the run's."""
        self.most_reasoning: tuple[int, Tokens] = (0, 0)
        """A length, and the most that reasoning ever cost up to it."""
        self.overpriced: set[int] = set()
        """The messages for which a merged price and the sum of single prices differ."""
        self.lost: dict[int, Tokens] = {}
        """By how much the upper price falls once a result stands beside those before it, for the results so priced."""
        self.running: dict[int, Tokens] = {}
        """The upper price of each message and of all before it in its turn."""
        self.sums = Sums()
        """Upper prices of the first n messages, for replays, without reasoning that is billed only for a time."""
        self.passed = Sums()
        """Tokens of the first n messages, for reports."""
        self.thoughts: set[int] = set()
        """The items of pure reasoning, which are sent only if another item of the model follows, and the messages of
        the model behind them of which nothing is sent."""
        self.open_calls = Sums()
        """Open calls after the first n messages."""
        self.tail: tuple[int, int, Count] | None = None
        """The last sum over the turns that stay: start, stop and price. The next build continues from it."""
        self.all_turns: tuple[int, int, Count] | None = None
        """The same for all turns. A build may need both."""
        self.beyond: tuple[int, int, Tokens] | None = None
        """The newest turns that did not fit once: start, stop, upper price."""
        self.hopeless: tuple[int, int, Tokens] | None = None
        """The same by the least that they may cost as they are sent."""
        self.fitting: tuple[Tokens, int, int] | None = None
        """The newest turns that last fitted: tokens left, start, stop."""
        self.around_text: Tokens | None = None
        """The upper price of a user message without that of its text."""
        self.replays = Replays()
        """Where policies' replays of the history ended. Forgotten when a message changes."""
        self.rewritten = Rewritten()
        """What policies wrote in place of old messages. Forgotten when a message changes."""
        self.memories: BuildMemories | None = None
        """What builds remember, for `pipeline`. Forgotten when a message changes."""

    @classmethod
    def of(cls, view: HistoryView, pricer: Pricer) -> Prices:
        """The prices of a history under a pricer, made if there are none, with an entry for each message."""
        known = view.readings.prices
        prices = cls.known(known, pricer)
        if prices is None:
            known.append(made := cls(pricer, view.length))
            del known[:-PRICERS]
            prices = cls.known(known, pricer) or made  # another thread's, if that was first
        prices.stretch(view.length)
        return prices

    @staticmethod
    def known(every: list[Prices], pricer: Pricer) -> Prices | None:
        """The prices under a pricer, or None."""
        for prices in every:
            if prices.pricer is pricer:
                return prices
        return None

    def known_until(self, stop: int) -> Prices:
        """A copy that knows the messages before `stop` and nothing after."""
        self.stretch(stop)
        copy = Prices(self.pricer)
        copy.running = known_before(stop, self.running, self.messages)
        copy.messages = self.messages[:stop]
        copy.reasoning = self.reasoning[: stop + 1]
        copy.overpriced = {index for index in self.overpriced.copy() if index < stop}
        copy.lost = {index: tokens for index, tokens in self.lost.copy().items() if index < stop}
        copy.thoughts = {index for index in self.thoughts.copy() if index < stop}
        copy.long_runs = {min(end, stop): start for end, start in self.long_runs.copy().items() if start < stop}
        copy.adding_up = {span: adds for span, adds in self.adding_up.copy().items() if span[1] <= stop}
        copy.sums = self.sums.known_until(stop)
        copy.passed = self.passed.known_until(stop)
        copy.open_calls = self.open_calls.known_until(stop)
        return copy

    def take_over(self, other: Prices) -> None:
        """Take over the results of other prices, whose history has the same content."""
        self.tail, self.beyond, self.fitting = other.tail, other.beyond, other.fitting
        self.all_turns, self.hopeless = other.all_turns, other.hopeless
        self.replays, self.rewritten = other.replays.copy(), other.rewritten.copy()
        self.memories = None if other.memories is None else other.memories.copy()

    def stretch(self, length: int) -> None:
        """Make entries for `length` messages, or more if two threads do it at once."""
        self.messages += [None] * (length - len(self.messages))
