"""Pytest fixtures for the two assertions. The library is loaded when a test uses one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from budgets import Count


@pytest.fixture(scope="session")
def assert_fits() -> Callable[..., Count]:
    """`assert_fits(request, model=…)`: the request costs no more than the model's window leaves."""
    from assembler.testing.assertions import assert_fits

    return assert_fits


@pytest.fixture(scope="session")
def assert_valid() -> Callable[..., None]:
    """`assert_valid(request, dialect=…)`: the request breaks no rule of its API, as far as is known."""
    from assembler.testing.assertions import assert_valid

    return assert_valid
