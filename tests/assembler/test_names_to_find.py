"""Names are found where people look for them: an error names the right package, and `dir` lists the public names."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import assembler
from assembler import Assembler

ELSEWHERE: dict[str, str] = {
    name: package
    for package, names in vars(assembler)["_elsewhere"].items()
    for name in (dir(importlib.import_module(package)) if names == "*" else names.split())
    if name not in assembler.__all__
}


@pytest.mark.parametrize(("name", "package"), ELSEWHERE.items())
def test_a_name_asked_of_the_wrong_package_is_answered_with_the_import_that_works(name: str, package: str) -> None:
    with pytest.raises(ImportError, match=f"^assembler has no {name}: from {package} import {name}$"):
        exec(f"from assembler import {name}")  # the statement that people write
    assert hasattr(importlib.import_module(package), name)


def test_asking_assembler_for_a_name_of_budgets_is_answered_with_the_import() -> None:
    import budgets

    tried = set(budgets.__all__) - set(assembler.__all__)
    assert tried <= ELSEWHERE.keys()


def test_an_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Bugdet'"):
        _ = assembler.Bugdet


@pytest.mark.parametrize(
    "package",
    [
        *("assembler", "budgets", "assembler.policies", "assembler.strategies", "assembler.rag", "assembler.greedy"),
        *("assembler.prompts", "assembler.batch", "assembler.testing", "assembler.report.page"),
    ],
)
def test_dir_shows_the_public_names_only(package: str) -> None:
    module = importlib.import_module(package)
    assert dir(module) == sorted(module.__all__)


def test_dir_of_an_assembler_and_of_what_it_makes_shows_nothing_that_is_private_to_the_library() -> None:
    gathered = Assembler().add_message(("user", "q"))
    for made in (gathered, gathered.plan(), gathered.build()):
        assert {"inside", "around"}.isdisjoint(dir(made))


@pytest.mark.parametrize(
    ("plain", "older"),
    [
        ("set_instruction", "add_instruction"),
        ("set_tools", "add_capability"),
        ("set_output_schema", "add_output_schema"),
        ("set_messages", "add_messages"),
    ],
)
def test_each_method_that_replaces_has_a_second_name_that_begins_with_set(plain: str, older: str) -> None:
    assert getattr(Assembler, plain) is getattr(Assembler, older)
    said: dict[str, Any] = {
        "set_instruction": "Be brief.",
        "set_tools": [],
        "set_output_schema": None,
        "set_messages": [("user", "Hi")],
    }
    one, two = Assembler(), Assembler()
    getattr(one, plain)(said[plain])
    getattr(two, older)(said[plain])
    assert getattr(one, plain)(said[plain]) is one
    assert one.build().request() == two.build().request() if plain == "set_messages" else repr(one) == repr(two)


def test_a_module_of_the_callers_own_that_hides_budgets_is_named(tmp_path: Path) -> None:
    (tmp_path / "budgets.py").write_text("YEARLY = 1\n")
    path = [str(tmp_path), str(Path(assembler.__file__).parents[1])]
    code = f"import sys; sys.path[:0] = {path!r}; import assembler"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("ImportError: assembler needs its own package budgets")
    assert str(tmp_path / "budgets.py") in said
