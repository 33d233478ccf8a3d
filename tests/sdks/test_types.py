"""What `context.request("…")` returns is accepted by the stubs of the SDKs, and their answers keep their types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = "tests/sdks/typed_script.py"


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "checker",
    [
        ["basedpyright", "--pythonpath", sys.executable, "--project", "tests/sdks/pyrightconfig.json"],
        ["mypy", "--strict", "--follow-imports=silent", SCRIPT],
    ],
    ids=lambda words: words[0],
)
def test_a_script_over_the_sdks_checks_without_a_cast(checker: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *checker], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
