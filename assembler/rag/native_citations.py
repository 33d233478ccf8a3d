"""Reads the citations that an API writes beside an answer's text: Anthropic's, and Converse's of Claude.

Each names a source by its place among all blocks for sources of the request, those of the caller's own included
(anthropic 2.14.0, CitationsSearchResultLocation, and botocore 1.44.8, SearchResultLocation, read 2026-11).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import attrs

from assembler.context import Context
from assembler.conversation.messages import read_message
from assembler.errors import ConversationError, MarkupError, PromptError
from assembler.pipeline.emit import request_to_read
from assembler.rag.citations import Citation
from assembler.strategies.source_block import SourceBlock
from assembler.text.fields import fields_in, fields_of, items_of
from assembler.validation import wrong


@attrs.frozen
class Passage:
    """A part of an answer's text: its span without white space around it, and the places of the blocks it cites."""

    start: int
    end: int
    places: tuple[int, ...]


@attrs.frozen
class ReadAnswer:
    """The text of an answer, and the passages in it that the API gave citations."""

    text: str
    passages: tuple[Passage, ...] = ()


def answer_text(answer: object) -> str:
    """The text to whose characters the spans of a `CitationReport` refer. Of a message it is its texts, joined.

    Raises PromptError if `answer` is neither a text nor a message.
    """
    return read_answer(answer).text


def read_answer(answer: object) -> ReadAnswer:
    """Read a text, or a message in any form that `Assembler.add_message` takes. Raises PromptError for others."""
    if isinstance(answer, str):
        return ReadAnswer(answer)
    try:
        message = read_message(answer, 0)
    except (ConversationError, MarkupError) as error:
        expected = "a text (str), or the message of the answer"
        raise PromptError(f"{wrong('answer', expected, answer)}: {error}") from None
    listed = items_of(fields_in(message.seen).get("content"))
    if not listed:
        return ReadAnswer("".join(part for part in message.parts if isinstance(part, str)))
    texts, passages, length = list[str](), list[Passage](), 0
    for item in listed:
        text, places = _read_block(item)
        if places:
            start = length + len(text) - len(text.lstrip())
            passages.append(Passage(start, start + len(text.strip()), places))
        texts.append(text)
        length += len(text)
    return ReadAnswer("".join(texts), tuple(passages))


def _read_block(item: object) -> tuple[str, tuple[int, ...]]:
    """The text of a block of an answer, and the places that it cites."""
    if isinstance(item, str):
        return item, ()
    fields = fields_in(item)
    cited = fields_of(fields.get("citationsContent"))
    if cited is not None:
        joined = "".join(str(fields_in(part).get("text", "")) for part in items_of(cited.get("content")))
        found = [fields_in(each, "location", "searchResultLocation") for each in items_of(cited.get("citations"))]
        return joined, _list_places([each.get("searchResultIndex") for each in found])
    text: object = fields.get("text")
    if not isinstance(text, str) or fields.get("type", "text") not in ("text", "output_text"):
        return "", ()
    citations = [fields_in(each) for each in items_of(fields.get("citations"))]
    ours = [each for each in citations if each.get("type") == "search_result_location"]
    return text, _list_places([each.get("search_result_index") for each in ours])


def _list_places(given: list[object]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(place for place in given if isinstance(place, int)))


@attrs.frozen
class Numbers:
    """What the places of blocks mean: `first` is that of source 1, and `blocks` is how many blocks there are at all."""

    first: int
    issued: Collection[int]
    blocks: int = 0

    def cited(self, passages: Iterable[Passage]) -> Iterator[tuple[Passage, Citation]]:
        """Each passage with its citation by numbers of sources, unless it cites only the caller's own blocks."""
        for passage in passages:
            numbers = {place - self.first + 1: place for place in passage.places}
            known = tuple(number for number in numbers if number in self.issued)
            unknown = tuple(
                number
                for number, place in numbers.items()
                if number not in self.issued and not 0 <= place < self.blocks
            )
            if known or unknown:
                yield passage, Citation(passage.start, passage.end, known, unknown)


def blocks_of(context: Context[Any]) -> tuple[SourceBlock, ...]:
    """The sources of a request that are blocks of the API's; none if they are text."""
    around = context.inside.measured.rendered.around
    return () if around is None else around.blocks


def numbers_in(context: Context[Any]) -> Numbers:
    """The places of the sources among the blocks of a request. O(request)."""
    found = [_identify_block(block) for block in _find_blocks(request_to_read(context.inside))]
    sent = [(block.source, block.title, block.text) for block in blocks_of(context)]
    if not sent:
        return Numbers(0, (), len(found))
    starts = range(len(found) - len(sent), -1, -1)
    here = (start for start in starts if found[start] == sent[0] and found[start : start + len(sent)] == sent)
    first = next(here, len(found))
    return Numbers(first, range(1, len(sent) + 1), len(found))


def _find_blocks(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The fields of every block for a source, in order, those in tool results too."""
    for message in items_of(request.get("messages")):
        for item in items_of(fields_in(message).get("content")):
            fields = fields_in(item)
            result = fields_of(fields.get("toolResult")) or (fields if fields.get("type") == "tool_result" else {})
            for block in (fields, *map(fields_in, items_of(result.get("content")))):
                if block.get("type") == "search_result":
                    yield block
                elif (inner := fields_of(block.get("searchResult"))) is not None:
                    yield inner


def _identify_block(block: Mapping[str, Any]) -> tuple[object, object, str]:
    text = "".join(str(fields_in(part).get("text", "")) for part in items_of(block.get("content")))
    return block.get("source"), block.get("title"), text
