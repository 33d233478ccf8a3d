"""Reads the results of any retriever."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import attrs

from assembler.errors import PromptError
from assembler.regions.knowledge import Document
from assembler.text.checked import checked_text
from assembler.text.fields import value_in
from assembler.validation import Is, iterates, wrong
from budgets.errors import OfTheCaller

_T = TypeVar("_T")
_A_MAPPING = Is((Mapping, type(None)), "a mapping (dict) or None", PromptError)


def _must_be_vector(_owner: object, _field: attrs.Attribute[Any], value: Any) -> None:
    given: object = value
    if isinstance(given, str | bytes | Mapping):
        raise PromptError(wrong("embedding", "a list of numbers or None", value))


@attrs.frozen
class RetrievalResult:
    """One retrieved chunk. `metadata` may hold `chunk_index`, `section_path` and any other data of the retriever."""

    content: str = attrs.field(repr=False)
    score: float = 0.0
    chunk_id: str | None = None
    document_id: str | None = None
    document_filename: str | None = None
    section_title: str | None = None
    page_number: int | str | None = None
    embedding: Sequence[float] | None = attrs.field(default=None, repr=False, eq=False, validator=_must_be_vector)
    metadata: Mapping[str, Any] | None = attrs.field(default=None, repr=False, validator=_A_MAPPING)


# The frameworks' names of each field. The first one with a value is used.
_NAMES: dict[str, tuple[str, ...]] = {
    "content": ("content", "page_content", "text", "chunk", "document", "body"),
    "score": ("score", "relevance_score", "similarity", "_score"),
    "chunk_id": ("chunk_id", "id", "node_id", "id_"),
    "document_id": ("document_id", "doc_id", "ref_doc_id"),
    "document_filename": ("document_filename", "filename", "file_name", "source", "file_path", "title"),
    "section_title": ("section_title", "section", "heading"),
    "page_number": ("page_number", "page", "page_label"),
    "embedding": ("embedding", "vector", "values"),
}
_TEXTS = ("chunk_id", "document_id", "document_filename", "section_title")
_PAIR = 2


def read_results(results: object) -> list[RetrievalResult]:
    """Read every result as a `RetrievalResult`, in order. Raises PromptError naming the place of one without a text.

    Accepts RetrievalResult; dicts and objects with its field names or those of `_NAMES`, directly or in their
    `metadata`; `(document, score)` pairs from LangChain's `similarity_search_with_score`; LlamaIndex's nodes with a
    score. A missing score is 0.
    """
    return [
        _read_result(result, place)
        for place, result in enumerate(as_list(cast("Iterable[object]", results), "retrieval results"))
    ]


def as_list(values: Iterable[_T], name: str) -> list[_T]:
    """The argument `name` as a list. Raises PromptError for other values, also for a text and a mapping."""
    given: object = values
    if not iterates(given) or isinstance(given, str | bytes | Mapping):
        raise PromptError(f"{wrong(name, 'a list', values)}; pass [one] for one")
    return list(values)


def _read_result(result: object, place: int) -> RetrievalResult:
    try:
        with OfTheCaller(f"retrieval result {place}", PromptError):
            return _read_nested(result, place)
    except RecursionError:
        pass  # outside of it, the error does not hold the whole stack
    raise PromptError(f"retrieval result {place} holds itself, or results nested too deeply; pass the innermost")


def _read_nested(result: object, place: int) -> RetrievalResult:
    if isinstance(result, RetrievalResult):
        return result
    given: object = result
    if isinstance(given, tuple) and len(cast("tuple[object, ...]", given)) == _PAIR:
        item, score = cast("tuple[object, object]", result)
        return attrs.evolve(_read_nested(item, place), score=_read_score(score, place))
    node = value_in(result, "node")
    if node is not None and _read_content(node) is not None:
        return attrs.evolve(_read_nested(node, place), score=_read_score(value_in(result, "score"), place))
    text = _read_content(result)
    if text is None:
        raise PromptError(
            f"retrieval result {place} ({type(result).__name__}) has no text; "
            "pass a RetrievalResult, or a dict or object with 'content'"
        )
    metadata = value_in(result, "metadata")
    extra: Mapping[str, Any] = cast("Mapping[str, Any]", metadata) if isinstance(metadata, Mapping) else {}
    found = {name: _find_first(result, extra, names) for name, names in _NAMES.items() if name != "content"}
    texts = {name: _read_text(found[name], f"{name} of retrieval result {place}") for name in _TEXTS}
    return RetrievalResult(
        content=checked_text(text, field=f"retrieval result {place}"),
        score=_read_score(found["score"], place),
        page_number=found["page_number"] if isinstance(found["page_number"], int | str) else None,
        embedding=found["embedding"],
        metadata=extra or None,
        **texts,
    )


def _read_content(item: object) -> str | None:
    """The text, which LlamaIndex's nodes have in `get_content()`."""
    if isinstance(item, str):
        return item
    get_content = getattr(item, "get_content", None)
    if callable(get_content):
        content = get_content()
        return content if isinstance(content, str) else None
    return next((text for name in _NAMES["content"] if isinstance(text := value_in(item, name), str)), None)


def _find_first(item: object, metadata: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    if isinstance(item, str):
        return None
    own = (value_in(item, name) for name in names)
    values = (*own, *map(metadata.get, names))
    return next((value for value in values if value is not None and not callable(value)), None)


def _read_score(value: object, place: int) -> float:
    if value is None:
        return 0.0
    with contextlib.suppress(TypeError, ValueError, OverflowError):  # their text may quote the value
        return float(cast(float, value))
    raise PromptError(
        f"score of retrieval result {place} is not a number ({type(value).__name__}); leave it out where there is none"
    )


def _read_text(value: object, field: str) -> str | None:
    try:
        return None if value is None else str(value)
    except Exception:  # a number of thousands of digits, lists in lists in lists, a method that raises
        kind = type(value).__name__
    raise PromptError(f"{field} is a {kind} that cannot be written as text; pass a short text or number")


def as_document(result: RetrievalResult) -> Document:
    """A result as a document of the knowledge region, with its other fields in the metadata."""
    metadata = {
        **(result.metadata or {}),
        "chunk_id": result.chunk_id,
        "document_id": result.document_id,
        "section_title": result.section_title,
        "page_number": result.page_number,
    }
    return Document(
        text=checked_text(result.content, field="retrieval result"),
        type="source",
        source=_read_text(result.document_filename, "document_filename"),
        score=result.score,
        embedding=result.embedding,
        metadata=metadata,
    )
