"""The errors that stop a whole batch, as a bad row does not. They hold no text of any row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from budgets.errors import Evidence

if TYPE_CHECKING:
    from assembler.report.manifest import Difference


class BatchError(Evidence, ValueError):
    """Columns that cannot be read, or a run that cannot continue.

    `differences` names what has changed in the input and the spec since the run began.
    """

    def __init__(self, problem: str, *, differences: Sequence[Difference] = ()) -> None:
        self.differences = tuple(differences)
        super().__init__(problem)


def not_of_a_run(output: Path) -> BatchError:
    """The error for an output that is there and that no run wrote."""
    return BatchError(f"{output}: the file exists, but no run wrote it: name another, or move it")


class RowError(Evidence, ValueError):
    """A line that is not a row: not JSON, not an object, or with a field that looks like a mistake."""
