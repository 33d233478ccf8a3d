"""Published facts about models, by name: windows, family, vocabulary.

The table is `models.json` beside this file, which `tools/model_tables` generates from published tables. It is read at
first use and kept. `budgets.models.names` reads the spellings of names, `budgets.models.families` assigns families.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import NotRequired, TypedDict

import attrs

from budgets.count import Tokens
from budgets.errors import UnknownModelError
from budgets.models.families import dialect_of, encoding_of, family_of
from budgets.models.names import bare, candidates, checked_name
from budgets.value import Value

__all__ = [
    "ModelFacts",
    "Row",
    "Table",
    "dialect_of",
    "encoding_of",
    "facts",
    "facts_or_none",
    "family_of",
    "known",
    "nearly",
]

_NEAREST = 4
_REMEMBERED = 1024
_SLIP_SIMILARITY = 0.8
"""Similarity by `difflib`: two swapped letters in a name of six are 0.83."""


@attrs.frozen(eq=False, repr=False, kw_only=True)
class ModelFacts(Value):
    """The published numbers of a model, in tokens, and their sources.

    `window` holds input and output together; `max_input` is the cap on the input if that is below the window;
    `max_output` is the longest answer. None means that a number is not published.
    """

    name: str
    provider: str
    window: Tokens
    max_input: Tokens | None
    max_output: Tokens | None
    family: str | None
    encoding: str | None
    dialect: str | None
    source: str
    read: str


class Row(TypedDict):
    """One line of `models.json`: the numbers, the source of each, and the numbers of other sources."""

    window: int
    max_input: NotRequired[int]
    max_output: NotRequired[int]
    sources: dict[str, str]
    others: NotRequired[dict[str, dict[str, int]]]


class Table(TypedDict):
    """`models.json`: when the sources were read, their versions, and the rows by `provider/name`."""

    read: str
    sources: dict[str, str]
    models: dict[str, Row]


def facts(name: str) -> ModelFacts:
    """The published facts about a model, in any spelling of its name. O(1) after the first call, which reads the table.

    Raises `UnknownModelError`, with the nearest known names, if no row and no rule of `budgets.models.names` covers the
    name, and `BudgetError` for anything that cannot be a name.
    """
    return _find_facts(checked_name(name))


@functools.lru_cache(maxsize=_REMEMBERED)
def _find_facts(name: str) -> ModelFacts:
    table = _read_table()
    for provider, spelled in candidates(name):
        if row := table["models"].get(f"{provider}/{spelled}"):
            return _read_row(table, provider, spelled, row)
    raise UnknownModelError(name, nearest=_find_nearest(bare(name), table["models"]))


def facts_or_none(name: str) -> ModelFacts | None:
    """As `facts`; None for a name that is not in the tables."""
    try:
        return facts(name)
    except UnknownModelError:
        return None


@functools.lru_cache(maxsize=_REMEMBERED)
def nearly(name: str) -> str | None:
    """The known name that an unknown name probably misspells, or None. A name with a known family is not unknown.

    About 0.05 s for the first call with a name.
    """
    if family_of(name) is not None:
        return None
    try:
        facts(name)
    except UnknownModelError as unknown:
        import difflib

        return next(iter(difflib.get_close_matches(bare(name), unknown.nearest, n=1, cutoff=_SLIP_SIMILARITY)), None)
    return None


def known() -> tuple[str, ...]:
    """Every row's name as `provider/name`, in the order of the file."""
    return tuple(_read_table()["models"])


def _read_row(table: Table, provider: str, name: str, row: Row) -> ModelFacts:
    return ModelFacts(
        name=name,
        provider=provider,
        window=row["window"],
        max_input=row.get("max_input"),
        max_output=row.get("max_output"),
        family=family_of(name),
        encoding=encoding_of(name),
        dialect=dialect_of(name, provider=provider),
        source=_cite_sources(row["sources"], table["sources"]),
        read=table["read"],
    )


def _cite_sources(sources: Mapping[str, str], versions: Mapping[str, str]) -> str:
    """`window: genai-prices 0.2.3; max_output: …`, in the order of the numbers."""
    return "; ".join(f"{number}: {source} {versions[source]}" for number, source in sources.items())


def _find_nearest(name: str, keys: Iterable[str]) -> list[str]:
    """The known names most similar to this one, each model in one spelling: `gpt-5.4` or `gpt-5-4`."""
    import difflib

    names = dict.fromkeys(key.split("/", 1)[1] for key in keys)
    nearest = difflib.get_close_matches(name, names, n=2 * _NEAREST, cutoff=0.5)
    by_model: dict[str, str] = {}
    for spelled in nearest:
        by_model.setdefault(spelled.replace(".", "-"), spelled)
    return [*by_model.values()][:_NEAREST]


@functools.cache
def _read_table() -> Table:
    """The generated file, read once per process."""
    import json
    from importlib import resources

    table: Table = json.loads(resources.files(__name__).joinpath("models.json").read_text(encoding="utf-8"))
    return table
