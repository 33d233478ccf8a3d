"""One tool, as every dialect reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs


@attrs.frozen
class Tool:
    """A function that the model may call: a name, a description, and the JSON schema of its arguments.

    `parameters` is plain JSON data (dict, list, str, int, float, bool, None), a private copy; `{}` means no arguments.
    `extra` holds what a provider's definition said beyond these three (`strict`, `cache_control`, …), keyed as it came.
    `raw` is the very object that the caller gave.
    """

    name: str
    description: str = attrs.field(repr=False)
    parameters: Mapping[str, Any] = attrs.field(repr=False)
    raw: object = attrs.field(repr=False, eq=False)
    extra: Mapping[str, Any] = attrs.field(factory=dict[str, Any], repr=False)
    seen: object = attrs.field(default=None, repr=False, eq=False, kw_only=True)
    """A private copy of the definition that came in, where it came as a dict: what a dialect that speaks it emits."""
    sent: Mapping[str, Any] | None = attrs.field(default=None, init=False, repr=False, eq=False)
    """The Chat Completions definition: found at the first request."""
