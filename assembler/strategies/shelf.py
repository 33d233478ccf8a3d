"""Chooses among sources, and lays out those that fit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

import attrs

from assembler.strategies.source_writer import COMPRESSED, SourceWriter
from assembler.strategies.sources.merging import neighbours_of
from assembler.strategies.sources.selection import Candidate, Selection
from assembler.strategies.sources.source import Source, metadata_of
from assembler.strategies.strategy import Rendered
from assembler.text.checked import checked_text
from budgets import Tokens

_MOST_REFILLS = 8
"""How often to fill the tokens that merging freed. Each time less is freed."""

_MOST_CHOICES = 4
"""How often to choose again for the tokens that a whole costs less. Each time takes a layout or a few."""

_MANY_SOURCES = 8
"""How many sources show whether the bounds of their prices were rounded up."""

_ROUNDING: Tokens = 4
"""How much less a source may cost in a request than on its own, if no other source shows how much it is."""

_MOST_NEIGHBOURS = 32
"""How many neighbours of chosen sources to try, because they cost less when merged. Each takes a layout."""

Choice: TypeAlias = tuple[list[int], Rendered]
"""The indexes of the chosen sources, and their layout."""
_Tried: TypeAlias = tuple[list[int], Rendered, Tokens]
"""A choice, and the tokens left beside it. Negative if it does not fit."""


@attrs.frozen(eq=False)
class Shelf:
    """The sources that may be chosen, best first, as sources and as candidates of the selection."""

    sources: Sequence[Source]
    candidates: Sequence[Candidate]
    allowed: Sequence[int]
    """The indexes of those that may be chosen at all."""
    selection: Selection
    writer: SourceWriter
    lay_out: Callable[[Sequence[Source]], Rendered]

    def pick(self, tokens_left: Tokens) -> list[int]:
        """The indexes of the sources that the selection takes."""
        candidates = [self.candidates[at] for at in self.allowed]
        return [self.allowed[at] for at in self.selection.pick(candidates, tokens_left, self.writer.heading)]

    def cost(self, picked: Sequence[int]) -> Tokens:
        """The sum of their prices, with headings."""
        return sum(self.candidates[at].cost + self.writer.heading(number) for number, at in enumerate(picked, 1))

    def layout_of(self, picked: Sequence[int]) -> Rendered:
        """The layout of these sources."""
        return self.lay_out([self.sources[at] for at in picked])

    def compress(self, compress: Callable[[str], str]) -> Shelf:
        """The shelf with the shorter texts that a function returns, where they cost less."""
        sources, candidates = list(self.sources), list(self.candidates)
        for at in self.allowed:
            document = sources[at].document
            text = checked_text(compress(document.text), field="compressed text")
            metadata = {**(document.metadata or {}), COMPRESSED: True}
            shorter = attrs.evolve(sources[at], document=attrs.evolve(document, text=text, metadata=metadata))
            candidate = self.writer.candidates([shorter])[0]
            if candidate.cost < candidates[at].cost and self.writer.can_write(text):
                sources[at], candidates[at] = shorter, candidate
        return attrs.evolve(self, sources=sources, candidates=candidates)

    def fit(self, tokens_left: Tokens, max_tokens: Tokens | None) -> Choice:
        """The choice and its layout. If the whole costs more or less than the sum of its pieces, choose for fewer
        tokens or for more, but never for more than `max_tokens`.
        """
        tried = self._try_choice(tokens_left)
        picked, rendered, left = tried
        promised = self.cost(picked)
        if left >= 0:
            return self._choose_for_more(tokens_left, tried, max_tokens)
        if self.pick(promised - 1) == picked:  # it never leaves anything out
            return picked, rendered
        # At `high` it does not fit; at `low` it does, or nothing is picked. Goes down in growing steps, then bisects.
        high, low = promised, max(promised + left, -1)
        best = self._try_choice(low)
        while best[2] < 0 and low >= 0:
            high, low = low, max(low - 2 * (high - low), -1)
            best = self._try_choice(low)
        return self._search_between(low, high, best)[:2]

    def _choose_for_more(self, tokens_left: Tokens, tried: _Tried, max_tokens: Tokens | None) -> Choice:
        """Choose again with the tokens that the whole costs less than its pieces, as long as that fits.

        A source that does not fit then is left out of the next choice: its price says too little of what it costs.
        """
        shelf, best, low = self, tried, tokens_left
        for _ in range(_MOST_CHOICES):
            picked, _, left = best
            high = self.cost(picked) + left
            if high > low or len(picked) < _MANY_SOURCES:  # many pieces show it, if their bounds were rounded up
                high += _ROUNDING
            high = high if max_tokens is None else min(high, max_tokens)
            more = shelf.pick(high)
            if high <= low or more == picked:
                break
            tried = shelf._try_choice(high)
            if tried[2] >= 0:
                best, low = tried, high
                continue
            best = shelf._search_between(low, high, best)
            beyond = next((at for at in more if at not in best[0]), None)
            shelf = attrs.evolve(shelf, allowed=[at for at in shelf.allowed if at != beyond])
        return best[:2]

    def _search_between(self, low: Tokens, high: Tokens, best: _Tried) -> _Tried:
        """The choice for the most tokens below `high` that fits. `best` is that for `low`."""
        while high - low > 1:
            middle = (low + high) // 2
            tried = best if self.pick(middle) == best[0] else self._try_choice(middle)
            if tried[2] < 0:
                high = middle
            else:
                low, best = middle, tried
        return best

    def _try_choice(self, tokens_left: Tokens) -> _Tried:
        picked = self.pick(tokens_left)
        rendered = self.layout_of(picked)
        return picked, rendered, self.writer.space.left(rendered) or 0

    def refill(self, tokens_left: Tokens, picked: list[int], rendered: Rendered) -> Choice:
        """Fill the tokens that merging freed: choose again with more tokens left, then try neighbours one by one."""

        def lay_out_if_fits(more: list[int]) -> Rendered | None:
            found = self.layout_of(more)
            left = self.writer.space.left(found)
            return found if (left is None or left >= 0) and self.writer.cost(found) <= tokens_left else None

        for _ in range(_MOST_REFILLS):
            freed = tokens_left - self.writer.cost(rendered)
            more = self.pick(self.cost(picked) + freed) if freed > 0 else picked
            if not set(more) > set(picked) or (wider := lay_out_if_fits(more)) is None:
                break
            picked, rendered = more, wider
        near = set[tuple[Hashable, int]]().union(*(neighbours_of(self.sources[at]) for at in picked))
        taken, tries = set(picked), 0
        for at in self.allowed:
            source = self.sources[at]
            index = metadata_of(source.document, "chunk_index")
            is_near = isinstance(index, int) and (source.origin, index) in near
            if tries == _MOST_NEIGHBOURS or at in taken or not is_near:
                continue
            tries += 1
            if (wider := lay_out_if_fits([*picked, at])) is not None:
                picked, rendered = [*picked, at], wider
                near |= neighbours_of(source)
                taken.add(at)
        return picked, rendered

    def complete(
        self, whole: Tokens | None, max_tokens: Tokens | None, picked: list[int], rendered: Rendered
    ) -> Choice:
        """Add sources that fit because the whole costs less than its pieces, whose bounds are rounded up one by one.

        `whole` is the tokens left for all sources, and `max_tokens` their limit; None for none. First those are tried
        that may fit by their prices, then any, if the whole may cost far less, as with a template that shortens texts.
        """
        left = self.writer.space.left(rendered)
        if whole is None or left is None:
            return picked, rendered
        saved = left + self.cost(picked) - whole
        for by_price in (True, False):
            tries = 0
            for at in self.allowed:
                if tries == _MOST_REFILLS or not (by_price or not picked or saved > 0):
                    break
                if at in picked or (by_price and self.cost([at]) > left + max(saved, _ROUNDING)):
                    continue
                tries += 1
                more = [*picked, at]
                wider = self.layout_of(more)
                after = self.writer.space.left(wider)
                if after is None or after < 0 or (max_tokens is not None and self.writer.cost(wider) > max_tokens):
                    continue
                picked, rendered, left = more, wider, after
                saved = left + self.cost(picked) - whole
        return picked, rendered

    def choose_cheapest(self) -> Choice:
        """The source that costs least, and its layout."""
        picked = [min(self.allowed, key=lambda at: self.candidates[at].cost)]
        return picked, self.layout_of(picked)
