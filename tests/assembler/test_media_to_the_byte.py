"""Media at the exact byte where the answer changes: boxes, films, PDFs and sizes in pixels."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler.conversation.messages import Media
from assembler.errors import ConversationError, MessageTypeError
from assembler.pricing.media.facts import LARGEST, MediaFacts, Source
from assembler.pricing.media.openai_images import price_image
from assembler.pricing.media.pdf import (
    _Allowance,  # pyright: ignore[reportPrivateUsage]
    _find_objects_in_stream,  # pyright: ignore[reportPrivateUsage]
    _TooLargeError,  # pyright: ignore[reportPrivateUsage]
    _unpack_stream,  # pyright: ignore[reportPrivateUsage]
    pdf_pages,
)
from assembler.pricing.media.pixels import image_size
from assembler.pricing.media.reading import find_content, read_media
from assembler.pricing.media.refusal import unpriced, without_price
from assembler.pricing.media.seconds import mp4_seconds
from assembler.pricing.media.window import Base64Text, PlainBytes, boxes, find_box


def box(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), name) + body


# ── Boxes


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"\0\0\0\x08free", [(b"free", 8, 8)]),
        (b"\0\0\0\x08fre", []),
        (b"", []),
        (box(b"free", b"") + box(b"moov", b"ab"), [(b"free", 8, 8), (b"moov", 16, 18)]),
        (b"\0\0\0\0mdatabc", [(b"mdat", 8, 11)]),
        (b"\0\0\0\x09mdatabc", [(b"mdat", 8, 9)]),
        (b"\0\0\0\x07mdatabc", []),
        (struct.pack(">I4sQ", 1, b"mdat", 18) + b"abc", [(b"mdat", 16, 18)]),
        (struct.pack(">I4sQ", 1, b"mdat", (1 << 56) + 16) + b"abc", [(b"mdat", 16, 19)]),
        (struct.pack(">I4sQ", 1, b"mdat", 17) + b"a" + box(b"free", b""), [(b"mdat", 16, 17), (b"free", 25, 25)]),
    ],
)
def test_a_box_begins_after_its_name_and_ends_where_its_length_says(content: bytes, found: list[Any]) -> None:
    assert list(boxes(PlainBytes(content), 0, len(content))) == found


def test_a_box_of_a_name_is_the_first_of_that_name_and_none_is_an_empty_stretch_at_the_end() -> None:
    content = PlainBytes(box(b"free", b"x") + box(b"moov", b"ab") + box(b"moov", b"cde"))
    assert find_box(content, b"moov", 0, 30) == (17, 19)
    assert find_box(content, b"mvhd", 0, 30) == (30, 30)


# ── Films


def film(scale: bytes, units: bytes) -> PlainBytes:
    head = box(b"mvhd", b"\0" * 12 + scale + units)
    return PlainBytes(box(b"ftyp", b"isom") + box(b"moov", head))


@pytest.mark.parametrize(
    ("scale", "units", "seconds"),
    [
        (b"\0\0\0\x04", b"\0\0\0\x0a", 2.5),
        (b"\0\0\0\0", b"\0\0\0\x0a", None),
        (b"\0\0\0\x04", b"\0\0\0\0", None),
        (b"\0\0\0\x01", b"\xff\xff\xff\xff", None),
        (b"\0\0\0\x01", b"\xff\xff\xff\xfe", 4_294_967_294),
        (b"XXXX", b"XXXX", 1),
        (b"XXXX", b"\xffXX\xff", 0xFF5858FF / 0x58585858),
    ],
)
def test_a_films_seconds_are_its_units_by_its_units_a_second(scale: bytes, units: bytes, seconds: Any) -> None:
    alone = film(scale, units)
    assert mp4_seconds(alone) == mp4_seconds(PlainBytes(alone.content + b"\x01" * 9)) == seconds


@pytest.mark.parametrize(("more", "seconds"), [(0, float(LARGEST)), (1, None)])
def test_the_longest_film_lasts_as_many_seconds_as_any_number_here_may_say(more: int, seconds: float | None) -> None:
    head = box(b"mvhd", b"\1" + b"\0" * 19 + struct.pack(">IQ", 1, (1 << 32) + more))
    content = box(b"ftyp", b"isom") + box(b"moov", head)
    assert mp4_seconds(PlainBytes(content)) == mp4_seconds(PlainBytes(content + b"\x01" * 9)) == seconds


def test_the_seconds_of_a_film_in_a_part_are_read() -> None:
    content = film(b"\0\0\0\x04", b"\0\0\0\x0a").content
    facts = read_media(Media("video", {"inline_data": {"data": content, "mime_type": "video/mp4"}}))
    assert (facts.seconds, facts.mime) == (2.5, "video/mp4")


def test_a_film_with_an_empty_head_does_not_take_its_length_from_later_bytes() -> None:
    behind = box(b"free", b"\0" * 4 + struct.pack(">II", 1_000, 5_000))
    content = box(b"ftyp", b"isom") + box(b"moov", box(b"mvhd", b"")) + behind
    assert mp4_seconds(PlainBytes(content)) is None


# ── PDFs


@pytest.mark.parametrize(("before", "pages"), [(1_019, 3), (1_020, None)])
def test_a_pdf_is_recognised_by_its_first_1024_bytes(before: int, pages: int | None) -> None:
    tree = b"1 0 obj << /Type /Pages /Count 3 >> endobj"
    assert pdf_pages(b" " * before + b"%PDF-" + tree) == pages


def test_an_object_stream_that_cannot_be_unpacked_holds_nothing_and_takes_nothing_of_what_may_be_unpacked() -> None:
    for head in (b"/Filter /LZWDecode", b"/Filter /FlateDecode >>"):
        left = _Allowance(bytes=7)
        assert _unpack_stream(head, b"no such thing", left) == b""
        assert left.bytes == 7


def test_a_packed_stream_takes_no_more_memory_than_it_may() -> None:
    packed, claimed = zlib.compress(bytes(10_000_000)), b"1 0 " * 100_000
    tracemalloc.start()
    try:
        with pytest.raises(_TooLargeError):
            _unpack_stream(b"/Filter /FlateDecode >>", packed, _Allowance(bytes=10))
        with pytest.raises(_TooLargeError):
            list(_find_objects_in_stream(b"/First 400000", claimed, _Allowance(objects=10)))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("offset", "objects"), [(b"000000000", [b"abc"]), (b"0000000000", [])])
def test_an_offset_has_nine_digits_at_most(offset: bytes, objects: list[bytes]) -> None:
    head = b"10 " + offset + b" "
    assert list(_find_objects_in_stream(b"/First %d" % len(head), head + b"abc", _Allowance())) == objects


# ── Pixels

RIFF = b"RIFF\xff\xff\xff\xffWEBP"
HEADS: dict[str, tuple[bytes, tuple[int, int]]] = {
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + bytes(range(1, 9)), (0x01020304, 0x05060708)),
    "gif of 1987": (b"GIF87a\x01\x02\x03\x04", (0x0201, 0x0403)),
    "gif of 1989": (b"GIF89a\x01\x02\x03\x04", (0x0201, 0x0403)),
    "the oldest bitmap": (b"BM" + bytes(12) + b"\x0c\0\0\0\x01\x82\x03\x84", (0x8201, 0x8403)),
    "bitmap": (b"BM" + bytes(12) + b"\x28\0\0\0" + bytes(range(1, 9)), (0x04030201, 0x08070605)),
    "bitmap of negative sides": (b"BM" + bytes(12) + b"\x28\0\0\0" + b"\xfe\xff\xff\xff\xfd\xff\xff\xff", (2, 3)),
    "extended webp": (RIFF + b"VP8X" + bytes(8) + bytes(range(1, 7)), (0x030201 + 1, 0x060504 + 1)),
    "webp without loss": (RIFF + b"VP8L\xff\xff\xff\xff\x2f" + struct.pack("<I", 299 << 14 | 99), (100, 300)),
    "the largest without loss": (RIFF + b"VP8L\xff\xff\xff\xff\x2f\xff\xff\xff\xff", (16_384, 16_384)),
    "webp": (
        RIFF + b"VP8 " + bytes(7) + b"\x9d\x01\x2a" + struct.pack("<HH", 3 << 14 | 300, 3 << 14 | 200),
        (300, 200),
    ),
    "jpeg": (b"\xff\xd8\xff\xc0\0\x11\x08\x01\x02\x03\x04", (0x0304, 0x0102)),
}
"""By format: a file that ends where its size does, and the size."""


@pytest.mark.parametrize(("head", "size"), HEADS.values(), ids=HEADS)
def test_an_image_has_a_size_as_soon_as_its_last_byte_is_there(head: bytes, size: tuple[int, int]) -> None:
    assert image_size(PlainBytes(head))[1] == image_size(PlainBytes(head + bytes(99)))[1] == size
    assert all(image_size(PlainBytes(head[:length]))[1] is None for length in range(len(head)))


@pytest.mark.parametrize(
    ("head", "mime", "size"),
    [
        (b"GIF89a\x01\0\x01\0", "image/gif", (1, 1)),
        (b"GIF89a\0\0\x01\0", "image/gif", None),
        (b"GIF89a\x01\0\0\0", "image/gif", None),
        (RIFF + b"VP8L\xff\xff\xff\xff\x2e\0\0\0\0" + bytes(9), "image/webp", None),
        (RIFF + b"VP8 " + bytes(7) + b"\x9d\x01\x2b\x01\0\x01\0", "image/webp", None),
        (b"\x89PNG\r\n\x1a\n\0\0\0\x0dIDAT" + bytes(range(1, 9)), "image/png", None),
        (b"no image" * 9, None, None),
    ],
)
def test_an_image_of_another_chunk_or_without_a_side_has_no_size(head: bytes, mime: Any, size: Any) -> None:
    assert image_size(PlainBytes(head)) == (mime, size)


@pytest.mark.parametrize("largest", [(300, 20), (20, 400), (90, 90)])
def test_an_image_in_boxes_has_the_property_of_the_largest_area(largest: tuple[int, int]) -> None:
    sizes = [(20, 91), (70, 30), largest, (100, 10)]
    listed = b"".join(box(b"ispe", struct.pack(">III", 0, *size)) for size in sizes)
    meta = box(b"meta", b"\0" * 4 + box(b"iprp", box(b"ipco", listed)))
    assert image_size(PlainBytes(box(b"ftyp", b"avif") + meta)) == ("image/avif", largest)


@pytest.mark.parametrize("marker", range(0xC0, 0x100))
def test_only_the_start_of_a_frame_states_the_size_of_a_jpeg(marker: int) -> None:
    """ITU T.81, table B.1: SOF0 to SOF15 without DHT (C4), JPG (C8) and DAC (CC); RST0 to SOI (D0 to D8) are bare."""
    frame = b"\xff\xc0\0\x11\x08\0\x02\0\x01"
    segment = bytes([0xFF, marker, 0, 9, 8, 0, 3, 0, 4]) + b"\xff\xd9"
    size = image_size(PlainBytes(b"\xff\xd8" + segment + frame))[1]
    if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
        assert size == (4, 3)
    elif marker == 0xFF or 0xD0 <= marker <= 0xDA:
        assert size is None
    else:
        assert size == (1, 2)
    if 0xD0 <= marker <= 0xD8:
        assert image_size(PlainBytes(b"\xff\xd8" + segment[:2] + frame))[1] == (1, 2)


@given(st.integers(1, 9_000), st.integers(1, 9_000))
def test_tiles_are_those_of_the_guide_in_fractions(width: int, height: int) -> None:
    scale = min(Fraction(1), Fraction(2_048, max(width, height)))
    scale *= min(Fraction(1), 768 / (min(width, height) * scale))
    tiles = ceil(width * scale / 512) * ceil(height * scale / 512)
    assert price_image(width, height, "high", "gpt-4o").tokens == 85 + 170 * tiles


@pytest.mark.parametrize(
    ("size", "tiles"),
    [
        *[((512, 512), 1), ((513, 512), 2), ((768, 768), 4), ((2_048, 768), 8), ((2_049, 1), 4), ((3_072, 1_024), 8)],
        *[((1_537, 1_536), 4), ((769, 767), 4), ((4_096, 512), 4), ((4_096, 513), 4), ((1_000_000_000, 1), 4)],
    ],
)
def test_an_image_is_scaled_down_to_2048_by_768_and_paid_by_squares_of_512(size: tuple[int, int], tiles: int) -> None:
    for width, height in (size, size[::-1]):
        assert price_image(width, height, "high", "gpt-4o").tokens == 85 + 170 * tiles


@pytest.mark.parametrize(
    ("size", "patches"),
    [
        ((32, 32), 1),
        ((33, 32), 2),
        ((1_024, 1_536), 1_536),
        ((1_800, 2_400), 33 * 44),
        ((1_024, 1_537), 31 * 47),
        ((96, 65_536), 683),
    ],
)
def test_an_image_of_more_than_1536_patches_is_scaled_down_to_whole_ones(size: tuple[int, int], patches: int) -> None:
    for width, height in (size, size[::-1]):
        assert price_image(width, height, "high", "o4-mini").tokens == ceil(Fraction(172, 100) * patches)


@pytest.mark.parametrize("size", [(0, 1), (1, 0), (0, 0), (-1, 5)])
def test_an_image_without_pixels_is_refused_by_its_size(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=rf"at least one pixel a side, got {size[0]} × {size[1]}$"):
        price_image(*size, "low", "gpt-4o")


# ── Where content stands


@pytest.mark.parametrize(
    ("raw", "source", "mime"),
    [
        ({"image_url": "data:image/png;charset=x;base64,AAAA"}, Source.INLINE, "image/png"),
        ({"image_url": "data:image/png;base64"}, Source.UNKNOWN, "image/png"),
        ({"image_url": "data:image/png;base65,AAAA"}, Source.UNKNOWN, "image/png"),
        ({"inline_data": {"data": "abcdefghijk:l", "mime_type": "Image/PNG"}}, Source.URL, "image/png"),
        ({"inline_data": {"data": "abcdefghijkl:", "mime_type": "image/png"}}, Source.INLINE, "image/png"),
        ({"inlineData": {"data": "AAAA", "mimeType": "image/png"}}, Source.INLINE, "image/png"),
        ({"inlineData": {"data": "AAAA"}}, Source.INLINE, None),
        ({"inlineData": {"data": b"AAAA", "mimeType": 7}}, Source.INLINE, None),
        ({"input_audio": "abcdefghi://x"}, Source.URL, None),
        ({"input_audio": "abcdefghij://x"}, Source.URL, None),
        ({"input_audio": {"data": "AAAA", "format": "mp3"}}, Source.INLINE, "audio/mp3"),
        ({"input_audio": {"data": "AAAA"}}, Source.INLINE, None),
        ({"audio_url": {"url": "https://x.test/a"}}, Source.URL, None),
        ({"audio_url": "https://x.test/a"}, Source.URL, None),
        ({"document_url": "https://x.test/a"}, Source.URL, None),
        ({"file_url": "https://x.test/a"}, Source.URL, None),
        ({"file_data": "AAAA", "filename": "A.PDF"}, Source.INLINE, "application/pdf"),
        ({"file_data": "AAAA", "filename": "A.of.may.txt"}, Source.INLINE, "text/plain"),
        ({"file_data": "AAAA", "filename": "txt"}, Source.INLINE, None),
        ({"file_data": "AAAA", "filename": ["a.txt"]}, Source.INLINE, None),
        ({"inline_data": {"data": b"AAAA", "mime_type": "image/png"}}, Source.INLINE, "image/png"),
        ({"file_data": "AAAA"}, Source.INLINE, None),
        ({"file": {"file_data": "data:image/png;base64,AAAA"}}, Source.INLINE, "image/png"),
        ({"file": {"file_id": "f"}}, Source.FILE, None),
        ({"file_data": {"mime_type": "image/png", "file_uri": "x"}}, Source.FILE, "image/png"),
        ({"fileData": {"mimeType": "image/png"}}, Source.FILE, "image/png"),
        ({"source": {"type": "text", "data": "words"}}, Source.TEXT, "text/plain"),
        ({"source": {"text": "words", "media_type": "text/x"}}, Source.TEXT, "text/x"),
        ({"source": {"type": "base64", "data": "AAAA", "media_type": "image/png"}}, Source.INLINE, "image/png"),
        ({"source": {"bytes": b"AAAA"}}, Source.INLINE, None),
        ({"source": {"type": "file", "file_id": "f"}}, Source.FILE, None),
        ({"source": {"type": "odd"}}, Source.UNKNOWN, None),
        ({"source": {"type": "file", "file_id": "f", "media_type": "image/png"}}, Source.FILE, "image/png"),
        ({"source": {"s3Location": {}, "media_type": 7}}, Source.FILE, None),
        ({"video": {"format": ["mp4"], "source": {"bytes": b"AAAA"}}}, Source.INLINE, None),
        ({"image": {"format": "jpeg", "source": {"bytes": b"AAAA"}}}, Source.INLINE, "image/jpeg"),
        ({"document": {"format": "txt", "source": {"text": "words"}}}, Source.TEXT, "text/plain"),
        ({"video": {"format": "mov", "source": {"bytes": b"AAAA"}}}, Source.INLINE, "video/mov"),
        ({"audio": {"format": "mp3", "source": {"bytes": b"AAAA"}}}, Source.INLINE, None),
        ({"data": "AAAA", "mimeType": "image/png"}, Source.INLINE, "image/png"),
        ({"data": "AAAA", "mime_type": "image/png"}, Source.INLINE, "image/png"),
        ({"base64": "AAAA", "media_type": "image/png"}, Source.INLINE, "image/png"),
        ({"url": "https://x.test/a"}, Source.URL, None),
        ({"file_id": "f"}, Source.FILE, None),
        ({"image_url": None, "url": "https://x.test/a"}, Source.URL, None),
        ({"odd": "AAAA"}, Source.UNKNOWN, None),
    ],
)
def test_a_part_states_the_place_and_the_type_of_its_content(raw: dict[str, Any], source: Source, mime: Any) -> None:
    found = find_content(raw)
    assert (found.source, found.mime, found.content is not None) == (source, mime, source is Source.INLINE)


def test_a_part_with_an_address_states_it() -> None:
    assert find_content({"file_url": "https://x.test/a"}).address == "https://x.test/a"


def test_a_text_in_a_part_is_read_with_its_type_its_length_and_what_was_declared() -> None:
    raw = {"file_data": "data:text/plain;base64,w6R4", "pages": 3}
    known = MediaFacts(kind="document", mime="text/plain", bytes=3, source=Source.INLINE, text="äx", pages=3)
    assert read_media(Media("document", raw)) == known


@pytest.mark.parametrize(
    ("value", "got"), [("7", "a str"), (-1, "an int beyond that"), (1 << 33, "an int beyond that")]
)
def test_a_fact_beyond_what_files_can_state_is_refused_by_its_name_and_type(value: Any, got: str) -> None:
    with pytest.raises(
        ConversationError, match=rf"^width of a medium must be a number from 0 to 4294967296, got {got}$"
    ):
        MediaFacts(kind="image", width=value)
    with pytest.raises(ConversationError, match=rf"pages of a media part must be a number .*, got {got[:5]}"):
        read_media(Media("document", {"pages": value}))


def test_what_is_no_media_part_is_refused_by_its_type() -> None:
    with pytest.raises(MessageTypeError, match=r"^part: expected a Media part"):
        read_media({"type": "image"})  # type: ignore[arg-type]


def test_a_part_without_a_price_is_refused_by_its_kind_and_reason() -> None:
    error = without_price("audio", "price here")
    assert (str(error), error.kind) == ("an audio part has no price here", "audio")
    error = unpriced(MediaFacts(kind="document", source=Source.TEXT), "Claude")
    assert (str(error), error.kind) == ("a document part is text: count its text, not its size", "document")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        *[({"type": "text", "data": "words"}, "words"), ({"text": "words", "data": 7}, "words")],
        *[({"type": "text"}, None), ({"type": "text", "data": 7}, None), ({"content": "words"}, None)],
    ],
)
def test_the_text_of_a_document_is_the_one_that_its_source_holds(source: dict[str, Any], text: str | None) -> None:
    facts = read_media(Media("document", {"source": source}))
    assert (facts.source, facts.text) == (Source.TEXT, text)


@pytest.mark.parametrize("key", ["width", "height", "pages", "seconds"])
@pytest.mark.parametrize("where", ["https://x.test/a", "data:;base64,AAAA"])
def test_the_smallest_and_largest_given_sizes_are_accepted(key: str, where: str) -> None:
    for value in (1, 1 << 32):
        facts = read_media(Media("image", {"image_url": where, key: value, "detail": None}))
        assert getattr(facts, key) == value


def test_bytes_are_spelled_as_base64_and_read_at_any_place() -> None:
    content = PlainBytes(b"abcd")
    assert (content.as_base64(), len(content), content.at(1, 2), content.at(3, 9)) == ("YWJjZA==", 4, b"bc", b"d")


@pytest.mark.parametrize(
    ("text", "length", "content"),
    [
        *[("AAAX", 3, b"\0\0\x17"), ("AAAA=", 6, b"\0\0\0"), ("AA", 3, b"\0"), ("AA=", 3, b"\0"), ("A", 3, b"")],
        ("AA===", 6, b"\0"),
        *[("AAAA!!!!", 6, b""), ("-_-_", 3, b"\xfb\xff\xbf"), ("+/+/", 2, b"\xfb\xff")],
    ],
)
def test_base64_decodes_to_its_bytes_and_invalid_base64_to_nothing(text: str, length: int, content: bytes) -> None:
    assert Base64Text(text).at(0, length) == content
