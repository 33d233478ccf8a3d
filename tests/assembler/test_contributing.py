"""docs/contributing.md names files and checks that exist, and all that can be added."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assembler import testing

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
SPANS = re.findall(r"`([^`\n]+)`", PAGE)
PATHS = sorted({span for span in SPANS if "/" in span and re.fullmatch(r"[\w./-]+", span)})
ROWS = set(re.findall(r"^\| (an? .+?|the .+?) \|", PAGE, re.MULTILINE))


def test_the_page_names_paths() -> None:
    assert len(PATHS) > 40


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_the_page_names_exists(path: str) -> None:
    found = ROOT / path
    assert found.is_dir() if path.endswith("/") else found.is_file()


@pytest.mark.parametrize("check", sorted({span for span in SPANS if span.startswith("check_")}))
def test_a_check_that_the_page_names_exists(check: str) -> None:
    assert callable(getattr(testing, check))


def test_the_page_says_where_each_kind_of_thing_goes() -> None:
    assert {"a tokenizer", "a dialect", "a policy", "a strategy", "a framework"} <= ROWS


def test_each_command_of_make_that_the_page_names_is_a_target() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {span.removeprefix("make ") for span in SPANS if span.startswith("make ")}
    assert len(named) >= 5
    assert named <= targets


def test_the_stages_stand_in_the_order_of_the_pipeline() -> None:
    from assembler.pipeline.build import STAGES

    table = PAGE.partition("| stage |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| (\w+) \|", table, re.MULTILINE)) == STAGES
