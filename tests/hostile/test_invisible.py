"""Invisible characters (area A5) are reported by place and number, and removed only on request."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler
from assembler.text.invisible import Invisible, invisible_texts, without_invisible

CASES = json.loads(Path(__file__).with_name("invisible.json").read_text(encoding="utf-8"))
HIDDEN = CASES["reported"][0]["text"]
FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters, one symbol, by their category; blank, by their shape."""
BITS = [("\u200c", "\u200d"), ("\u200e", "\u200f"), ("\u200b", "\u2060"), ("\u034f", "\u061c"), ("\u3164", "\u206a")]
NASTY = st.text(
    st.one_of(
        st.sampled_from(sorted({character for kind in CASES.values() for case in kind for character in case["text"]})),
        st.characters(),
    )
)


def names(kind: str) -> list[str]:
    return [case["case"] for case in CASES[kind]]


def found(text: str) -> list[Invisible]:
    return list(invisible_texts([("knowledge", "k", text)]))


@pytest.mark.parametrize("case", CASES["reported"], ids=names("reported"))
def test_invisible_text_is_found_at_its_place(case: dict[str, Any]) -> None:
    text = case["text"]
    assert [(one.kind, one.offset, one.times) for one in found(text)] == [(case["kind"], case["offset"], case["times"])]
    assert len(without_invisible(text)) == len(text) - case["times"]


@pytest.mark.parametrize("case", CASES["left_in_peace"], ids=names("left_in_peace"))
def test_invisible_characters_that_a_script_needs_are_not_reported(case: dict[str, Any]) -> None:
    assert found(case["text"]) == []
    assert without_invisible(case["text"]) == case["text"]


@given(NASTY)
def test_only_characters_without_a_shape_are_taken_out(text: str) -> None:
    def shapes(of: str) -> list[str]:
        return [c for c in of if unicodedata.category(c)[0] in "LNPSZ" and c not in FILLERS]

    assert shapes(without_invisible(text)) == shapes(text)


@given(NASTY)
def test_nothing_invisible_is_found_after_it_was_removed(text: str) -> None:
    kept = without_invisible(text)
    assert found(kept) == []
    assert len(text) - len(kept) == sum(one.times for one in found(text))


@given(st.text("shown \u00e9\u6771", max_size=20), st.lists(st.booleans(), min_size=1), st.sampled_from(BITS))
def test_a_message_hidden_in_invisible_bits_is_always_reported(
    shown: str, bits: list[bool], pair: tuple[str, str]
) -> None:
    hidden = "".join(pair[bit] for bit in bits)
    assert sum(one.times for one in found(f"{shown}{hidden}{shown}")) >= len(bits)


def test_knowledge_and_tools_are_reported_and_never_edited() -> None:
    assembler = Assembler().add_knowledge(f"Opening hours.{HIDDEN}", type="web", source="page")
    assembler.add_capability([{"name": "lookup", "description": "Look it up.​", "parameters": {"type": "object"}}])
    context = assembler.build()
    assert HIDDEN in (context.system or "")
    assert [(one.region, one.kind, one.times) for one in context.report.invisible] == [
        ("capability", "zero width", 1),
        ("knowledge", "tag characters", 28),
    ]
    assert "28 tag characters" in str(context.report)
    assert HIDDEN not in str(context.report)


def test_invisible_text_of_a_tool_is_reported_by_its_message() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": f"A page.{HIDDEN}"},
    ]
    (one,) = Assembler().add_messages(history).build().report.invisible
    assert (one.region, one.name, one.offset, one.times) == ("conversation", "message 2", 7, 28)
    (again,) = Assembler().add_messages(history).build().report.to_dict()["invisible"]
    assert again["times"] == 28
