"""The checker shares no code with what it checks, and each rule names its source."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

import assembler
from assembler.verify import DIALECTS, rules

HOUSE = Path(assembler.__file__).parent
RULES = sorted((HOUSE / "dialects").glob("*/rules*.py"))
TABLES = sorted((HOUSE / "dialects").glob("*/rules.toml"))
DRAWN = [*sorted((HOUSE / "dialects").glob("*/drawn*.py")), *sorted((HOUSE / "drawn").glob("*.py"))]
SOURCES = [*sorted((HOUSE / "verify").glob("*.py")), *RULES]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: "/".join(path.with_suffix("").parts[-2:]))
def test_the_checker_imports_nothing_else_of_the_library(source: Path) -> None:
    tree = ast.parse(source.read_text("utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    ours = [name for name in imported if name.split(".")[0] in ("assembler", "budgets")]
    rules_of_its_own = f"assembler.dialects.{source.parent.name}.rules"
    allowed = ("assembler.verify", "budgets.lazy_names", rules_of_its_own)
    if source.parent.name == "verify" and source.stem == "__init__":  # it reads its arguments as every door does
        allowed += ("assembler.validation", "budgets")
    assert [name for name in ours if not name.startswith(allowed)] == []


@pytest.mark.parametrize("source", DRAWN, ids=lambda path: "/".join(path.with_suffix("").parts[-2:]))
def test_the_generators_import_nothing_of_the_dialects(source: Path) -> None:
    tree = ast.parse(source.read_text("utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [name for name in imported if name.split(".")[0] == "assembler"]
    assert [name for name in ours if not name.startswith("assembler.drawn")] == []


def test_no_module_that_reads_prices_or_emits_imports_a_rule() -> None:
    words = [path.read_text("utf-8") for path in (HOUSE / "dialects").rglob("*.py") if path not in RULES]
    assert [text for text in words if re.search(r"from assembler\.dialects\.\w+\.rules", text)] == []
    assert len(RULES) >= 8


def test_a_rule_id_means_one_thing_in_all_dialects() -> None:
    demands: dict[str, set[str]] = {}
    for dialect in DIALECTS:
        for rule in rules(dialect):
            demands.setdefault(rule.id, set()).add(rule.demand)
            assert rule.source
    assert {rule_id: texts for rule_id, texts in demands.items() if len(texts) > 1} == {}


def test_every_published_rule_is_held_somewhere() -> None:
    numbered = {"O": range(11), "R": range(4), "A": range(1, 17), "G": range(9), "B": range(1, 6), "M": range(1, 5)}
    numbered |= {"H": range(1, 3), "N": range(1, 10)}
    published = {f"{letter}{number}" for letter, numbers in numbered.items() for number in numbers}
    held = {rule.id for dialect in DIALECTS for rule in rules(dialect)}
    assert published | {"L1", "L2", "L3"} <= held
    listed = {rule_id for table in TABLES for rule_id in tomllib.loads(table.read_text("utf-8"))}
    neutral = {f"N{number}" for number in numbered["N"]}
    assert held - listed == neutral | {"S1", "S2", "S3", "S4", "S5", "L0", "T1", "T2", "T3", "T4"}
