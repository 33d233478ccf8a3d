"""An API that takes no pictures and files from an assistant gets an answer without them, and the report says so."""

from __future__ import annotations

from typing import Any

import pytest

from assembler import Assembler, count_request, verify
from assembler.dialects import DIALECTS
from budgets import Budget
from tests.assembler.decorated import PNG

Dict = dict[str, Any]
ASKED: Dict = {"role": "user", "content": "q"}
URL = f"data:image/png;base64,{PNG}"
MEDIA: dict[str, Dict] = {
    "Chat's picture": {"type": "image_url", "image_url": {"url": URL}},
    "Chat's file": {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}},
    "Chat's sound": {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
    "Responses' picture": {"type": "input_image", "image_url": URL},
    "Responses' file": {"type": "input_file", "file_url": "https://a.example/a.pdf"},
    "Anthropic's picture": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    "Mistral's picture": {"type": "image_url", "image_url": URL},
}
MODELS = ["gpt-4o", "grok-4.3", "openrouter/anthropic/claude-sonnet-4-5", "a-model-of-nobody"]


def answers(medium: Dict) -> list[list[Dict]]:
    """The medium alone, before and behind a text, and in an item of the model's."""
    text = {"type": "text", "text": "Here."}
    item = {"type": "message", "status": "completed", "role": "assistant"}
    contents = [[medium], [text, medium], [medium, text]]
    spelled = [{"role": "assistant", "content": content} for content in contents]
    return [[ASKED, answer, ASKED] for answer in (*spelled, {**item, "content": [medium]})]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dialect", ["openai_chat", "openai_responses"])
@pytest.mark.parametrize("medium", MEDIA)
def test_a_medium_in_an_answer_is_left_out_with_a_note(medium: str, dialect: str, model: str) -> None:
    """Responses raised for one in its own form, and for Chat's in a message of the model's own shape."""
    for history in answers(MEDIA[medium]):
        context = Assembler(Budget(90_000, model=model), dialect=dialect).add_messages(history).build()
        request = context.request()
        assert not {PNG, "JVBERi0=", "AAAA", "a.pdf"}.intersection(str(request).replace("'", '"').split('"'))
        assert [message.index for message in context.dropped] == [1]
        assert "1 part(s) of another API without content here left out" in context.notes()
        assert verify(request, dialect=dialect) == []
        assert context.count == count_request(request, dialect=dialect, model=model)


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "plain"])
@pytest.mark.parametrize("medium", MEDIA)
def test_a_medium_in_an_answer_is_listed_as_dropped_where_it_is_not_sent_and_nowhere_else(
    medium: str, dialect: str
) -> None:
    """Mistral was sent another API's document at an address that was listed as dropped."""
    words = {PNG, URL, "JVBERi0=", "data:application/pdf;base64,JVBERi0=", "AAAA", "https://a.example/a.pdf"}
    for history in answers(MEDIA[medium])[:3]:
        context = Assembler(Budget(90_000), dialect=dialect).add_messages(history).build()
        sent = words.intersection(str(context.request()).replace("'", '"').split('"'))
        assert [message.index for message in context.dropped] == ([] if sent else [1])
