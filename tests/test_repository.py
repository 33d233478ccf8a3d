"""The repository holds files of its own alone, so that a clone on another machine is whole."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GIT = shutil.which("git")
pytestmark = pytest.mark.skipif(GIT is None or not (ROOT / ".git").exists(), reason="not a clone")


def git(*arguments: str) -> str:
    assert GIT is not None
    return subprocess.run([GIT, "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True).stdout


def test_no_file_of_the_repository_is_a_link() -> None:
    # A link to a cache was once committed: in every other clone it pointed at itself, and nothing could be fetched.
    files = git("ls-files", "--stage").splitlines()
    assert len(files) > 500
    assert [file for file in files if file.startswith("120000")] == []


def test_what_is_ignored_is_ignored_whether_it_is_a_folder_or_a_link() -> None:
    # A pattern that ends in a slash ignores folders alone.
    patterns = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {".venv", ".venv-*", ".cache"} <= set(patterns)
    assert not any(pattern.endswith("/") for pattern in patterns)
