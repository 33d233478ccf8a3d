"""A build goes through the stages that the docs show, and calls no more functions than stated."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

from assembler import Assembler, TrimOldest
from assembler.pipeline import build
from budgets import Budget
from tools.way import STAGES, Way, messages

ROOT = Path(__file__).parents[2]


def called() -> list[str]:
    """The stages in the order in which the module calls them: those of `plan_without_advice`, then those of `build`."""
    found: list[str] = []
    for function in (build.plan_without_advice, build.build):
        tree = ast.parse(inspect.getsource(function))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        calls.sort(key=lambda call: (call.lineno, call.col_offset))
        found += [call.func.id for call in calls if isinstance(call.func, ast.Name) and call.func.id in build.STAGES]
    return found


def test_the_six_stages_are_called_in_the_order_that_the_page_and_the_tool_name() -> None:
    page = (ROOT / "docs/how-it-works.md").read_text()
    table = re.findall(r"^\| (\w+) \|", page.split("## What each stage does")[0], re.MULTILINE)[1:]
    assert called() == table == list(build.STAGES) == list(STAGES)
    headings = re.findall(r"^\*\*(\w+)\.\*\*", page, re.MULTILINE)
    assert [word.lower() for word in headings] == table


def test_an_appended_build_makes_no_more_calls_than_the_page_says() -> None:
    budget = Budget.for_model("gpt-4o", max_output_tokens=1_000)
    assembler = Assembler(budget, on_overflow=TrimOldest()).add_instruction("Be brief.").add_messages(list(messages()))
    further = ["It left today.", "And the next?"] * 2

    def work() -> None:
        assembler.build().request()

    for text in further[:2]:
        assembler.add_message({"role": "user", "content": text})
        work()
    assembler.add_message({"role": "user", "content": further[2]})
    way = Way(ROOT).follow(work)
    assert way.calls <= 120
    assert all(way.stages.values())
    assert way.stages["choose"] + way.stages["measure"] <= 8


def test_a_cold_build_goes_from_one_module_into_another_three_times_a_message_at_most() -> None:
    budget = Budget.for_model("gpt-4o", max_output_tokens=1_000)

    def cold() -> Assembler:
        return Assembler(budget, on_overflow=TrimOldest()).add_instruction("Be brief.").add_messages(list(messages()))

    cold().build().request()  # what is loaded once in a process, and the memory of texts
    assembler = cold()
    assert Way(ROOT).follow(lambda: assembler.build().request()).crossings <= 180
