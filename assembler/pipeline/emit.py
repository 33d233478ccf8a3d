"""The request of a plan, spelled and marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assembler.conversation.messages.dicts import private_copy
from assembler.dialects import Dialect
from assembler.dialects.named import read_dialect
from assembler.dialects.offered import emitted
from assembler.pipeline.decisions import decided_by
from assembler.pipeline.planned import Planned

if TYPE_CHECKING:
    from assembler.dialects.marking import CacheMarks


def copied(plan: Planned, request: dict[str, Any]) -> dict[str, Any]:
    """A request of a plan's history, to hand out. What the last one held too is copied as it was found to be."""
    return decided_by(plan.settings, plan.ledger).copiers.fresh(request)


def requested(
    plan: Planned, dialect: Dialect | str | None = None, cache_marks: CacheMarks | None = None
) -> dict[str, Any]:
    """The keyword arguments of the API's call: in the plan's dialect with the plan's marks, or in others.

    Raises `UnsupportedContentError` for what the dialect cannot express, `ConversationError` for a plan of which no
    request can be made yet.
    """
    plan.refuse_unfinished()
    spoken = plan.settings.dialect if dialect is None else read_dialect(dialect)
    emission = plan.emission if dialect is None else emitted(spoken, plan.layout)
    marks = plan.settings.cache_marks if cache_marks is None else cache_marks
    if marks is None:
        return copied(plan, emission.request)
    from assembler.dialects.marking import marked  # most requests carry none

    budget = plan.settings.budget
    return cast(
        "dict[str, Any]",
        private_copy(marked(emission.request, spoken, marks, model=None if budget is None else budget.model).request),
    )
