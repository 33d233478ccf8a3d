"""What a newcomer waits for: the import, the first name, the first exact count, the size of the wheel.

    python tests/benchmarks/startup.py

Each figure is the median of fresh interpreters, the bare one measured in between.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 9
ROOT = Path(__file__).parents[2]
WITH_BYTECODE = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""An installed package has its bytecode on the disk."""


def seconds(code: str) -> float:
    """CPU seconds of one fresh interpreter: on a busy machine the wall clock measures the neighbours."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env=WITH_BYTECODE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wheel_size() -> tuple[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
        wheel = next(Path(folder).glob("*.whl"))
        return wheel.name, wheel.stat().st_size


def main() -> None:
    codes = {
        "bare interpreter": "pass",
        "import budgets": "import budgets",
        "import assembler": "import assembler",
        "from assembler import Assembler": "from assembler import Assembler",
        "first exact count (o200k_base)": "import budgets; budgets.tiktoken_counter()('hello')",
    }
    taken: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(ROUNDS):
        for name, code in codes.items():
            taken[name].append(seconds(code))
    bare = statistics.median(taken.pop("bare interpreter"))
    print(f"{'bare interpreter':<34}{bare * 1e3:7.0f} ms")
    for name, times in taken.items():
        print(f"{name:<34}{(statistics.median(times) - bare) * 1e3:7.0f} ms over it")
    name, size = wheel_size()
    print(f"{name:<34}{size / 1e6:7.2f} MB")


if __name__ == "__main__":
    main()
