"""Which way imports run, what an import loads, and that the public names are the ones that are listed."""

from __future__ import annotations

import ast
import graphlib
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ["tiktoken", "jinja2", "numpy", "transformers", "tokenizers", "rich", "pydantic", "griffe", "yaml"]


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", ["assembler", "budgets"])
def test_an_import_loads_nothing_but_the_standard_library(package: str) -> None:
    code = (
        f"import sys; before = set(sys.modules); import {package}\n"
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert set(ast.literal_eval(done.stdout)) <= {"assembler", "budgets"}


def test_a_module_of_a_package_is_found_by_its_name_without_an_import_of_its_own() -> None:
    code = (
        "import assembler, budgets; print(assembler.dialects.openai_chat.name, budgets.models.dialect_of('gpt-4o'))\n"
        "print(callable(assembler.verify), hasattr(assembler, 'nothing'), hasattr(budgets, '_nothing'))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["openai_chat", "openai_chat", "True", "False", "False"]


def test_a_simple_chat_loads_nothing_heavy() -> None:
    code = (
        "import sys; from assembler import Assembler, TrimOldest; from budgets import Budget\n"
        "chat = Assembler(Budget(50, counter=len), on_overflow=TrimOldest()).add_instruction('Be brief.')\n"
        "for text in ('What is the capital of France?', 'And of Spain?'):\n"
        "    chat.add_message({'role': 'user', 'content': text})\n"
        f"chat.build().request(); print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_budgets_never_looks_up_at_assembler() -> None:
    for path in modules("budgets"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not any(name.split(".")[0] == "assembler" for name in names), path


def imported(path: Path, house: dict[str, Path]) -> set[str]:
    """The modules of the house that a file names, wherever it does: at the top, in a function, for types alone."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= whole & house.keys() or {node.module}
    return names & house.keys()


def test_no_file_is_imported_by_what_it_imports() -> None:
    paths = [*modules("assembler"), *modules("budgets")]
    house = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    graph = {name: imported(path, house) - {name} for name, path in house.items()}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names a circle


def test_only_counters_and_vocabularies_import_a_tokenizer() -> None:
    for path in [*modules("assembler"), *modules("budgets")]:
        place = path.relative_to(ROOT).as_posix()
        if place.startswith(("budgets/counters/", "budgets/vocabularies/")):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not {name.split(".")[0] for name in names} & {"tiktoken", "tokenizers"}, place


@pytest.mark.parametrize("package", ["assembler", "budgets", "assembler.policies", "assembler.strategies"])
def test_all_lists_the_public_names_sorted_and_each_exists(package: str) -> None:
    module = importlib.import_module(package)
    listed = list(module.__all__)
    assert len(set(listed)) == len(listed)
    assert all(hasattr(module, name) for name in listed)
    here = {name for name, value in vars(module).items() if not isinstance(value, type(sys)) and name != "annotations"}
    public = {name for name in here | set(vars(module).get("_homes", ())) if not name.startswith("_")}
    assert set(listed) == public


def test_no_room_is_too_large() -> None:
    for path in [*modules("assembler"), *modules("budgets")]:
        text = path.read_text()
        assert text.count("\n") <= 400, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                documented = (ast.get_docstring(node) or "").count("\n") + 1
                assert (node.end_lineno or 0) - node.lineno + 1 - documented <= 60, f"{path}:{node.name}"
