"""Imports Hypothesis, or raises the error that says how to install it."""

from __future__ import annotations

from budgets.errors import from_extra

with from_extra("testing", needed_for="assembler.testing"):
    import hypothesis
    from hypothesis import HealthCheck, Phase, Verbosity, find, given, settings
    from hypothesis import strategies as st
    from hypothesis.errors import Flaky, NoSuchExample
    from hypothesis.strategies import DrawFn, SearchStrategy

UNASKED = (
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
    HealthCheck.nested_given,
    HealthCheck.too_slow,
)
"""Hypothesis' health checks that are switched off: the subject may be slow, and a check may run inside a property."""


def steadily(max_examples: int, *phases: Phase) -> settings:
    """Settings that draw the same examples each time, without a store, also inside another property."""
    return settings(
        max_examples=max_examples,
        database=None,
        deadline=None,
        derandomize=True,
        print_blob=False,
        report_multiple_bugs=False,
        phases=phases,
        suppress_health_check=UNASKED,
    )


__all__ = [
    "UNASKED",
    "DrawFn",
    "Flaky",
    "NoSuchExample",
    "Phase",
    "SearchStrategy",
    "Verbosity",
    "find",
    "given",
    "hypothesis",
    "settings",
    "st",
    "steadily",
]
