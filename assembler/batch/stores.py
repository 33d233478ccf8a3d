"""What column stores do to plain data, undone: arrays for lists, and every key of any row in all rows.

Arrow gives each struct of a column the keys of all of them, None where a row had none (pyarrow 21, Dataset.map; read
2026-11). A message so stored says `tool_calls: None` and more, which no API takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

MEANT = frozenset({"arguments", "input", "args", "response", "parameters", "metadata"})
"""Keys under which an object is the caller's or the model's own words: a None in there may be meant."""


def plain(value: object, *, without_nulls: bool = False) -> Any:
    """Plain dicts and lists for arrays and mappings of any kind; with `without_nulls`, keys without a value go.

    `content` stays though it is None, and so does whatever stands under a key of `MEANT`. O(values).
    """
    listed: Callable[[], object] | None = getattr(value, "tolist", None)
    if listed is not None:
        return plain(listed(), without_nulls=without_nulls)
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, object]", value)
        return {
            key: plain(item, without_nulls=without_nulls and key not in MEANT)
            for key, item in entries.items()
            if not (without_nulls and item is None and key != "content")
        }
    if isinstance(value, list | tuple):
        return [plain(item, without_nulls=without_nulls) for item in cast("Iterable[object]", value)]
    return value
