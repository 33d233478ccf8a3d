"""Hypothesis profiles: `ci` draws the same examples every time and measures nothing by the clock."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", settings.get_profile("ci"), derandomize=False, max_examples=5_000)
settings.load_profile("ci")
