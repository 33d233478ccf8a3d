"""The library's loggers. They write nothing unless the program adds a handler."""

from __future__ import annotations

import logging

logging.getLogger("assembler").addHandler(logging.NullHandler())


def logger(name: str) -> logging.Logger:
    """The logger `assembler.<name>`. Without a handler of the program, no record of it reaches stderr."""
    return logging.getLogger(f"assembler.{name}")
