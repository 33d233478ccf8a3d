"""Hypothesis profiles. None measures by the clock, and all but `mutation` draw new examples in every run.

`make tests` passes a new `--hypothesis-seed` and prints it: `make tests SEED=N` draws the same examples again. What a
run finds becomes a case in a file.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("ci", max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("round", settings.get_profile("ci"), max_examples=200, database=None)
settings.register_profile("search", settings.get_profile("ci"), max_examples=5_000)
settings.register_profile(
    "mutation",
    settings.get_profile("ci"),
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
settings.load_profile("ci")
