"""From every spelling into every dialect: each text once, no API's words in another's request, nothing silently."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, UnsupportedContentError, verify
from assembler.dialects import DIALECTS, Dialect
from assembler.dialects.chat_template.dialect import ControlText, chat_template
from tests.scaled import scaled

from .decorated import FORMS, Drawn, decorated, marks
from .dialects.test_chat_template import TOKENIZERS

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "any", "parameters": {"type": "object", "properties": {}}},
}
# Drawn arguments hold control tokens: what is done about those is tested with the templates.
_TEMPLATE = chat_template(TOKENIZERS["chatml"], control_text=ControlText.ALLOW)
EVERY: dict[str, Dialect] = {**DIALECTS, "chat_template": _TEMPLATE}
IMAGE = {"type": "image_url", "image_url": {"url": "https://a.example/i.png"}, "width": 8, "height": 8}
MAY_BE_REFUSED = frozenset({"image"})
"""What an API may have no word for: then it is refused, typed."""


@pytest.mark.parametrize("name", EVERY)
@scaled(0.3)
@given(drawn=st.sampled_from(FORMS).flatmap(decorated))
def test_what_comes_in_goes_out_or_is_said_to_be_left_out(name: str, drawn: Drawn) -> None:
    before = copy.deepcopy(drawn.history)
    assembler = Assembler(dialect=EVERY[name]).add_capability([TOOL]).add_messages(drawn.history)
    try:
        context = assembler.build()
        request = context.request()
    except UnsupportedContentError:
        assert drawn.kinds & MAY_BE_REFUSED
        return
    assert drawn.history == before
    went, report = marks(request), str(context.report)
    if name == "chat_template":
        report += str(request["prompt"])
    assert went - drawn.marks == {}
    lost = drawn.marks - went
    assert not [mark for mark in lost if mark[0] == "m"]
    for letter in {mark[0] for mark in lost}:
        assert letter != "t" or "reasoning" in report
        assert letter != "f" or ("given to it" if name == "chat_template" else "left out") in report
        assert letter != "u" or "part(s) of another API" in report
    if name not in ("plain", "chat_template"):
        # Whose a part is that nobody knows, the message around it may not say: then the choice of the dialect does.
        # A part that nobody knows goes to the API that was asked for as it came, with the marks that it carries itself.
        own_words = {"S4", "S5"} if {"unread", "mark"} <= drawn.kinds else {"S4"} if "unread" in drawn.kinds else set()
        assert {violation.rule for violation in verify(request, dialect=name)} <= own_words


def test_a_cache_mark_beside_an_image_does_not_reach_mistral() -> None:
    marked = {**IMAGE, "cache_control": {"type": "ephemeral"}}
    history = [{"role": "user", "content": [{"type": "text", "text": "q"}, marked]}]
    context = Assembler(dialect=EVERY["mistral"]).add_messages(history).build()
    assert verify(context.request(), dialect="mistral") == []
    assert "1 cache mark(s) of another API left out" in str(context.report)


SEND_IMAGES_BY_ADDRESS = frozenset({"anthropic", "mistral", "openai_chat", "openai_responses"})
BY_FILE = {"type": "input_image", "file_id": "f", "width": 8, "height": 8}


@pytest.mark.parametrize("image", [IMAGE, BY_FILE], ids=["address", "file"])
@pytest.mark.parametrize("name", DIALECTS)
def test_what_tells_this_library_a_size_is_not_sent(name: str, image: dict[str, Any]) -> None:
    assembler = Assembler(dialect=EVERY[name]).add_messages([{"role": "user", "content": [image]}])
    try:
        request = assembler.build().request()
    except UnsupportedContentError as error:  # the dialect says itself that it has no word for an image
        assert error.kind == "image"
        assert image is BY_FILE or name not in SEND_IMAGES_BY_ADDRESS
        return
    assert verify(request, dialect=name) == []


@pytest.mark.parametrize("name", EVERY)
def test_a_refusal_without_content_is_told_to_every_api(name: str) -> None:
    refused = {"role": "assistant", "content": None, "refusal": "m1m"}
    history = [{"role": "user", "content": "m0m"}, refused, {"role": "user", "content": "m2m"}]
    context = Assembler(dialect=EVERY[name]).add_messages(history).build()
    assert marks(context.request()) == {"m0m": 1, "m1m": 1, "m2m": 1}
    assert not context.dropped


@pytest.mark.parametrize("dialect", ["openai_chat", "anthropic"])
@pytest.mark.parametrize("kind", ["item_reference", "web_search_call"])
def test_an_item_of_texts_alone_that_says_nothing_to_an_api_is_told_as_dropped(kind: str, dialect: str) -> None:
    messages = [{"role": "user", "content": "hi"}, {"type": kind, "id": "item_1"}, {"role": "user", "content": "go on"}]
    context = Assembler(dialect=dialect).add_messages(messages).build()
    assert [left_out.index for left_out in context.dropped] == [1]
