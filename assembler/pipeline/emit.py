"""Emits the request of a plan, with its cache marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assembler.conversation.messages.dicts import private_copy
from assembler.dialects import Dialect, Emission
from assembler.dialects.by_name import read_own_dialect
from assembler.dialects.writing.emit import emit_elsewhere
from assembler.errors import ConversationError, UnsupportedContentError
from assembler.pipeline.planned import Planned

if TYPE_CHECKING:
    from assembler.dialects.caching.marks import CacheMarks


def emit(plan: Planned) -> Emission | None:
    """The request of a plan with its notes; None if there is no message to send yet.

    O(new messages) if the request extends the last one and the dialect can do that, else O(messages that stay). Raises
    `ConversationError` for what the API would refuse, and `UnsupportedContentError` for what it cannot express.
    """
    plan.refuse_unfinished()
    try:
        emitted = plan.emitted
    except UnsupportedContentError:
        raise
    except ConversationError:
        if plan.layout.messages:
            raise
        return None
    plan.session_memory.emitted = emitted
    return emitted.emission


def request_to_read(plan: Planned) -> dict[str, Any]:
    """The request of a plan, usually not copied: for callers who neither keep nor change it."""
    if plan.settings.cache_marks is not None:
        return make_request(plan)
    plan.refuse_unfinished()
    return plan.emission.request


def emission_for(plan: Planned, dialect: Dialect | str | None = None) -> Emission:
    """The request of a plan in its own dialect or another, with notes. Callers must not change it.

    Raises what `make_request` raises.
    """
    plan.refuse_unfinished()
    other = _find_other_dialect(plan, dialect)
    return plan.emission if other is None else emit_elsewhere(other, plan.layout, plan.settings.dialect)


def make_request(
    plan: Planned, dialect: Dialect | str | None = None, cache_marks: CacheMarks | None = None
) -> dict[str, Any]:
    """The keyword arguments of the API's call. Dialect and cache marks are the plan's unless others are passed.

    Raises `UnsupportedContentError` for what the dialect cannot express, and `ConversationError` if the conversation
    cannot be sent yet.
    """
    if dialect is None:
        plan.refuse_unfinished()
        emission = plan.emitted.emission
    else:
        emission = emission_for(plan, dialect)
    marks = plan.settings.cache_marks if cache_marks is None else cache_marks
    if marks is None:
        return plan.session_memory.copiers.fresh(emission.request)
    from assembler.dialects.caching.marks import marked  # most requests carry none

    target = _find_other_dialect(plan, dialect) or plan.settings.dialect
    with_marks = marked(emission.request, target, marks, model=plan.settings.model)
    return cast("dict[str, Any]", private_copy(with_marks.request))


def _find_other_dialect(plan: Planned, dialect: Dialect | str | None) -> Dialect | None:
    """Return the dialect to write for; None for the plan's own. Its name means it as it is, with its settings."""
    own = plan.settings.dialect
    found = own if dialect is None or dialect is own else read_own_dialect(dialect, own)
    return None if found is own else found
