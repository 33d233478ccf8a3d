"""Names are found where people look for them: an error names the right package, and `dir` lists the public names."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import griffe
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


def test_the_site_lists_the_members_of_an_assembler_that_dir_shows() -> None:
    source = Path(assembler.__file__).with_name("assembler.py")
    extensions = griffe.load_extensions("tools.public_names")
    module = griffe.visit("assembler.assembler", source, source.read_text(), extensions=extensions)
    listed = {name for name in module["Assembler"].members if not name.startswith("_")}
    assert listed == {name for name in dir(Assembler()) if not name.startswith("_")}


OLDER_NAMES = [
    ("add_instruction", "set_instruction"),
    ("add_capability", "set_tools"),
    ("add_output_schema", "set_output_schema"),
    ("add_messages", "set_messages"),
]


@pytest.mark.parametrize(("older", "name"), OLDER_NAMES)
def test_an_older_name_is_the_method_that_tracebacks_and_help_call_by_its_name(older: str, name: str) -> None:
    method = getattr(Assembler, name)
    assert getattr(Assembler, older) is method
    assert method.__name__ == name


def test_a_module_of_the_callers_own_that_hides_budgets_is_named(tmp_path: Path) -> None:
    (tmp_path / "budgets.py").write_text("YEARLY = 1\n")
    path = [str(tmp_path), str(Path(assembler.__file__).parents[1])]
    code = f"import sys; sys.path[:0] = {path!r}; import assembler"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)
    error = done.stderr.splitlines()[-1]
    assert error.startswith("ImportError: assembler needs its own package budgets")
    assert str(tmp_path / "budgets.py") in error
