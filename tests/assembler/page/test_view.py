"""`assemble view` writes the page of the report that `assemble build` prints, without texts unless asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assembler import Assembler
from assembler.cli import main
from budgets import Budget

from .reading import Page

SPEC = """
budget: {context_window: 60, max_output_tokens: 10}
instruction: secret rules
messages: [{role: user, content: secret question}, {role: user, content: another}]
on_overflow: trim_oldest
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.yaml").write_text(SPEC)
    return tmp_path / "bot.yaml"


def test_view_writes_the_page_of_the_same_request_in_python(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "bot.yaml", "-o", "page.html"]) == 0
    assert capsys.readouterr() == ("page    page.html\ntokens  5\n", "")
    by_hand = Assembler(Budget(60, max_output_tokens=10)).add_instruction("secret rules")
    by_hand.add_messages([("user", "secret question"), ("user", "another")])
    context = by_hand.build()
    written = Page((file.parent / "page.html").read_text("utf-8"))
    assert written.rows == Page(context.report.to_html()).rows
    assert context._repr_html_() == context.report._repr_html_()


def test_texts_are_on_the_page_only_where_they_are_asked_for(file: Path) -> None:
    page = file.parent / "page.html"
    assert main(["view", "bot.yaml", "-o", "page.html"]) == 0
    assert "secret" not in page.read_text("utf-8")
    assert main(["view", "bot.yaml", "-o", "page.html", "--texts", "shown"]) == 0
    assert "secret rules" in page.read_text("utf-8")
    assert "secret question" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["bot.yaml"], 2, "--output"),
        (["bot.yaml", "-o", "bot.yaml"], 2, "expected a file other than the one that is read"),
        (["bot.yaml", "-o", "gone/page.html"], 2, "expected a place to write to"),
        (["bot.yaml", "-o", "page.html", "--texts", "some"], 2, "--texts"),
        (["none.yaml", "-o", "page.html"], 2, "none.yaml"),
    ],
)
def test_a_wrong_request_prints_one_line_and_writes_no_page(
    file: Path, words: list[str], code: int, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", *words]) == code
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1
    assert not (file.parent / "page.html").exists()


@pytest.mark.parametrize("policy", ["trim_oldest", "refuse", "[{truncate: {max_tokens: 3}}, trim_oldest]"])
def test_a_request_that_does_not_fit_gets_a_page_that_says_what_is_missing(
    policy: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(SPEC.replace("60", "12").replace("trim_oldest", policy))
    assert main(["view", "bot.yaml", "-o", "page.html"]) == 3
    out, error = capsys.readouterr()
    assert (out, "context needs" in error) == ("", True)
    written = Page((file.parent / "page.html").read_text("utf-8")).written
    (build,), words = written["builds"], written["words"]
    missing = build["upper"] - build["budget"]["limit"]
    assert f"{missing} token" in words[build["refused"]]
    assert f"{missing} too many" in error
    smallest = min(size[0] for size in build["outlook"]["sizes"])
    file.write_text(file.read_text().replace("12", str(smallest)))
    assert main(["view", "bot.yaml", "-o", "page.html"]) == 0


def test_the_page_of_a_request_that_no_window_would_hold_says_so(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(SPEC.replace("10}", "10, max_input_tokens: 2}"))
    assert main(["view", "bot.yaml", "-o", "page.html"]) == 3
    written = Page((file.parent / "page.html").read_text("utf-8")).written
    assert "A larger context_window does not help" in written["words"][written["builds"][0]["refused"]]
    assert written["builds"][0]["outlook"]["sizes"] == []


def test_each_of_several_requests_must_fit(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file.parent / "small.yaml").write_text(SPEC.replace("60", "12"))
    assert main(["view", "bot.yaml", "small.yaml", "-o", "page.html"]) == 3
    assert "context needs" in capsys.readouterr().err
    assert not (file.parent / "page.html").exists()


def test_without_a_file_the_page_is_an_empty_tool(file: Path) -> None:
    assert main(["view", "-o", "tool.html"]) == 0
    written = Page((file.parent / "tool.html").read_text("utf-8")).written
    assert (written["builds"], written["rows"]) == ([], [])


def test_two_files_are_two_builds_of_one_page(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file.parent / "after.yaml").write_text(SPEC.replace("another", "yet another"))
    assert main(["view", "bot.yaml", "after.yaml", "-o", "page.html", "--json"]) == 0
    page = Page((file.parent / "page.html").read_text("utf-8"))
    assert page.written["title"] == "bot.yaml, after.yaml"
    read = json.loads(capsys.readouterr().out)["requests"]
    assert [build["tokens"] for build in page.written["builds"]] == [request["tokens"] for request in read]
