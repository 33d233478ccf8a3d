"""Runs the command `assemble` as `python -m assembler.cli`."""

from assembler.cli import main

raise SystemExit(main())
