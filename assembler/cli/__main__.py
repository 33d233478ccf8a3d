"""`python -m assembler.cli`: the command `assemble` without its script."""

from assembler.cli import main

raise SystemExit(main())
