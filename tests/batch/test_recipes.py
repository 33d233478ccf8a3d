"""The recipes of the page run as they stand, one after the other."""

from __future__ import annotations

import re
import shutil
import sys
import types
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "column-stores.md"


def test_the_recipes_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    page = types.ModuleType("__main__")  # as in a script or notebook: what it defines is pickled by value
    monkeypatch.setitem(sys.modules, "__main__", page)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    fences = re.findall(r"^```(?:py|python)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(fences) == 6
    for text in fences:
        if "pyspark" in text and shutil.which("java") is None:
            continue
        exec(compile(text, str(PAGE), "exec"), page.__dict__)
