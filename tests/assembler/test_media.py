"""The size of a medium is read from its head and equals what an image library reads."""

from __future__ import annotations

import base64
import importlib.util
import io
import struct
import wave
import zlib
from collections.abc import Callable
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler.conversation.messages.message import Media
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.pricing.media import MediaFacts, Source, claude, gemini, openai, read_media
from assembler.pricing.media.lengths import price_audio, price_video
from assembler.pricing.media.pdf import MOST_OBJECTS, MOST_UNPACKED, pdf_pages
from assembler.pricing.media.window import Base64Text
from budgets import Count, Grade
from tests.scaled import scaled

needs_pillow = pytest.mark.skipif(importlib.util.find_spec("PIL") is None, reason="Pillow is not installed")

sides = st.integers(1, 700)

PRICES: dict[str, Callable[[MediaFacts], Count]] = {
    "Claude": lambda facts: claude.price_media(facts, claude.STANDARD),
    "OpenAI": lambda facts: openai.price_media(facts, "auto", "gpt-4o"),
    "Gemini": lambda facts: gemini.price_media(facts, gemini.Tiles()),
}
at_each_provider = pytest.mark.parametrize(("provider", "price"), PRICES.items(), ids=PRICES)


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def png(width: int, height: int) -> bytes:
    head = struct.pack(">II5B", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + head + b"\0" * 4


def image(content: bytes | str, **beside: Any) -> Media:
    text = content if isinstance(content, str) else b64(content)
    return Media("image", {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{text}"}, **beside})


# ── Images


@needs_pillow
@scaled(0.3)
@given(width=sides, height=sides)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("PNG", {}),
        ("JPEG", {}),
        ("JPEG", {"progressive": True, "exif": b"Exif\0\0" + b"x" * 60_000, "icc_profile": b"y" * 200_000}),
        ("GIF", {}),
        ("BMP", {}),
        ("WEBP", {"quality": 10, "method": 0}),
        ("WEBP", {"lossless": True, "method": 0}),
        ("WEBP", {"quality": 10, "method": 0, "exif": b"Exif\0\0MM\0*\0\0\0\x08\0\0"}),
    ],
)
def test_the_size_in_the_head_is_the_one_that_pillow_reads(
    name: str, options: dict[str, Any], width: int, height: int
) -> None:
    from PIL import Image

    written = io.BytesIO()
    Image.new("RGB", (width, height), (width % 256, 0, 0)).save(written, name, **options)
    facts = read_media(image(written.getvalue()))
    assert facts.size == Image.open(written).size == (width, height)
    assert facts.mime == Image.MIME[name]
    assert facts.bytes == len(written.getvalue())


@needs_pillow
@pytest.mark.parametrize("size", [(16, 16), (640, 123), (1, 300)])
def test_the_size_in_the_head_of_an_avif_is_the_one_that_pillow_reads(size: tuple[int, int]) -> None:
    from PIL import Image, features

    if not features.check("avif"):
        pytest.skip("this Pillow writes no AVIF")
    written = io.BytesIO()
    Image.new("RGB", size).save(written, "AVIF", speed=10)
    assert read_media(image(written.getvalue())).size == size


def box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + kind + content


def test_a_heic_of_tiles_is_as_large_as_its_largest_property() -> None:
    properties = b"".join(
        box(b"ispe", struct.pack(">III", 0, *size)) for size in [(512, 512), (4032, 3024), (320, 240)]
    )
    meta = box(b"meta", b"\0" * 4 + box(b"hdlr", b"\0" * 20) + box(b"iprp", box(b"ipco", properties)))
    facts = read_media(image(box(b"ftyp", b"heic\0\0\0\0mif1") + meta))
    assert (facts.mime, facts.size) == ("image/heic", (4032, 3024))


def test_old_and_top_down_bitmaps_are_read() -> None:
    oldest = b"BM" + b"\0" * 12 + struct.pack("<IHH", 12, 300, 200)
    from_the_top = b"BM" + b"\0" * 12 + struct.pack("<Iii", 40, 300, -200)
    assert read_media(image(oldest)).size == read_media(image(from_the_top)).size == (300, 200)


JPEG = b"\xff\xd8\xff\xe0\x00\x04ab"
NO_SIZE = {
    "nothing": b"",
    "a text": b"This is no image at all, but long enough to look into.",
    "png without its head": b"\x89PNG\r\n\x1a\n" + b"\0" * 16,
    "png cut off": png(9, 9)[:20],
    "png of no width": png(0, 9),
    "jpeg cut off": JPEG,
    "jpeg cut off in its frame": JPEG + b"\xff\xc0\x00\x11\x08",
    "jpeg without a frame": JPEG + b"\xff\xd9\x00\x00",
    "jpeg of pixels at once": JPEG + b"\xff\xda\x00\x0c",
    "jpeg of rubbish": JPEG + b"rubbish rubbish",
    "jpeg of fill bytes": b"\xff\xd8" + b"\xff" * 9_000,
    "webp of an unknown chunk": b"RIFF\0\0\0\0WEBPABCD" + b"\0" * 20,
    "webp cut off": b"RIFF\0\0\0\0WEBPVP8X",
    "bitmap cut off": b"BM" + b"\0" * 14,
    "avif of nothing": box(b"ftyp", b"avif") + b"\0" * 4,
    "avif of a box shorter than its head": box(b"ftyp", b"avif\0\0\0\0") + struct.pack(">I", 4) + b"meta" + b"\0" * 9,
    "avif of a long box": box(b"ftyp", b"avif\0\0\0\0") + struct.pack(">I", 1) + b"free" + struct.pack(">Q", 99),
}


@pytest.mark.parametrize("name", NO_SIZE)
def test_an_image_without_a_size_in_its_head_has_none(name: str) -> None:
    assert read_media(image(NO_SIZE[name])).size is None


def test_a_jpeg_of_bare_markers_and_fill_bytes_before_its_frame_is_read() -> None:
    frame = b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", 200, 300)
    assert read_media(image(b"\xff\xd8\xff\x01\xff\xff\xff\xd0" + frame)).size == (300, 200)


@given(content=st.binary(max_size=400), head=st.sampled_from([*NO_SIZE.values(), b"RIFF\0\0\0\0WAVE", b"%PDF-1.7 obj"]))
def test_any_content_is_read_without_a_crash(content: bytes, head: bytes) -> None:
    facts = read_media(image(head + content))
    assert facts.bytes == len(head + content)


@given(text=st.text(max_size=60))
def test_invalid_base64_is_read_without_a_crash(text: str) -> None:
    assert read_media(image(text)).size is None


# ── Base64


@given(content=st.binary(max_size=300), start=st.integers(0, 310), length=st.integers(0, 90), data=st.data())
def test_a_window_is_a_slice_of_what_is_decoded(content: bytes, start: int, length: int, data: st.DataObject) -> None:
    spelled = data.draw(
        st.sampled_from(
            [
                b64(content),
                b64(content).rstrip("="),
                base64.urlsafe_b64encode(content).decode(),
                base64.encodebytes(content).decode(),
            ]
        )
    )
    window = Base64Text.of(spelled)
    assert len(window) == len(content)
    assert window.at(start, length) == content[start : start + length]


def test_the_size_of_a_large_image_is_read_from_its_first_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []
    decode = base64.b64decode

    def counted(text: str, **options: Any) -> bytes:
        decoded.append(len(text))
        return decode(text, **options)

    monkeypatch.setattr("assembler.pricing.media.window.base64.b64decode", counted)
    assert read_media(image(png(4000, 3000) + b"\0" * 3_000_000)).size == (4000, 3000)
    assert 0 < sum(decoded) < 400


@pytest.mark.parametrize("characters", [10, 5_000])
def test_base64_in_lines_is_read(characters: int) -> None:
    content = png(31, 17) + b"\0" * characters
    assert read_media(image(base64.encodebytes(content).decode())).size == (31, 17)


# ── Every provider's spelling

PNG = png(64, 48)
SPELLINGS = {
    "Chat Completions": {"type": "image_url", "image_url": {"url": "data:image/png;base64," + b64(PNG)}},
    "Mistral": {"type": "image_url", "image_url": "data:image/png;base64," + b64(PNG)},
    "Responses": {"type": "input_image", "image_url": "data:image/png;base64," + b64(PNG), "detail": "low"},
    "Anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": b64(PNG)}},
    "Gemini, wire": {"inlineData": {"mimeType": "image/png", "data": b64(PNG)}},
    "Gemini, SDK": {"inline_data": {"mime_type": "image/png", "data": PNG}},
    "Bedrock": {"image": {"format": "png", "source": {"bytes": PNG}}},
    "MCP": {"type": "image", "mimeType": "image/png", "data": b64(PNG)},
    "LangChain": {"type": "image", "base64": b64(PNG), "mime_type": "image/png"},
    "a data URL where base64 belongs": {"type": "image", "data": "data:image/png;base64," + b64(PNG)},
    "a data URL in a file": {"type": "input_file", "file_data": "data:image/png;base64," + b64(PNG)},
}
ELSEWHERE = {
    "Chat Completions": ({"image_url": {"url": "https://x.test/a.png"}}, Source.URL, None),
    "Responses, stored": ({"type": "input_image", "file_id": "file-1"}, Source.FILE, None),
    "Responses, file by address": ({"type": "input_file", "file_url": "https://x.test/a.pdf"}, Source.URL, None),
    "Chat Completions, stored": ({"type": "file", "file": {"file_id": "file-1"}}, Source.FILE, None),
    "Anthropic": ({"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}}, Source.URL, None),
    "Anthropic, stored": ({"type": "image", "source": {"type": "file", "file_id": "f"}}, Source.FILE, None),
    "Gemini": ({"fileData": {"fileUri": "gs://a/b", "mimeType": "image/png"}}, Source.FILE, "image/png"),
    "Gemini, SDK": ({"file_data": {"file_uri": "gs://a/b", "mime_type": "image/png"}}, Source.FILE, "image/png"),
    "Bedrock": ({"image": {"format": "png", "source": {"s3Location": {"uri": "s3://a"}}}}, Source.FILE, "image/png"),
    "LangChain": ({"type": "image", "url": "https://x.test/a.png"}, Source.URL, None),
    "no content": ({"type": "image"}, Source.UNKNOWN, None),
    "no source": ({"type": "image", "source": {}}, Source.UNKNOWN, None),
    "an odd address": ({"type": "image_url", "image_url": {"url": 7}}, Source.UNKNOWN, None),
    "odd content": ({"inlineData": {"mimeType": "image/png", "data": 7}}, Source.UNKNOWN, "image/png"),
    "a data URL that is no base64": (
        {"image_url": {"url": "data:image/svg+xml,<svg/>"}},
        Source.UNKNOWN,
        "image/svg+xml",
    ),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_form_of_one_image_gives_the_same_size(name: str) -> None:
    facts = read_media(Media("image", SPELLINGS[name]))
    expected = MediaFacts(kind="image", mime="image/png", width=64, height=48, bytes=len(PNG), source=Source.INLINE)
    assert facts == expected


@pytest.mark.parametrize("name", ELSEWHERE)
def test_content_by_url_has_no_size(name: str) -> None:
    raw, source, mime = ELSEWHERE[name]
    assert read_media(Media("image", raw)) == MediaFacts(kind="image", mime=mime, source=source)


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Once."}},
        {"document": {"format": "txt", "name": "a", "source": {"text": "Once."}}},
    ],
)
def test_a_text_document_is_recognised_and_not_priced_by_size(raw: dict[str, Any]) -> None:
    facts = read_media(Media("document", raw))
    assert (facts.text, facts.source, facts.pages) == ("Once.", Source.TEXT, None)
    assert "Once." not in repr(facts)
    with pytest.raises(UnsupportedContentError, match="count its text"):
        claude.price_media(facts, claude.STANDARD)


def test_a_document_of_parts_is_text_too() -> None:
    facts = read_media(Media("document", {"source": {"type": "content", "content": [{"type": "text", "text": "a"}]}}))
    assert (facts.source, facts.text) == (Source.TEXT, None)


UNNAMED = b64(b"nothing that says what it is")
MIMES = {
    "a sound of a format": ({"input_audio": {"data": UNNAMED, "format": "mp3"}}, "audio/mp3"),
    "a sound of no format": ({"input_audio": {"data": UNNAMED, "format": 3}}, None),
    "a file named as a PDF": ({"type": "input_file", "file_data": UNNAMED, "filename": "Terms.PDF"}, "application/pdf"),
    "a file named otherwise": ({"type": "input_file", "file_data": UNNAMED, "filename": "pdf"}, None),
    "a text of no type": ({"source": {"type": "text", "media_type": 7, "data": "a"}}, "text/plain"),
    "a text of a type": ({"source": {"type": "text", "media_type": "text/csv", "data": "a"}}, "text/csv"),
    "MCP": ({"mimeType": "audio/x", "data": UNNAMED}, "audio/x"),
    "MCP, from Python": ({"mime_type": "audio/x", "data": UNNAMED}, "audio/x"),
    "MCP, as Anthropic says it": ({"media_type": "audio/x", "data": UNNAMED}, "audio/x"),
    "a data URL with a parameter": ({"image_url": {"url": f"data:audio/x;rate=8;base64,{UNNAMED}"}}, "audio/x"),
    "a PDF that nobody named": ({"type": "input_file", "file_data": b64(b"%PDF-1.4")}, "application/pdf"),
}


@pytest.mark.parametrize("name", MIMES)
def test_content_without_a_type_in_its_head_has_the_named_type(name: str) -> None:
    raw, mime = MIMES[name]
    assert read_media(Media("document", raw)).mime == mime


@at_each_provider
def test_each_page_costs_the_same(provider: str, price: Any) -> None:
    one, three = (price(MediaFacts(kind="document", pages=pages)) for pages in (1, 3))
    assert (three.tokens, three.upper) == (3 * one.tokens, 3 * one.upper)


def test_a_page_costs_its_text_beside_its_picture() -> None:
    for price in (PRICES["Claude"], PRICES["OpenAI"]):
        page, picture = price(MediaFacts(kind="document", pages=1)), price(MediaFacts(kind="image", source=Source.URL))
        assert page.tokens > picture.tokens // 2
        assert page.upper > picture.upper


def test_a_given_size_is_used_for_content_by_url() -> None:
    raw = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}, "width": 800, "height": 600}
    assert read_media(Media("image", raw)).size == (800, 600)


def test_the_size_in_the_content_overrides_the_given_one() -> None:
    assert read_media(image(PNG, width=9_999, height=9_999)).size == (64, 48)


@pytest.mark.parametrize("value", [0, -1, True, "800", 1.5, [1]])
def test_a_size_that_is_not_a_number_above_0_is_refused(value: object) -> None:
    with pytest.raises(ConversationError, match="width"):
        read_media(image(PNG, width=value))


@pytest.mark.parametrize("value", [0.0, -2.5, float("nan"), float("inf"), False])
def test_a_length_that_is_not_a_number_above_0_is_refused(value: object) -> None:
    with pytest.raises(ConversationError, match="seconds"):
        read_media(image(PNG, seconds=value))


# ── PDF


def pdf(*objects: bytes) -> bytes:
    return b"%PDF-1.7\n" + b"".join(b"%d 0 obj\n%b\nendobj\n" % pair for pair in enumerate(objects, 1)) + b"%%EOF"


def object_stream(*objects: bytes, filter: bytes = b"/Filter /FlateDecode") -> bytes:
    offsets, body = [], b""
    for number, content in enumerate(objects, 10):
        offsets.append(b"%d %d " % (number, len(body)))
        body += content + b"\n"
    head = b"".join(offsets)
    packed = zlib.compress(head + body) if filter else head + body
    fields = b"<< /Type /ObjStm /N %d /First %d %b /Length %d >>" % (len(objects), len(head), filter, len(packed))
    return fields + b"\nstream\r\n" + packed + b"\nendstream"


TREE = b"<< /Type /Pages /Kids [ 4 0 R ] /Count 7 >>"
LEAF = b"<< /Type /Page /Parent 2 0 R >>"
PAGES = {
    "a plain tree": (pdf(b"<< /Type /Catalog /Pages 2 0 R >>", TREE, LEAF), 7),
    "a tree of trees": (pdf(b"<</Count 12/Type/Pages/Kids[3 0 R]>>", b"<</Count 4/Type/Pages/Parent 1 0 R>>"), 12),
    "in an object stream": (pdf(object_stream(b"<< /Type /Catalog >>", TREE, b"<< /Count 99 >>")), 7),
    "in an object stream that is not packed": (pdf(object_stream(TREE, filter=b"")), 7),
    "an outline counts too, but not pages": (pdf(b"<< /Type /Outlines /Count 40 >>", TREE), 7),
    "an older tree in the same file": (pdf(TREE, b"<< /Type /Pages /Count 5 >>"), 7),
    "beside a stream of rubbish": (pdf(b"<< /Length 9 >>\nstream\n/Type /Pages /Count 900\nendstream", TREE), 7),
    "before a stream": (pdf(TREE, b"<< /Length 9 >>\nstream\nwords\nendstream"), 7),
    "beside a stream that speaks of object streams": (
        pdf(b"<< /Length 9 >>\nstream\n10 0 /Type /Pages /Count 900 /Type /ObjStm /First 5\nendstream", TREE),
        7,
    ),
    "an object before the head": (b"obj /Type /Pages /Count 7 endobj %PDF-1.7", 7),
    "the count is a reference": (pdf(b"<< /Type /Pages /Count 12 0 R >>"), None),
    "a tree without a count": (pdf(b"<< /Type /Pages >>"), None),
    "no page at all": (pdf(b"<< /Type /Pages /Count 0 >>"), None),
    "packed in another way": (pdf(object_stream(TREE, filter=b"/Filter /LZWDecode")), None),
    "packed twice": (pdf(object_stream(TREE, filter=b"/Filter [/ASCIIHexDecode /FlateDecode]")), None),
    "encrypted": (pdf(object_stream(TREE).replace(b"\r\n", b"\r\nx")), None),
    "offsets that are no numbers": (pdf(object_stream(TREE, filter=b"").replace(b"10 0 ", b"10 z ")), None),
    "a stream without /First": (pdf(object_stream(TREE).replace(b"/First", b"/Fist")), None),
    "offsets given twice": (pdf(object_stream(TREE, filter=b"").replace(b"10 0 ", b"1 0\n0 ")), 7),
    "no PDF": (b"/Type /Pages /Count 7", None),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_number_of_pages_is_that_of_the_page_tree(name: str) -> None:
    content, pages = PAGES[name]
    assert pdf_pages(content) == pages
    part = Media("document", {"file": {"filename": "A.PDF", "file_data": b64(content)}})
    assert read_media(part).pages == pages


@pytest.mark.parametrize(("more", "pages"), [(0, 7), (1, None)])
def test_a_pdf_is_read_up_to_the_bytes_and_the_objects_that_are_unpacked_at_most(more: int, pages: int | None) -> None:
    head = b"10 0 "
    filled = TREE.ljust(MOST_UNPACKED - len(head) - len(b"\n") + more)
    large = pdf(object_stream(filled))
    assert len(large) < 200_000
    assert pdf_pages(large) == pages
    # Two streams share one room: an object in the first, the others in the second.
    many = pdf(object_stream(TREE), object_stream(*[b""] * (MOST_OBJECTS - 1 + more)))
    assert pdf_pages(many) == pages


HOSTILE_PDFS: dict[str, Callable[[int], bytes]] = {
    "blanks after /Filter": lambda n: object_stream(TREE).replace(b"/Filter ", b"/Filter" + b" " * n + b"x"),
    "blanks after /Type": lambda n: b"<< /Type" + b" " * n + b"x",
    "blanks after /Count": lambda n: b"<< /Type /Pages /Count" + b" " * n + b"x",
    "digits after /Count": lambda n: b"<< /Type /Pages /Count 1 " + b"1" * n,
    "many words /Count": lambda n: b"<< /Type /Pages " + b"/Count 1 " * n,
    "ends without a beginning": lambda n: b"endobj " * n,
    "offsets without an end": lambda n: object_stream(*[b""] * n),
    "one long offset": lambda n: b"<< /Type /ObjStm /First %d >>\nstream\n%b" % (n, b"1" * n),
}


@pytest.mark.parametrize("name", HOSTILE_PDFS)
@pytest.mark.timeout(20)
def test_a_hostile_pdf_costs_one_pass(name: str) -> None:
    assert pdf_pages(pdf(HOSTILE_PDFS[name](200_000))) in (None, 1)


def test_objects_that_never_end_cost_one_pass() -> None:
    assert pdf_pages(b"%PDF-1.7 " + b"1 0 obj " * 200_000) is None


# ── Sound


def wav(frames: int, rate: int = 8_000, channels: int = 1) -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(b"\0\0" * channels * frames)
    return written.getvalue()


def sound(content: bytes) -> Media:
    return Media("audio", {"type": "input_audio", "input_audio": {"data": b64(content), "format": "wav"}})


@given(frames=st.integers(0, 4_000), rate=st.sampled_from([8_000, 24_000]), channels=st.sampled_from([1, 2]))
def test_a_sound_lasts_as_long_as_its_frames(frames: int, rate: int, channels: int) -> None:
    facts = read_media(sound(wav(frames, rate, channels)))
    assert facts.seconds == pytest.approx(frames / rate)
    assert facts.mime == "audio/wav"


def test_a_streamed_sound_lasts_until_its_end() -> None:
    written = wav(4_000)
    streamed = written[:40] + b"\xff\xff\xff\xff" + written[44:]
    assert read_media(sound(streamed)).seconds == 0.5


def test_a_sound_with_remarks_before_its_data_is_measured() -> None:
    written = wav(4_000)
    remarked = written[:36] + b"LIST" + struct.pack("<I", 3) + b"abc\0" + written[36:]
    assert read_media(sound(remarked)).seconds == 0.5


@pytest.mark.parametrize(
    "content",
    [
        b"ID3" + b"\0" * 90,
        wav(10)[:30],
        b"RIFF\0\0\0\0WAVE" + b"data\x04\0\0\0abcd",
        b"RIFF\0\0\0\0WAVE" + b"junk\0\0\0\0" * 99,
    ],
)
def test_a_sound_without_a_length_has_none(content: bytes) -> None:
    assert read_media(sound(content)).seconds is None


# ── Prices

URL_IMAGE = MediaFacts(kind="image", source=Source.URL)


def sized(width: int, height: int) -> MediaFacts:
    return MediaFacts(kind="image", width=width, height=height, source=Source.URL)


@pytest.mark.parametrize(
    ("model", "detail", "size", "tokens"),
    [
        # pamelafox/openai-messages-token-helper, tests: counts verified with the API; read 2026-11.
        ("gpt-4o", "auto", (1, 1), 255),
        ("gpt-4o", "low", (1, 1), 85),
        ("gpt-4o", "auto", (1126, 488), 595),
        ("gpt-4o-mini", "auto", (1, 1), 8500),
        ("gpt-4o-mini", "low", (1, 1), 2833),
        ("gpt-4o-mini", "auto", (1126, 488), 19834),
    ],
)
def test_openai_bills_tiles_as_recorded(model: str, detail: Any, size: tuple[int, int], tokens: int) -> None:
    count = openai.price_media(sized(*size), detail, model)
    assert (count.tokens, count.grade, count.upper) == (tokens, Grade.EXACT, tokens)


@scaled(0.3)
@given(width=st.integers(1, 9_000), height=st.integers(1, 9_000))
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4o-mini", "gpt-5", "gpt-5-mini", "o4-mini", None])
@pytest.mark.parametrize("detail", ["auto", "low", "high"])
def test_no_image_costs_more_than_one_of_unknown_size(model: str | None, detail: Any, width: int, height: int) -> None:
    unknown = openai.price_media(URL_IMAGE, detail, model)
    assert openai.price_media(sized(width, height), detail, model).upper <= unknown.upper
    for resolution in (claude.STANDARD, claude.HIGH):
        unknown = claude.price_media(URL_IMAGE, resolution)
        known = claude.price_media(sized(width, height), resolution)
        assert known.tokens <= known.upper <= unknown.upper
        assert known.tokens <= unknown.tokens


def test_the_price_of_an_unknown_size_is_estimated_and_a_low_detail_has_one_price() -> None:
    assert openai.price_media(URL_IMAGE, "auto", "gpt-4o").grade is Grade.ESTIMATED
    assert openai.price_media(URL_IMAGE, "low", "gpt-4o") == openai.price_media(sized(9, 9), "low", "gpt-4o")


@pytest.mark.parametrize("size", [(1505, 993), (1536, 1024)])
def test_an_image_of_as_many_patches_as_openai_takes_is_not_scaled_down(size: tuple[int, int]) -> None:
    price = openai.price_media(sized(*size), "high", "gpt-4.1-mini")
    assert price.tokens == ceil(48 * 32 * 1.62)


@pytest.mark.parametrize(
    ("size", "patches"),
    [((200, 200), 64), ((1000, 1000), 1296), ((28, 28), 1), ((29, 28), 2), ((1, 1), 1), ((1568, 28), 56)],
)
def test_claude_bills_patches_of_28_pixels(size: tuple[int, int], patches: int) -> None:
    count = claude.price_media(sized(*size), claude.STANDARD)
    assert (count.tokens, count.grade) == (patches, Grade.ESTIMATED)
    assert count.upper >= max(patches, ceil(size[0] * size[1] / 750))


@pytest.mark.parametrize(
    ("size", "upper"),
    [
        # ceil(pixels / 750), pixels of the picture whose long side is 1,568 at most; and 8 around it.
        ((1_500, 300), 600 + 8),
        ((3_136, 600), 628 + 8),  # 1,568 x 300 pixels of 750 each are 627.2: 56 x 11 patches of 28 are 616
        ((6_272, 1_200), 628 + 8),
    ],
)
def test_a_claude_image_by_the_earlier_rule_costs_its_remaining_size(size: tuple[int, int], upper: int) -> None:
    assert claude.price_media(sized(*size), claude.STANDARD).upper == upper


@at_each_provider
def test_a_medium_without_a_price_is_refused_by_its_kind_and_provider(provider: str, price: Any) -> None:
    for mime, named in ((None, ""), ("model/stl", " (model/stl)")):
        with pytest.raises(UnsupportedContentError) as error:
            price(MediaFacts(kind="solid", mime=mime))
        assert str(error.value) == f"a solid part{named} has no published price in {provider}; leave it out"
        assert error.value.kind == "solid"


@given(width=st.integers(1, 9_000), height=st.integers(1, 9_000))
def test_a_claude_image_is_scaled_down_as_little_as_possible(width: int, height: int) -> None:
    """By brute force: the largest long side that fits, tried from above."""
    long, short = max(width, height), min(width, height)

    def patches(side: int) -> int:
        return ceil(side / 28) * max(1, ceil(side * short / long / 28))

    side = min(long, 1_568)
    while patches(side) > 1_568:
        side -= 1
    assert claude.price_media(sized(width, height), claude.STANDARD).tokens == patches(side)


@pytest.mark.parametrize(
    ("size", "tokens", "upper"),
    [
        ((384, 384), 258, 258),
        ((385, 384), 258, 258 * 5),
        ((960, 540), 516, 258 * 7),
        ((1980, 1380), 1548, 258 * 7),
        ((3072, 3072), 258 * 16, 258 * 17),
    ],
)
def test_gemini_2_bills_tiles(size: tuple[int, int], tokens: int, upper: int) -> None:
    count = gemini.price_media(sized(*size), gemini.Tiles())
    assert (count.tokens, count.upper, count.grade) == (tokens, upper, Grade.ESTIMATED)


def test_gemini_3_bills_every_image_the_same() -> None:
    assert gemini.price_media(URL_IMAGE, gemini.Flat()) == gemini.price_media(sized(9, 9), gemini.Flat())


DOCUMENT = MediaFacts(kind="document", mime="application/pdf", pages=10)
SOUND = MediaFacts(kind="audio", seconds=2.05)
FILM = MediaFacts(kind="video", seconds=10)


CSV = MediaFacts(kind="document", mime="text/csv")
TSV = MediaFacts(kind="document", mime="text/tab-separated-values")


@pytest.mark.parametrize(
    ("price", "tokens", "upper"),
    [
        # Pages, sounds and films by the published rates, which each module quotes.
        (lambda: gemini.price_media(DOCUMENT, gemini.Tiles()), 10 * 258, 10 * 258),
        (lambda: gemini.price_media(DOCUMENT, gemini.Flat()), 10 * 560, 10 * 560),
        (lambda: gemini.price_media(SOUND, gemini.Flat()), 66, 66),
        (lambda: gemini.price_media(FILM, gemini.Tiles()), 10 * 263, 3_288),
        (lambda: gemini.price_media(FILM, gemini.Flat()), 10 * (70 + 32), 1_275),
        (lambda: openai.price_media(SOUND, "auto", "gpt-4o-audio-preview"), 21, 26),
        (lambda: openai.price_media(DOCUMENT, "auto", "gpt-4o"), 10 * (2_250 + 722), 10 * (3_000 + 85 + 8 * 170)),
        (lambda: claude.price_media(DOCUMENT, claude.STANDARD), 10 * (2_250 + 784), 10 * (3_000 + 1_640 + 8)),
        (lambda: claude.price_media(DOCUMENT, claude.HIGH), 10 * (2_250 + 2_392), 10 * (3_000 + 5_001 + 8)),
        # Images of unknown size, and those that are sent as they are.
        (lambda: claude.price_media(URL_IMAGE, claude.STANDARD), 1_568, 1_640 + 8),
        (lambda: claude.price_media(URL_IMAGE, claude.HIGH), 4_784, 5_001 + 8),
        (lambda: gemini.price_media(URL_IMAGE, gemini.Flat()), 1_120, 1_120),
        (lambda: openai.price_original(URL_IMAGE), 2_000, 24_600),
        (lambda: openai.price_original(sized(33, 32)), 2, 5),
        (lambda: openai.price_original(sized(32, 65)), 3, 8),
        (lambda: openai.price_original(sized(3_200, 3_232)), 10_000, 24_600),
        # Files of text, with a tenth more and what may stand around them.
        (lambda: gemini.price_file(10), 10, 11 + 16),
        (lambda: openai.price_file(DOCUMENT, 10), 10, 11 + 64),
        (lambda: openai.price_file(CSV, 10), 10, 11 + 2_000),
        (lambda: openai.price_file(TSV, 10), 10, 11 + 2_000),
        # Voxtral's chunks of 30 seconds and Nova's frames: by seconds, by bytes, of an unknown length, and too long.
        (lambda: price_audio(MediaFacts(kind="audio", seconds=30)), 375 + 2, 472),
        (lambda: price_audio(MediaFacts(kind="audio", seconds=31), 2), 750 + 2, 1_504),
        (lambda: price_audio(MediaFacts(kind="audio", bytes=1_600_000)), 4 * 375 + 2, 25_315),
        (lambda: price_audio(MediaFacts(kind="audio", bytes=99_000_000)), 80 * 375 + 2, 37_503),
        (lambda: price_audio(MediaFacts(kind="audio", bytes=0)), 750 + 2, 37_503),
        (lambda: price_audio(MediaFacts(kind="audio")), 750 + 2, 37_503),
        (lambda: price_video(MediaFacts(kind="video", seconds=9.5)), 2_880, 3_600),
        (lambda: price_video(MediaFacts(kind="video", seconds=5_000)), 960 * 288, 3_200 * 360),
        (lambda: price_video(MediaFacts(kind="video", bytes=2_500_000)), 2_880, 200 * 360),
        (lambda: price_video(MediaFacts(kind="video")), 960 * 288, 3_200 * 360),
    ],
)
def test_a_medium_costs_its_published_rate_and_is_bounded(price: Callable[[], Count], tokens: int, upper: int) -> None:
    assert price() == Count(tokens, Grade.ESTIMATED, upper)


def test_an_image_part_without_an_image_is_refused_by_openai() -> None:
    with pytest.raises(UnsupportedContentError, match="an image part holds no image") as caught:
        openai.price_media(MediaFacts(kind="image", width=9, height=9), "auto", "gpt-4o")
    assert caught.value.kind == "image"


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        ({"image_url": {"url": "https://x.test", "detail": "low"}}, "low"),
        ({"image_url": "https://x.test", "detail": "high"}, "high"),
        ({"image_url": {"url": "https://x.test"}}, "auto"),
        ({"file_id": "f", "detail": "auto"}, "auto"),
    ],
)
def test_the_detail_is_read_from_each_apis_own_field(raw: dict[str, Any], detail: str) -> None:
    assert openai.detail_of(Media("image", raw)) == detail


@pytest.mark.parametrize("detail", ["original", "ultra", 7, ["low"]])
def test_a_detail_without_a_published_price_costs_what_the_dearest_does(detail: object) -> None:
    assert openai.detail_of(Media("image", {"image_url": "https://x.test", "detail": detail})) == "original"
    assert openai.price_media(sized(33, 32), "original", "gpt-5.6") == Count(2, Grade.ESTIMATED, 5)
