"""Writes sources: a heading with the number, and a body.

They are separate because numbers are assigned last: a body has one price, whatever its number. Headings and bodies end
with a line break and begin with a letter or a mark, so that their counts add.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Sequence
from typing import Protocol, cast, runtime_checkable

import attrs

from assembler.errors import MarkupError
from assembler.regions.knowledge import TEXT_ESCAPES, Document
from assembler.strategies.sources.forged_lines import LABELS, escape_forgeries
from assembler.strategies.sources.source import metadata_of
from assembler.text.checked import checked_text
from assembler.validation import Does, Is, iterates, wrong
from budgets import BudgetError

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")

RULE = "---\n\n"
"""Separates two sources, with a blank line on both sides."""


class Headings(enum.Enum):
    """How a source names its document, section and page."""

    FIELDS = "Document, Section and Page on a line each"
    TRAIL = "one line: document › section › subsection, page"


_A_HEADINGS = Is((Headings,), "a member of Headings such as Headings.TRAIL")


def _read_labels(given: Iterable[str]) -> tuple[str, ...]:
    found: object = given
    if isinstance(found, str) or not iterates(found):
        raise BudgetError(wrong("labels", "a list of texts such as 'QUESTION:'", given))
    return tuple(checked_text(label, field="labels") for label in given)


class SourceLayout(Protocol):
    """Writes sources as text. The model reads `heading(n) + body(document)` for n from 1, joined in order."""

    def heading(self, number: int) -> str:
        """The text before the body of source `number`. Must end with a line break."""
        ...

    def body(self, document: Document) -> str:
        """The rest of a source. Must end with a line break, and not begin with a blank or a slash."""
        ...


@runtime_checkable
class BlockLayout(SourceLayout, Protocol):
    """A layout for APIs that have blocks for sources. It writes text for all others."""

    def named(self, document: Document) -> tuple[str, str]:
        """The source and the title in a document's block. Neither may be blank."""
        ...


@attrs.frozen
class PlainSources:
    r"""Writes `[Source 1]`, where it is from, and its content, with a rule between two sources.

    If a line of the content looks like a heading, a rule or one of `labels`, it gets a backslash before it; one that
    has backslashes gets one more. So a text can mention sources, but cannot forge one in any spelling that
    `escape_forgeries` reads. `labels` are the lines around the sources. With a template of your own, pass its lines.
    """

    headings: Headings = attrs.field(default=Headings.FIELDS, validator=_A_HEADINGS)
    labels: tuple[str, ...] = attrs.field(default=LABELS, converter=_read_labels)

    def heading(self, number: int) -> str:
        """The number, after a rule if another source comes before."""
        return f"[Source {number}]\n" if number == 1 else f"{RULE}[Source {number}]\n"

    def body(self, document: Document) -> str:
        """Where it is from, and its content."""
        return f"{origin_lines(document, self.headings)}Content:\n{escape_forgeries(document.text, self.labels)}\n\n"


@attrs.frozen
class TaggedSources:
    """Puts a `<source id="1">` tag around each source, with its text escaped, so that nothing in it can end the tag."""

    headings: Headings = attrs.field(default=Headings.FIELDS, validator=_A_HEADINGS)

    def heading(self, number: int) -> str:
        """The opening tag."""
        return f'<source id="{number}">\n'

    def body(self, document: Document) -> str:
        """Where it is from and its content, escaped, and the closing tag."""
        whole = f"{origin_lines(document, self.headings)}Content:\n{document.text}"
        return f"{whole.translate(TEXT_ESCAPES)}\n</source>\n\n"


@attrs.frozen
class NativeSources:
    """Sends each source as a block of the API's own, so that the API itself says what an answer cites.

    Anthropic's API has `search_result` for this, and Converse `searchResult` for Claude. The block's `source` is that
    of the document, or its type, and the title adds section and page. For any other API, or if no message can hold
    blocks, the sources are text as `elsewhere` writes them.
    """

    elsewhere: SourceLayout = attrs.field(default=PlainSources(), validator=Does("body", "a layout, PlainSources()"))

    def heading(self, number: int) -> str:
        """The heading in a text."""
        return self.elsewhere.heading(number)

    def body(self, document: Document) -> str:
        """The body in a text."""
        return self.elsewhere.body(document)

    def named(self, document: Document) -> tuple[str, str]:
        """Where the document is from, and the same with section and page."""
        kind = document.type.strip() or "source"
        name, page = _make_one_line(document.source), _make_one_line(metadata_of(document, "page_number"))
        title = " › ".join([place for place in (name, *section_trail(document)) if place]) or kind
        return (document.source or kind) if name else kind, f"{title}, page {page}" if page else title


def origin_lines(document: Document, headings: Headings) -> str:
    """The document, section and page that are known, each in one line, whatever they hold."""
    name, trail = _make_one_line(document.source), section_trail(document)
    page = _make_one_line(metadata_of(document, "page_number"))
    if headings is Headings.TRAIL:
        places = [place for place in (name, *trail) if place]
        shown = " › ".join(places) + (f", page {page}" if page else "")
        return f"Document: {shown}\n" if places else (f"Page: {page}\n" if page else "")
    section = " › ".join(trail)
    lines = (("Document", name), ("Section", section), ("Page", page))
    return "".join(f"{label}: {value}\n" for label, value in lines if value)


def section_trail(document: Document) -> list[str]:
    """The sections around a source, outermost first: `section_path`, else `section_title` alone."""
    path: object = metadata_of(document, "section_path")
    titles = list(cast("Sequence[object]", path)) if isinstance(path, list | tuple) else []
    trail = [line for title in titles if (line := _make_one_line(title))]
    return trail or [line for line in (_make_one_line(metadata_of(document, "section_title")),) if line]


def _make_one_line(value: object) -> str:
    if value is None:
        return ""
    try:
        text = str(value)
        return text if text.isalnum() else _BLANKS.sub(" ", text).strip()
    except RecursionError:
        problem = "is nested too deeply to be written"
    except ValueError:  # Python prints no number of more than 4,300 digits
        problem = "holds a number of too many digits"
    except Exception:  # a method of the caller's may raise anything
        problem = "holds a value that cannot be written as text"
    raise MarkupError(f"the metadata of a document {problem}", field="metadata")
