"""Hypothesis profiles: `ci` draws the same examples every time and measures nothing by the clock.

`pytest --hypothesis-profile=search` draws new ones, a hundred times as many: what it finds becomes a case in a file.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("ci"), derandomize=False, max_examples=5_000)
settings.load_profile("ci")
