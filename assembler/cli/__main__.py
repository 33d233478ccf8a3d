"""Runs the command `assemble` as `python -m assembler.cli`."""

from assembler.cli import run

run()
