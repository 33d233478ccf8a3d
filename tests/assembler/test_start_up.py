"""An import loads only what a chat uses."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from budgets.lazy_patterns import compile_later

MODULES = 14
"""Modules of ours, at most, that `from assembler import Assembler` may load. There were 12."""
FIRST = 124
"""The same once an assembler is made and has a message. There were 118."""
VALUES = 78
"""Classes of attrs among these, at most: each is compiled as it is loaded, 0.7 ms. There were 76."""

_COUNTED = """
import json, re, sys
import re._compiler
compiled, compile_ = [], re._compiler.compile
note = lambda pattern, flags=0: compiled.append(len(pattern)) or compile_(pattern, flags)
import json.decoder, typing
re._compiler.compile = note
from assembler import Assembler
at_the_door = list(sys.modules)
re._compiler.compile = compile_
import attrs, string, tomllib  # whose patterns are none of ours
re._compiler.compile = note
Assembler().add_message({"role": "user", "content": "hello"})
ours = lambda names: [name for name in names if name.split(".")[0] in ("assembler", "budgets")]
values = [v for name in ours(sys.modules) for v in vars(sys.modules[name]).values()
          if isinstance(v, type) and "__attrs_attrs__" in vars(v) and v.__module__ == name]
print(json.dumps({"modules": at_the_door, "ours": ours(at_the_door), "first": ours(sys.modules),
                  "values": len(values), "compiled": compiled}))
"""


@pytest.fixture(scope="module")
def loaded() -> dict[str, object]:
    run = subprocess.run([sys.executable, "-W", "error", "-c", _COUNTED], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


@pytest.mark.parametrize(
    "name",
    [
        "assembler.pipeline.fit",
        "assembler.policies.traits",
        "assembler.pricing.pricer",
        "assembler.regions.output_schema",
        "assembler.regions.tools.schema",
        "assembler.strategies.strategy",
        "assembler.report.report",
        "assembler.text.invisible",
        "assembler.text.scripts",
        "budgets.budget",
        "budgets.counters.guard",
        "budgets.models.sources",
        "difflib",
        "assembler.conversation.history",
        "attr",
        "hashlib",
        "inspect",
        "logging",
        "pickle",
    ],
)
def test_importing_the_assembler_loads_nothing_that_a_chat_does_not_need(
    loaded: dict[str, list[str]], name: str
) -> None:
    assert name not in loaded["modules"]


def test_the_import_and_the_first_assembler_load_few_modules_and_compile_few_classes(
    loaded: dict[str, list[str]],
) -> None:
    assert len(loaded["ours"]) <= MODULES, loaded["ours"]
    assert len(loaded["first"]) <= FIRST, loaded["first"]
    assert loaded["values"] <= VALUES  # type: ignore[operator]


def test_a_command_that_draws_and_cites_nothing_loads_neither_the_page_nor_the_search() -> None:
    code = (
        "import json, sys; from assembler.cli import main; main(['batch', '--help']); print(json.dumps([*sys.modules]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = json.loads(run.stdout.splitlines()[-1])
    assert "assembler.cli.batch" in modules
    assert not {"assembler.rag", "assembler.report.page", "assembler.cli.view"}.intersection(modules)


def test_no_long_pattern_is_compiled_before_it_is_needed(loaded: dict[str, list[int]]) -> None:
    assert [length for length in loaded["compiled"] if length > 100] == []


def test_a_pattern_that_is_compiled_later_is_the_pattern() -> None:
    later, now = compile_later("(?P<letter>b)+", re.IGNORECASE), re.compile("(?P<letter>b)+", re.IGNORECASE)
    assert later.sub("-", "aBbc") == now.sub("-", "aBbc") == "a-c"
    assert (later.pattern, later.flags, later.groupindex) == (now.pattern, now.flags, now.groupindex)
    assert [found.span() for found in later.finditer("bab")] == [(0, 1), (2, 3)]


def test_an_invalid_expression_is_refused_when_it_is_first_used() -> None:
    broken = compile_later("(")
    with pytest.raises(re.error, match="unterminated subpattern"):
        broken.match("x")
