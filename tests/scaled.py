"""An expensive property draws a share of the profile's examples in an ordinary run, and all of them in a search."""

from __future__ import annotations

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
