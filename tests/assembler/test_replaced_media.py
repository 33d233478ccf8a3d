"""A policy may put a text, or another medium, in the place of an image."""

from __future__ import annotations

import base64
from typing import Any

import attrs
import pytest

from assembler import Assembler
from assembler.conversation.messages import Media, read_message
from assembler.errors import MessageTypeError
from assembler.policies import Change, with_parts
from budgets import Budget

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
URL = f"data:image/png;base64,{PIXEL}"
WITH_AN_IMAGE: dict[str, dict[str, Any]] = {
    "openai_chat": {"content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": URL}}]},
    "openai_responses": {
        "type": "message",
        "content": [{"type": "input_text", "text": "Look"}, {"type": "input_image", "image_url": URL}],
    },
    "anthropic": {
        "content": [
            {"type": "text", "text": "Look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
        ]
    },
    "gemini": {"parts": [{"text": "Look"}, {"inline_data": {"mime_type": "image/png", "data": PIXEL}}]},
    "bedrock": {
        "content": [{"text": "Look"}, {"image": {"format": "png", "source": {"bytes": base64.b64decode(PIXEL)}}}]
    },
}


class NoImages:
    """Replaces the images of old turns."""

    def rewrites(self, passage: Any) -> Any:
        for index, message in passage:
            places = [place for place, part in enumerate(message.parts) if isinstance(part, Media)]
            if places and index < passage.newest:
                yield Change({index: with_parts(message, dict.fromkeys(places, "[image removed]"))}, "image removed")


@pytest.mark.parametrize("dialect", WITH_AN_IMAGE)
def test_a_text_in_place_of_an_image_is_sent_as_the_api_spells_texts(dialect: str) -> None:
    old = {"role": "user", **WITH_AN_IMAGE[dialect]}
    history = [old, ("assistant", "A dot."), ("user", "And now?")]
    spoken = [{"role": "user", "content": "Look[image removed]"}, *history[1:]]
    whole = Assembler(Budget(99_999), dialect=dialect).set_messages(history)
    least = Assembler(Budget(99_999), dialect=dialect).set_messages(spoken).costs().total + 8
    context = Assembler(Budget(least), dialect=dialect, on_overflow=NoImages()).set_messages(history).build()
    assert whole.build().count.upper > least >= context.count.upper
    sent = str(context.request())
    assert "[image removed]" in sent
    assert PIXEL not in sent
    assert read_message(context.messages[0], 0).parts == ("Look", "[image removed]")


@pytest.mark.parametrize("message", WITH_AN_IMAGE.values(), ids=WITH_AN_IMAGE)
def test_another_medium_takes_the_place_of_an_image(message: dict[str, Any]) -> None:
    read = read_message({"role": "user", **message}, 0)
    medium = read.parts[1]
    assert isinstance(medium, Media)
    other = attrs.evolve(medium, raw={**medium.raw, "height": 9})
    edited = with_parts(read, {1: other})
    assert read_message(edited.raw, 0).parts == ("Look", other)


def test_a_medium_in_place_of_a_text_is_refused() -> None:
    read = read_message({"role": "user", **WITH_AN_IMAGE["openai_chat"]}, 0)
    with pytest.raises(MessageTypeError, match=r"parts\[0\] is a str, got a Media; write another text"):
        with_parts(read, {0: read.parts[1]})


def test_a_text_in_place_of_an_image_keeps_its_cache_mark() -> None:
    image = {**WITH_AN_IMAGE["anthropic"]["content"][1], "cache_control": {"type": "ephemeral"}}
    read = read_message({"role": "user", "content": [image]}, 0)
    assert with_parts(read, {0: "none"}).raw == {
        "role": "user",
        "content": [{"type": "text", "text": "none", "cache_control": {"type": "ephemeral"}}],
    }
