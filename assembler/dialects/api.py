"""The facts of an API that other packages need: `API` in the `api.py` of its folder."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from budgets.value import Value

if TYPE_CHECKING:
    from assembler.dialects.caching.mark_places import Marks
    from assembler.dialects.caching.prefixes import PrefixCache
    from assembler.regions.tools.deferred import ServerSearch


class SourceBlocks(Protocol):
    """How an API writes a source as a block that an answer can cite."""

    def takes(self, model: str | None) -> bool:
        """Whether this model takes such blocks. None stands for the API's newest model."""
        ...

    def block(self, source: str, title: str, text: str) -> dict[str, Any]:
        """A new block, with citations enabled. It may stand in a user message and in a tool result."""
        ...


class Wordless(enum.Enum):
    """Which answers without a word an API refuses, so that they are left out of a request."""

    NONE = "it takes an empty answer"
    EMPTY = "an answer without text"
    BLANK = "an answer of white space too"


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Api(Value):
    """The facts of one API. Each has a default, so an ordinary API is `Api()`."""

    shape: str = ""
    """The name of the API's own shape of messages and tools; empty if it has no own shape."""
    provider: str = ""
    """The well-known name of its provider in OpenTelemetry (`gen_ai.provider.name`); empty if it has none."""
    held: tuple[str, ...] = ()
    """The request's keys that make the server add stored content, such as an earlier answer."""
    priced: tuple[str, ...] = ()
    """The request's keys beside its regions that the price list reads. Text under unknown keys is in the bound."""
    vocabulary: str = ""
    """The one vocabulary by which every model of the API is billed, such as `o200k_base`. Empty if an unknown model may
    have another: then its count is an estimate.
    """
    history: str = "messages"
    """The request's key of the conversation."""
    model: str = ""
    """The request's key of the model's name, if it is not `"model"`, which is read too."""
    marks: Marks | None = None
    """How the API writes cache marks; None if it has none."""
    sources: SourceBlocks | None = None
    """How the API writes sources as blocks; None if it has none."""
    search: ServerSearch | None = None
    """How the API's server searches among tools that wait (`Defer`); None if it does not."""
    serial_choice: Callable[[str | None], dict[str, Any]] | None = None
    """How the API writes a tool choice that also asks for calls one at a time; None if a key of the request asks."""
    caches: tuple[PrefixCache, ...] = ()
    """What the provider's cache serves, by model. The first row that matches decides."""
    wordless: Wordless = Wordless.EMPTY
    """Which answers of the model it refuses, because nothing is in them."""
    usage: tuple[tuple[str, ...], ...] = ()
    """The fields of a usage that hold the billed input tokens: one row for each naming, whose values are added up.
    `"meter.in"` is the field `in` of the object under `meter`.
    """
