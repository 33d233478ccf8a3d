"""A source: a document with the score by which it is ranked."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, SupportsFloat, TypeAlias, cast

import attrs

from assembler.errors import PromptError
from assembler.regions.knowledge import Document

Reliability: TypeAlias = Mapping[str, float] | Callable[[Document], float]
"""A weight for each document, by the name of its source or by a function. 1 changes nothing."""


@attrs.frozen(slots=True, eq=False)
class Source:
    """A document, its place among those given, and its score times its reliability."""

    document: Document
    place: int
    score: float

    @property
    def origin(self) -> Hashable:
        """The same for all sources of one document: `document_id`, else the source's name, else the source itself."""
        return _read_document_id(self.document) or self.document.source or self


Identity: TypeAlias = tuple[str, float, str]
"""The identity of a document in any request, which can be sorted: its document's name, its position, its text."""


def identity(document: Document) -> Identity:
    """The identity of a document: the name of what it is a part of, its position there, and its text."""
    name = _read_document_id(document) or document.source or ""
    return _write_name(name), position(document), document.text


def _write_name(name: object) -> str:
    """A name as a text. Python writes an integer of more than 4,300 digits in base 16 alone."""
    try:
        return str(name)
    except Exception:  # a method of the caller's may raise anything
        if isinstance(name, int):
            return f"{name:x}"
    raise PromptError("document_id cannot be written as text; pass a short text or number")


def position(document: Document) -> float:
    """The position of a source in its document: its chunk index, else its page, else infinity."""
    for key in ("chunk_index", "page_number"):
        value = metadata_of(document, key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return float("inf")


def metadata_of(document: Document, key: str) -> Any:
    """A document's metadata under `key`, or None."""
    return None if document.metadata is None else document.metadata.get(key)


def _read_document_id(document: Document) -> Hashable | None:
    """The `document_id` of a document, or None. An id without a hash, such as a list, identifies nothing."""
    found: Hashable = metadata_of(document, "document_id")
    try:
        hash(found)
    except Exception:  # a list, a tuple with a list inside, or a method of the caller's
        return None
    return found


def ranked_sources(documents: Sequence[Document], reliability: Reliability) -> list[Source]:
    """The documents as sources, best first. Equal scores keep the order given.

    If no document has a score, all count as 1; otherwise one without a score counts as 0. Raises `PromptError` for a
    score or weight that is not a finite number, and for a negative weight. O(n log n).
    """
    plain = 1.0 if all(document.score is None for document in documents) else 0.0
    found = [
        Source(document, place, _weigh_score(document, plain, reliability, place))
        for place, document in enumerate(documents)
    ]
    found.sort(key=lambda source: -source.score)  # stable: equal scores stay in the order given
    return found


def _weigh_score(document: Document, plain: float, reliability: Reliability, place: int) -> float:
    score = plain if document.score is None else _must_be_finite(document.score, "score", place)
    if not reliability:
        return score
    weight = reliability(document) if callable(reliability) else reliability.get(document.source or "", 1.0)
    if _must_be_finite(weight, "reliability", place) < 0:
        raise PromptError(f"reliability of document {place} is below 0; use 0 to rank it last")
    return score * weight


def _must_be_finite(value: object, name: str, place: int) -> float:
    if type(value) is float and -math.inf < value < math.inf:
        return value
    try:
        number = math.nan if isinstance(value, bool | str) else float(cast("SupportsFloat", value))
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        shown = type(value).__name__
        raise PromptError(f"{name} of document {place} is not a finite number ({shown}); leave it out if unknown")
    return number
