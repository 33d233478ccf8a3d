"""`SourceFormatter`: the source system's interface to `assembler.strategies.sources.layout`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

from assembler.errors import PromptError
from assembler.rag.result import RetrievalResult, as_document, as_list, read_results
from assembler.regions.knowledge import Document
from assembler.strategies.sources.layout import RULE, PlainSources
from assembler.strategies.sources.source import metadata_of
from budgets.numbers import as_whole_number

_T = TypeVar("_T")

DocumentInfo: TypeAlias = dict[str, list[Any]]


class SourceEntry(dict[str, Any]):
    """`chunk_id`, `document_id`, `page`, and `chunk_ids` if neighbours were merged.

    The source system calls the page `page_number` in one place and `page` in another: `[…]`, `get` and `in` accept
    both, and `document_filename` too. A source without any id is listed by its file name.
    """

    filename: str | None = None

    def __missing__(self, key: str) -> Any:
        if key == "page_number":
            return self["page"]
        if key == "document_filename":
            return self.filename
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in _ALSO

    def get(self, key: str, default: Any = None, /) -> Any:
        """The same as `[…]`, or the default."""
        try:
            return self[key]
        except KeyError:
            return default


_ALSO = frozenset({"page_number", "document_filename"})
"""Keys that can be read but are not listed."""

SourceMapping: TypeAlias = dict[int, SourceEntry]
"""The chunk of each source number."""

_LAYOUT = PlainSources()


class SourceFormatter:
    """Writes sources as `[Source 1]`, document, section, page, content. All methods are static and pure."""

    @staticmethod
    def format_source(
        source_number: int,
        content: str,
        document_filename: str | None = None,
        section_title: str | None = None,
        page_number: int | str | None = None,
    ) -> str:
        """Write one source without a rule around it. None and empty values have no line."""
        as_whole_number(source_number, "source_number")
        result = RetrievalResult(
            content, document_filename=document_filename, section_title=section_title, page_number=page_number
        )
        heading = _LAYOUT.heading(source_number).removeprefix(RULE)
        return heading + _LAYOUT.body(as_document(result)).removesuffix("\n\n")

    @staticmethod
    def format_sources(
        contents: Sequence[str],
        document_filenames: Sequence[str | None] | None = None,
        section_titles: Sequence[str | None] | None = None,
        page_numbers: Sequence[int | str | None] | None = None,
    ) -> str:
        """Write the sources, numbered from 1, with rules between. Raises PromptError for lists of unequal length."""
        contents = as_list(contents, "contents")
        count = len(contents)
        filenames = _complete_column(document_filenames, "document_filenames", count)
        titles = _complete_column(section_titles, "section_titles", count)
        pages: Sequence[int | str | None] = _complete_column(page_numbers, "page_numbers", count)
        blocks = (
            SourceFormatter.format_source(at + 1, contents[at], filenames[at], titles[at], pages[at])
            for at in range(count)
        )
        return f"\n\n{RULE}".join(blocks)

    @staticmethod
    def extract_document_info(retrieval_results: Sequence[object]) -> DocumentInfo:
        """The arguments of `format_sources`, by parameter name."""
        results = read_results(retrieval_results)
        return {
            "contents": [result.content for result in results],
            "document_filenames": [result.document_filename for result in results],
            "section_titles": [result.section_title for result in results],
            "page_numbers": [result.page_number for result in results],
        }

    @staticmethod
    def create_source_mapping(retrieval_results: Sequence[object]) -> SourceMapping:
        """The chunk of each source number. The results are numbered from 1 in order."""
        return mapping_of([as_document(result) for result in read_results(retrieval_results)])


def mapping_of(documents: Sequence[Document]) -> SourceMapping:
    """The chunk of each source number."""
    return {number: _make_entry(document) for number, document in enumerate(documents, 1)}


def _make_entry(document: Document) -> SourceEntry:
    entry = SourceEntry(
        chunk_id=metadata_of(document, "chunk_id"),
        document_id=metadata_of(document, "document_id"),
        page=metadata_of(document, "page_number"),
    )
    entry.filename = document.source
    if entry["chunk_id"] is None and entry["document_id"] is None and document.source is not None:
        entry["document_filename"] = document.source
    if (merged := metadata_of(document, "chunk_ids")) is not None:
        entry["chunk_ids"] = merged
    return entry


def _complete_column(values: Sequence[_T | None] | None, name: str, count: int) -> Sequence[_T | None]:
    if values is None:
        return [None] * count
    values = as_list(values, name)
    if len(values) != count:
        raise PromptError(f"{name} has {len(values)} entries for {count} contents: give one for each, None for unknown")
    return values
