"""What column stores do to plain data, undone: arrays for lists, and every key of any row in all rows.

Arrow gives each struct of a column the keys of all of them, None where a row had none (pyarrow 21, Dataset.map; read
2026-11). A message so stored says `tool_calls: None` and more, which no API takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from assembler.batch.errors import RowError

DEEPEST = 128
"""Lists and mappings inside one another: as deep as a row that comes as JSON text may be."""

MEANT = frozenset({"arguments", "input", "args", "response", "parameters", "metadata"})
"""Keys under which an object is the caller's or the model's own words: a None in there may be meant."""


def listed(column: object) -> object:
    """A column as a list where it is an array; else as it is. Looks at no value."""
    as_list: Callable[[], object] | None = getattr(column, "tolist", None)
    return column if as_list is None else as_list()


def plain(value: object, *, without_nulls: bool = False, levels: int = DEEPEST) -> Any:
    """Plain dicts and lists for arrays and mappings of any kind; with `without_nulls`, keys without a value go.

    `content` stays though it is None, and so does whatever stands under a key of `MEANT`. O(values). Raises `RowError`
    for what is nested more than `levels` deep, or holds itself.
    """
    if levels < 0:
        raise RowError(f"nested too deeply: more than {DEEPEST} lists and mappings inside one another")
    value = listed(value)
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, object]", value)
        return {
            key: plain(item, without_nulls=without_nulls and key not in MEANT, levels=levels - 1)
            for key, item in entries.items()
            if not (without_nulls and item is None and key != "content")
        }
    if isinstance(value, list | tuple):
        items = cast("Iterable[object]", value)
        return [plain(item, without_nulls=without_nulls, levels=levels - 1) for item in items]
    return value
