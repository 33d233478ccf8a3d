"""The order in which the keys of a tool's schema are counted for Mistral: docs/how-it-counts-mistral.md says why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

FIRST: Final = ("type", "properties", "required")
"""These come first on every level, in this order, in whatever order they were sent."""
_BY_NAME: Final = frozenset({"properties", "$defs", "definitions", "patternProperties"})
"""Keywords that hold schemas by name, whose order is the sender's."""


def order_keys(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with the keys of each level in the order of `FIRST`."""
    keys = [*(key for key in FIRST if key in schema), *(key for key in schema if key not in FIRST)]
    return {key: _order_value(key, schema[key]) for key in keys}


def _order_value(key: str, value: object) -> object:
    if isinstance(value, list):
        return [_order_value("", each) for each in cast("list[object]", value)]
    if not isinstance(value, Mapping):
        return value
    held = cast("Mapping[str, Any]", value)
    if key in _BY_NAME:
        return {name: _order_value("", below) for name, below in held.items()}
    return order_keys(held)
