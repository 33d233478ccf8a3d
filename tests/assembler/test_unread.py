"""The price of an unknown part: its words, its hidden content, and the pictures and pages in it."""

from __future__ import annotations

from typing import Any

import pytest

from assembler.conversation.messages import Opaque
from assembler.pricing.opaque import PAGE, PICTURE, price_opaque, read_opaque
from assembler.pricing.unread_keys import price_unread_keys
from budgets import Count, Grade

PICTURED: dict[str, Any] = {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}}


def beyond(raw: dict[str, Any]) -> Count:
    return read_opaque(Opaque("odd", raw)).beyond


@pytest.mark.parametrize("pictured", [PICTURED, "data:image/png;base64,AAAA"], ids=["a block", "a data URL"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_each_picture_in_an_unknown_part_costs_a_picture(pictured: Any, times: int) -> None:
    found, none = beyond({"held": [pictured] * times}), beyond({"held": []})
    assert found.tokens - none.tokens == PICTURE.tokens * times > 0
    assert found.upper - none.upper == PICTURE.upper * times > 0


def test_a_document_in_an_unknown_part_costs_pages() -> None:
    document = {"type": "document", "source": {"type": "base64", "data": "A" * 400_000}}
    found = beyond({"held": [document]})
    assert found.tokens >= PAGE.tokens
    assert found.upper >= PAGE.upper


def test_the_words_of_an_unknown_part_cost_their_count_and_a_quarter_more_at_most() -> None:
    part = Opaque("odd", {"said": "word and word " * 40})
    words = len(read_opaque(part).text)
    assert words > 400
    price, besides = price_opaque(part, len), read_opaque(part).beyond
    assert (price.tokens - besides.tokens, price.upper - besides.upper) == (words, words + words // 4)


def test_an_unknown_part_without_words_costs_its_other_content_alone() -> None:
    part = Opaque("odd", {})
    assert read_opaque(part).text == ""
    assert price_opaque(part, lambda text: 100 + len(text)) == read_opaque(part).beyond


def test_bytes_in_an_unknown_part_cost_as_much_as_their_base64() -> None:
    spelled = beyond({"held": "A" * 4_000}).tokens
    assert abs(beyond({"held": b"\0" * 3_000}).tokens - spelled) <= 1
    assert spelled > 100


NO_MEDIA: list[dict[str, Any]] = [
    {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "words"}]}},
    {"type": "document", "source": {"type": "text", "data": "words"}},
    {"type": "search_result", "source": {"type": "url", "url": "words"}},
    {"type": "image", "source": "words"},
]


@pytest.mark.parametrize("raw", NO_MEDIA)
def test_a_part_without_pictures_and_pages_is_read_as_words(raw: dict[str, Any]) -> None:
    assert "words" in read_opaque(Opaque("odd", {"held": [raw]})).text
    assert beyond({"held": [raw]}).tokens == 0


def test_every_text_under_an_unknown_key_is_in_the_bound_by_its_bytes() -> None:
    found = price_unread_keys({"odd": ["two words", {"key": "zwei Wörter"}, "word", 7], "model": "not shown"})
    assert found == Count(0, Grade.ESTIMATED, upper=9 + 12)
    assert price_unread_keys({"odd": ["word"], "priced": "two words"}, ("priced",)) == Count(0)
