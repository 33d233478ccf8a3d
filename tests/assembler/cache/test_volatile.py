"""Volatile text is found by place and kind, stable text is not reported, and no text is quoted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler
from assembler.dialects import plain
from assembler.report.cache.volatile import volatile_texts

FOUND = [
    ("2026-11-03T10:15:00Z", "timestamp"),
    ("2026-11-03 10:15", "timestamp"),
    ("2026/11/03, 9:05", "timestamp"),
    ("03.11.2026 10:15", "timestamp"),
    ("11/3/26 at 10:15", "timestamp"),
    ("November 3, 2026 at 10:15", "timestamp"),
    ("Tue, 03 Nov 2026 10:15:00 GMT", "timestamp"),
    ("123e4567-e89b-12d3-a456-426614174000", "uuid"),
    ("123E4567-E89B-12D3-A456-426614174000", "uuid"),
    ("1762164900", "epoch"),
    ("1762164900123", "epoch"),
    ("Current time: noon", "current time"),
    ("The current date is Tuesday", "current time"),
    ("current_datetime=now", "current time"),
    ("Today's date: Tuesday", "current time"),
    ("Today is Tuesday", "current time"),
    ("it is now 10", "current time"),
]
QUIET = [
    "2026-11-03",
    "version 2.10.15",
    "Returns the current time of a city.",
    "current time zone",
    "at 10:15 each day",
    "call +15551234567",
    "order 4111111111111111",
    "9876543210",
    "0.1762164900",
    "today is a good day",
    "a-123e4567-e89b-12d3-a456-4266141740001",
    "123e4567e89b12d3a456426614174000",
    "in May 2026",
    "",
]
NOISE = st.text("abc xyz,;\n", max_size=20)


def kinds(text: str) -> list[tuple[str, int]]:
    return [(found.kind, found.offset) for found in volatile_texts([("instruction", "instruction", text)])]


@given(st.sampled_from(FOUND), NOISE, NOISE)
def test_volatile_text_is_found_at_its_place(case: tuple[str, str], before: str, after: str) -> None:
    text, kind = case
    found = dict(kinds(f"{before} {text} {after}"))
    assert kind in found
    assert len(before) < found[kind] + 1 <= len(before) + 1 + len(text)


@pytest.mark.parametrize("text", QUIET)
def test_stable_text_is_not_reported_as_volatile(text: str) -> None:
    assert kinds(f"x {text} y") == []


@given(st.lists(st.sampled_from([text for text, _ in FOUND]), min_size=1, max_size=6))
def test_one_row_an_item_and_kind_counts_them_all(texts: list[str]) -> None:
    found = list(volatile_texts([("knowledge", "a", " | ".join(texts))]))
    assert len({row.kind for row in found}) == len(found)
    assert sum(row.times for row in found) >= len(texts)


def test_the_report_names_place_and_kind_and_no_text() -> None:
    secret = "2026-11-03 10:15"
    assembler = Assembler(dialect=plain).add_instruction(f"Now {secret}.")
    assembler.add_capability([{"name": "t", "description": "Today is Tuesday.", "parameters": SCHEMA}])
    assembler.add_knowledge(f"seen {secret}, {secret}", type="log", source="crm.json")
    assembler.add_messages([{"role": "system", "content": "id 1762164900"}, ("user", f"at {secret}")])
    report = assembler.build().report
    assert [(row.region, row.name, row.kind, row.times) for row in report.volatile] == [
        ("capability", "t", "current time", 1),
        ("capability", "t parameters", "uuid", 1),
        ("instruction", "instruction", "timestamp", 1),
        ("knowledge", "crm.json", "timestamp", 2),
        ("instruction", "system message at the head", "epoch", 1),
    ]
    assert report.volatile[2].offset == 4
    assert report.to_dict()["volatile"][2] == {
        "region": "instruction",
        "name": "instruction",
        "kind": "timestamp",
        "offset": 4,
        "times": 1,
    }
    assert secret not in repr(report) + str(report)
    assert "volatile: timestamp in instruction, instruction, at character 4" in str(report)
    assert all(len(line) <= 80 for line in str(report).splitlines())


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string", "default": "123e4567-e89b-12d3-a456-426614174000"}},
}


def test_the_conversation_and_images_at_the_head_are_not_searched_for_volatile_text() -> None:
    context = Assembler(dialect=plain).add_instruction("Be brief.").add_message(("user", "2026-11-03 10:15")).build()
    assert context.report.volatile == ()


def test_a_time_in_a_turn_is_not_reported_and_a_rewritten_message_is_the_first_that_changed() -> None:
    messages = [("user", "at 2026-11-03 10:15"), ("assistant", "Noted."), ("user", "And now?"), ("assistant", "10:16.")]
    earlier = Assembler(dialect=plain).add_messages(messages).build()
    later = Assembler(dialect=plain).add_messages([*messages, ("user", "at 2026-11-03 10:17")]).build()
    rewritten = Assembler(dialect=plain).add_messages([*messages[:2], ("user", "And now, 10:17?"), messages[3]]).build()
    assert [context.report.volatile for context in (earlier, later, rewritten)] == [(), (), ()]
    assert (later.first_changed(earlier), rewritten.first_changed(earlier)) == (None, 2)


def test_many_findings_are_counted_in_the_text() -> None:
    assembler = Assembler(dialect=plain).add_message(("user", "a"))
    for n in range(7):
        assembler.add_knowledge("2026-11-03 10:15", type="log", source=f"{n}.log")
    report = assembler.build().report
    assert len(report.volatile) == 7
    assert "volatile: 2 more, in report.volatile" in str(report)


def test_reading_a_report_again_scans_no_text_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assembler = Assembler(dialect=plain).add_instruction("2026-11-03 10:15").add_message(("user", "a"))
    first = assembler.build().report.volatile

    def refuse(items: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr("assembler.report.cache.volatile.volatile_texts", refuse)
    assert assembler.fork().add_message(("assistant", "b")).build().report.volatile == first


@pytest.mark.parametrize(
    "unit", ["2026-11-03 ", "1" * 10, "0a1b2c3d-", "current  ", "may 1, ", "today is ", "-" * 9, "12 "]
)
def test_the_work_is_linear_in_the_text(unit: str) -> None:
    """A pattern that backtracks would take hours here: the suite's time limit would stop it."""
    kinds(unit * (200_000 // len(unit)))
