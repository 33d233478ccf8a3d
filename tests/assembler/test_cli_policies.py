"""A policy named in a file is the one that the same options make in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from assembler.cli import main
from assembler.cli.request_file.policies import read_ladder
from assembler.files.place import Place, SpecError
from assembler.policies import (
    ClearReasoning,
    ClearToolResults,
    KeepRelevant,
    Policy,
    Refuse,
    TrimOldest,
    TrimSteps,
    Truncate,
    first_user,
)

HERE = Place("bot.yaml").key("on_overflow")
DOCS = Path(__file__).parents[2] / "docs"

SPELLED: list[tuple[object, Policy]] = [
    ("refuse", Refuse()),
    ("trim_oldest", TrimOldest()),
    (
        {"trim_oldest": {"low_water": 0.5, "keep_turns": 2, "note": "(more)"}},
        TrimOldest(low_water=0.5, keep_turns=2, note="(more)"),
    ),
    ({"trim_oldest": {"low_water": "auto"}}, TrimOldest(low_water="auto")),
    ({"trim_oldest": {"pins": "first_user"}}, TrimOldest(pins=first_user)),
    ({"keep_relevant": {"keep_turns": 1, "low_water": 0.5}}, KeepRelevant(keep_turns=1, low_water=0.5)),
    ({"keep_relevant": {"pins": [0, 7], "questions": 3}}, KeepRelevant(pins={0, 7}, questions=3)),
    ({"trim_steps": {"keep": 0}}, TrimSteps(keep=0)),
    (
        {"clear_tool_results": {"keep": 1, "placeholder": "gone", "exclude": ["find"]}},
        ClearToolResults(keep=1, placeholder="gone", exclude=["find"]),
    ),
    ({"clear_reasoning": {"keep": 4}}, ClearReasoning(keep=4)),
    ({"truncate": {"max_tokens": 9}}, Truncate(9)),
    ({"truncate": {"max_tokens": 9, "where": "head"}}, Truncate(9, "head")),
]


@pytest.mark.parametrize(("spelled", "made"), SPELLED)
def test_a_name_with_options_is_the_policy_made_with_them(spelled: object, made: Policy) -> None:
    assert read_ladder(HERE, spelled) == [made]
    assert read_ladder(HERE, [spelled, "refuse"]) == [made, Refuse()]


def test_a_binding_limit_selects_documents_by_the_scores_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = [f"- {{type: note, text: Fact number {n}., source: fact-{n}, score: {n}}}" for n in range(4)]
    spec = ["budget: {context_window: 200, limits: {knowledge: {cap: 60}}}", "knowledge:", *documents]
    (tmp_path / "bot.yaml").write_text("\n".join([*spec, "messages: [[user, hello]]"]))
    assert main(["build", str(tmp_path / "bot.yaml"), "-o", str(tmp_path / "out.json")]) == 0
    written = (tmp_path / "out.json").read_text()
    assert "fact-3" in written
    assert "fact-0" not in written


@pytest.mark.parametrize(
    ("spelled", "expected"),
    [
        ({"trim_oldest": {"pins": "last_user"}}, r"trim_oldest\.pins: expected first_user or a list, got a text of 9"),
        ({"trim_oldest": {"pins": ["0"]}}, r'trim_oldest\.pins\[0\]: expected a whole number, got "0"'),
        ({"keep_relevant": {"score": "bm25"}}, r"keep_relevant\.score: unknown key"),
        ({"truncate": {"max_tokens": 9, "where": "middle"}}, r"truncate\.where: expected one of ends, head, tail"),
        ("offload", r"on_overflow: expected one of clear_reasoning, "),
    ],
)
def test_an_option_of_a_wrong_type_is_refused_at_its_place_in_the_file(spelled: object, expected: str) -> None:
    with pytest.raises(SpecError, match=expected):
        read_ladder(HERE, spelled)


def test_truncate_without_its_number_is_refused_at_its_place_in_the_file() -> None:
    with pytest.raises(SpecError, match=r"on_overflow\.truncate\.max_tokens: missing"):
        read_ladder(HERE, "truncate")
