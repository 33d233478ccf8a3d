"""Emits the request of a plan, with its cache marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assembler.conversation.messages.dicts import private_copy
from assembler.dialects import Dialect, Emission
from assembler.dialects.by_name import read_dialect
from assembler.dialects.emit import emit_elsewhere
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.pipeline.planned import Planned

if TYPE_CHECKING:
    from assembler.dialects.marking import CacheMarks


def emit(plan: Planned) -> Emission | None:
    """The request of a plan with its notes; None where there is no message yet that could be sent.

    Where it begins as the last one did, it goes on from that, if the dialect can: O(new messages). Else O(messages that
    stay). Raises `ConversationError` for what an API would refuse, `UnsupportedContentError` for what it has no word
    for.
    """
    plan.refuse_unfinished()
    try:
        spelled = plan.spelled
    except UnsupportedContentError:
        raise
    except ConversationError:
        if plan.layout.messages:
            raise
        return None
    plan.remembered.spelled = spelled
    return spelled.emission


def request_to_read(plan: Planned) -> dict[str, Any]:
    """What `make_request` makes of a plan, for a reader who neither keeps nor changes it: most often no copy."""
    if plan.settings.cache_marks is not None:
        return make_request(plan)
    plan.refuse_unfinished()
    return plan.emission.request


def copy_request(plan: Planned, request: dict[str, Any]) -> dict[str, Any]:
    """A request of a plan's history, to hand out. What the last one held too is copied as it was found to be."""
    return plan.remembered.copiers.fresh(request)


def emission_for(plan: Planned, dialect: Dialect | str | None = None) -> Emission:
    """The request of a plan in its own dialect or in another, with the notes on what was folded or left out.

    Raises as `make_request` does. Whoever asks keeps it, and changes nothing of it.
    """
    plan.refuse_unfinished()
    if dialect is None:
        return plan.emission
    return emit_elsewhere(read_dialect(dialect), plan.layout, plan.settings.dialect)


def make_request(
    plan: Planned, dialect: Dialect | str | None = None, cache_marks: CacheMarks | None = None
) -> dict[str, Any]:
    """The keyword arguments of the API's call: in the plan's dialect with the plan's marks, or in others.

    Raises `UnsupportedContentError` for what the dialect cannot express, `ConversationError` for a plan of which no
    request can be made yet.
    """
    emission = emission_for(plan, dialect)
    marks = plan.settings.cache_marks if cache_marks is None else cache_marks
    if marks is None:
        return copy_request(plan, emission.request)
    from assembler.dialects.marking import marked  # most requests carry none

    spoken = plan.settings.dialect if dialect is None else read_dialect(dialect)
    budget = plan.settings.budget
    return cast(
        "dict[str, Any]",
        private_copy(marked(emission.request, spoken, marks, model=None if budget is None else budget.model).request),
    )
