"""Measures the work of any function by its number of calls."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Container
from types import FrameType
from typing import Any

import pytest

from assembler.policies import TrimOldest

IN_PYTHON = ("call",)
"""The event of a call of a function that is written in Python."""
IN_C_TOO = ("call", "c_call")
"""The events of calls of any function."""


def calls_of(work: Callable[[], object], events: Container[str] = IN_PYTHON) -> int:
    """How many functions `work` calls. The garbage collector waits: Hypothesis has it call one of its own."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in events

    collects = gc.isenabled()
    gc.disable()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        if collects:
            gc.enable()
    return calls


def cuts_asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The tokens left of each cut that `TrimOldest` is asked for from now on, in a list that grows."""
    asked: list[int] = []
    cut = TrimOldest.cut

    def noting(self: TrimOldest, ledger: Any, tokens_left: int) -> Any:
        asked.append(tokens_left)
        return cut(self, ledger, tokens_left)

    monkeypatch.setattr(TrimOldest, "cut", noting)
    return asked
