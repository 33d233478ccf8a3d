"""An opaque part: which of its words are counted, and what the rest costs, by hand."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from assembler.conversation.messages import Media, Opaque
from assembler.conversation.messages.message import Result
from assembler.pricing.opaque import add_words, is_measured, price_lasting, price_opaque, price_pages, read_opaque
from budgets import Count, Grade

LINK = {"type": "url", "url": "https://x.test/a"}


def estimate(tokens: int, upper: int) -> Count:
    return Count(tokens, Grade.ESTIMATED, upper)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ({"a": "data:image/png;base64,AAAA", "b": "words"}, '{"b":"words"}'),
        ({"a": "words data:"}, '{"a":"words data:"}'),
        ({"a": "A" * 200}, ""),
        ({"text": "A" * 200, "stdout": ""}, '{"text":"' + "A" * 200 + '"}'),
        ({"a": [{"output": "A" * 200}]}, '{"a":[{"output":"' + "A" * 200 + '"}]}'),
        ({"output": "data:image/png;base64,AAAA"}, ""),
        ({"a": "A" * 199}, '{"a":"' + "A" * 199 + '"}'),
        ({"a": ["A" * 200, "b"]}, '{"a":["b"]}'),
        ({"a": b"bytes", "b": [b"bytes"]}, ""),
        ({"a": MappingProxyType({"b": ("c", 1.5)})}, '{"a":{"b":["c",1.5]}}'),
        ({"a": {"type": "image", "source": LINK}, "b": True}, '{"b":true}'),
        ({"a": {"type": "document", "source": {"type": "text", "data": "words"}}}, '{"a":{"source":{"data":"words"}}}'),
        (
            {"a": {"type": "document", "source": {"type": "content", "content": "c"}}},
            '{"a":{"source":{"content":"c"}}}',
        ),
        ({"a": {"type": "odd", "source": {"url": "u"}}}, '{"a":{"source":{"url":"u"}}}'),
        ({"a": {"type": "image", "source": "words"}}, '{"a":{"source":"words"}}'),
        ({"signature": 7, "encrypted_content": 8}, '{"signature":7,"encrypted_content":8}'),
    ],
)
def test_only_the_words_of_an_opaque_part_are_counted_as_text(raw: Mapping[str, Any], shown: str) -> None:
    assert read_opaque(Opaque("odd", raw)).text == shown


@pytest.mark.parametrize(
    ("raw", "beyond"),
    [
        ({"a": {"type": "image", "source": LINK}}, estimate(1_600, 60 + 6_500)),
        ([{"type": "image", "source": LINK}] * 2, estimate(3_200, 60 + 13_000)),
        ([{"type": "image", "source": LINK}, "data:,"], estimate(3_200, 60 + 13_000)),
        ({"type": "document", "source": LINK}, estimate(30_000, 60 + 1_050_000)),
        ({"type": "document", "source": LINK, "pages": 3}, estimate(9_000, 60 + 24_000)),
        ([{"type": "document", "source": LINK, "pages": pages} for pages in (3, 2)], estimate(15_000, 60 + 40_000)),
        # 300 characters of base64 stand for 225 bytes, and 225 bytes are 300 characters of it.
        ({"encrypted_content": "A" * 300}, estimate(225 // 4, 60 + 225 // 2)),
        ({"encrypted_content": "A" * 300, "a": b"x" * 225}, estimate(450 // 4, 60 + 450 // 2)),
        ({"a": b"x" * 225, "encrypted_index": "A" * 300}, estimate(450 // 4, 60 + 450 // 2)),
        ({"a": b"x" * 226}, estimate(225 // 4, 60 + 225 // 2)),
        ({"a": "A" * 301}, estimate(225 // 4, 60 + 225 // 2)),
        ({"a": "A" * 300, "b": "B" * 300}, estimate(450 // 4, 60 + 450 // 2)),
        ({"id": "i" * 7, "call_id": "i" * 5}, estimate(0, 60 + 12)),
        ({"signature": "A" * 201, "id": "i"}, estimate(0, 60 + 100 + 1)),
    ],
)
def test_content_that_no_model_reads_as_text_is_priced_separately(raw: Any, beyond: Count) -> None:
    found = read_opaque(Opaque("odd", raw)).beyond
    assert found == beyond
    assert (type(found.tokens), type(found.upper)) == (int, int)


def test_a_reference_to_a_stored_item_has_no_words_and_a_guessed_price() -> None:
    found = read_opaque(Opaque("item_reference", {"type": "item_reference", "id": "msg_1"}))
    assert (found.text, found.beyond) == ("", estimate(250, 4_000))


def test_the_words_of_a_part_cost_a_quarter_more_at_most() -> None:
    counted = list[str]()

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    assert price_opaque(Opaque("odd", {"a": "bb"}), count) == estimate(10, 10 + 10 // 4 + 60)
    assert price_opaque(Opaque("odd", {"id": "i"}), count) == estimate(0, 60 + 1)
    assert counted == ['{"a":"bb"}']


def test_the_words_of_a_part_are_counted_among_others_and_a_mark_of_the_cache_has_none() -> None:
    texts = ["before"]
    assert add_words(Opaque("odd", {"a": "b", "id": "i"}), texts) == estimate(0, 60 + 1)
    assert texts == ["before", '{"a":"b"}']
    assert add_words(Opaque("cachePoint", {"cachePoint": {"type": "default"}}), texts) == Count(0)
    assert len(texts) == 2


@pytest.mark.parametrize(("pages", "price"), [(None, (30_000, 262_144)), (1, (3_000, 8_000)), (5, (15_000, 40_000))])
def test_a_linked_document_costs_its_pages_or_ten_and_at_most_the_window(
    pages: int | None, price: tuple[int, int]
) -> None:
    raw: dict[str, Any] = {"type": "document_url", "document_url": "https://x.test/a.pdf"}
    raw |= {} if pages is None else {"pages": pages}
    assert price_pages(Opaque("document_url", raw)) == estimate(*price)
    found = read_opaque(Opaque("document_url", raw))
    assert (found.text, found.beyond) == ("", estimate(*price))


def test_sounds_and_films_are_priced_by_their_seconds_in_results_too() -> None:
    # A sound: 375 tokens for each 30 seconds and two, at the dearest 32 a second. A film: 288 a second, a quarter more.
    sound = Opaque("audio", {"audio": {"format": "mp3", "source": {"bytes": b"x"}}, "seconds": 31})
    film = Opaque("video", {"video": {"format": "mp4", "source": {"bytes": b"x"}}, "seconds": 10})
    heard, seen = estimate(752, 1_926), estimate(2_880, 3_600)
    assert price_lasting([sound]) == read_opaque(sound).beyond == heard
    assert price_lasting([film]) == read_opaque(film).beyond == seen
    named = Opaque("audio", {"audio": "a name"})
    assert price_lasting([film, Result("c", (sound, named)), named]) == heard + seen
    assert price_lasting([]) == Count(0)
    assert [is_measured(part) for part in (sound, film, named, Opaque("document_url", {}))] == [True, True, False, True]
    assert is_measured(Media("image", {}))
    assert not is_measured("audio")


@pytest.mark.parametrize(
    "mark", [{"cache_control": {"type": "ephemeral", "ttl": "1h"}}, {"cachePoint": {"type": "default"}}]
)
def test_a_cache_mark_is_free_anywhere_in_a_part(mark: dict[str, Any]) -> None:
    raw: dict[str, Any] = {"type": "document", "source": {"type": "content", "content": [{"text": "words"}]}}
    inner = {**raw, "source": {"type": "content", "content": [{"text": "words", **mark}]}}
    priced = {price_opaque(Opaque("odd", fields), len) for fields in (raw, {**raw, **mark}, {**mark, **raw}, inner)}
    assert len(priced) == 1
