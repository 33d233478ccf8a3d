"""The items of a request, with their full price and their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from assembler.conversation.history import Span
from assembler.pipeline.measure import Measured
from assembler.strategies import Omitted
from budgets import Count, Grade, Tokens

if TYPE_CHECKING:
    from assembler.report.page.texts import Content


@attrs.frozen(eq=False)
class Item:
    """One row, with its full price and its place.

    `before` is None if it could not be priced. `span` is a turn's part of the history. `omitted` says why it is never
    sent in any window. `stands_in` is True for a summary or note in place of dropped turns.
    """

    region: str
    name: str
    before: Tokens | None
    grade: Grade | None = None
    note: str = ""
    messages: int = 0
    span: Span | None = None
    pinned: bool = False
    stable: bool = False
    """Whether it is before the newest turn, where a prefix cache can serve it."""
    omitted: str = ""
    stands_in: bool = False
    content: Content | None = attrs.field(default=None, repr=False)
    largest: tuple[int, str, Tokens] | None = None
    """The largest of a turn's messages: its index, its role and its tokens. None for a turn of one."""


def fixed_items(measured: Measured) -> Iterator[Item]:
    """The items of the fixed regions, framing last."""
    prices = measured.prices
    system = len(measured.rendered.pieces)
    for at, (piece, count) in enumerate(zip(measured.rendered.every_piece, prices.pieces, strict=True)):
        yield attrs.evolve(_make_item(piece.region, piece.name, count, piece.text), stable=at < system)
    omitted = measured.rendered.omitted
    yield from (_make_left_out_item(item) for item in omitted if item.region != "capability")
    for message, count in zip(measured.head, prices.head, strict=True):
        name = f"{message.role} message at the head"
        yield attrs.evolve(_make_item("instruction", name, count, (message,)), messages=1)
    for tool, count in zip(measured.regions.tools, prices.tools, strict=True):
        yield _make_item("capability", tool.name, count, tool)
    yield from (_make_left_out_item(item) for item in omitted if item.region == "capability")
    if prices.tools:
        yield _make_item("capability", "wrapping of the tools", prices.tooling)
    if (output := measured.regions.output) is not None:
        yield _make_item("capability", f"output schema ({output.name})", prices.output)
    yield attrs.evolve(_make_item("framing", "framing", prices.framing), stable=False)


def _make_left_out_item(omitted: Omitted) -> Item:
    return Item(omitted.region, omitted.name, omitted.tokens, omitted=omitted.reason)


def _make_item(region: str, name: str, count: Count, content: Content | None = None) -> Item:
    return Item(region, name, count.tokens, count.grade, stable=True, content=content)
