"""One log record a build, with numbers and names as fields.

A process that never imported `logging` listens to nothing, so nothing is looked up in it.
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
"""`logging.INFO` for a request that something was left out of, `logging.DEBUG` for any other."""


def listening() -> Logger | None:
    """The logger, where anybody hears records as low as these can be; else None, in 0.15 microseconds."""
    if "logging" not in sys.modules:
        return None
    logger = _logger()
    return logger if logger.isEnabledFor(_CUT) else None


@functools.cache
def _logger() -> Logger:
    import logging

    return logging.getLogger(NAME)


def log_build(logger: Logger, context: Context) -> None:
    """Say what was built. Every attribute of `telemetry.attributes` is a field of the record, `_` for its dots."""
    level = _CUT if context.dropped else _WHOLE
    if not logger.isEnabledFor(level):
        return
    from assembler.report.figures import fields_of, figures_of  # a build without a listener does without

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
    """Say what was not built, and by how much it was too long."""
    logger = listening()
    if logger is None:
        return
    from assembler.report.figures import fields_of, figures_of_overflow

    told = "refused a request of %d tokens: %d are free"
    logger.info(told, error.required, error.available, extra=fields_of(figures_of_overflow(error)))


def log_warnings(context: Context) -> None:
    """A warning for each thing that went wrong and was done without. Rare, so that logging is worth its import."""
    for warning in context.warnings:
        kind = type(warning).__name__
        _logger().warning("built without what failed: %s", warning, extra={"context_assembler_warning": kind})


_LONGEST = 200
"""Characters of a name in a line of the log."""


def log_ignored(what: str, why: str) -> None:
    """A warning for what the caller gave and nothing was made of."""
    what = printable(what.replace("\n", " "))[:_LONGEST]  # a state names policies, and may be anybody's
    _logger().warning("ignored %s: %s", what, why, extra={"context_assembler_warning": "Ignored"})


__all__ = ["NAME", "listening", "log_build", "log_ignored", "log_refused", "log_warnings"]
