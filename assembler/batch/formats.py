"""Reads and writes the lines of the providers' own batch files.

| format    | a line                                                               | read 2026-11 |
|-----------|----------------------------------------------------------------------|--------------|
| OpenAI    | `{"custom_id", "method": "POST", "url": "/v1/chat/completions" or "/v1/responses", "body"}` | API reference, Batch, "The request input object" |
|           | the same with `"url": "/chat/completions"`                           | Azure OpenAI, how-to/batch |
| Anthropic | `{"custom_id", "params"}`, an entry of `messages.batches.create(requests=…)` | API reference, "Create a Message Batch" |
| Gemini    | `{"key", "request"}`, the request as the REST API spells it          | Gemini API guide, "Batch API", input file |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

import attrs

from assembler.assembler import Assembler
from assembler.batch.errors import RowError
from assembler.batch.rows import REGIONS, Assembled, Failed, assemble_row, write_line
from assembler.dialects.by_name import read_own_dialect
from budgets import MissingExtraError

Row: TypeAlias = Mapping[str, Any]


@attrs.frozen
class OwnRows:
    """This library's rows, whose regions are added to the spec. Each output line has its tokens or its error."""

    name: str = attrs.field(default="rows", init=False)
    read: tuple[str, ...] = attrs.field(default=REGIONS, init=False)
    """The fields that are read; all others are copied."""

    def assembled(self, base: Assembler, row: Row) -> Assembled:
        """The request of a row. Raises the errors of the build."""
        return assemble_row(base, {name: row[name] for name in REGIONS if name in row})


@attrs.frozen
class ProviderRows:
    """Lines of a provider's batch file. Each has its own request, which is replaced by a fitted one."""

    name: str
    body: str
    """The field that holds the request."""
    id: str
    """The field with the line's id, which the answer will have. It must be unique."""
    dialect: str | None
    """The dialect of the requests; None if each line has a url that says it."""
    longest_id: int | None = None
    """The most characters of an id; None if no limit is known."""

    @property
    def read(self) -> tuple[str, ...]:
        """The fields that are read; all others are copied."""
        return (self.body,)

    def assembled(self, base: Assembler, row: Row) -> Assembled:
        """Fit the line's own request into the budget of the spec. Raises `RowError`, or the errors of fitting."""
        from assembler.count_request import count_request  # only needed for providers' own files
        from assembler.dialects.reading.raw_request import RawRequest
        from assembler.fit_request import built, fit_steps

        body: object = row.get(self.body)
        if not isinstance(body, dict):
            raise RowError(
                f"expected a line of a batch file of {self.name}: {self.id}, and {self.body} with the request"
            )
        self._refuse_id(row.get(self.id))
        dialect = read_own_dialect(self.dialect or _find_dialect_by_url(row), base.inside[1].dialect)
        fitted = built(fit_steps(RawRequest.of(cast(Row, body), dialect), base))
        budget = base.budget
        counted = count_request(
            fitted.body,
            dialect=dialect,
            model=None if budget is None else budget.model,
            counter=None if budget is None else budget.token_counter,
            held=base.inside[0].regions.held,
        )
        return Assembled(write_line(fitted.body), counted, fitted.context.inside.left_out)

    def _refuse_id(self, value: object) -> None:
        if not isinstance(value, str):
            raise RowError(f"{self.id}: expected a text; the provider names the answer by it")
        if self.longest_id is not None and not 0 < len(value) <= self.longest_id:
            raise RowError(
                f"{self.id}: expected 1 to {self.longest_id} characters, got {len(value)}; "
                f"{self.name} refuses all lines for one id"
            )

    def line(self, written: Row) -> dict[str, Any]:
        """A line of the batch file, from the run's own line."""
        own = {name: value for name, value in written.items() if name not in _WRITTEN}
        return {**own, self.body: written["request"]}


Format: TypeAlias = OwnRows | ProviderRows
"""The format of a file of rows and of its output."""

_WRITTEN = ("row", "request", "tokens", "upper", "grade", "dropped")

_URLS = {
    "/v1/chat/completions": "openai_chat",
    "/v1/responses": "openai_responses",
    "/chat/completions": "openai_chat",
}

# An id of 65 characters: "requests.0.custom_id: String should have at most 64 characters"
# (anthropics/anthropic-sdk-python#984, read 2026-11).
_ANTHROPIC_ID = 64


def _find_dialect_by_url(row: Row) -> str:
    url: object = row.get("url")
    if not isinstance(url, str) or url not in _URLS:
        raise RowError(f"url: expected one of {', '.join(_URLS)}")
    if row.get("method") != "POST":
        raise RowError("method: expected POST, as OpenAI's batch files have it")
    return _URLS[url]


OWN = OwnRows()
FORMATS: Mapping[str, Format] = {
    "rows": OWN,
    "openai": ProviderRows("openai", body="body", id="custom_id", dialect=None),
    "anthropic": ProviderRows(
        "anthropic", body="params", id="custom_id", dialect="anthropic", longest_id=_ANTHROPIC_ID
    ),
    "gemini": ProviderRows("gemini", body="request", id="key", dialect="gemini"),
}
"""Every format, by its name on the command line. All of them are pickled for worker processes."""


def outcome(base: Assembler, row: Row, kind: Format = OWN) -> Assembled | Failed:
    """The request of a row, or why there is none. Raises only if a package is missing."""
    try:
        return kind.assembled(base, row)
    except MissingExtraError:
        raise
    except Exception as error:
        return Failed.by(error)
