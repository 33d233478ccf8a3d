"""`KeepRelevant`: drops whole turns, the least relevant to the question first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import attrs

from assembler.conversation.messages import Call, Message, Result
from assembler.conversation.pins import NO_PINS, Pins, checked_pins
from assembler.errors import PlanError
from assembler.policies.argument_checks import a_plain_function, a_share
from assembler.policies.passage import Change
from assembler.policies.policy_views import Passage
from assembler.policies.relevance import BM25, Score
from assembler.policies.traits import KeepsChosen, Traits
from assembler.validation import as_int, at_least_one, finite_numbers
from budgets import BudgetError

DROPPED = "turn dropped as less relevant"
_QUESTIONS = 32
"""The turns whose questions a choice with a mark uses. From 16 on recall is the same: docs/what-a-policy-forgets.md."""


@attrs.frozen
class KeepRelevant:
    """Drops whole turns, the least relevant to the newest question first, until the rest fits; gaps may be left.

    `score` says how relevant each turn's text is to the question: `BM25()` by words, `Cosine(embed)` by meaning, or a
    function `(question, texts) -> scores`. If two turns score alike, the older one goes first. The `keep_turns` newest
    and pinned turns are never dropped.

    Without `low_water`, every build chooses again for its question. The request then seldom begins like the one before,
    and a prompt cache serves little. With `low_water`, a share of the tokens left, it only chooses when the window is
    full, and cuts down to that share. In between nothing changes, and the cache keeps its prefix. The next question is
    not known at that moment, so the choice uses what the user said in the newest 32 turns, or in `questions` turns
    (1 without `low_water`). The history is replayed to find the moments when the window was full.
    `context.served_after(previous)` and the report's cache row show the cost of a choice.

    The text of a turn is its messages, calls and results, without thinking. O(messages that stay) and one call of
    `score`, a few for an API that merges messages; with `low_water`, one call for each such moment in the replay.
    """

    score: Score = attrs.field(factory=BM25, validator=a_plain_function)
    keep_turns: int = attrs.field(default=2, converter=as_int, validator=at_least_one, kw_only=True)
    low_water: float | None = attrs.field(default=None, validator=a_share, kw_only=True)
    pins: Pins = attrs.field(default=NO_PINS, kw_only=True, converter=checked_pins)
    questions: int | None = attrs.field(
        default=None,
        converter=attrs.converters.optional(as_int),
        validator=attrs.validators.optional(at_least_one),
        kw_only=True,
    )

    @property
    def traits(self) -> Traits:
        """Declares `KeepsChosen`, the pins and the low-water mark."""
        keeps = KeepsChosen(self.keep_turns)
        if self.low_water is None:
            return Traits(keeps=keeps, pins=self.pins)
        unmarked = attrs.evolve(self, low_water=None, questions=self.questions or _QUESTIONS)
        return Traits(keeps=keeps, pins=self.pins, low_water=self.low_water, unmarked=unmarked)

    def rewrites(self, passage: Passage, /) -> Iterator[Change]:
        """One change for each turn, the least relevant first."""
        floor = passage.turn_from_the_end(self.keep_turns)
        turns = [turn for turn in passage.turns() if turn[0] < floor]
        if not turns:
            return
        question = self._write_question(passage)
        texts = ["\n".join(_join_words(passage.current(index)) for index in turn) for turn in turns]
        scores = self._score_turns(question, texts)
        for place in sorted(range(len(turns)), key=scores.__getitem__):
            yield Change(dict.fromkeys(turns[place]), DROPPED)

    def _write_question(self, passage: Passage) -> str:
        """The text that turns are compared with: the newest question and those of the turns before it."""
        indexes = [*[turn[0] for turn in passage.turns()][-(self.questions or 1) :], passage.newest]
        return "\n".join(_join_words(passage.current(index)) for index in dict.fromkeys(indexes))

    def _score_turns(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """A finite number for each turn. Raises `PlanError` if the function returns anything else."""
        name, answer = type(self).__name__, cast("object", self.score(question, [*texts]))
        try:
            scores = finite_numbers("score", answer)
        except BudgetError as error:
            raise PlanError(name, f"cannot order the turns: {error}") from None
        if len(scores) != len(texts):
            raise PlanError(
                name, f"got {len(scores)} scores for {len(texts)} turns; score() must return one for each text"
            )
        return scores


def _join_words(message: Message) -> str:
    return "\n".join(_list_words(message))


def _list_words(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Call):
            yield f"{part.name} {part.arguments}"
        elif isinstance(part, Result):
            yield from (inner for inner in part.parts if isinstance(inner, str))
