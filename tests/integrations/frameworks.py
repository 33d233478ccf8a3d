"""The frameworks that have a test environment of their own: each `requirements-NAME.txt` beside this file is one.

Its tests are in the folder NAME, its page is `docs/frameworks/NAME.md` (dashes for underscores), and
`make test-integrations` runs both in `.venv-integrations/NAME`.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
_DISTRIBUTION = re.compile(r"^[A-Za-z0-9._-]+", re.MULTILINE)


def frameworks() -> list[str]:
    return sorted(path.stem.removeprefix("requirements-") for path in HERE.glob("requirements-*.txt"))


def is_installed(framework: str) -> bool:
    """Whether this environment has every distribution that the framework's requirements name, of any version."""
    wanted = (HERE / f"requirements-{framework}.txt").read_text()
    return all(_has(distribution) for distribution in _DISTRIBUTION.findall(wanted))


def page_of(framework: str) -> str:
    return f"docs/frameworks/{framework.replace('_', '-')}.md"


def _has(distribution: str) -> bool:
    try:
        metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
