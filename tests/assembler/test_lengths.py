"""The lengths of sounds and films, the price of their seconds, and sizes given by the caller."""

from __future__ import annotations

import base64
import io
import struct
import wave
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler
from assembler.conversation.messages import Media
from assembler.errors import MessageTypeError, UnsupportedContentError
from assembler.pricing.media import MediaFacts, read_media
from assembler.pricing.media.lengths import price_audio, price_video
from assembler.verify import verify
from budgets import Budget, Grade

Dict = dict[str, Any]
SECOND = 1_000


def box(name: bytes, body: bytes, *, wide: bool = False) -> bytes:
    if wide:
        return struct.pack(">I4sQ", 1, name, 16 + len(body)) + body
    return struct.pack(">I4s", 8 + len(body), name) + body


def mp4(units: int, scale: int, *, version: int = 0, before: bytes = b"", wide: bool = False) -> bytes:
    times = struct.pack(">IIII" if version == 0 else ">QQIQ", 0, 0, scale, units)
    head = box(b"mvhd", bytes([version, 0, 0, 0]) + times + b"\0" * 80)
    return box(b"ftyp", b"isom\0\0\0\0") + before + box(b"moov", box(b"free", b"") + head, wide=wide)


def film(content: bytes) -> Media:
    return Media("video", {"inline_data": {"mime_type": "video/mp4", "data": base64.b64encode(content).decode()}})


@given(st.data(), st.integers(1, 2**32 - 1), st.sampled_from([0, 1]), st.binary(max_size=40), st.booleans())
def test_a_films_length_is_the_one_in_its_head(
    data: st.DataObject, scale: int, version: int, between: bytes, wide: bool
) -> None:
    units = data.draw(st.integers(1, 2 ** (32 << version) - 2))
    facts = read_media(film(mp4(units, scale, version=version, before=box(b"mdat", between), wide=wide)))
    assert facts.seconds == (units / scale if units / scale <= 2**32 else None)
    assert facts.mime == "video/mp4"


@given(st.binary(max_size=120), st.integers(0, 200))
def test_any_bytes_after_the_first_box_are_read_without_a_crash(noise: bytes, cut: int) -> None:
    read_media(film(box(b"ftyp", b"isom") + noise))
    read_media(film(mp4(5, 1, before=noise)[:cut]))


@pytest.mark.parametrize("units", [0, 2**32 - 1])
def test_a_film_in_fragments_has_no_length(units: int) -> None:
    assert read_media(film(mp4(units, 1))).seconds is None


@pytest.mark.parametrize(
    ("seconds", "tokens"), [(0.5, 288), (10, 2_880), (960, 276_480), (961, 276_480), (9_000, 276_480)]
)
def test_a_film_costs_a_frame_a_second_up_to_sixteen_minutes(seconds: float, tokens: int) -> None:
    price = price_video(MediaFacts(kind="video", seconds=seconds))
    assert (price.tokens, price.grade) == (tokens, Grade.ESTIMATED)
    assert tokens < price.upper <= 3_200 * 288 * 1.25


@pytest.mark.parametrize(("seconds", "chunks"), [(0.1, 1), (30, 1), (30.1, 2), (60, 2), (61, 3)])
def test_a_sound_costs_whole_chunks_of_half_a_minute(seconds: float, chunks: int) -> None:
    assert price_audio(MediaFacts(kind="audio", seconds=seconds)).tokens == chunks * 375 + 2


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_more_bytes_never_cost_less_and_never_more_than_the_longest(one: int, other: int) -> None:
    less, more = sorted((one, other))
    for price, most in ((price_video, 3_200 * 288 * 2), (price_audio, 2_400 * 32)):
        small, large = (price(MediaFacts(kind="m", bytes=size or 1)) for size in (less, more))
        assert small.tokens <= large.tokens <= large.upper
        assert small.upper <= large.upper <= most


NOVA = "amazon.nova-pro-v1:0"
MODELS = (
    NOVA,
    "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral.voxtral-small-24b-2507",
    "meta.llama3-70b-instruct-v1:0",
)
MEGABYTES = {"video": {"format": "mkv", "source": {"bytes": b"\1" * 3_000_000}}}
STORED = {"video": {"format": "mkv", "source": {"s3Location": {"uri": "s3://b/k"}}}}
SPOKEN = {"audio": {"format": "mp3", "source": {"bytes": b"\1" * 100_000}}}


def built(dialect: str, model: str, *parts: Dict) -> Any:
    asked: Dict = {"role": "user", "content": [*parts, {"text": "q"}]}
    return Assembler(Budget(5_000_000, model=model), dialect=dialect).add_message(asked).build()


@pytest.mark.parametrize("model", MODELS)
def test_a_film_on_bedrock_is_not_text_for_any_model(model: str) -> None:
    three, stored = built("bedrock", model, MEGABYTES), built("bedrock", model, STORED)
    assert 288 * 10 < three.count.tokens < three.count.upper < 3_000_000 / 12_500 * 288 * 1.6
    assert stored.count.upper > stored.count.tokens > 960 * 288
    assert 375 < built("bedrock", model, SPOKEN).count.tokens < built("bedrock", model, SPOKEN).count.upper < 6_000


@pytest.mark.parametrize("model", MODELS)
def test_the_seconds_of_a_film_on_bedrock_are_priced_and_not_sent(model: str) -> None:
    context = built("bedrock", model, {**STORED, "seconds": 30})
    assert 30 * 288 <= context.count.tokens < 30 * 288 + 100
    assert context.request()["messages"][0]["content"][0] == STORED
    assert verify(context.request(), dialect="bedrock") == []


def test_a_film_in_a_result_costs_what_it_costs_beside_it() -> None:
    use: Dict = {"toolUse": {"toolUseId": "t1", "name": "look", "input": {}}}
    held: Dict = {"toolResult": {"toolUseId": "t1", "content": [STORED]}}
    tool: Dict = {"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}
    for model in MODELS:
        assembler = Assembler(Budget(5_000_000, model=model), dialect="bedrock").add_capability([tool])
        assembler.add_message({"role": "user", "content": [{"text": "q"}]})
        assembler.add_message({"role": "assistant", "content": [use]})
        assert assembler.add_message({"role": "user", "content": [held]}).build().count.tokens > 960 * 288


PDF = {"type": "document", "source": {"type": "url", "url": "https://a.example/a.pdf"}}
PICTURE = {"type": "image", "source": {"type": "url", "url": "https://a.example/a.png"}}
STORE = "https://generativelanguage.googleapis.com/v1beta/files/f"
AT_GOOGLE = {"file_data": {"mime_type": "video/mp4", "file_uri": STORE}}
FILE = {"type": "file", "file_id": "f"}
LINKED = {"type": "document_url", "document_url": "https://a.example/a.pdf"}
HEARD = {"type": "input_audio", "input_audio": "https://a.example/a.mp3"}


@pytest.mark.parametrize(
    ("dialect", "part", "key"),
    [
        ("anthropic", PDF, "pages"),
        ("anthropic", PICTURE, "size"),
        ("gemini", AT_GOOGLE, "seconds"),
        ("bedrock", STORED, "seconds"),
        ("mistral", FILE, "pages"),
        ("mistral", LINKED, "pages"),
        ("mistral", HEARD, "seconds"),
    ],
)
@pytest.mark.parametrize("limited", [False, True])
def test_a_given_size_is_counted_even_if_messages_are_merged(dialect: str, part: Dict, key: str, limited: bool) -> None:
    """If messages are merged, the sent request is read again, in which the size is missing."""

    def made(number: int) -> Any:
        given = {"width": number * 8, "height": number * 8} if key == "size" else {key: number}
        inside = "parts" if dialect == "gemini" else "content"
        text: Dict = {"text": "q"} if dialect in ("gemini", "bedrock") else {"type": "text", "text": "q"}
        budget = Budget(5_000_000, model=NOVA if dialect == "bedrock" else None) if limited else None
        assembler = Assembler(budget, dialect=dialect)
        for _ in range(2):  # two of the user's messages, which are one turn there
            assembler.add_message({"role": "user", inside: [{**part, **given}, text]})
        return assembler.build()

    few, many = made(20), made(90)
    assert few.count.tokens < many.count.tokens
    assert few.count.upper < many.count.upper
    assert few.request() == many.request()


def test_given_sizes_are_matched_by_the_order_of_the_parts() -> None:
    first = {**PDF, "pages": 1}
    both: Dict = {"role": "user", "content": [first, {"type": "text", "text": "and"}, {**PDF, "pages": 30}, PICTURE]}
    built_of_both = Assembler(dialect="anthropic").add_message(both).build()
    alone = [Assembler(dialect="anthropic").add_message({**both, "content": [one]}).build() for one in both["content"]]
    assert abs(built_of_both.count.tokens - sum(one.count.tokens for one in alone)) < 40


def test_a_size_given_in_a_result_is_counted_and_later_media_keep_their_own() -> None:
    def tokens(*pages: int) -> int:
        files = [{**PDF, "pages": number} for number in pages]
        call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
        result = {
            "type": "tool_result",
            "tool_use_id": "c",
            "content": [files[0], {"type": "text", "text": "so"}, files[1]],
        }
        history: list[Dict] = [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result, files[2], {"type": "text", "text": "and"}]},
        ]
        tool = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
        return Assembler(dialect="anthropic").add_capability([tool]).add_messages(history).build().count.tokens

    page = tokens(1, 1, 2) - tokens(1, 1, 1)
    assert page > 2_000
    assert [tokens(*pages) - tokens(1, 1, 1) for pages in ((3, 1, 1), (1, 4, 1), (2, 3, 4))] == [
        2 * page,
        3 * page,
        6 * page,
    ]


@pytest.mark.parametrize("sound", [{"data": "AAAA", "format": "mp3"}, "AAAA", "https://a.example/a.mp3"])
def test_mistral_gets_a_sound_as_base64_or_url(sound: Any) -> None:
    part = {"type": "input_audio", "input_audio": sound}
    context = Assembler(dialect="mistral").add_message({"role": "user", "content": [part]}).build()
    (sent,) = context.request()["messages"][0]["content"]
    assert sent == {"type": "input_audio", "input_audio": "AAAA" if isinstance(sound, dict) else sound}
    assert verify(context.request(), dialect="mistral") == []
    assert 375 < context.count.tokens < context.count.upper


def test_a_sounds_length_for_mistral_is_the_one_in_its_head() -> None:
    written = io.BytesIO()
    with wave.open(written, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8)
        sound.writeframes(b"\0" * 8 * 45)
    part = {"type": "input_audio", "input_audio": base64.b64encode(written.getvalue()).decode()}
    count = Assembler(dialect="mistral").add_message({"role": "user", "content": [part]}).build().count
    assert 2 * 375 < count.tokens < 2 * 375 + 40
    assert count.upper < 2 * 375 * 1.4


@pytest.mark.parametrize("part", [FILE, LINKED])
def test_a_document_of_unknown_length_is_guessed_for_mistral_with_a_bound(part: Dict) -> None:
    def made(**given: int) -> Any:
        asked: Dict = {"role": "user", "content": [{**part, **given}]}
        return Assembler(dialect="mistral").add_message(asked).build().count

    assert made(pages=9).tokens < made().tokens < made(pages=11).tokens
    assert 262_144 < made().upper < 262_144 + 40


def test_a_pdf_in_a_data_url_is_priced_by_the_pages_in_it() -> None:
    pdf = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 4/Kids[]>>endobj"
    inside = {"type": "document_url", "document_url": "data:application/pdf;base64," + base64.b64encode(pdf).decode()}
    four = {**LINKED, "pages": 4}
    found, declared = (
        Assembler(dialect="mistral").add_message({"role": "user", "content": [part]}).build().count
        for part in (inside, four)
    )
    assert found == declared


def test_a_file_of_openais_is_not_read_as_one_of_mistrals() -> None:
    part = {"type": "file", "file": {"file_id": "f"}, "pages": 2}
    with pytest.raises(UnsupportedContentError, match="mistral cannot carry"):
        Assembler(dialect="mistral").add_message({"role": "user", "content": [part]}).build().request()


def test_the_error_for_a_wrong_part_says_what_was_expected() -> None:
    with pytest.raises(MessageTypeError, match="a Media part"):
        read_media({"type": "image"})  # type: ignore[arg-type]
