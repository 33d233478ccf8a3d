"""What a strategy is: it chooses knowledge and lays out the system text. Knows no tokens yet and no provider."""

from __future__ import annotations

from typing import Protocol

import attrs

from assembler.draft import Regions
from assembler.pricing import Piece


@attrs.frozen
class Rendered:
    """The system text in pieces, each owned by a region; joined in order they are what the model reads."""

    pieces: tuple[Piece, ...] = ()

    @property
    def system(self) -> str | None:
        """The system text, or None where there is none."""
        return "".join(piece.text for piece in self.pieces) or None


class Strategy(Protocol):
    """Chooses which knowledge goes in, in what order, and how it is written. Pure; order of its pieces is final.

    Contract: two pieces meet only where one ends with a line break and the next begins with a tag, so that the sum of
    their counts is the count of the whole (see `assembler.pricing.price_pieces`).
    """

    def render(self, regions: Regions) -> Rendered:
        """The system text of these regions."""
        ...
