"""The smallest conversations that once broke a dialect: one file in `cases/` each, named after what broke."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assembler import Assembler
from assembler.verify import verify

from .emitted import MODELS, TOOLS, dialect_named
from .shapes import SHAPES

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_a_request_that_once_failed_is_accepted(path: Path) -> None:
    case = json.loads(path.read_text("utf-8"))
    dialect = dialect_named(case["dialect"])
    request = Assembler(dialect=dialect).add_capability(TOOLS).add_messages(case["messages"]).build().request()
    assert verify(request, dialect=dialect, model=MODELS[dialect.name]) == []
    SHAPES[dialect.name](request)
