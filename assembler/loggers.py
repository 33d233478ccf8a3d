"""The library's loggers. They write to no terminal unless the program asks for it."""

from __future__ import annotations

import logging

logging.getLogger("assembler").addHandler(logging.NullHandler())


def logger(name: str) -> logging.Logger:
    """The logger `assembler.<name>`. Without a handler of the caller's, no record of it reaches stderr."""
    return logging.getLogger(f"assembler.{name}")
