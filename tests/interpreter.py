"""A program in a fresh interpreter, for tests of what an import loads and what a process prints."""

from __future__ import annotations

import subprocess
import sys


def ran(program: str, *arguments: str) -> str:
    """The program's output and errors. Raises if the program fails."""
    command = [sys.executable, *arguments, "-c", program]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout
