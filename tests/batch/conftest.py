"""These tests need the column stores, which `make test-batch` installs: where one is absent, none is collected."""

from __future__ import annotations

import importlib.util

import pytest

_NEEDED = ("dask", "datasets", "pandas", "ray")

collect_ignore_glob = ["test_*.py"] if any(importlib.util.find_spec(name) is None for name in _NEEDED) else []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The stores raise warnings; only this library's are errors."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("default"))
        item.add_marker(pytest.mark.timeout(600))  # Ray and Spark take half a minute each to start on a busy machine
