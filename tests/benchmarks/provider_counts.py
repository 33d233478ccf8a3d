"""How near our counts come to what providers billed: `python tests/benchmarks/provider_counts.py PATH`.

PATH is a file of recordings or a folder of them: JSON lines with `provider`, `api`, `model`, `request`, `input_tokens`
and `source`. For each provider, API, family and kind of request it prints: rows, exact, within 3 tokens, the median
relative error, the lowest and highest error (ours - billed), and rows whose `upper` lies below the bill.

A rule fitted to one recording shows in the last columns: `sources` counts the recordings that a group was taken
from, `worst` is the exact share that remains when the recording that helps most is left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from assembler.errors import ConversationError, ToolError
from budgets.count import Count
from budgets.errors import AssemblyError
from budgets.models.families import family_of

CountRow: TypeAlias = Callable[["Recording"], Count]

DIALECTS = {
    "chat": "openai_chat",
    "responses": "openai_responses",
    "messages": "anthropic",
    "generateContent": "gemini",
}
"""Which dialect speaks an API, as the recordings name it. Mistral's chat API has one of its own."""

NEAR = 3
"""Tokens that count as near."""

LARGE = 100
"""Requests of so many tokens and more are also judged by their relative error alone."""

KINDS = ("text", "tools", "history", "schema")


@attrs.frozen
class Recording:
    """One request, and the tokens its provider billed for it."""

    provider: str
    api: str
    model: str
    request: Mapping[str, Any] = attrs.field(repr=False)
    billed: int
    source: str

    @property
    def dialect(self) -> str:
        """The name of the dialect that this request is spelled in."""
        return "mistral" if self.provider == "mistral" else DIALECTS[self.api]

    @property
    def family(self) -> str:
        """The family of the model, or the model itself where no family is known."""
        return family_of(self.model) or self.model

    @property
    def kind(self) -> str:
        """schema > history > tools > text: the hardest thing that the request holds."""
        if _holds_schema(self.request):
            return "schema"
        if _holds_calls(self.request):
            return "history"
        return "tools" if self.request.get("tools") or self.request.get("functions") else "text"


def _holds_schema(request: Mapping[str, Any]) -> bool:
    text = request.get("text") or {}
    chosen = request.get("response_format") or text.get("format") or {}
    generation = request.get("generationConfig") or {}
    return chosen.get("type") == "json_schema" or bool(generation.get("responseSchema"))


_CALLS = frozenset({"tool_calls", "function_call", "functionCall"})
_CALL_TYPES = frozenset({"function_call", "tool_use"})


def _holds_calls(request: Mapping[str, Any]) -> bool:
    listed = request.get("messages") or request.get("input") or request.get("contents")
    return isinstance(listed, list) and any(_is_call(item) for item in _nested(listed))


def _nested(items: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for item in items:
        if isinstance(item, Mapping):
            yield item
            for key in ("content", "parts"):
                if isinstance(item.get(key), list):
                    yield from _nested(item[key])


def _is_call(item: Mapping[str, Any]) -> bool:
    return item.get("type") in _CALL_TYPES or any(item.get(key) for key in _CALLS)


def read(path: Path) -> list[Recording]:
    """The recordings of a file, or of every `.jsonl` file of a folder."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    rows = (json.loads(line) for file in files for line in file.read_text("utf-8").splitlines() if line.strip())
    return [
        Recording(row["provider"], row["api"], row["model"], row["request"], row["input_tokens"], row["source"])
        for row in rows
    ]


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


def judge(recordings: Iterable[Recording], count: CountRow) -> tuple[list[Judged], dict[str, int]]:
    """Every recording that can be counted with its count, and how many could not be, by reason."""
    judged: list[Judged] = []
    refused: dict[str, int] = defaultdict(int)
    for recording in recordings:
        try:
            judged.append(Judged(recording, count(recording)))
        except (AssemblyError, ImportError) as error:
            refused[f"{recording.provider}/{recording.api}: {type(error).__name__} {_place(error)}".rstrip()] += 1
    return judged, dict(refused)


def _place(error: Exception) -> str:
    # The text of these errors never quotes a request.
    return str(error)[:100] if isinstance(error, ConversationError | ToolError | ImportError) else ""


def by_public_door(recording: Recording) -> Count:
    """What a user of the library gets: `assembler.count_request`. Raises ImportError for a dialect not written yet."""
    import assembler

    try:
        dialect = getattr(importlib.import_module("assembler.dialects"), recording.dialect)
    except AttributeError:
        raise ImportError(f"assembler.dialects has no {recording.dialect}") from None
    return assembler.count_request(recording.request, dialect=dialect, model=recording.model)


@attrs.frozen
class Group:
    """What one provider's one family comes to for one kind of request."""

    name: str
    rows: Sequence[Judged]

    def share(self, near: int) -> float:
        """The share of rows with an error of at most `near` tokens."""
        return sum(abs(row.error) <= near for row in self.rows) / len(self.rows)

    @property
    def sources(self) -> set[str]:
        """The recordings that the rows were taken from."""
        return {row.recording.source for row in self.rows}

    @property
    def worst(self) -> float | None:
        """The lowest exact share that is left when one whole source is taken away; None with a single source."""
        left = [
            [row.error == 0 for row in self.rows if row.recording.source != source] for source in sorted(self.sources)
        ]
        return min((sum(exact) / len(exact) for exact in left if exact), default=None)

    def line(self) -> str:
        """One row of the table."""
        errors = [row.error for row in self.rows]
        large = [row.relative for row in self.rows if row.recording.billed >= LARGE]
        below = sum(row.count.upper < row.recording.billed for row in self.rows)
        worst = "-" if self.worst is None else f"{self.worst:.0%}"
        return (
            f"{self.name:<44}{len(errors):>5}{self.share(0):>7.0%}{self.share(NEAR):>7.0%}"
            f"{statistics.median(row.relative for row in self.rows):>8.1%}"
            f"{statistics.median(large) if large else 0:>8.1%}{min(errors):>7}{max(errors):>7}{below:>6}"
            f"{len(self.sources):>8}{worst:>7}"
        )


HEAD = (
    f"{'provider/api family kind':<44}{'rows':>5}{'exact':>7}{f'±{NEAR}':>7}{'median':>8}{f'≥{LARGE}':>8}"
    f"{'low':>7}{'high':>7}{'under':>6}{'sources':>8}{'worst':>7}"
)


def groups(judged: Sequence[Judged]) -> list[Group]:
    """The rows by provider, API, family and kind, then by provider and API, then all together."""
    held: dict[tuple[str, str, str], list[Judged]] = defaultdict(list)
    for row in judged:
        it = row.recording
        api = f"{it.provider}/{it.api}"
        held[api, it.family, str(KINDS.index(it.kind))].append(row)
        held[api, "~", "all"].append(row)
        if it.kind != "text":
            held[api, "~", "all but text"].append(row)
        held["~", "", "all"].append(row)
    return [Group(_name(key), rows) for key, rows in sorted(held.items())]


def _name(key: tuple[str, str, str]) -> str:
    api, family, kind = key
    shown = KINDS[int(kind)] if kind.isdigit() else kind
    return " ".join(part for part in (api, family, shown) if part not in ("~", ""))


def main(arguments: Sequence[str] | None = None, count: CountRow = by_public_door) -> int:
    """Print the table for the recordings at PATH, and with `--misses` each row that is not exact."""
    parser = argparse.ArgumentParser(description="Score counts against what providers billed.")
    parser.add_argument("path", type=Path, help="a .jsonl file of recordings, or a folder of them")
    parser.add_argument("--misses", action="store_true", help="list every row that is not exact")
    chosen = parser.parse_args(arguments)
    judged, refused = judge(read(chosen.path), count)
    print(HEAD)
    for group in groups(judged):
        print(group.line())
    for reason, rows in sorted(refused.items()):
        print(f"not counted: {rows:>4}  {reason}")
    if chosen.misses:
        for row in judged:
            if row.error:
                it = row.recording
                print(
                    f"{row.error:>+6} (upper {row.count.upper - it.billed:+}, {row.count.grade})  "
                    f"{it.provider}/{it.api} {it.model} {it.kind}  {it.source.rsplit('/', 1)[-1]}"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
