"""Each folder needs its framework, which `make test-integrations` installs: where it is absent, none is collected."""

from __future__ import annotations

import pytest

from tests.integrations.frameworks import frameworks, is_installed

collect_ignore = [name for name in frameworks() if not is_installed(name)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line of the table for each run on the wire."""
    from tests.integrations.ledger import LINES

    for line in LINES:
        terminalreporter.write_line(str(line))
