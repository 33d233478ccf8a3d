"""A source for a prompt: a document with the score that it is ranked by."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from assembler.errors import PromptError
from assembler.regions.knowledge import Document

Reliability: TypeAlias = Mapping[str, float] | Callable[[Document], float]
"""How far a document is trusted to be right: by its source's name, or asked of a function. 1 changes nothing."""


@attrs.frozen(slots=True, eq=False)
class Source:
    """A document, its place among those given, and its score with its reliability in it."""

    document: Document
    place: int
    score: float

    @property
    def origin(self) -> object:
        """What two sources of one document have in common: `document_id`, else the source's name, else nothing."""
        return of(self.document, "document_id") or self.document.source or self


Identity: TypeAlias = tuple[str, float, str]
"""What a document is whatever request it stands in: whose it is, where in it, and its text. Sorts."""


def identity(document: Document) -> Identity:
    """The name of the document that it is a part of, its place there, and its text."""
    name = of(document, "document_id") or document.source or ""
    return str(name), position(document), document.text


def position(document: Document) -> float:
    """Where a source stands in its document: its chunk's index, else its page; last where neither is known."""
    for key in ("chunk_index", "page_number"):
        value = of(document, key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return float("inf")


def of(document: Document, key: str) -> Any:
    """A document's metadata under `key`, or None."""
    return None if document.metadata is None else document.metadata.get(key)


def ranked_sources(documents: Sequence[Document], reliability: Reliability) -> list[Source]:
    """The documents as sources, best first; equal scores in the order given.

    A document without a score counts as 1 where none has one, as 0 beside others that have. Raises PromptError for a
    score or a weight that is no finite number, and for a negative weight. O(n log n).
    """
    plain = 1.0 if all(document.score is None for document in documents) else 0.0
    found = [
        Source(document, place, _weighted(document, plain, reliability, place))
        for place, document in enumerate(documents)
    ]
    found.sort(key=lambda source: -source.score)  # stable: equal scores stay in the order given
    return found


def _weighted(document: Document, plain: float, reliability: Reliability, place: int) -> float:
    score = plain if document.score is None else _finite(document.score, "score", place)
    if not reliability:
        return score
    weight = reliability(document) if callable(reliability) else reliability.get(document.source or "", 1.0)
    if _finite(weight, "reliability", place) < 0:
        raise PromptError(f"reliability of document {place} is below 0; use 0 to rank it last")
    return score * weight


def _finite(value: object, name: str, place: int) -> float:
    if type(value) is float and -math.inf < value < math.inf:
        return value
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        shown = type(value).__name__
        raise PromptError(f"{name} of document {place} is no finite number ({shown}); leave it out where there is none")
    return number
