"""These tests need the providers' SDKs, which `make test-sdks` installs: where one is absent, none is collected."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_NEEDED = ("anthropic", "botocore", "google.genai", "mistral_common", "mistralai", "openai")


def _absent(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:
        return True


collect_ignore_glob = ["test_*.py"] if any(map(_absent, _NEEDED)) else []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The SDKs warn of themselves; only this library's own warnings are errors."""
    for item in items:  # the hook is told every test of the run, not only those of this folder
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.filterwarnings("default"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line of the table for each run on the wire."""
    from tests.integrations.ledger import LINES

    for line in LINES:
        terminalreporter.write_line(str(line))
