"""Fits the constants of a host's row to recorded bills, by least absolute deviations. No constant is below zero.

    bill = opening + factor * texts + messages * message + calls * call + results * result
           + (tooling + tools * tool, if there are tools)

Texts are counted by `o200k_base`. A constant that the recordings cannot separate from the others is 0, and listed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from assembler.dialects.hosts.bill import HostBill
from assembler.dialects.hosts.families import READERS, Family
from assembler.dialects.prices.families import rows_of
from assembler.pricing.pricer import priced_request
from assembler.regions.layout import Layout
from budgets import Count, TokenCounter, Tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.floating[Any]]

PARTS: Final = ("opening", "texts", "message", "tooling", "tool", "call", "result")
"""The parts of a bill. If recordings cannot separate two of them, the earlier one gets both."""

LEAST: Final = 10
"""The number of recordings that a fit needs: fewer than 1.5 for each constant prove nothing."""

FOLDS: Final = 20
ROUNDS: Final = 60
_NEARLY_NONE: Final = 0.25
"""The smallest error in the weights, in tokens, because bills are whole numbers."""

_UNSHOWN: Mapping[str, Tokens] = {"message": 8, "tooling": 700, "tool": 24, "call": 60, "result": 12}
"""The bounds of parts that no recording shows: those of nearly all rows of the table."""
_ONE = Count(1)
_MESSAGES = {"system": _ONE, "user": _ONE, "assistant": _ONE, "tool_role": _ONE}
_FIELDS: Mapping[str, dict[str, Any]] = {
    "opening": {"opening": _ONE},
    "message": _MESSAGES,
    **{name: {name: _ONE} for name in PARTS if name not in ("opening", "texts", "message")},
}
(_BLANK,) = rows_of(
    """
    [blank]
    names = ""
    evidence = {}
    form = "compact"
    opening = "0"
    """,
    Family,
    READERS,
)


@attrs.frozen
class Recorded:
    """The numbers of one recording: how often each of `PARTS` is in the request, and its bill."""

    parts: tuple[float, ...]
    billed: Tokens


@attrs.frozen
class Fit:
    """Constants by part, and the errors on recordings that were held out of the fit."""

    constants: Mapping[str, float]
    unshown: tuple[str, ...]
    rows: int
    median: float
    """The median held-out error, as a share of the bill."""
    largest: float
    short: float
    """The most tokens that a recording was billed above its held-out price, or 0."""


def count_parts(layout: Layout, billed: Tokens, count: TokenCounter) -> Recorded:
    """Count the parts of a request: how much its price rises if a part's constant is 1. O(request)."""

    def priced(family: Family) -> Tokens:
        return priced_request(HostBill(family, count), layout).tokens

    texts = priced(_BLANK)
    often = {name: priced(attrs.evolve(_BLANK, **ones)) - texts for name, ones in _FIELDS.items()}
    return Recorded(tuple(float(often.get(name, texts)) for name in PARTS), billed)


def fit_constants(recordings: Sequence[Recorded]) -> Fit:
    """Fit the constants to `LEAST` recordings or more. Deterministic; O(`FOLDS` * recordings)."""
    import numpy as np

    parts: Array = np.array([one.parts for one in recordings], dtype=np.float64)
    bills: Array = np.array([one.billed for one in recordings], dtype=np.float64)
    shown = _find_independent_columns(parts)
    whole = _fit_least_deviations(parts, bills, shown)
    fold = np.arange(len(bills)) % min(len(bills), FOLDS)
    held: Array = np.zeros(len(bills))
    for left_out in range(min(len(bills), FOLDS)):
        rest = fold != left_out
        held[~rest] = parts[~rest] @ _fit_least_deviations(
            parts[rest], bills[rest], _find_independent_columns(parts[rest])
        )
    errors = np.abs(held - bills) / np.maximum(bills, 1)
    return Fit(
        constants=dict(zip(PARTS, map(float, whole), strict=True)),
        unshown=tuple(name for place, name in enumerate(PARTS) if place not in shown),
        rows=len(bills),
        median=float(np.median(errors)),
        largest=float(errors.max()),
        short=max(float((bills - held).max()), 0.0),
    )


def _find_independent_columns(parts: Array) -> list[int]:
    """The columns that are linearly independent of those before them."""
    import numpy as np

    kept: list[int] = []
    for column in range(parts.shape[1]):
        if int(np.linalg.matrix_rank(parts[:, [*kept, column]])) > len(kept):
            kept.append(column)
    return kept


def _fit_least_deviations(parts: Array, bills: Array, shown: Sequence[int]) -> Array:
    """Fit by reweighted least squares. Constants below zero are removed, the lowest first."""
    import numpy as np

    kept = list(shown)
    while True:
        columns, weights = parts[:, kept], np.ones(len(bills))
        found: Array = np.zeros(len(kept))
        for _ in range(ROUNDS):
            roots = np.sqrt(weights)
            found = np.linalg.lstsq(columns * roots[:, None], bills * roots, rcond=None)[0]
            weights = 1 / np.maximum(np.abs(bills - columns @ found), _NEARLY_NONE)
        lowest = int(np.argmin(found)) if kept else 0
        if not kept or found[lowest] >= -1e-6:
            break
        del kept[lowest]
    by_place = dict(zip(kept, np.maximum(found, 0), strict=True))
    return np.array([by_place.get(place, 0.0) for place in range(parts.shape[1])], dtype=np.float64)


def row(fit: Fit, model: str, read: str) -> str:
    """Write the fit as a row of `families.toml`, with the held-out error in a comment."""
    constant = {name: round(value) for name, value in fit.constants.items()}
    free = {name: slack for name, slack in _UNSHOWN.items() if name in fit.unshown}
    factor = round(fit.constants["texts"], 3)
    values = {
        "names": json.dumps(re.escape(model.lower())),
        "evidence": f'{{ source = "recordings of my own", read = "{read}", rows = {fit.rows}, repositories = 0 }}',
        "stand_in": f"{{ typical = {factor}, ceiling = {round(factor * 1.05, 3)}, flat = 2 }}",
        "form": '"compact"',
        "opening": _write_range(constant["opening"], round(fit.short) + 1),
        **{field: _write_range(constant["message"], free.get("message", 1)) for field in _MESSAGES},
        **{
            name: _write_range(constant[name], free.get(name, 1))
            for name in PARTS[3:]
            if constant[name] or name in free
        },
    }
    error = f"# held out: median {fit.median:.1%}, largest {fit.largest:.1%}, at most {round(fit.short)} short\n"
    unshown = f"# not shown by these recordings: {', '.join(fit.unshown)}\n" if fit.unshown else ""
    lines = "\n".join(f"{field} = {value}" for field, value in values.items())
    return f"{error}{unshown}[{json.dumps(model)}]\n{lines}"


def _write_range(tokens: Tokens, slack: Tokens) -> str:
    return f'"{tokens} to {tokens + slack}"'
