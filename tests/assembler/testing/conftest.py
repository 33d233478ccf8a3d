"""A fixture for tests that ask whether a check finds a fault, and not how small a case it shows."""

from __future__ import annotations

import pytest

from assembler.drawn.engine import Phase, settings, steadily
from assembler.testing.conformance import checking


@pytest.fixture
def unshrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the checks raise for the first case that fails; to make it small takes most of their time.

    That a failure shows the smallest case has a test of its own, without this.
    """

    def found_first(max_examples: int, *phases: Phase) -> settings:
        return steadily(max_examples, *(phase for phase in phases if phase is not Phase.shrink))

    monkeypatch.setattr(checking, "steadily", found_first)
