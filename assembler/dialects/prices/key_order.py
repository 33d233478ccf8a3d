"""Finds definitions whose keys somebody has sorted, and the order in which clients write them.

Some providers bill a schema as it was sent, and a log or a recorder may have sorted its keys since. Nobody writes
`{"function": …, "type": "function"}` or a description before its name: if every object of a definition is sorted, and
the outermost one in such a way, the order was lost, and the customary one is the best guess. `docs/how-we-know.md` has
the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import attrs

from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_of, items_of
from budgets import Count, Grade

LEADING: Final = ("type", "name")
"""The keys of a definition that clients write first: the type if it has one, else the name."""
FIRST: Final = "type"
BEHIND: Final = ("additionalProperties", "required")
"""The first of these is written behind the second."""
DEEPEST: Final = 100
"""The levels of objects and lists that are looked through. The 10 of schemas that OpenAI accepts are about 30."""
PROPERTIES: Final = "properties"
_BY_NAME: Final = frozenset([PROPERTIES, "$defs", "definitions", "patternProperties"])
"""Keywords that hold schemas by name, whose order is the sender's."""

Billed = TypeVar("Billed")


def customary_tools(tools: Sequence[Tool], shape: str) -> Sequence[Tool]:
    """The tools with the schemas of those whose order was lost in the customary order; if none was, `tools` itself.

    Only definitions that an API of this shape gets as they were given: others are written anew, their schema as it is.
    """
    ordered = [_order_tool(tool) if tool.form(shape) is not None else tool for tool in tools]
    return tools if all(map(_are_same, ordered, tools)) else ordered


def customary_schema(schema: Mapping[str, Any], definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a definition in the customary order if the order was lost, else `schema` itself."""
    return order_keys(schema) if has_lost_order(definition) else schema


def price_in_order(sent: Billed, customary: Billed, price: Callable[[Billed], Count]) -> Count:
    """The price in the customary order, with a bound that includes the order as sent: one object if none was lost."""
    likely = price(customary)
    if customary is sent:
        return likely
    return Count(likely.tokens, max(likely.grade, Grade.BOUNDED), max(likely.upper, price(sent).upper))


def has_lost_order(definition: Mapping[str, Any]) -> bool:
    """Whether every object of a definition is sorted, and the outermost one as nobody writes it."""
    first = next((key for key in LEADING if key in definition), None)
    return first is not None and next(iter(definition)) != first and _is_sorted(definition)


def order_keys(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The sorted schema in the customary order on each level: `$…`, `type`, then the others as they stand, but
    `additionalProperties` behind `required`. Properties are in the order in which `required` lists them.
    """
    ordered = {key: _order_value(key, schema[key]) for key in sorted(schema, key=_place)}
    if (named := fields_of(ordered.get(PROPERTIES))) is not None:
        first = [name for name in items_of(schema.get(BEHIND[1])) if isinstance(name, str) and name in named]
        ordered[PROPERTIES] = {name: named[name] for name in dict.fromkeys([*first, *named])}
    return ordered


def _place(key: str) -> tuple[bool, bool, str, bool]:
    first, second = BEHIND
    return not key.startswith("$"), key != FIRST, second if key == first else key, key == first


def _order_value(key: str, value: object) -> object:
    if isinstance(value, list):
        return [_order_value("", each) for each in cast("list[object]", value)]
    held = fields_of(value)
    if held is None:
        return value
    if key in _BY_NAME:
        return {name: _order_value("", below) for name, below in held.items()}
    return order_keys(held)


def _order_tool(tool: Tool) -> Tool:
    definition = fields_of(tool.seen)
    if definition is None or tool.api is not None or not has_lost_order(definition):
        return tool
    if not _has_sorted_keys(tool.parameters):  # it is sent with a `type` in front, which it came without
        return tool
    return attrs.evolve(tool, parameters=order_keys(tool.parameters), seen=None)  # written anew


def _are_same(one: object, other: object) -> bool:
    return one is other


def _is_sorted(definition: object) -> bool:
    """Whether every object is sorted, level by level. Deeper definitions than `DEEPEST` are counted as they are."""
    level = [definition]
    for _ in range(DEEPEST):
        if not level:
            return True
        objects = [held for held in map(fields_of, level) if held is not None]
        if not all(map(_has_sorted_keys, objects)):
            return False
        lists = [one for value in level for one in items_of(value)]
        level = [*lists, *(value for held in objects for value in held.values())]
    return False


def _has_sorted_keys(held: Mapping[str, Any]) -> bool:
    keys = [*held]
    return all(isinstance(key, str) for key in keys) and keys == sorted(keys)
