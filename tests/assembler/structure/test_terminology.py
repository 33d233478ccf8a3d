"""No module and no public name contains a word that docs/terminology.md excludes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import assembler
import budgets

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "terminology.md").read_text(encoding="utf-8")
LAW, RULED_OUT = PAGE.partition("## Names that need a word")[0], PAGE.partition("## Words that no name holds")[2]
WORDS = {word for row in re.findall(r"^\| (`.*?) \|", RULED_OUT, re.MULTILINE) for word in re.findall(r"`(\w+)`", row)}


def words_of(name: str) -> set[str]:
    """The words of `snake_case` and of `CamelCase`."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def test_the_page_lists_excluded_words() -> None:
    assert {"terms", "manager", "utils"} <= WORDS
    assert words_of("TokenCounter_of") == {"token", "counter", "of"}


@pytest.mark.parametrize("package", ["assembler", "budgets"])
def test_no_module_has_an_excluded_word_in_its_name(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        assert not words_of(path.stem) & WORDS, path


@pytest.mark.parametrize("module", [assembler, budgets], ids=lambda module: module.__name__)
def test_no_public_name_holds_an_excluded_word(module: object) -> None:
    for name in module.__all__:  # type: ignore[attr-defined]
        assert not words_of(name) & WORDS, name
        for attribute in dir(getattr(module, name)):
            if not attribute.startswith("_"):
                assert not words_of(attribute) & WORDS, f"{name}.{attribute}"


NOWHERE = WORDS - {"beside", "manager", "base", "data", "process"}
"""The ruled out words that nothing at all is named by: no function, class, parameter, variable or attribute."""
REMAIN = {
    ("assembler/policies/summarize.py", "StandingSummary"),  # the report of a what-if shows this name
}


def names_in(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.alias(asname=str(name)):
                yield name
            case _:
                pass


@pytest.mark.parametrize(
    "bound",
    [
        *("def room(): ...", "async def room(): ...", "class Room: ...", "def f(room): ...", "def f(*, _room): ..."),
        *("room = 1", "room: int", "x.room = 1", "for _, room in x: ...", "(room := 1)", "lambda room: 1"),
        *("import x as room", "match x:\n case [room]: ...", "try: ...\nexcept E as room: ..."),
    ],
)
def test_a_name_is_found_wherever_it_is_bound(bound: str) -> None:
    assert "room" in {word for name in names_in(bound) for word in words_of(name)}


def test_a_name_that_others_chose_may_be_used() -> None:
    assert list(names_in("from x import room\nx.room(room=room.told)")) == []


def test_no_name_of_the_code_holds_a_word_that_is_excluded_everywhere() -> None:
    assert len(NOWHERE) > 12
    words, found = re.compile("|".join(NOWHERE), re.IGNORECASE), set[tuple[str, str]]()
    for path in [*(ROOT / "assembler").rglob("*.py"), *(ROOT / "budgets").rglob("*.py")]:
        source = path.read_text(encoding="utf-8")
        if words.search(source):
            place = path.relative_to(ROOT).as_posix()
            found |= {(place, name) for name in names_in(source) if words_of(name) & NOWHERE}
    assert found == REMAIN


def test_every_listed_word_has_one_meaning() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", LAW, re.MULTILINE)
    assert len(words) > 25
    assert len(words) == len(set(words))
