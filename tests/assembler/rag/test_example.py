"""The RAG example runs offline, fits, and its citation check finds the false claims of the sample answer."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "rag.py"


def test_the_example_finds_the_passage_and_the_false_citations(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "What if the finally clause executes a return statement?"])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    shown = capsys.readouterr().out
    assert '"finally" clause' in shown  # its other words are not the same in every Python's documentation
    tokens, limit = re.search(r"^([\d,]+) tokens .*\nlimit ([\d,]+)", shown, re.MULTILINE).groups()  # type: ignore[union-attr]
    assert int(tokens.replace(",", "")) <= int(limit.replace(",", "")) == 2_900
    assert shown.count("not said by the cited source") == 1
    assert shown.count("never given: source") == 1
    assert "cite nothing" in shown
