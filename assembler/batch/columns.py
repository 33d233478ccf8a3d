"""Assembles columns of rows to columns of requests, for `map` of a column store.

A store has arrays in place of lists. Arrow gives each struct of a column the keys of all others, with None for missing
values (pyarrow 21, Dataset.map; read 2026-11): a stored message gets `tool_calls: None` and more, which no API accepts.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast, get_args

import attrs

from assembler.assembler import Assembler
from assembler.batch.errors import BatchError, RowError
from assembler.batch.rows import REGIONS, Failed, OnError, Raise, Record, Skip, assemble_row
from assembler.validation import Is, iterates, must_be, offers, wrong
from budgets import MissingExtraError
from budgets.errors import OfTheCaller

WRITTEN = ("request", "tokens", "upper", "grade", "dropped", "error")
"""The columns that are written in addition to the unread ones: `request` is JSON text, `error` a line or None."""


class Column(Protocol):
    """A list, an array, or anything else with a length and items."""

    def __len__(self) -> int:
        """The number of rows."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows' values."""
        ...


Batch: TypeAlias = Mapping[str, Column]
"""Columns of one length."""

KEPT = 8
"""The number of assemblers that a process caches, by the functions that make them."""


_A_COLUMN = Is((str, type(None)), "a column's name (str) or None", BatchError)


@attrs.frozen
class Columns:
    """The names of the regions' columns. Missing columns are skipped. None reads no column."""

    messages: str | None = attrs.field(default="messages", validator=_A_COLUMN)
    instruction: str | None = attrs.field(default="instruction", validator=_A_COLUMN)
    knowledge: str | None = attrs.field(default="knowledge", validator=_A_COLUMN)
    tools: str | None = attrs.field(default="tools", validator=_A_COLUMN)

    def found_in(self, names: Sequence[str]) -> dict[str, str]:
        """The existing column of each region. Raises `BatchError` if none exists, or one with a custom name."""
        asked = {region: getattr(self, region) for region in REGIONS}
        found = {region: name for region, name in asked.items() if name in names}
        missing = [name for region, name in asked.items() if name not in (None, region) and name not in names]
        if missing or not found:
            wanted = missing or [name for name in asked.values() if name is not None]
            raise BatchError(
                f"no column {' or '.join(map(str, wanted))}; the batch has {', '.join(map(str, names)) or 'none'}: "
                "name yours with Columns(messages=…)"
            )
        return found

    def __reduce__(self) -> tuple[object, ...]:
        # By position, so that the pickled bytes do not depend on whether equal texts are the same objects.
        return Columns, (self.messages, self.instruction, self.knowledge, self.tools)


@attrs.frozen
class _BaseMadeOnce:
    """An assembler that each process makes for itself: only the name of the function is pickled."""

    make: Callable[[], Assembler[Any]]


@functools.lru_cache(maxsize=KEPT)
def _make_once(make: Callable[[], Assembler[Any]]) -> Assembler:
    return make()


_COLUMNS, _RECORD = Columns(), Record()


def _fork_base(assembler: Assembler | _BaseMadeOnce) -> Assembler | _BaseMadeOnce:
    """Fork the assembler, so that later changes have no effect."""
    if isinstance(assembler, _BaseMadeOnce):
        return assembler
    must_be("BatchAssembler", assembler, (Assembler,), "an Assembler; for a function use made_by()", BatchError)
    return assembler.fork()


@attrs.frozen
class BatchAssembler:
    """A function from columns to columns that assembles each row with one assembler, as `assemble batch` does.

    Rows stay in order. The result has the columns that were not read, and those of `WRITTEN`. Equal rows give equal
    columns in any process. It always pickles to the same bytes, with the content of the assembler and without the
    library's vocabularies. Your own tokenizer would be pickled too: `BatchAssembler.made_by(function)` avoids that.
    """

    _base: Assembler | _BaseMadeOnce = attrs.field(alias="assembler", converter=_fork_base)
    columns: Columns = attrs.field(
        default=_COLUMNS, kw_only=True, validator=Is((Columns,), "Columns(messages=…)", BatchError)
    )
    on_error: OnError = attrs.field(
        default=_RECORD, kw_only=True, validator=Is(get_args(OnError), "Record(), Skip() or Raise()", BatchError)
    )

    @classmethod
    def made_by(
        cls, make: Callable[[], Assembler[Any]], *, columns: Columns = _COLUMNS, on_error: OnError = _RECORD
    ) -> BatchAssembler:
        """A batch assembler that calls `make` once in each process, when the first row needs the assembler.

        Only the name of `make` is pickled, so it must be a function at the top level of a module.
        """
        if isinstance(make, type) or not callable(make):
            raise BatchError(wrong("make", "a function that makes an Assembler", make))
        return cls(_BaseMadeOnce(make), columns=columns, on_error=on_error)

    def __call__(self, batch: Batch) -> dict[str, list[Any]]:
        """The columns of the requests. Raises `BatchError` for wrong columns, and with `Raise` a row's error."""
        if not offers(batch, "keys"):
            raise BatchError(f"expected a mapping from names to columns, got {type(batch).__name__}")
        with OfTheCaller("batch", BatchError):
            names = list(batch)
        read = self.columns.found_in(names)
        carried = [name for name in names if name not in read.values()]
        if taken := [name for name in carried if name in WRITTEN]:
            raise BatchError(f"the batch has a column {taken[0]}, which is written here: rename it first")
        columns = {region: _read_column(name, list_if_array(batch[name])) for region, name in read.items()}
        kept = {name: _list_values(name, batch[name]) for name in carried}
        _refuse_other_lengths({**{read[region]: column for region, column in columns.items()}, **kept})
        rows = _list_rows(columns)
        out: dict[str, list[Any]] = {name: [] for name in (*carried, *WRITTEN)}
        for index, row in enumerate(rows):
            written = self._write_row(index, row)
            if written is None:
                continue
            for name in carried:
                out[name].append(kept[name][index])
            for name, value in zip(WRITTEN, written, strict=True):
                out[name].append(value)
        return out

    def _write_row(self, index: int, row: Mapping[str, object]) -> tuple[Any, ...] | None:
        base = _make_once(self._base.make) if isinstance(self._base, _BaseMadeOnce) else self._base
        try:
            found = assemble_row(base, _make_row_plain(row))
        except MissingExtraError:
            raise
        except Exception as error:
            if isinstance(self.on_error, Skip):
                return None
            if isinstance(self.on_error, Raise):
                error.add_note(f"row {index} of the batch")
                raise
            failed = Failed.by(error)
            return (*[None] * 5, f"{failed.kind}: {failed.message}")
        return (found.request, found.count.tokens, found.count.upper, str(found.count.grade), found.dropped, None)


def _read_column(name: str, found: Any) -> Sequence[Any]:
    if isinstance(found, Sequence) and not isinstance(found, str | bytes):
        return found  # pyright: ignore[reportUnknownVariableType]
    raise BatchError(f"column {name}: expected a list of values, got {type(found).__name__}")


def _list_values(name: str, found: object) -> list[Any]:
    if not iterates(found):
        raise BatchError(f"column {name}: expected a list of values, got {type(found).__name__}")
    with OfTheCaller("batch", BatchError):
        return list(cast("Iterable[Any]", found))


def _list_rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, object]]:
    return [
        {region: column[index] for region, column in columns.items()}
        for index in range(max(map(len, columns.values())))
    ]


def _make_row_plain(row: Mapping[str, object]) -> dict[str, object]:
    return {
        region: (drop_missing if region == "messages" else make_plain)(value)
        for region, value in row.items()
        if not _is_missing(value)
    }


def _is_missing(value: object) -> bool:
    """Whether a cell holds no value: NaN, as pandas 3 writes a missing text, or `pandas.NA`."""
    value = list_if_array(value)
    return math.isnan(value) if isinstance(value, float) else type(value).__name__ == "NAType"


def _refuse_other_lengths(columns: Mapping[str, Sequence[Any]]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise BatchError(f"columns of different lengths: {', '.join(f'{name} {n}' for name, n in lengths.items())}")


def assemble_batch(
    batch: Batch, assembler: Assembler[Any], columns: Columns = _COLUMNS, on_error: OnError = _RECORD
) -> dict[str, list[Any]]:
    """The columns of the requests, for stores that pass extra arguments (`fn_kwargs`): see `BatchAssembler`."""
    return BatchAssembler(assembler, columns=columns, on_error=on_error)(batch)


DEEPEST = 128
"""The deepest nesting of lists and mappings, the same as for a row of JSON text."""

KEEPS_MISSING = frozenset({"arguments", "input", "args", "response", "parameters", "metadata"})
"""Keys of objects with the caller's or the model's own content, in which a None may be intended."""


def list_if_array(column: object) -> object:
    """An array as a list, and any other column unchanged. Does not look at the values."""
    with OfTheCaller("batch", BatchError):
        as_list: Callable[[], object] | None = getattr(column, "tolist", None)
        return column if as_list is None else as_list()


def make_plain(value: object, levels: int = DEEPEST) -> Any:
    """Turn arrays and mappings into plain lists and dicts. Raises `RowError` for too deep nesting. O(values)."""
    value = _open_level(value, levels)
    if isinstance(value, Mapping):
        return {key: make_plain(item, levels - 1) for key, item in cast("Mapping[Any, object]", value).items()}
    if isinstance(value, list | tuple):
        return [make_plain(item, levels - 1) for item in cast("Iterable[object]", value)]
    return value


def drop_missing(value: object, levels: int = DEEPEST) -> Any:
    """The value without keys that are None, except `content`, and except inside the keys of `KEEPS_MISSING`."""
    value = _open_level(value, levels)
    if isinstance(value, Mapping):
        return {
            key: (make_plain if key in KEEPS_MISSING else drop_missing)(item, levels - 1)
            for key, item in cast("Mapping[Any, object]", value).items()
            if item is not None or key == "content"
        }
    if isinstance(value, list | tuple):
        return [drop_missing(item, levels - 1) for item in cast("Iterable[object]", value)]
    return value


def _open_level(value: object, levels: int) -> object:
    if levels < 0:
        raise RowError(f"nested too deeply: more than {DEEPEST} lists and mappings inside one another")
    return list_if_array(value)
