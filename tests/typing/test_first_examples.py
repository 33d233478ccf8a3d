"""The first example of each page passes the reader's type checker."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.frameworks import frameworks, page_of

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WHOLE = (
    "README.md",
    "docs/index.md",
    "docs/tutorial.md",
    "docs/budgets.md",
    "docs/errors.md",
    "docs/choosing-a-policy.md",
)
"""Pages whose example a beginner copies whole: every rule of pyright's strict mode holds."""

READERS_OWN = (
    "reportMissingParameterType",
    "reportMissingTypeArgument",
    "reportUnknownArgumentType",
    "reportUnknownLambdaType",
    "reportUnknownMemberType",
    "reportUnknownParameterType",
    "reportUnknownVariableType",
    "reportUnusedImport",
)
"""Rules about what an example leaves unannotated of its own, and about imports for a later fence of the page."""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_first_example_of_every_page_is_typed(tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(ROOT)]})
    )
    theirs = {ROOT / page_of(name) for name in frameworks()}  # checked where the framework is installed
    pages = [ROOT / "README.md", *sorted({*(ROOT / "docs").rglob("*.md")} - theirs)]
    for page in pages:
        name = page.relative_to(ROOT).as_posix()
        if found := FENCE.search(page.read_text()):
            less = "" if name in WHOLE else f"# pyright: {', '.join(f'{rule}=false' for rule in READERS_OWN)}\n"
            (tmp_path / f"{name[:-3].replace('/', '__').replace('-', '_')}.py").write_text(less + found[1])
    command = [sys.executable, "-m", "basedpyright", "--level", "error", "--pythonpath", sys.executable, "-p", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
