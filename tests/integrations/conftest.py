"""Each folder needs its framework, which `make test-integrations` installs: where it is absent, none is collected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integrations.frameworks import frameworks, is_installed

HERE = Path(__file__).parent
collect_ignore = [name for name in frameworks() if not is_installed(name)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The frameworks warn of themselves; only this library's own warnings are errors."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("default"))
