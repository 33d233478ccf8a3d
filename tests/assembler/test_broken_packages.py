"""A package that is installed and does not load is named as the fault: no argument is, and installing it is no cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interpreter import ran

FAULT = "libfault.so: cannot open shared object file"


def install_broken(folder: Path, package: str, failure: str) -> str:
    """A package whose import fails, in a folder; the beginning of a program that finds it first."""
    home = folder / package
    home.mkdir()
    (home / "__init__.py").write_text(f"raise {failure}({FAULT!r})\n")
    return f"import sys; sys.path.insert(0, {str(folder)!r})\n"


@pytest.mark.parametrize("failure", ["ImportError", "AttributeError"])
def test_a_pydantic_that_does_not_load_is_no_fault_of_a_tool(tmp_path: Path, failure: str) -> None:
    program = """
def look(city: str) -> str:
    return city
from assembler import Assembler
try:
    Assembler().set_tools([look])
except Exception as error:
    print(type(error).__name__, error)
"""
    assert ran(install_broken(tmp_path, "pydantic", failure) + program).strip() == f"{failure} {FAULT}"


@pytest.mark.parametrize(
    ("failure", "advice"),
    [("ImportError", "pip install --upgrade --force-reinstall"), ("ModuleNotFoundError", "pip install")],
)
def test_an_extra_that_does_not_load_is_installed_anew(tmp_path: Path, failure: str, advice: str) -> None:
    program = """
from budgets import MissingExtraError, toktok_counter
try:
    toktok_counter()("text")
except MissingExtraError as error:
    print(f"{error} because of: {error.__cause__}")
"""
    printed = ran(install_broken(tmp_path, "toktok", failure) + program)
    assert f": {advice} 'context-assembler[toktok]'" in printed
    assert printed.strip().endswith(f"because of: {FAULT}")
