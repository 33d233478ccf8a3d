"""An expensive property is tried on a share of its cases in an ordinary run, and on all of them in another.

What it draws is a share of the profile's examples, all of them in a search. What it is given is a part of the rows of a
table, the others in `make slow`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

SEARCH = 100
"""From so many examples on a profile searches, and no share is taken. Mutants meet whole properties too."""


def examples(share: float) -> int:
    """So many of the profile's examples; at least two, of which Hypothesis draws the second at random."""
    profile = settings.default
    assert profile is not None
    whole = profile.max_examples
    return whole if whole >= SEARCH or profile.derandomize else max(2, round(share * whole))


def scaled(share: float) -> settings:
    """For a property that runs once for each of many parameters, or that is slow: `@scaled(0.3)`."""
    return settings(max_examples=examples(share))


def in_turns(parts: int, *columns: Iterable[Any]) -> list[Any]:
    """Every combination of the columns' values, one in `parts` for `make test` and the others for `make slow`.

    The combinations take turns, so each value of a column is in some of both.
    """
    rows = (zip(*row, strict=True) for row in itertools.product(*map(enumerate, columns)))
    return [
        pytest.param(*values, marks=() if sum(places) % parts == 0 else pytest.mark.slow) for places, values in rows
    ]
