"""Tables of families: one row for each generation of models, with the evidence for what its provider bills.

A provider's table is the file `families.toml` in its folder, most specific row first. Adding a generation adds one row:

    [llama-4-fp8]
    like = "llama-4"                            # every field that is not given here is that row's
    names = 'llama-?v?4.*-fp8'                  # the names of its models, a regular expression
    evidence = { rows = 14, repositories = 1 }  # recorded bills, and the projects that they come from
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
    """How much supports a row: where the recordings came from, and how many there are."""

    source: str
    """What was read or recorded: a kind of recordings, or the title and section of a page."""
    read: str
    """The month in which it was, such as `2026-11`."""
    rows: int = 0
    """Recorded bills that the row was held against."""
    repositories: int = 0
    """Public repositories that these bills come from: a rule that one repository supports may be its habit."""


@attrs.frozen(kw_only=True)
class Row:
    """A generation of models: what every row of every table has. What its provider bills is added by the table."""

    name: str
    names: re.Pattern[str]
    """Matches the beginning of the names of the family's models, lower case and without a host's prefix."""
    evidence: Evidence
    """What supports its numbers."""


AnyRow = TypeVar("AnyRow", bound=Row)


def evidence_of(rows: int, repositories: int) -> Evidence:
    """The evidence of most rows."""
    return Evidence(source="public test recordings", read="2026-11", rows=rows, repositories=repositories)


def estimate_with_slack(tokens: Tokens, slack: Tokens) -> Count:
    """A number that recordings show, with what they exceed it by at most."""
    return Count(tokens, Grade.BOUNDED, upper=tokens + slack)


def guess(tokens: Tokens, upper: Tokens) -> Count:
    """A number that hardly anything supports, or that one name's servers disagree about."""
    return Count(tokens, Grade.ESTIMATED, upper=upper)


ANOTHER_VOCABULARY = 1.5
"""Tokens of a maker's next generation for one of its newest that is known, at most: Claude 4.7 needs about half as many
again as Claude 4.6, and no other maker's vocabularies are further apart."""


def for_another_vocabulary(price: Count, ceiling: float) -> Count:
    """A price by one vocabulary for a model that may have another, of at most `ceiling` times as many tokens."""
    return Count(price.tokens, Grade.ESTIMATED, math.ceil(price.upper * ceiling))


def first_match(table: Iterable[AnyRow], name: str) -> AnyRow | None:
    """The first row whose pattern matches the beginning of `name`; None where none does. O(rows)."""
    return next((row for row in table if row.names.match(name)), None)


_FORWARDED = re.compile(r"(?i)\s*openrouter[/:]")


def is_forwarded(model: str) -> bool:
    """Whether the name says that a gateway forwards the request, to an API or a host of its choice: OpenRouter's do."""
    return _FORWARDED.match(model) is not None


_HOST = re.compile(r"(?:azure|openrouter)[/:]")
_FOLDERS = re.compile(r".*/|ollama:")


def template_name(model: str) -> str:
    """A model's name in lower case behind the host that a row may ask for; `ollama/` and folders say nothing of it."""
    name = model.strip().lower()
    host = _HOST.match(name)
    return f"{host[0] if host else ''}{_FOLDERS.sub('', name[host.end() :] if host else name)}"


Readers: TypeAlias = Mapping[str, Callable[[Any], object]]
"""How a table's own fields are read, by their names. Of the others a text is a price, and the rest is as it stands."""


def table_in(module: str, kind: type[AnyRow], readers: Readers) -> tuple[AnyRow, ...]:
    """The rows of `families.toml` in the folder of this module, in its order."""
    table = pkgutil.get_data(module, "families.toml")  # `importlib.resources` takes longer to import than this to read
    if table is None:
        raise FileNotFoundError(f"families.toml is not to be had beside {module}")
    return rows_of(table.decode(), kind, readers)


def rows_of(table: str, kind: type[AnyRow], readers: Readers) -> tuple[AnyRow, ...]:
    """The rows that a text in TOML holds, in its order."""
    written = tomllib.loads(table)

    def fields(name: str) -> dict[str, Any]:
        own = dict(written[name])
        like = own.pop("like", None)
        return own if like is None else {**fields(like), **own}

    known: Readers = {"names": re.compile, "evidence": _evidence, **readers}
    return tuple(
        kind(name=name, **{key: _field(value, known.get(key)) for key, value in fields(name).items()})
        for name in written
    )


def price(written: str) -> Count:
    """A price as a table writes it: "4 + 2" is `about(4, 2)`, "4 to 6" is `guess(4, 6)`, and "0" is nothing."""
    match written.split():
        case ["0"]:
            return NOTHING
        case [tokens, "+", slack]:
            return estimate_with_slack(int(tokens), int(slack))
        case [tokens, "to", upper]:
            return guess(int(tokens), int(upper))
        case _:
            raise ValueError(f'expected a price such as "4 + 2", "4 to 6" or "0", got {written!r}')


def _field(value: Any, read: Callable[[Any], object] | None) -> Any:
    if read is not None:
        return read(value)
    return price(value) if isinstance(value, str) else value


def _evidence(written: Mapping[str, Any]) -> Evidence:
    return attrs.evolve(evidence_of(0, 0), **written)
