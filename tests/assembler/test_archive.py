"""The library works from an archive on `sys.path`, as a zipapp has it: none of its data needs to be a file."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.interpreter import ran

ROOT = Path(__file__).parents[2]

PROGRAM = """
from assembler import Assembler, TrimOldest, overflow_of, verify
from assembler.dialects import DIALECTS
from assembler.greedy import Config
from budgets import Budget

print(Config.read().generator)
print(overflow_of("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."))
for model in ("gpt-4o", "claude-opus-4-6", "gemini-2.5-pro", "mistral-large-latest", "qwen3-32b"):
    assembler = Assembler(Budget.for_model(model, max_output_tokens=100), on_overflow=TrimOldest())
    context = assembler.set_instruction("Be brief.").set_messages([("user", "Where is my order? " * 40)]).build()
    print(context.count, len(context.report.to_html()))
    for dialect in DIALECTS:
        print(dialect, verify(context.request(dialect), dialect=dialect))
"""


def pack(folder: Path, files: str) -> Path:
    archive = folder / "library.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for package in ("assembler", "budgets"):
            for file in (ROOT / package).rglob(files):
                if file.is_file() and file.suffix != ".pyc":
                    packed.write(file, file.relative_to(ROOT))
    return archive


@pytest.mark.slow
def test_a_program_prints_from_an_archive_what_it_prints_from_a_folder(tmp_path: Path) -> None:
    archive = pack(tmp_path, "*.*")
    first = "import sys; sys.path.insert(0, {!r})\n"
    found = ran(f"{first.format(str(archive))}import assembler; assert '.zip' in assembler.__file__\n{PROGRAM}")
    assert found == ran(f"{first.format(str(ROOT))}{PROGRAM}")


def test_a_packer_that_leaves_files_out_is_told_which_to_take(tmp_path: Path) -> None:
    archive = pack(tmp_path, "*.py")
    program = f"""
import sys; sys.path.insert(0, {str(archive)!r})
try:
    from assembler import Assembler
except ImportError as error:
    print(error)
"""
    assert "--collect-all assembler --collect-all budgets" in ran(program)
