"""Every strategy of the library is in its table and follows the conventions."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import attrs
import pytest

import assembler
from assembler import strategies
from assembler.cli.request_file.strategies import STRATEGIES, read_strategy
from assembler.files.place import Place
from assembler.strategies import ChatRegions, CitedSources, Placement, QuestionChunks, Strategy
from assembler.strategies.sources.ordering import Order
from assembler.strategies.sources.selection import Best

from .strategies import BUILT_IN

HERE = Place("bot.yaml").key("strategy")


def written() -> Iterator[type]:
    """Every public class of the package that renders, whether it is listed or not."""
    for found in pkgutil.iter_modules(strategies.__path__, "assembler.strategies."):
        for one in vars(importlib.import_module(found.name)).values():
            ours = inspect.isclass(one) and one.__module__ == found.name and not getattr(one, "_is_protocol", False)
            if ours and not one.__name__.startswith("_") and hasattr(one, "render"):
                yield one


def test_every_strategy_of_the_package_is_in_its_table() -> None:
    assert {ChatRegions, CitedSources, QuestionChunks} <= {*BUILT_IN}
    assert {*written()} == {*BUILT_IN}, "a line of assembler/strategies/built_in.pyi is missing or too many"


@pytest.mark.parametrize("one", BUILT_IN, ids=lambda one: one.__name__)
def test_a_strategy_of_the_table_is_public_and_named_in_files_as_its_module_is(one: type[Strategy]) -> None:
    assert getattr(strategies, one.__name__) is getattr(assembler, one.__name__) is one
    assert attrs.has(one), f"decorate {one.__name__} with @attrs.frozen"
    name = "_".join(re.findall("[A-Z][a-z0-9]+", one.__name__)).lower()
    assert one.__module__ == f"assembler.strategies.{name}"
    if name in STRATEGIES and not STRATEGIES[name].required:
        assert read_strategy(HERE, name) == STRATEGIES[name].make()


def test_a_name_with_options_is_the_strategy_made_with_them() -> None:
    assert read_strategy(HERE, "question_chunks") == QuestionChunks()
    spelled = {
        "order": "given",
        "selection": "best",
        "placement": "tool",
        "per_document": 2,
        "max_tokens": 9,
        "top_k": 3,
    }
    made = CitedSources(
        order=Order.GIVEN, selection=Best(), placement=Placement.TOOL, per_document=2, max_tokens=9, top_k=3
    )
    assert read_strategy(HERE, {"cited_sources": spelled}) == made
    assert read_strategy(HERE, {"chat_regions": {"reminder": "Data.", "placement": "question"}}) == ChatRegions(
        "Data.", Placement.QUESTION
    )
