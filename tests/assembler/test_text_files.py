"""A file of text costs about what its text does, in every API that reads one."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, count_request
from assembler.conversation.messages import Media
from assembler.pricing.media import read_media
from budgets import Budget, Count, Grade
from tests.scaled import scaled

Message = dict[str, Any]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def in_chat(text: str) -> Message:
    file = {"filename": "a.txt", "file_data": f"data:text/plain;base64,{encoded(text)}"}
    return {"role": "user", "content": [{"type": "text", "text": "Read."}, {"type": "file", "file": file}]}


def in_responses(text: str) -> Message:
    file = {"type": "input_file", "filename": "a.md", "file_data": encoded(text)}
    return {"role": "user", "content": [{"type": "input_text", "text": "Read."}, file]}


def in_gemini(text: str) -> Message:
    return {
        "role": "user",
        "parts": [{"text": "Read."}, {"inlineData": {"mimeType": "text/plain", "data": encoded(text)}}],
    }


def in_converse(text: str) -> Message:
    document = {"format": "txt", "name": "a", "source": {"bytes": text.encode()}}
    return {"role": "user", "content": [{"text": "Read."}, {"document": document}]}


@attrs.frozen
class Reader:
    dialect: str
    model: str
    spelled: Callable[[str], Message]


READERS = [
    Reader("openai_chat", "gpt-4o", in_chat),
    Reader("openai_responses", "gpt-5", in_responses),
    Reader("gemini", "gemini-2.5-flash", in_gemini),
    Reader("bedrock", "anthropic.claude-sonnet-4-5", in_converse),
    Reader("bedrock", "amazon.nova-pro-v1:0", in_converse),
]


def priced(reader: Reader, message: Message) -> Count:
    context = Assembler(Budget(1_000_000, model=reader.model), dialect=reader.dialect).add_messages([message]).build()
    assert count_request(context.request(), dialect=reader.dialect, model=reader.model) == context.count
    return context.count


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.model)
@scaled(0.5)
@given(text=st.text(st.sampled_from("ab é東 \n"), min_size=1, max_size=300))
def test_a_file_of_text_costs_at_most_a_hundred_tokens_more_than_a_tenth_over_its_text(
    reader: Reader, text: str
) -> None:
    file = priced(reader, reader.spelled(text))
    spoken = priced(reader, {"role": "user", "content": f"Read.{text}"})
    assert file.grade is Grade.ESTIMATED
    assert spoken.tokens - 8 <= file.tokens <= file.upper <= 1.35 * spoken.upper + 100


def test_a_table_may_cost_a_summary_more_in_openai() -> None:
    def table(mime: str) -> Count:
        file = {"filename": "a", "file_data": f"data:{mime};base64,{encoded('a,b')}"}
        return priced(READERS[0], {"role": "user", "content": [{"type": "file", "file": file}]})

    assert table("text/csv").upper - table("text/plain").upper > 1_900


@pytest.mark.parametrize("mime", ["text/plain", "text/x-python", "application/json", "application/xml"])
def test_bytes_that_are_no_utf_8_are_read_as_some_text(mime: str) -> None:
    data = base64.b64encode(b"a\xff\xfeb").decode()
    facts = read_media(Media("document", {"inlineData": {"mimeType": mime, "data": data}}))
    assert (facts.text, facts.bytes) == ("a��b", 4)
