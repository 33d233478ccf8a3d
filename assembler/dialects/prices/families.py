"""Tables of families: one row of prices for each generation of models, with its evidence.

A provider's table is the file `families.toml` in its folder, most specific row first. Adding a generation adds one row:

    [llama-4-fp8]
    like = "llama-4"                            # fields that are missing here are copied from that row
    names = 'llama-?v?4.*-fp8'                  # the names of its models, a regular expression
    evidence = { rows = 14, repositories = 1 }  # the number of recorded bills, and of the projects they come from
    tooling = "90 to 680"                       # a price, as `price` reads it
"""

from __future__ import annotations

import math
import pkgutil
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

import attrs

from budgets.count import NOTHING, Count, Grade, Tokens


@attrs.frozen(kw_only=True)
class Evidence:
    """The evidence for a row: where the recordings came from, and how many there are."""

    source: str
    """A kind of recordings, or the title and section of a page."""
    read: str
    """The month of reading, such as `2026-11`."""
    rows: int = 0
    """The number of recorded bills that the row was checked against."""
    repositories: int = 0
    """The number of public repositories with these bills: a single one may be a special case."""


@attrs.frozen(kw_only=True)
class Row:
    """A generation of models, with the fields of every table. Each table's subclass adds the prices."""

    name: str
    names: re.Pattern[str]
    """Matches the beginning of the names of the family's models, in lower case and without a host's prefix."""
    evidence: Evidence
    """The evidence for its numbers."""


AnyRow = TypeVar("AnyRow", bound=Row)


def evidence_of(rows: int, repositories: int) -> Evidence:
    """The evidence of a row that was fitted to public test recordings, as most are."""
    return Evidence(source="public test recordings", read="2026-11", rows=rows, repositories=repositories)


def estimate_with_slack(tokens: Tokens, slack: Tokens) -> Count:
    """A recorded number, with the most by which a recording exceeds it as slack."""
    return Count(tokens, Grade.BOUNDED, upper=tokens + slack)


def guess(tokens: Tokens, upper: Tokens) -> Count:
    """A number with little evidence, or on which servers of one name disagree."""
    return Count(tokens, Grade.ESTIMATED, upper=upper)


ANOTHER_VOCABULARY = 1.5
"""The most tokens that a maker's next generation needs for one token of its newest known one: Claude 4.7 needs about
1.5 times as many as Claude 4.6, and no other maker's vocabularies differ more."""


def for_another_vocabulary(price: Count, ceiling: float) -> Count:
    """A price for a model whose own vocabulary may need up to `ceiling` times as many tokens."""
    return Count(price.tokens, Grade.ESTIMATED, math.ceil(price.upper * ceiling))


def first_match(table: Iterable[AnyRow], name: str) -> AnyRow | None:
    """The first row whose pattern matches the beginning of `name`, or None. O(rows)."""
    return next((row for row in table if row.names.match(name)), None)


_FORWARDED = re.compile(r"(?i)\s*openrouter[/:]")


def is_forwarded(model: str) -> bool:
    """Whether a gateway with this model name forwards the request to a host of its choice, as OpenRouter does."""
    return _FORWARDED.match(model) is not None


_HOST = re.compile(r"(?:azure|openrouter)[/:]")
_FOLDERS = re.compile(r".*/|ollama:")


def template_name(model: str) -> str:
    """A model's name in lower case, with a host's prefix that rows may match, without `ollama/` and folders."""
    name = model.strip().lower()
    host = _HOST.match(name)
    return f"{host[0] if host else ''}{_FOLDERS.sub('', name[host.end() :] if host else name)}"


Readers: TypeAlias = Mapping[str, Callable[[Any], object]]
"""The functions that read a table's own fields, by name. In other fields a text is a price; other values are kept."""


def table_in(module: str, kind: type[AnyRow], readers: Readers) -> tuple[AnyRow, ...]:
    """The rows of `families.toml` in the folder of this module, in order."""
    table = pkgutil.get_data(module, "families.toml")  # `importlib.resources` takes longer to import than this to read
    if table is None:
        raise FileNotFoundError(f"no families.toml beside {module}")
    return rows_of(table.decode(), kind, readers)


def rows_of(table: str, kind: type[AnyRow], readers: Readers) -> tuple[AnyRow, ...]:
    """The rows of a TOML text, in order."""
    written = tomllib.loads(table)

    def fields(name: str) -> dict[str, Any]:
        own = dict(written[name])
        like = own.pop("like", None)
        return own if like is None else {**fields(like), **own}

    known: Readers = {"names": re.compile, "evidence": _read_evidence, **readers}
    return tuple(
        kind(name=name, **{key: _read_field(value, known.get(key)) for key, value in fields(name).items()})
        for name in written
    )


def price(written: str) -> Count:
    """Read a price of a table: "4 + 2" is `estimate_with_slack(4, 2)`, "4 to 6" is `guess(4, 6)`, "0" is nothing."""
    match written.split():
        case ["0"]:
            return NOTHING
        case [tokens, "+", slack]:
            return estimate_with_slack(int(tokens), int(slack))
        case [tokens, "to", upper]:
            return guess(int(tokens), int(upper))
        case _:
            raise ValueError(f'expected a price such as "4 + 2", "4 to 6" or "0", got {written!r}')


def _read_field(value: Any, read: Callable[[Any], object] | None) -> Any:
    if read is not None:
        return read(value)
    return price(value) if isinstance(value, str) else value


def _read_evidence(written: Mapping[str, Any]) -> Evidence:
    return attrs.evolve(evidence_of(0, 0), **written)
