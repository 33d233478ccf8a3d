"""A batch of 20,000 rows: killed at half and resumed, and what a worker costs and gives beside a plain loop.

    python tests/benchmarks/batch.py [--rows 20000]

Rows are conversations of 12 messages, about 30 tokens each, some of which must be cut. The loop parses each line,
builds, and writes the request as one line of JSON: what one would write by hand. Each run is a fresh process, its
start-up included; rates are rows over wall-clock seconds, and CPU seconds stand beside them, all processes together.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from session import sources
from startup import WITH_BYTECODE

ROOT = Path(__file__).parents[2]
SPEC = """
model: gpt-4o
budget: {context_window: 400, max_output_tokens: 64}
instruction: You answer in one sentence.
on_overflow: trim_oldest
"""
MESSAGES = 12
CHARACTERS = 110
"""About 30 tokens of Python source."""
BAD = 1_000
"""Every so many rows one is bad."""

LOOP = """
import json, sys
from assembler import Assembler, TrimOldest
from budgets import Budget
base = Assembler(Budget.for_model("gpt-4o", context_window=400, max_output_tokens=64), on_overflow=TrimOldest())
base.add_instruction("You answer in one sentence.")
with open(sys.argv[1]) as rows, open(sys.argv[2], "w") as out:
    for line in rows:
        row = json.loads(line)
        try:
            context = base.fork().add_messages(row["messages"]).build()
        except Exception as error:
            out.write(json.dumps({"error": type(error).__name__}) + "\\n")
            continue
        out.write(json.dumps({"id": row["id"], "request": context.request(), "tokens": context.count.tokens}) + "\\n")
"""


def write_rows(path: Path, number: int) -> None:
    draw = random.Random(7)
    texts = [text for _, text in sources() if len(text) > 2 * CHARACTERS]
    with path.open("w") as file:
        for row in range(number):
            messages = []
            for place in range(MESSAGES - 1):
                text = draw.choice(texts)
                start = draw.randrange(len(text) - CHARACTERS)
                role = "assistant" if place % 2 else "user"
                messages.append({"role": role, "content": text[start : start + CHARACTERS]})
            file.write(json.dumps({"id": row, "messages": messages if row % BAD else "bad"}) + "\n")


def command(rows: Path, out: Path, workers: int) -> list[str]:
    spec = rows.with_name("spec.yaml")
    return [
        *(sys.executable, "-m", "assembler.cli", "batch", str(rows), str(out)),
        *("--spec", str(spec), "--workers", str(workers)),
    ]


def timed(argv: list[str]) -> tuple[float, float]:
    """Wall-clock and CPU seconds of a process with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(argv, check=True, cwd=ROOT, stdout=subprocess.DEVNULL, env=WITH_BYTECODE)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line_of(rows: int, wall: float, cpu: float) -> str:
    """On a busy machine the second figure is the one to compare."""
    return f"{rows / wall:8.0f} rows/s  {rows / cpu:8.0f} rows per CPU second"


def killed_at_half(rows: Path, out: Path, whole: int, workers: int) -> int:
    """Start a run, SIGKILL it when half of the bytes are there; how many complete lines it left."""
    process = subprocess.Popen(command(rows, out, workers), cwd=ROOT, stdout=subprocess.DEVNULL)
    while process.poll() is None and not (out.exists() and out.stat().st_size >= whole // 2):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return out.read_bytes().count(b"\n")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    number = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "in.jsonl")
        write_rows(rows, number)
        rows.with_name("spec.yaml").write_text(SPEC)
        print(
            f"{number} rows of {MESSAGES - 1} messages, {rows.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} processors"
        )
        loop = timed([sys.executable, "-c", LOOP, str(rows), str(rows.with_name("loop.jsonl"))])
        print(f"plain loop          {line_of(number, *loop)}")
        digests = set[str]()
        for workers in (1, 2):
            out = rows.with_name(f"out{workers}.jsonl")
            wall, cpu = timed(command(rows, out, workers))
            digests.add(digest(out))
            print(f"batch, {workers} worker(s)  {line_of(number, wall, cpu)}  {loop[0] / wall:.2f} x the loop")
        whole = rows.with_name("out1.jsonl").stat().st_size
        for workers in (1, 2):
            out = rows.with_name(f"killed{workers}.jsonl")
            left = killed_at_half(rows, out, whole, workers)
            wall, _ = timed(command(rows, out, workers))
            digests.add(digest(out))
            print(f"killed after {left} rows, {workers} worker(s); resumed and done in {wall:.1f} s")
        print("all outputs equal" if len(digests) == 1 else "OUTPUTS DIFFER")
        sys.exit(len(digests) != 1)


if __name__ == "__main__":
    main()
