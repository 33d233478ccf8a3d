"""Writes the tables of `docs/how-exact-by-model.md` again: `python tests/benchmarks/exactness_page.py PATH …`.

PATH is as for `provider_counts.py`, whose columns these are, without the lowest and the highest error. A heading of the
page chooses what stands below it; its words stay as they are.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs
import provider_counts as bills

PAGE: Final = Path(__file__).parents[2] / "docs" / "how-exact-by-model.md"
LEAST: Final = 8
HEAD: Final = ("model", "rows", "repos", "exact", "≤ 3", "lo1o", "median", "p90", "under", "slack", "exact, wrong")
PLACES: Final = (0, 4, 1, 2, 3, 5, 6, 9, 10, 11)
"""Which of `bills.Scores.cells` the page shows, in its order."""

APIS: Final = {"messages": " (Messages)", "responses": " (Responses)"}
CLAUDE: Final = frozenset({"anthropic", "bedrock", "google-vertex", "azure"})


@attrs.frozen
class Section:
    """Which recordings stand in a table, and how its rows are named."""

    providers: frozenset[str]
    apis: frozenset[str]
    host: bool = False
    """Whether the host's own names of its models are shown, and the API where it is not the usual one."""

    def row_of(self, one: bills.Recording) -> str | None:
        """The row that a recording counts for."""
        if one.provider not in self.providers or one.api not in self.apis:
            return None
        return f"{one.model}{APIS.get(one.api, '')}" if self.host else one.generation


def _host(name: str) -> Section:
    return Section(frozenset({name}), frozenset({"chat", "messages", "responses", "cohere"}), host=True)


SECTIONS: Final[Mapping[str, Section]] = {
    "OpenAI, Chat Completions": Section(frozenset({"openai"}), frozenset({"chat"})),
    "OpenAI, Responses": Section(frozenset({"openai"}), frozenset({"responses"})),
    "Anthropic": Section(CLAUDE, frozenset({"messages"})),
    "Bedrock, Converse": Section(frozenset({"bedrock"}), frozenset({"converse"})),
    "Gemini": Section(frozenset({"google"}), frozenset({"generateContent"})),
    "On Vertex": Section(frozenset({"google-vertex"}), frozenset({"generateContent"})),
    "Mistral": Section(frozenset({"mistral"}), frozenset({"chat"})),
    **{name: _host(name.lower()) for name in ("xAI", "Groq", "DeepSeek", "Cohere", "Cerebras", "Together", "Azure")},
}


def table(judged: Iterable[bills.Judged], section: Section) -> Iterable[str]:
    """The lines of one table, rows by name."""
    held: dict[str, list[bills.Judged]] = defaultdict(list)
    for one in judged:
        name = section.row_of(one.recording)
        if name is not None:
            held[name].append(one)
    rows = [(name, cells(of)) for name, of in sorted(held.items()) if len(of) >= LEAST and "<" not in name]
    yield f"| {' | '.join(HEAD)} |"
    yield f"| --- |{' ---: |' * (len(HEAD) - 1)}"
    yield from (f"| {name} | {' | '.join(shown)} |" for name, shown in rows)


def cells(judged: Sequence[bills.Judged]) -> list[str]:
    """What the page shows of a row."""
    scored = bills.Scores(judged).cells()
    return [scored[place] for place in PLACES]


def written(page: str, judged: Sequence[bills.Judged]) -> str:
    """The page with each table made again: that which follows a heading, or a line that begins with its name."""
    for heading, section in SECTIONS.items():
        pattern = re.compile(rf"(^(?:#+ )?{heading}\b.*?\n)(?:\|[^\n]*\n)+", re.MULTILINE | re.DOTALL)
        fresh = "\n".join(table(judged, section))
        page, found = pattern.subn(lambda match, fresh=fresh: f"{match[1]}{fresh}\n", page, count=1)
        if not found:
            raise ValueError(f"the page has no table below {heading}")
    return page


def main(paths: Sequence[str]) -> None:
    """Count every recording and write the page."""
    judged, _ = bills.judge(bills.fair(bills.read(map(Path, paths))), bills.by_public_door)
    PAGE.write_text(written(PAGE.read_text(), judged))


if __name__ == "__main__":
    main(sys.argv[1:])
