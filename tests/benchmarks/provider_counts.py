"""How near the counts come to recorded bills: `python tests/benchmarks/provider_counts.py PATH …`.

PATH is a file of recordings or a folder of them: JSON lines with `provider`, `api`, `model`, `request`, `input_tokens`
and `source` (`github:owner/name@commit:path`). No text of a request is ever printed.

    provider_counts.py PATH                                  one row for each provider, API and kind of request
    provider_counts.py PATH --by family,kind --provider openai
    provider_counts.py PATH --by repository --api responses --kind history
    provider_counts.py PATH --by generation,api --least 10   one for each model that 10 requests were made to
    provider_counts.py PATH --worst 20 --kind tools          the rows furthest off, named by file and line
    provider_counts.py PATH --sample 500                     a quick look, the same rows each time
    provider_counts.py PATH --markdown                       the table as a page of the documentation has it

| column | says |
|---|---|
| rows | scored: at most 12 of a repository family, provider, API, model and kind, so that no project decides alone |
| exact, ≤ 3 | shares of these with no error, and with one of at most 3 tokens |
| lo1o | the share within 3 when the repository that helps most is left out; `-` where there is only one |
| repos | repository families that the rows come from |
| median, p90 | of the relative error, in requests of 100 tokens and more |
| low, high | the errors furthest down and up (ours - billed) |
| under | the share of rows whose `upper` lies below the bill |
| slack | the median of (upper - tokens) / tokens, what the bound costs, in requests of 100 tokens and more |
| wrong/EXACT | counts graded exact that are not, of those graded exact |
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import attrs

import assembler
from assembler.dialects import DIALECTS
from assembler.errors import ConversationError, ToolError
from budgets import AssemblyError, BudgetError, Count, Grade
from budgets.models.families import family_of
from budgets.models.names import ROUTES, bare

SPOKEN: Final = {
    "chat": "openai_chat",
    "responses": "openai_responses",
    "messages": "anthropic",
    "generateContent": "gemini",
    "converse": "bedrock",
    "cohere": "openai_chat",
}
"""Which dialect speaks an API, as the recordings name it. Mistral's chat API has one of its own; Cohere's is
read as Chat Completions."""

HOSTS: Final = frozenset({"azure", "bedrock", "google-vertex", "openrouter"})
"""Providers that serve other makers' models: their models are named `host/model`, as users of a gateway do."""

NEAR: Final = 3
LARGE: Final = 100
MOST_OF_A_KIND: Final = 12
KINDS: Final = ("text", "tools", "history", "schema")
KEYS: Final = ("provider", "api", "kind", "family", "generation", "model", "repository")


@attrs.frozen
class Recording:
    """One request, and the tokens its provider billed for it."""

    provider: str
    api: str
    model: str
    request: Mapping[str, Any] = attrs.field(repr=False)
    billed: int
    source: str
    place: str
    """The file and line that it was read from."""
    digest: bytes = attrs.field(repr=False)
    family: str
    kind: str
    repository: str

    @property
    def dialect(self) -> str | None:
        """The name of the dialect that this request is spelled in, None where there is none."""
        return "mistral" if self.provider == "mistral" else SPOKEN.get(self.api)

    @property
    def named(self) -> str:
        """The model as a user of its host names it."""
        host = self.provider in HOSTS and self.provider in ROUTES
        return f"{self.provider}/{self.model}" if host else self.model

    @property
    def generation(self) -> str:
        """The model without its host's prefix and its date."""
        return _DATED.sub("", bare(self.model))

    def key(self, names: Sequence[str]) -> tuple[str, ...]:
        """Where it stands in a table by `names`; kinds are in the order of their difficulty."""
        return tuple(getattr(self, name) for name in names)


_DATED = re.compile(r"-(20\d\d-?\d\d-?\d\d|\d{4})$")


def repository_family(source: str) -> str:
    """Projects of one family share code and recordings: the owner is left out, and all after the name's second word.

    `crmne/ruby_llm` and `patvice/ruby_llm-mcp` are both `ruby_llm`.
    """
    found = re.match(r"github:[^/]+/([^@]+)", source)
    if found is None:
        return source.split(" ")[0]
    words = re.split(r"([-_])", found.group(1).lower())
    return "".join(words[:3])


def kind_of(request: Mapping[str, Any]) -> str:
    """schema > history > tools > text: the hardest thing that the request holds."""
    if _holds_schema(request):
        return "schema"
    if _holds_calls(request):
        return "history"
    has_tools = request.get("tools") or request.get("functions") or request.get("toolConfig")
    return "tools" if has_tools else "text"


def _holds_schema(request: Mapping[str, Any]) -> bool:
    chosen = request.get("response_format") or _mapping(request.get("text")).get("format")
    generation = _mapping(request.get("generationConfig") or request.get("generation_config"))
    return (
        _mapping(chosen).get("type") == "json_schema"
        or any(generation.get(key) for key in ("responseSchema", "responseJsonSchema", "response_schema"))
        or bool(request.get("output_format") or _mapping(request.get("output_config")).get("format"))
        or bool(request.get("outputConfig"))
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


_CALLS = frozenset({"tool_calls", "function_call", "functionCall", "function_response", "functionResponse", "toolUse"})
_CALL_TYPES = frozenset({"function_call", "tool_use", "function_call_output", "tool_result"})


def _holds_calls(request: Mapping[str, Any]) -> bool:
    listed = request.get("messages") or request.get("input") or request.get("contents")
    return any(
        item.get("type") in _CALL_TYPES or item.get("role") == "tool" or any(item.get(key) for key in _CALLS)
        for item in _nested(listed)
    )


def _nested(items: object) -> Iterator[Mapping[str, Any]]:
    for item in cast("list[object]", items) if isinstance(items, list) else ():
        fields = _mapping(item)
        yield fields
        for key in ("content", "parts"):
            yield from _nested(fields.get(key))


def read(paths: Iterable[Path]) -> Iterator[Recording]:
    """The recordings of files, and of every `.jsonl` file of folders."""
    for path in paths:
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            for number, line in enumerate(file.read_bytes().splitlines(), 1):
                if line.strip():
                    yield _recording(json.loads(_signed(line)), f"{file.name}:{number}", line)


_SIGNATURE = re.compile(rb"<<SIG (\d{1,6})>>")
"""Stands where a recording had a thought signature, encrypted by the provider: the number is its length."""


def _signed(line: bytes) -> bytes:
    """The recording with something as long as each signature that was taken out: it is billed by its length."""
    return _SIGNATURE.sub(lambda taken: b"s" * int(taken[1]), line)


def _recording(row: Mapping[str, Any], place: str, line: bytes) -> Recording:
    return Recording(
        provider=row["provider"],
        api=row["api"],
        model=row["model"],
        request=row["request"],
        billed=row["input_tokens"],
        source=row["source"],
        place=place,
        digest=hashlib.blake2b(line, digest_size=8).digest(),
        family=family_of(row["model"]) or row["model"].lower(),
        kind=row.get("kind") or kind_of(row["request"]),
        repository=repository_family(row["source"]),
    )


def fair(recordings: Iterable[Recording], most: int = MOST_OF_A_KIND) -> list[Recording]:
    """At most `most` of one repository family, provider, API, model and kind, chosen by a hash: the same each time."""
    held: dict[tuple[str, ...], list[Recording]] = defaultdict(list)
    for one in recordings:
        held[one.key(("repository", "provider", "api", "model", "kind"))].append(one)
    return [one for group in held.values() for one in sorted(group, key=lambda it: it.digest)[:most]]


@attrs.frozen
class Judged:
    """A recording beside our count of it."""

    recording: Recording
    count: Count

    @property
    def error(self) -> int:
        """Ours - billed: negative is too few."""
        return self.count.tokens - self.recording.billed

    @property
    def relative(self) -> float:
        """The error's size as a share of the bill."""
        return abs(self.error) / max(self.recording.billed, 1)

    def __str__(self) -> str:
        it = self.recording
        return (
            f"{self.error:>+6} of {it.billed:>6}  upper {self.count.upper - it.billed:+6}  {self.count.grade!s:<9}  "
            f"{it.provider}/{it.api} {it.model} {it.kind}  {it.place}  {it.repository}"
        )


CountRow: TypeAlias = Callable[[Recording], Count]


def by_public_door(recording: Recording) -> Count:
    """What a user of the library gets: `assembler.count_request`."""
    if recording.dialect is None:
        raise ConversationError(f"no dialect speaks {recording.api}")
    dialect = DIALECTS[recording.dialect]
    return assembler.count_request(recording.request, dialect=dialect, model=recording.named)


def judge(recordings: Iterable[Recording], count: CountRow) -> tuple[list[Judged], Counter[str]]:
    """Every recording that can be counted with its count, and how many could not be, by reason."""
    judged: list[Judged] = []
    refused: Counter[str] = Counter()
    for recording in recordings:
        try:
            judged.append(Judged(recording, count(recording)))
        except (AssemblyError, BudgetError) as error:
            # The text of these errors never quotes a request.
            message = str(error)[:100] if isinstance(error, ConversationError | ToolError) else ""
            message = re.sub(r"\d+", "N", message)
            refused[f"{recording.provider}/{recording.api}: {type(error).__name__} {message}".rstrip()] += 1
    return judged, refused


@attrs.frozen
class Scores:
    """What one row of the table says."""

    rows: Sequence[Judged]

    def share(self, near: int, without: str | None = None) -> float:
        """The share of rows with an error of at most `near` tokens, without those of one repository family."""
        left = [row for row in self.rows if row.recording.repository != without]
        return sum(abs(row.error) <= near for row in left) / len(left)

    @property
    def repositories(self) -> frozenset[str]:
        """The repository families that the rows come from."""
        return frozenset(row.recording.repository for row in self.rows)

    def cells(self) -> tuple[str, ...]:
        """The columns behind the row's name."""
        errors = [row.error for row in self.rows]
        large = sorted(row.relative for row in self.rows if row.recording.billed >= LARGE)
        exact = [row for row in self.rows if row.count.grade is Grade.EXACT]
        each = self.repositories
        lo1o = f"{min(self.share(NEAR, one) for one in each):.1%}" if len(each) > 1 else "-"
        judged = [row for row in self.rows if row.recording.billed >= LARGE] or self.rows
        slack = statistics.median((row.count.upper - row.count.tokens) / max(row.count.tokens, 1) for row in judged)
        return (
            str(len(self.rows)),
            f"{self.share(0):.1%}",
            f"{self.share(NEAR):.1%}",
            lo1o,
            str(len(each)),
            f"{statistics.median(large):.2%}" if large else "-",
            f"{large[len(large) * 9 // 10]:.1%}" if large else "-",
            f"{min(errors):+}",
            f"{max(errors):+}",
            f"{sum(row.count.upper < row.recording.billed for row in self.rows) / len(self.rows):.1%}",
            f"{slack:.1%}",
            f"{sum(row.error != 0 for row in exact)}/{len(exact)}",
        )


HEAD = ("rows", "exact", f"≤ {NEAR}", "lo1o", "repos", "median", "p90", "low", "high", "under", "slack", "wrong/EXACT")


def table(judged: Iterable[Judged], by: Sequence[str], least: int = 1) -> list[tuple[str, ...]]:
    """The scores by the chosen keys where there are `least` rows, and of all rows together."""
    held: dict[tuple[str, ...], list[Judged]] = defaultdict(list)
    for row in judged:
        held[row.recording.key(by)].append(row)
        held["~all",].append(row)

    def order(key: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(KINDS.index(part)) if part in KINDS else part for part in key)

    return [
        (" ".join(key).lstrip("~"), *Scores(held[key]).cells())
        for key in sorted(held, key=order)
        if len(held[key]) >= least
    ]


def shown(rows: Sequence[tuple[str, ...]], head: tuple[str, ...], *, markdown: bool) -> Iterator[str]:
    """The lines of a table, in columns or as Markdown."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    for place, row in enumerate([head, *rows]):
        cells = [
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"| {' | '.join(cells)} |" if markdown else "  ".join(cells)
        if markdown and not place:
            yield "|" + "|".join("---:" if at else "---" for at in range(len(head))) + "|"


def main(arguments: Sequence[str] | None = None, count: CountRow = by_public_door) -> int:
    """Print the table for the recordings at PATH."""
    chosen = _arguments(arguments)
    wanted = {key: {one for given in getattr(chosen, key) or () for one in given.split(",")} for key in KEYS}
    kept = [
        one
        for one in read(chosen.path)
        if all(not names or getattr(one, key) in names for key, names in wanted.items())
        and one.repository not in chosen.without.split(",")
    ]
    scored = kept if chosen.all else fair(kept)
    if chosen.sample:
        scored = sorted(scored, key=lambda it: it.digest)[: chosen.sample]
    judged, refused = judge(scored, count)
    by = [one.strip() for one in chosen.by.split(",")]
    for line in shown(table(judged, by, chosen.least), (" ".join(by), *HEAD), markdown=chosen.markdown):
        print(line)
    for reason, rows in sorted(refused.items()):
        print(f"not counted: {rows:>4}  {reason}")
    for row in sorted(judged, key=lambda it: -abs(it.error))[: chosen.worst]:
        print(row)
    under = [row for row in judged if row.count.upper < row.recording.billed]
    for row in sorted(under, key=lambda it: it.count.upper - it.recording.billed)[: chosen.under]:
        print(row)
    for row in [row for row in judged if row.count.grade is Grade.EXACT and row.error][: chosen.wrong]:
        print(row)
    return 0


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Score counts against what providers billed.")
    parser.add_argument("path", type=Path, nargs="+", help="a .jsonl file of recordings, or a folder of them")
    parser.add_argument("--by", default="provider,api,kind", help=f"columns of the table, of {', '.join(KEYS)}")
    for key in KEYS:
        parser.add_argument(f"--{key}", action="append", help=f"score only these, by {key}; commas between several")
    parser.add_argument("--without", default="", help="leave out these repository families; commas between several")
    parser.add_argument("--all", action="store_true", help=f"score every row, not {MOST_OF_A_KIND} of a kind")
    parser.add_argument("--sample", type=int, default=0, help="score so many rows, the same each time")
    parser.add_argument("--least", type=int, default=1, help="leave out groups of fewer rows")
    parser.add_argument("--worst", type=int, default=0, help="list so many rows with the largest errors")
    parser.add_argument("--under", type=int, default=0, help="list so many rows whose upper lies below the bill")
    parser.add_argument("--wrong", type=int, default=0, help="list so many rows that are graded exact and are not")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    return parser.parse_args(given)


if __name__ == "__main__":
    sys.exit(main())
