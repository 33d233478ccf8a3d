"""Real tokenizers are fetched by `make test-templates`, and tested by it alone: nothing here is collected unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.templates.fetched import folders


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the tests here to whoever names their folder, and has the tokenizers."""
    if collection_path.name.startswith("test_") and not (folders() and any("templates" in arg for arg in config.args)):
        return True
    return None
