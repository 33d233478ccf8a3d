"""Sizes that callers give for media are used when the sent request is read again."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from assembler import Assembler
from assembler.conversation.messages import Media, Message, Opaque, Result
from assembler.pipeline.price_as_sent import has_sizes, with_sizes
from assembler.regions.layout import Layout

SIZES = [{"width": 3}, {"height": 4}, {"pages": 5}, {"seconds": 6}]


def message(*parts: Any) -> Message:
    return Message("user", parts, None, "neutral", None)


def image(**given: Any) -> Media:
    return Media("image", {"type": "image", **given})


def pdf(**given: Any) -> Opaque:
    return Opaque("document_url", {"type": "document_url", **given})


def result(*parts: Any) -> Result:
    return Result("c", parts)


def raws_of(messages: Any) -> list[Any]:
    parts = [part for message in messages for part in message.parts]
    inner = [held for part in parts for held in (part.parts if isinstance(part, Result) else (part,))]
    return [held.raw for held in inner if not isinstance(held, str)]


@pytest.mark.parametrize("given", SIZES, ids=str)
def test_a_size_is_read_at_any_medium_and_under_any_of_its_keys(given: Any) -> None:
    film = Opaque("video", {"video": {"format": "mp4"}, **given})
    for part in (image(**given), pdf(**given), film, result("text", image(**given)), result(pdf(**given))):
        assert has_sizes([message("text"), message("before", part)])
        assert not has_sizes([message("before", attrs.evolve(part, **without_sizes(part)))])


def without_sizes(part: Any) -> dict[str, Any]:
    if isinstance(part, Result):
        return {"parts": tuple(one if isinstance(one, str) else image() for one in part.parts)}
    return {
        "raw": {key: value for key, value in part.raw.items() if key not in ("width", "height", "pages", "seconds")}
    }


def test_a_size_on_words_or_on_anything_but_a_medium_is_ignored() -> None:
    unknown = Opaque("widget", {"type": "widget", "pages": 3, "width": 2})
    assert not has_sizes([])
    assert not has_sizes([message("width"), message(result("pages")), message(unknown, result(unknown))])


def test_each_medium_gets_its_given_sizes_back_and_keeps_its_kind() -> None:
    words = message("only words")
    sent = Layout(
        system="s",
        messages=[
            words,
            message("a", image(url="1"), "b", result("c", image(url="2"), pdf(url="3"))),
            message(image(url="4")),
        ],
    )
    own = [
        message("as it came", image(url="first", width=1, height=2, note="mine")),
        message(result(image(url="second")), "between"),
        message(result(pdf(pages=7)), image(seconds=8)),
    ]
    found = with_sizes(sent, own)
    assert raws_of(found.messages) == [
        {"type": "image", "url": "1", "width": 1, "height": 2},
        {"type": "image", "url": "2"},
        {"type": "document_url", "url": "3", "pages": 7},
        {"type": "image", "url": "4", "seconds": 8},
    ]
    assert found.system == "s"
    assert found.messages[0] is words
    first, second = found.messages[1].parts[0], found.messages[1].parts[3]
    assert (first, found.messages[1].parts[2]) == ("a", "b")
    assert isinstance(second, Result)
    assert (second.call_id, second.parts[0]) == ("c", "c")


def test_a_part_beside_media_does_not_take_their_sizes() -> None:
    widget = Opaque("widget", {"type": "widget"})
    found = with_sizes(
        Layout(messages=[message(widget, image(), result(widget, image()))]), [message(image(width=1), image(width=2))]
    )
    assert [raw.get("width") for raw in raws_of(found.messages)] == [None, 1, None, 2]


@pytest.mark.parametrize(
    "sent",
    [[], [message(image())], [message(image(), Media("audio", {}))], [message(image(), image(), image())]],
    ids=len,
)
def test_no_size_is_guessed_if_one_of_the_media_was_not_sent(sent: list[Message]) -> None:
    layout = Layout(messages=sent)
    assert with_sizes(layout, [message(image(width=1), image(width=2))]) is layout


FILES: dict[str, Any] = {
    "anthropic": {"type": "document", "source": {"type": "url", "url": "https://a.example/f.pdf"}},
    "bedrock": {"document": {"format": "pdf", "name": "f", "source": {"s3Location": {"uri": "s3://a/f"}}}},
    "gemini": {"file_data": {"file_uri": "https://a.example/f.pdf", "mime_type": "application/pdf"}},
}
WORDS: dict[str, Any] = {
    "anthropic": {"document": {"format": "txt", "name": "d", "source": {"text": "w w w"}}},
    "bedrock": {"type": "document", "source": {"type": "text", "data": "w w w"}},
    "gemini": {"type": "document", "source": {"type": "text", "data": "w w w"}},
}
"""Plain texts in the form of another API, which get there as texts."""


@pytest.mark.parametrize("name", FILES)
def test_a_declared_length_holds_beside_a_file_that_is_sent_as_a_text(name: str) -> None:
    """All sizes were lost beside it, so that a document of three pages was bounded by the longest one."""
    asked = {"role": "user", "parts" if name == "gemini" else "content": [{**FILES[name], "pages": 3}]}
    history = [{"role": "user", "content": [WORDS[name]]}, asked]
    alone, beside = (Assembler(dialect=name).add_messages(one).build().count for one in ([asked], history))
    assert beside.upper < alone.upper + 100
