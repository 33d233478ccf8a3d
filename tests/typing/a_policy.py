"""Policies and strategies that a user writes pass strict type checkers.

No cast, no `type: ignore`, and nothing imported but public names.
"""

from __future__ import annotations

from collections.abc import Iterator

from assembler import Assembler, Change, Cut, Passage, PricedTurns, TrimOldest
from assembler.policies import OverflowPolicy, Policy, RewritingPolicy
from assembler.strategies import ChoosingStrategy, Needs, Omitted, Piece, Regions, Rendered, Space, Strategy
from budgets import Tokens


class NewestTurns:
    """Keeps the newest turns that fit."""

    def cut(self, ledger: PricedTurns, tokens_left: Tokens) -> Cut:
        first, used = ledger.length, 0
        for turn in ledger.newest_first():
            used += turn.tokens
            if used > tokens_left and first < ledger.length:
                break
            first = turn.start
        return Cut(first, "older turns do not fit")


class Shorter:
    """Drops older turns with a message of more than 100 tokens, then those with a question of fewer than 9."""

    def rewrites(self, passage: Passage) -> Iterator[Change]:
        for index, message in passage:
            if index < passage.newest and passage.tokens(message) > 100:
                yield Change(dict.fromkeys(passage.turn_of(index)), "a long turn")
        for turn in passage.turns():
            if turn[0] < passage.turn_from_the_end(2) and passage.tokens(passage.current(turn[0])) < 9:
                yield Change(dict.fromkeys(turn), "small talk")


class Lines:
    """Documents, a line each."""

    needs = Needs.QUESTION

    def render(self, regions: Regions) -> Rendered:
        return Rendered(tuple(Piece("knowledge", "line", f"{each.text}\n") for each in regions.documents))

    def choose(self, regions: Regions, space: Space) -> Rendered:
        rendered = self.render(regions)
        left = space.left(rendered)
        gone = (Omitted("all lines", None, "do not fit"),)
        return rendered if left is None or left >= 0 else Rendered(omitted=gone)


def taken() -> Assembler[None]:
    cutting: OverflowPolicy = NewestTurns()
    rewriting: RewritingPolicy = Shorter()
    built_in: OverflowPolicy = TrimOldest()
    ladder: list[Policy] = [rewriting, cutting, built_in]
    strategy: ChoosingStrategy = Lines()
    laid_out: Strategy = strategy
    return Assembler(on_overflow=ladder, strategy=laid_out)
