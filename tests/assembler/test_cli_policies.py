"""A policy that a file names is the one that the same words of the library make."""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import pytest

from assembler import policies
from assembler.cli import main
from assembler.cli.request_file.policies import POLICIES, overflow
from assembler.files.place import Place, SpecError
from assembler.policies import (
    ClearReasoning,
    ClearToolResults,
    KeepRelevant,
    Offload,
    Policy,
    Refuse,
    Summarize,
    TrimOldest,
    TrimSteps,
    Truncate,
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
    ({"keep_relevant": {"keep_turns": 1, "low_water": 0.5}}, KeepRelevant(keep_turns=1, low_water=0.5)),
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
    assert overflow(HERE, spelled) == [made]
    assert overflow(HERE, [spelled, "refuse"]) == [made, Refuse()]


def test_every_policy_whose_options_are_data_has_a_name_and_a_line_of_the_docs() -> None:
    named = {one.make for one in POLICIES.values()}
    ours = {getattr(policies, name) for name in policies.__all__}
    cuts = {one for one in ours if attrs.has(one) and (hasattr(one, "cut") or hasattr(one, "rewrites"))}
    assert cuts - named == {Offload, Summarize}
    page = (DOCS / "command.md").read_text(encoding="utf-8")
    for name, one in POLICIES.items():
        assert re.search(rf"^\| `{name}` \|", page, re.MULTILINE)
        assert all(f"`{option}`" in page for option in one.options)


def test_where_a_limit_binds_the_scores_of_a_file_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    documents = [f"- {{type: note, text: Fact number {n}., source: fact-{n}, score: {n}}}" for n in range(4)]
    spec = ["budget: {context_window: 200, limits: {knowledge: {cap: 60}}}", "knowledge:", *documents]
    (tmp_path / "bot.yaml").write_text("\n".join([*spec, "messages: [[user, hello]]"]))
    assert main(["build", str(tmp_path / "bot.yaml"), "-o", str(tmp_path / "out.json")]) == 0
    written = (tmp_path / "out.json").read_text()
    assert "fact-3" in written
    assert "fact-0" not in written


def test_truncate_without_its_number_is_refused_where_it_is_missing() -> None:
    with pytest.raises(SpecError, match=r"on_overflow\.truncate\.max_tokens: missing"):
        overflow(HERE, "truncate")
