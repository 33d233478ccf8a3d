"""`assemble calibrate` finds the constants behind a set of bills and refuses too small a set."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler.cli import main
from assembler.dialects.hosts.families import READERS, Family
from assembler.dialects.hosts.fit_constants import PARTS, Recorded, fit_constants
from assembler.dialects.prices.families import rows_of
from budgets import tiktoken_counter
from tests.scaled import scaled

o200k = tiktoken_counter("o200k_base")
TOOLS = [
    {"name": name, "description": "Looks a word up.", "parameters": {"type": "object"}}
    for name in ("look", "see", "go")
]


def recording(words: int, tools: int, turns: int, called: bool, made_of: dict[str, float]) -> dict[str, Any]:
    """A request of so many words, and the bill of a host with these constants, added up here."""
    asked = "river " * words
    messages: list[dict[str, Any]] = []
    texts = sum(o200k(json.dumps(tool, separators=(",", ":"))) for tool in TOOLS[:tools])
    bill = made_of["opening"] + (made_of["tooling"] if tools else 0) + tools * made_of["tool"]
    for turn in range(turns):
        messages.append({"role": "user", "content": asked})
        texts += o200k(asked)
        if called:
            call = {"id": str(turn), "type": "function", "function": {"name": "look", "arguments": "{}"}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": str(turn), "content": "water"})
            texts += o200k("look") + o200k("{}") + o200k("water")
            bill += made_of["call"]
    bill += len(messages) * made_of["message"] + made_of["texts"] * texts
    request: dict[str, Any] = {"messages": messages}
    if tools:
        request["tools"] = [{"type": "function", "function": tool} for tool in TOOLS[:tools]]
    return {"api": "chat", "model": "river-1", "request": request, "input_tokens": round(bill)}


def written(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def row_of(printed: str) -> Family:
    (row,) = rows_of(printed, Family, READERS)
    return row


MADE_OF = {"opening": 40, "texts": 1.0, "message": 5, "tooling": 130, "tool": 9, "call": 17, "result": 0}


def test_the_printed_row_holds_the_constants_that_the_bills_were_made_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = product((1, 30, 200), (0, 1, 3), (1, 2), (False, True))
    lines = [recording(*case, made_of=MADE_OF) for case in cases]
    assert main(["calibrate", written(tmp_path / "bills.jsonl", lines)]) == 0
    printed = capsys.readouterr().out
    row = row_of(printed)
    assert "held out: median 0.0%, largest 0.0%" in printed
    assert "not shown by these recordings: result" in printed
    assert row.names.match("a-host/river-1-large")
    assert (row.opening.tokens, row.user.tokens, row.assistant.tokens, row.tool_role.tokens) == (40, 5, 5, 5)
    assert (row.tooling.tokens, row.tool.tokens, row.call.tokens) == (130, 9, 17)
    assert row.stand_in is not None
    assert row.stand_in.typical == pytest.approx(1.0)
    assert row.evidence.rows == len(lines)


@scaled(0.3)
@given(
    st.lists(st.integers(0, 300), min_size=len(PARTS), max_size=len(PARTS)),
    st.lists(st.tuples(*[st.integers(0, 9)] * (len(PARTS) - 1)), min_size=30, max_size=40, unique=True),
)
def test_bills_without_noise_are_met_to_the_token(constants: list[int], often: list[tuple[int, ...]]) -> None:
    rows = [(1.0, *map(float, one)) for one in often]
    bills = [round(sum(x * y for x, y in zip(row, constants, strict=True))) for row in rows]
    found = fit_constants([Recorded(row, bill) for row, bill in zip(rows, bills, strict=True)])
    for row, bill in zip(rows, bills, strict=True):
        assert sum(x * found.constants[name] for x, name in zip(row, PARTS, strict=True)) == pytest.approx(
            bill, abs=0.5
        )
    assert all(value >= 0 for value in found.constants.values())


def test_two_outlying_bills_do_not_move_the_constants() -> None:
    rows = [(1.0, float(texts), 1.0, 0.0, 0.0, 0.0, 0.0) for texts in range(10, 130, 5)]
    bills = [round(20 + row[1]) for row in rows]
    bills[3] += 900
    bills[-2] -= 60
    found = fit_constants([Recorded(row, bill) for row, bill in zip(rows, bills, strict=True)])
    assert found.constants["texts"] == pytest.approx(1.0, abs=0.02)
    assert found.constants["opening"] == pytest.approx(20, abs=1)
    assert "message" in found.unshown
    assert found.short > 800


def test_a_part_that_no_recording_shows_is_free_with_a_margin_in_the_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [recording(words, 0, 1 + words % 2, False, MADE_OF) for words in range(12)]
    assert main(["calibrate", written(tmp_path / "bills.jsonl", lines)]) == 0
    row = row_of(capsys.readouterr().out)
    assert (row.tooling.tokens, row.tool.tokens, row.call.tokens, row.result.tokens) == (0, 0, 0, 0)
    assert row.tooling.upper >= MADE_OF["tooling"]
    assert row.tool.upper >= MADE_OF["tool"]
    assert row.call.upper >= MADE_OF["call"]


LINE = recording(3, 0, 1, False, MADE_OF)
ANSWERED = {key: value for key, value in LINE.items() if key != "input_tokens"}
REFUSED: list[tuple[list[dict[str, Any]], str]] = [
    ([LINE] * 9, "expected at least 10 recordings, got 9; record 1 more"),
    ([*[LINE] * 10, {**LINE, "model": "lake-2"}], "recordings of one model, got 2; choose with --model lake-2"),
    ([{**LINE, "api": "messages"}] * 10, "[0].api: expected one of chat, responses"),
    ([{**LINE, "input_tokens": "many"}] * 10, "[0].input_tokens: expected the number of input tokens"),
    (
        [{**ANSWERED, "usage": {"total_tokens": 9}}] * 10,
        "[0].usage: counter usage has no input tokens in a dict",
    ),
    ([{**LINE, "request": []}] * 10, "[0].request: expected a request"),
    ([{**LINE, "request": {"messages": [], "tools": 5}}] * 10, "[0].request: request cannot be read (TypeError"),
    ([], "expected at least 10 recordings, got 0"),
]


@pytest.mark.parametrize(("lines", "says"), REFUSED)
def test_a_file_that_shows_too_little_is_refused_in_one_line(
    lines: list[dict[str, Any]], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", written(tmp_path / "bills.jsonl", lines)]) == 2
    printed = capsys.readouterr().err
    assert says in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    "usage_of",
    [
        lambda bill: {"prompt_tokens": bill, "completion_tokens": 1},
        lambda bill: {"tokens": {"input_tokens": float(bill)}, "billed_units": {"input_tokens": 1.0}},
        lambda bill: {"prompt_eval_count": bill},
    ],
)
def test_a_line_may_hold_the_usage_of_its_answer_in_place_of_the_bill(
    usage_of: Callable[[int], dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [recording(words, 0, 1 + words % 2, False, MADE_OF) for words in range(12)]
    as_answered = [{**line, "usage": usage_of(line["input_tokens"])} for line in lines]
    for line in as_answered:
        del line["input_tokens"]
    rows = []
    for name, kept in (("bills", lines), ("answers", as_answered)):
        assert main(["calibrate", written(tmp_path / f"{name}.jsonl", kept)]) == 0
        rows.append(capsys.readouterr().out)
    assert rows[0] == rows[1]


def test_one_model_of_several_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [recording(words, 0, 1, False, MADE_OF) for words in range(12)]
    path = written(tmp_path / "bills.jsonl", [*lines, {**LINE, "model": "lake-2", "api": "messages"}])
    assert main(["calibrate", path, "--model", "river-1"]) == 0
    assert row_of(capsys.readouterr().out).opening.tokens == 45  # and the one message that each request has
    assert main(["calibrate", path, "--model", "lake-2"]) == 2
