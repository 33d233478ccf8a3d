"""A source that is sent as a block of its API's, before the text of the question."""

from __future__ import annotations

import attrs

from assembler.pricing.pricer import Piece


@attrs.frozen(eq=False, repr=False)
class SourceBlock(Piece):
    """A source that is sent as a block of its API's, which an answer can cite.

    `text` is the source's text. `source` and `title` are its other fields; the API demands both.
    """

    source: str
    title: str
