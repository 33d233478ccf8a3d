"""Fields that a request takes from what the caller gave: copied, so that nothing is shared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from assembler.conversation.messages.dicts import private_copy


def own_fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A dict of these fields that shares no list and no dict with them."""
    return cast("dict[str, Any]", private_copy(dict(raw)))


def object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a tool's schema that says that it is an object, as every API demands."""
    return own_fields(schema) if "type" in schema else {"type": "object", **own_fields(schema)}
