"""The hostile cases as data, and how a test module asks for its own.

`cases.json` holds, for each case, its id, its input, what is expected in a phrase, and the public thread or advisory
in which somebody was bitten (read 2026-11). `by` is the module that replays it. Where an input forges the tag
`<knowledge>`, the same input with this library's own tag stands beside it.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

Case = dict[str, Any]


@functools.cache
def every_case() -> tuple[Case, ...]:
    return tuple(json.loads((Path(__file__).parent / "cases.json").read_text("utf-8")))


def case(name: str) -> Case:
    return next(each for each in every_case() if each["id"] == name)


def cases(by: str, *, having: str | None = None) -> Any:
    """Parametrises a test named `case` with the cases of a module, or with those whose input has a key."""
    mine = [each for each in every_case() if each["by"] == by and (having is None or having in each["input"])]
    return pytest.mark.parametrize("case", [pytest.param(each, id=each["id"]) for each in mine])
