"""What the library asks of an API beside its spelling: `API` in `api.py` of its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from budgets.value import Value

if TYPE_CHECKING:
    from assembler.dialects.mark_places import Marks
    from assembler.dialects.prefix_cache import PrefixCache


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Api(Value):
    """The facts of one API. Each has a default: an API that does nothing special says `Api()`."""

    shape: str = ""
    """The shape of messages and tools that only this API has, by its name here; empty if it has none of its own."""
    held: tuple[str, ...] = ()
    """The keys of a request by which the server adds to it what the body does not show."""
    history: str = "messages"
    """The key of a request under which the list of the conversation stands."""
    marks: Marks | None = None
    """How a request says where the provider is to cache it; None where it cannot say so."""
    caches: tuple[PrefixCache, ...] = ()
    """What the provider's cache serves, by model. The first row that matches decides."""
    usage: tuple[tuple[str, ...], ...] = ()
    """The fields of a usage that say how many input tokens were billed: one row a spelling, its fields are added."""
