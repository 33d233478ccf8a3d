"""Every policy of the library is in its table and follows the conventions."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import attrs
import pytest

import assembler
from assembler import policies
from assembler.cli.request_file.policies import POLICIES, read_ladder
from assembler.files.place import Place
from assembler.policies import ClearToolResults, Offload, Policy, Refuse, Summarize, TrimOldest, Truncate
from assembler.policies.policy import is_cutting, is_rewriting

from .examples import BUILT_IN, EVERY


def written() -> Iterator[type]:
    """Every public class of the package that cuts or rewrites, whether it is listed or not."""
    for found in pkgutil.iter_modules(policies.__path__, "assembler.policies."):
        for one in vars(importlib.import_module(found.name)).values():
            ours = inspect.isclass(one) and one.__module__ == found.name and not getattr(one, "_is_protocol", False)
            if ours and not one.__name__.startswith("_") and (hasattr(one, "cut") or hasattr(one, "rewrites")):
                yield one


DECLARED = [one.traits for one in EVERY if isinstance(one, Summarize)]
STAND_INS = {type(one) for traits in DECLARED for one in (traits.unasked, traits.briefest)}
"""They answer where no model may be asked; nobody names them."""


def test_every_policy_of_the_package_is_in_its_table() -> None:
    assert {Offload, Refuse, Summarize} < {*BUILT_IN}
    assert {*written()} - STAND_INS == {*BUILT_IN}, "a line of assembler/policies/built_in.pyi is missing or too many"


@pytest.mark.parametrize("policy", BUILT_IN, ids=lambda policy: policy.__name__)
class TestAPolicyOfTheLibrary:
    def test_is_a_public_name_of_both_packages(self, policy: type[Policy]) -> None:
        assert getattr(policies, policy.__name__) is getattr(assembler, policy.__name__) is policy
        assert policy.__name__ in policies.__all__
        assert policy.__name__ in assembler.__all__

    def test_has_a_module_of_its_name(self, policy: type[Policy]) -> None:
        """Request files name a policy by its module."""
        words = re.findall("[A-Z][a-z0-9]+", policy.__name__)
        assert policy.__module__ == f"assembler.policies.{'_'.join(words).lower()}"

    def test_is_an_attrs_class_so_that_its_options_can_be_read(self, policy: type[Policy]) -> None:
        assert attrs.has(policy), f"decorate {policy.__name__} with @attrs.frozen"

    def test_cuts_or_rewrites_in_each_example(self, policy: type[Policy]) -> None:
        examples = [one for one in EVERY if type(one) is policy]
        assert examples
        assert all(is_cutting(one) or is_rewriting(one) for one in examples)


def test_a_policy_has_a_name_in_files_unless_it_needs_what_no_file_can_spell() -> None:
    named = {one.make for one in POLICIES.values()}
    assert {ClearToolResults, Refuse, TrimOldest, Truncate} <= named <= {*BUILT_IN}
    assert named.isdisjoint({Offload, Summarize})


@pytest.mark.parametrize("name", POLICIES)
def test_a_name_without_options_is_the_policy_made_without_options(name: str) -> None:
    if not POLICIES[name].required:
        assert read_ladder(Place("bot.yaml"), name) == [POLICIES[name].make()]
