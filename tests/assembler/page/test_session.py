"""The picture of a session shows each call at its place and is one inert XML document."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from defusedxml import ElementTree
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, Context, TrimOldest
from assembler.dialects import openai_chat, plain
from assembler.report.page import Line, Ticks, chart_svg
from assembler.session import Call, calls_of, session_svg, smoothed
from budgets import Budget

SVG = "{http://www.w3.org/2000/svg}"


def run_session(budget: Budget | None, policy: Any, calls: int = 40) -> list[Context]:
    assembler = Assembler(budget, dialect=openai_chat, on_overflow=policy).add_instruction("Be brief. " * 300)
    contexts = []
    for call in range(calls):
        assembler.add_message(("user", f"question {call} " * 30))
        contexts.append(assembler.build())
        assembler.add_message(("assistant", f"answer {call} " * 20))
    return contexts


def test_the_calls_of_a_session_match_its_contexts() -> None:
    contexts = run_session(Budget(3_000, model="gpt-4o"), TrimOldest(low_water=0.5))
    calls = list(calls_of(contexts))
    for context, call in zip(contexts, calls, strict=True):
        assert call.fill == pytest.approx(context.count.upper / 3_000)
        assert call.left_out == len(context.dropped)
    sent = [context.request()["messages"] for context in contexts]
    changed = [False, *(after[: len(before)] != before for before, after in itertools.pairwise(sent))]
    assert [call.prefix_changed for call in calls] == changed
    assert any(changed)
    assert calls[0].served == 0
    assert max(call.served for call in calls) > 0.5
    assert all(0 <= call.served <= 1 for call in calls)


def test_the_picture_has_three_panels_and_a_tick_for_each_change() -> None:
    contexts = run_session(Budget(3_000, model="gpt-4o"), TrimOldest())
    drawn = ElementTree.fromstring(session_svg(calls_of(contexts), title="Ours"))
    lines = drawn.findall(f"{SVG}polyline")
    assert [len(line.get("points").split()) for line in lines] == [40, 40]
    changes = [path.get("d") for path in drawn.findall(f"{SVG}path") if path.get("class") == "line"]
    assert changes[0].count("M") == sum(call.prefix_changed for call in calls_of(contexts))
    assert drawn.findtext(f"{SVG}title") == "Ours"


def test_without_a_budget_there_is_no_window_to_fill() -> None:
    calls = list(calls_of(run_session(None, TrimOldest(), calls=3)))
    assert [call.fill for call in calls] == [None, None, None]
    assert len(ElementTree.fromstring(session_svg(calls)).findall(f"{SVG}polyline")) == 1
    assert len(ElementTree.fromstring(session_svg([])).findall(f"{SVG}polyline")) == 1
    assert Call.of(Assembler(Budget(9, overhead=9), dialect=plain).build()).fill == 1


@given(st.text(), st.text(), st.lists(st.floats(-1, 3), max_size=9), st.lists(st.integers(0, 8), max_size=9))
def test_a_chart_is_well_formed_whatever_things_are_called(
    title: str, name: str, values: list[float], at: list[int]
) -> None:
    svg = chart_svg(title, [Line(name, values), Ticks(name, at, 9, note=title)])
    root = ElementTree.fromstring(svg)
    assert {element.tag for element in root.iter()} <= {
        SVG + n for n in ("svg", "title", "style", "text", "path", "polyline", "rect")
    }
    (line,) = root.findall(f"{SVG}polyline")
    heights = [float(point.split(",")[1]) for point in (line.get("points") or "").split()]
    assert all(48 <= height <= 144 for height in heights)
    assert "prefers-color-scheme: dark" in svg
    assert not re.search(r"href|script|on\w+=", re.sub(r"<(text|title)\b.*?</\1>", "", svg, flags=re.DOTALL))


@given(st.lists(st.floats(0, 1), max_size=60), st.integers(1, 25))
def test_smoothing_is_the_mean_of_the_last_values(values: list[float], window: int) -> None:
    for at, value in enumerate(smoothed(values, window)):
        last = values[max(0, at + 1 - window) : at + 1]
        assert value == pytest.approx(sum(last) / len(last), abs=1e-9)
