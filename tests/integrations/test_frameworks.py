"""Every framework has what its name promises. Runs in the ordinary suite, where none of them is installed."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest

from budgets import MissingExtraError
from tests.integrations.frameworks import HERE, frameworks, is_installed, page_of

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("name", frameworks())
def test_an_adapter_without_its_framework_names_the_extra_that_brings_it(name: str) -> None:
    if is_installed(name):
        pytest.skip(f"{name} is installed here")
    with pytest.raises(MissingExtraError) as caught:
        importlib.import_module(f"assembler.integrations.{name}")
    assert EXTRAS[caught.value.extra]


@pytest.mark.parametrize("name", frameworks())
def test_a_framework_has_tests_and_a_page(name: str) -> None:
    assert list((HERE / name).glob("test_*.py"))
    assert (ROOT / page_of(name)).exists()


def test_no_framework_is_needed_to_import_the_package_of_the_adapters() -> None:
    importlib.import_module("assembler.integrations")
