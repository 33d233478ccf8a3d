"""Installs the built wheel with Hypothesis and pytest into an empty environment, and runs a user's test there.

Run by `make test-wheel`. What it proves: the wheel holds every file of its packages and no other; the extra, both entry
points; and that nothing of this repository is needed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = ("assembler", "budgets")
LEFT_BY_PYTHON = {".pyc", ".pyo"}

USER_TEST = """\
from hypothesis import given, settings, strategies as st
from assembler.conversation.messages import Message
from assembler.testing import conversations
seen = set()
@given(conversations())
def test_the_user_or_a_tool_speaks_last(history):
    assert history[-1]["role"] in ("user", "tool")
@settings(max_examples=400)  # of 100, which Hypothesis draws much alike, one run in eight saw no tool speak
@given(st.from_type(Message))
def test_messages_of_many_kinds_are_drawn(message):
    seen.add((message.role, len(message.parts)))
def test_they_were_not_trivial(assert_fits):
    assert len({role for role, _ in seen}) >= 4 and len({parts for _, parts in seen}) >= 3
    assert_fits({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]})
"""


def check_files(wheel: Path) -> None:
    """Exits if the wheel lacks a file of a package, or holds a test, a cache or a page of docs."""
    here = {path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()}
    wanted = {path.as_posix() for path in here if path.suffix not in LEFT_BY_PYTHON}
    with zipfile.ZipFile(wheel) as opened:
        held = {name for name in opened.namelist() if ".dist-info/" not in name}
    if wanted != held:
        sys.exit(f"the wheel lacks {sorted(wanted - held)} and holds {sorted(held - wanted)} beside its packages")
    odd = sorted(name for name in held if {"tests", "__pycache__"} & set(name.split("/")) or "/." in name)
    if odd:
        sys.exit(f"the wheel holds what no user needs: {odd}")


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(home / "dist")]
        subprocess.run(built, cwd=ROOT, check=True, capture_output=True)
        (wheel,) = (home / "dist").glob("*.whl")
        check_files(wheel)
        venv.create(home / "venv", with_pip=True)
        python = str(home / "venv" / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"{wheel}", "hypothesis", "pytest"], check=True)
        (home / "test_mine.py").write_text(USER_TEST)
        return subprocess.run(
            [python, "-W", "error", "-m", "pytest", "-q", str(home / "test_mine.py")], cwd=home
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
