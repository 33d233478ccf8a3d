"""No module and no public name contains a word that docs/terminology.md excludes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import assembler
import budgets

ROOT = Path(__file__).parents[2]
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


RIDDLES = {"room", "lived", "climbed", "terms"}
"""Those of the ruled out words that no function, class or parameter holds either."""


def names_in(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg


@pytest.mark.parametrize("package", ["assembler", "budgets"])
def test_no_function_no_class_and_no_parameter_is_named_by_a_riddle(package: str) -> None:
    assert RIDDLES <= WORDS
    for path in (ROOT / package).rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if re.search("room|lived|climbed|terms", source, re.IGNORECASE):
            assert not [name for name in names_in(source) if words_of(name) & RIDDLES], path


def test_every_listed_word_has_one_meaning() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", LAW, re.MULTILINE)
    assert len(words) > 25
    assert len(words) == len(set(words))
