"""A policy of the library is in every list where people and tests look for one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import assembler
from assembler import policies
from assembler.cli.request_file.policies import POLICIES
from assembler.policies import Offload, Refuse, Summarize
from tests.assembler import test_cli_policies
from tests.assembler.testing import test_policy_contract

from .drawn import RUNGS

DOCS = Path(__file__).parents[3] / "docs"


def built_in() -> Iterator[type]:
    """Every class of the package that cuts or rewrites, whether it is listed or not."""
    for found in pkgutil.iter_modules(policies.__path__, "assembler.policies."):
        for one in vars(importlib.import_module(found.name)).values():
            ours = inspect.isclass(one) and one.__module__ == found.name and not getattr(one, "_is_protocol", False)
            if ours and not one.__name__.startswith("_") and (hasattr(one, "cut") or hasattr(one, "rewrites")):
                yield one


DECLARED = [one.traits for one in test_policy_contract.OWN if isinstance(one, Summarize)]
STAND_INS = {type(one) for traits in DECLARED for one in (traits.unasked, traits.briefest)}
"""They answer where no model may be asked; nobody names them."""
EVERY = sorted({*built_in()} - STAND_INS, key=lambda one: one.__name__)
NO_DATA = {Offload, Summarize}
"""A store and a function: a request file can hold neither."""
NOT_DRAWN = {Offload, Refuse}


def test_the_package_is_searched_for_policies() -> None:
    assert {Offload, Refuse, Summarize} < {*EVERY}


@pytest.mark.parametrize("policy", EVERY, ids=lambda policy: policy.__name__)
class TestAPolicyOfTheLibrary:
    def test_is_a_public_name(self, policy: type) -> None:
        assert policy.__name__ in policies.__all__, "add it to assembler/policies/__init__.py, in both lists"
        assert policy.__name__ in assembler.__all__, "add it to assembler/__init__.py, in both lists"

    def test_is_held_to_the_contract(self, policy: type) -> None:
        held = [*map(type, test_policy_contract.OWN)]
        assert policy in held, "add one to OWN of tests/assembler/testing/test_policy_contract.py"

    def test_is_drawn_in_ladders(self, policy: type) -> None:
        assert policy in {*RUNGS, *NOT_DRAWN}, "add how it is drawn to RUNGS of tests/assembler/policies/drawn.py"

    def test_has_a_name_for_request_files_and_an_example_of_it(self, policy: type) -> None:
        named = {*NO_DATA, *(one.make for one in POLICIES.values())}
        assert policy in named, "add its name to POLICIES of assembler/cli/request_file/policies.py"
        spelled = {*NO_DATA, *(type(made) for _, made in test_cli_policies.SPELLED)}
        assert policy in spelled, "add an example to SPELLED of tests/assembler/test_cli_policies.py"

    @pytest.mark.parametrize("page", ["how-it-cuts.md", "choosing-a-policy.md"])
    def test_is_found_where_people_choose_one(self, policy: type, page: str) -> None:
        row = re.compile(rf"^\|.*\b{policy.__name__}\(", re.MULTILINE)
        found = row.search((DOCS / page).read_text(encoding="utf-8"))
        assert found, f"add a row to docs/{page} that shows {policy.__name__}(…)"
