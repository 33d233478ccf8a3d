"""The library's loggers: what is logged goes to who listens, and to nobody's terminal unasked."""

from __future__ import annotations

import logging

logging.getLogger("assembler").addHandler(logging.NullHandler())


def logger(name: str) -> logging.Logger:
    """The logger `assembler.<name>`. Without a handler of the caller's, no record of it reaches stderr."""
    return logging.getLogger(f"assembler.{name}")
