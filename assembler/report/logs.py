"""Logs one record for each build, with numbers and names as fields.

If the process never imported `logging`, no handler can exist, so `logging` is not imported here either.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

from budgets.errors import printable

if TYPE_CHECKING:
    from logging import Logger

    from assembler.context import Context
    from budgets import ContextLengthError

NAME = "assembler"
"""The logger's name."""

_CUT, _WHOLE = 20, 10
"""`logging.INFO` for a request from which something was left out, `logging.DEBUG` for any other."""


def find_listening_logger() -> Logger | None:
    """The logger if any handler takes such records, else None. Takes 0.15 microseconds."""
    if "logging" not in sys.modules:
        return None
    logger = _find_logger()
    return logger if logger.isEnabledFor(_CUT) else None


@functools.cache
def _find_logger() -> Logger:
    import logging

    return logging.getLogger(NAME)


def log_build(logger: Logger, context: Context) -> None:
    """Log a build. Every attribute of `telemetry.attributes` is a field of the record, with `_` for dots."""
    level = _CUT if context.dropped else _WHOLE
    if not logger.isEnabledFor(level):
        return
    from assembler.report.figures import fields_of, figures_of  # imported late: most builds have no listener

    found = figures_of(context.inside)
    logger.log(
        level,
        "built a request of %d tokens: %d messages kept, %d shortened, %d dropped",
        found["tokens.total"],
        found["messages.kept"],
        found["messages.shortened"],
        found["messages.dropped"],
        extra=fields_of(found),
    )


def log_refused(error: ContextLengthError) -> None:
    """Log a request that does not fit, with its excess."""
    logger = find_listening_logger()
    if logger is None:
        return
    from assembler.report.figures import fields_of, figures_of_overflow

    text = "refused a request of %d tokens: %d are free"
    logger.info(text, error.required, error.available, extra=fields_of(figures_of_overflow(error)))


def log_warnings(context: Context) -> None:
    """Log a warning for each error that did not stop the build. These are rare, so importing `logging` is fine."""
    for warning in context.warnings:
        kind = type(warning).__name__
        _find_logger().warning("built despite an error: %s", warning, extra={"context_assembler_warning": kind})


_LONGEST = 200
"""The most characters of a name in a line of the log."""


def log_ignored(what: str, why: str) -> None:
    """Log a warning for an argument of the caller's that is ignored."""
    what = printable(what.replace("\n", " "))[:_LONGEST]  # may come from an untrusted state
    _find_logger().warning("ignored %s: %s", what, why, extra={"context_assembler_warning": "Ignored"})


__all__ = ["NAME", "find_listening_logger", "log_build", "log_ignored", "log_refused", "log_warnings"]
