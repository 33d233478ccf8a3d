"""`budgets` imports only what it may, and importing it loads little."""

from __future__ import annotations

import ast
import subprocess
import sys
import types
from pathlib import Path

import pytest

import budgets

HERE = Path(budgets.__file__).parent
MODULES = sorted(HERE.rglob("*.py"))
HEAVY = {"tiktoken", "tokenizers", "transformers", "numpy", "jinja2", "pydantic", "griffe", "rich", "asyncio", "lzma"}


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(HERE)))
def test_budgets_never_imports_assembler(module: Path) -> None:
    assert "assembler" not in imported(ast.parse(module.read_text(encoding="utf-8")))


@pytest.mark.parametrize("engine", ["tiktoken", "tokenizers", "transformers", "toktok_rs"])
def test_only_the_counters_import_tokenizers(engine: str) -> None:
    users = [m for m in MODULES if engine in imported(ast.parse(m.read_text(encoding="utf-8")))]
    assert all(module.parent.name == "counters" for module in users)


def test_a_budget_and_a_counter_that_has_not_counted_load_nothing_heavy() -> None:
    script = (
        "import sys, budgets; budgets.Budget(1000, counter=len), budgets.tiktoken_counter()\n"
        f"print(sorted(set(sys.modules) & {HEAVY | {'assembler'}!r}))"
    )
    run = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=60)
    assert run.stdout == "[]\n", run.stderr


def test_the_public_names_are_those_that_are_listed() -> None:
    named = {name: getattr(budgets, name) for name in dir(budgets) if not name.startswith("_")}
    public = {name for name, value in named.items() if not isinstance(value, types.ModuleType)}
    assert list(budgets.__all__) == sorted(budgets.__all__)
    assert public - {"annotations"} == set(budgets.__all__)
