"""What was built before is built the same again: `recorded.py` draws the conversations and writes the lines anew."""

from __future__ import annotations

import pytest

from tests.assembler.recorded import SCENARIOS, Scenario, lines, recorded

OFTEN = 25
"""So many run each time; the rest, which take twenty seconds, with the slow tests."""
NUMBERS = [*range(OFTEN), *(pytest.param(number, marks=pytest.mark.slow) for number in range(OFTEN, SCENARIOS))]


@pytest.mark.parametrize("number", NUMBERS)
def test_builds_say_what_is_recorded(number: int) -> None:
    if Scenario.api_of(number).dialect.startswith("template"):
        pytest.importorskip("transformers")
    assert list(lines(number)) == recorded()[number]
