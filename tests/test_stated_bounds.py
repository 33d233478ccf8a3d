"""Every bound that the docs state holds at the bound and not at one more; a sentence that changes fails its row."""

from __future__ import annotations

import importlib
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler import Assembler, AssemblyError, Cut, KeepRelevant, Offload, PricedTurns, ToolSearch, TrimOldest
from assembler.batch import lines
from assembler.dialects.blocks import turns
from assembler.greedy import Config, config
from assembler.integrations import fitting
from assembler.pipeline import last_decision
from assembler.policies import relevance
from assembler.prompts import PromptLibrary, ValidatedPromptTemplate, read_prompt
from assembler.rag import Best, parse_citations
from assembler.regions.tools import plain, read_tool
from assembler.report import terminal
from assembler.report.page import Texts
from assembler.session import smoothed
from assembler.strategies.sources import vectors
from budgets import Budget, Limit, Tokens, memoised
from budgets.models import names

ROOT = Path(__file__).parents[1]
MEBIBYTE = 2**20


def taken(work: Callable[[], object]) -> bool:
    """Whether it was taken, or refused in words of ours."""
    try:
        work()
    except AssemblyError:
        return False
    return True


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def a_prompt_file(size: int, folder: Path) -> bool:
    path = folder / "prompt.txt"
    path.write_text("x" * size, encoding="utf-8")
    outcomes = {taken(lambda: read_prompt(path)), taken(lambda: PromptLibrary(folder).read("prompt.txt"))}
    assert len(outcomes) == 1
    return outcomes.pop()


def rendered(template: str, **values: Any) -> bool:
    return taken(lambda: ValidatedPromptTemplate("t", template, template_format="jinja2").format(**values))


def loops_inside_one_another(depth: int, _folder: Path) -> bool:
    return rendered("".join(f"{{% for a{n} in [1] %}}" for n in range(depth)) + "{% endfor %}" * depth)


def passes_and_calls(number: int, _folder: Path) -> bool:
    return rendered(f"{{% for one in range({number - 1}) %}}{{% endfor %}}")


class Newest:
    """A policy that declares nothing about itself."""

    def cut(self, ledger: PricedTurns, tokens_left: Tokens, /) -> Cut:
        return TrimOldest().cut(ledger, tokens_left)


def turns_of_steps(turns: int, _folder: Path) -> bool:
    """Whether a policy that declares nothing is asked about each step."""
    made = Assembler(Budget(10**6, counter=len), dialect="plain", on_overflow=Newest())
    return len(made.add_messages([user("x")] * turns).plan().report.steps()) == turns


def messages_that_went(number: int, _folder: Path) -> bool:
    """True if an edit is noticed at once in a history from which so many messages were dropped."""
    messages = [user("x" * 10) for _ in range(number + 4)]
    made = Assembler(Budget(20, counter=len), dialect="plain", on_overflow=TrimOldest()).add_messages(messages)
    assert made.build().first_kept == number + 2
    messages[number]["pinned"] = True
    return made.build().messages[0] is messages[number]


def turns_that_a_choice_goes_by(turns: int, _folder: Path) -> bool:
    """True if the question of a choice includes the user's text of so many turns ago."""
    heard: list[str] = []

    def score(question: str, texts: Any) -> list[float]:
        heard.append(question)
        return [1.0 for _ in texts]

    history = [user(f"[{50 - place}] {'x' * 20}") for place in range(50)]
    policy = KeepRelevant(score, low_water=0.5)
    Assembler(Budget(49 * 25, counter=len), dialect="plain", on_overflow=policy).add_messages(history).build()
    return f"[{turns}]" in heard[-1]


def places_that_a_search_shows(places: int, _folder: Path) -> bool:
    text = ("x" * 1_000 + "needle") * places
    return Offload({"a": text}).tool("a", search="NEEDLE").count("needle") == places


def characters_around_what_was_found(size: int, _folder: Path) -> bool:
    found = Offload({"a": "x" * 1_000 + "needle" + "x" * 1_000}).tool("a", search="needle")
    return "x" * size + "needle" + "x" * size in found


def characters_on_a_page(size: int, _folder: Path) -> bool:
    """Whether all of a text is shown."""
    page = Assembler().add_instruction("q" * size).build().report.to_html(texts=Texts(longest=500))
    return "q" * size in page


def names_of_a_schema(length: int, _folder: Path) -> bool:
    schema: dict[str, Any] = {"title": "T", "type": "object", "properties": {}}
    return taken(lambda: Assembler().add_output_schema(schema, name="a" * length))


def remembered(size: int, _folder: Path) -> bool:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    counter = memoised(count, max_characters=100)
    assert counter("x" * size) == counter("x" * size) == size
    return len(asked) == 1


def levels_of_a_message(depth: int, _folder: Path) -> bool:
    inside: Any = []
    for _ in range(depth - 2):
        inside = [inside]
    return taken(lambda: Assembler().add_message({**user("x"), "note": inside}))


def values_of_a_schema(number: int, _folder: Path) -> bool:
    return taken(lambda: read_tool({"name": "f", "parameters": {"enum": [0] * (number - 2)}}))


def digits_of_a_number(digits: int, _folder: Path) -> bool:
    return taken(lambda: read_tool({"name": "f", "parameters": {"const": 10 ** (digits - 1)}}))


def sources_of_a_range(number: int, _folder: Path) -> bool:
    """Whether all of a range are read."""
    return [len(one.sources) for one in parse_citations(f"[Source 1-{number}]")] == [number]


def found_tools(number: int, _folder: Path) -> bool:
    tools = [{"name": f"weather_{place}"} for place in range(number)]
    return len(ToolSearch(tools)("weather")) == number


def numbers_that_a_score_remembers(number: int, _folder: Path) -> bool:
    remembered, asked = relevance._Remembered[range](), list[str]()  # pyright: ignore[reportPrivateUsage]

    def embed(texts: list[str]) -> list[range]:
        asked.extend(texts)
        return [range(number)]

    remembered.of(["a"], embed)
    remembered.of(["a"], embed)
    return len(asked) == 1


@attrs.frozen
class Bound:
    """A bound, the page or name that states it, and a check whether a number is within it."""

    where: str
    says: str
    most: int
    within: Callable[[int, Path], bool]


AT_MOST = [
    Bound(
        "docs/prompt-files-and-templates.md", "UTF-8 and at most one mebibyte (`max_bytes=`", MEBIBYTE, a_prompt_file
    ),
    Bound("docs/prompt-files-and-templates.md", "loops nest at most four deep", 4, loops_inside_one_another),
    Bound("docs/prompt-files-and-templates.md", "at most 100,000 loop passes and calls", 100_000, passes_and_calls),
    Bound(
        "docs/extending/policy-traits.md",
        "asks a policy that cuts once for each step, up to 256 turns",
        256,
        turns_of_steps,
    ),
    Bound("docs/what-a-build-remembers.md", "one turn more, and 32 of the dropped messages", 32, messages_that_went),
    Bound("docs/relevant-turns.md", "what the user said in the newest 32 turns", 32, turns_that_a_choice_goes_by),
    Bound("assembler.KeepRelevant", "what the user said in the newest 32 turns", 32, turns_that_a_choice_goes_by),
    Bound(
        "assembler.Cosine",
        "remembered, up to 16,777,216 numbers in all (128 MB)",
        128 * MEBIBYTE // 8,
        numbers_that_a_score_remembers,
    ),
    Bound("docs/relevant-turns.md", "up to 128 MB of vectors", 128 * MEBIBYTE // 8, numbers_that_a_score_remembers),
    Bound("assembler.policies.Fetch.__call__", "shows the first 20 places", 20, places_that_a_search_shows),
    Bound("assembler.policies.Fetch.__call__", "200 characters on either side", 200, characters_around_what_was_found),
    Bound(
        "docs/looking-at-a-request.md",
        "Texts(longest=500)) # the first 500 characters of each",
        500,
        characters_on_a_page,
    ),
    Bound("budgets.memoised", "A text longer than half of `max_characters` is counted anew", 50, remembered),
    Bound("assembler.conversation.messages.jsonable", "DEEPEST = 200", 200, levels_of_a_message),
    Bound("assembler.regions.tools.plain.plain", "At most 100 levels and 100,000 values", 100_000, values_of_a_schema),
    Bound("assembler.regions.tools.plain", "MAX_DIGITS = 640", 640, digits_of_a_number),
    Bound("assembler.regions.output_schema", "letters, digits, `_` and `-`, at most 64", 64, names_of_a_schema),
    Bound("assembler.rag.citations", "MAX_RANGE = 100", 100, sources_of_a_range),
    Bound("assembler.regions.tools.deferred", "most: int = attrs.field(default=5", 5, found_tools),
]
"""What is stated where, by a page or a public name, and is tested here."""


@attrs.frozen
class Elsewhere:
    """A bound that another test holds; `stated` is the number of the sentence, `bound` the code's own."""

    where: str
    says: str
    test: str
    stated: float = 0
    bound: float = 0


MARKS = "tests/assembler/cache/test_marks.py::test_marks_are_four_at_most_and_the_request_stays_valid_and_the_same"
FILES = "tests/hostile/test_file_bounds.py::test_a_file_is_read_up_to_its_bound_and_not_beyond"

PARTS = (
    "tests/assembler/policies/test_part_edits.py::test_twice_as_many_parts_of_one_message_take_about_twice_the_calls"
)

HELD_ELSEWHERE = [
    Elsewhere("assembler.ClearToolResults.rewrites", "A message with more than 16 of them", PARTS),
    Elsewhere("assembler.Truncate.rewrites", "A message with more than 16 of them", PARTS),
    Elsewhere("assembler.Offload.rewrites", "A message with more than 16 of them", PARTS),
    Elsewhere("docs/large-results.md", "If a message has more than 16 such results", PARTS),
    Elsewhere(
        "docs/better-counts.md",
        "the bound includes the largest step between two bills in a row, up to 50 tokens",
        "tests/assembler/test_calibration.py::test_two_bills_show_a_drift_unless_they_differ_by_more_than_fifty_tokens",
    ),
    Elsewhere("docs/cache-and-bills.md", "`CacheMarks()` sets at most four marks", MARKS, 4, turns.MOST_MARKS),
    Elsewhere("assembler.report.cache.marked", "There are never more than four marks", MARKS),
    Elsewhere(
        "assembler.dialects.Anthropic",
        "If there are more than four cache marks, the oldest are left out",
        "tests/assembler/dialects/test_anthropic.py::test_never_more_than_four_marks_and_the_newest_stays",
    ),
    Elsewhere(
        "assembler.dialects.Bedrock",
        "cache points beyond four are left out",
        "tests/assembler/dialects/test_bedrock.py::test_never_more_than_four_cache_points",
    ),
    Elsewhere("docs/command.md", "A request file has at most 4 MiB, 32 MiB with its aliases expanded", FILES),
    Elsewhere("docs/command.md", "and 64 levels of lists and mappings", FILES),
    Elsewhere("docs/command.md", "A JSON file has at most 64 MiB and 128 levels", FILES),
    Elsewhere(
        "docs/batch-files.md",
        "as Anthropic does for an id of more than 64 characters",
        "tests/assembler/batch/test_formats.py::test_an_id_for_which_anthropic_refuses_all_lines_is_left_out",
    ),
    Elsewhere(
        "docs/batches.md",
        "a row of more than 64 MiB is a bad row",
        "tests/assembler/batch/test_rows.py::test_a_row_at_the_byte_limit_is_read_and_a_longer_one_is_refused_unread",
        64 * MEBIBYTE,
        lines.LONGEST,
    ),
    Elsewhere(
        "docs/calibrate.md",
        "The command refuses fewer than ten recordings",
        "tests/assembler/test_cli_calibrate.py::test_a_file_that_shows_too_little_is_refused_in_one_line",
    ),
    Elsewhere(
        "docs/what-a-build-remembers.md",
        "one of them within 32 builds",
        "tests/assembler/test_in_place.py"
        "::test_of_many_dropped_messages_a_pinned_one_stays_once_a_build_has_checked_it",
        32,
        last_decision.GLANCE,
    ),
    Elsewhere(
        "docs/prompts-for-a-tokenizer.md",
        "its last 15 characters",
        "tests/assembler/prompts/test_prompt_formatter.py::test_base_models_get_the_prompt_and_its_last_fifteen_characters",
    ),
    Elsewhere(
        "docs/prompt-files-and-templates.md",
        "`max_characters` limits the length",
        "tests/assembler/prompts/test_prompt_templates.py::test_the_output_limit_is_the_last_length_that_is_printed",
    ),
    Elsewhere(
        "docs/rag-in-a-conversation.md",
        "exactly up to sources × tokens = 100 million",
        "tests/assembler/rag/test_choosing.py::test_best_beats_greedy_if_one_large_source_blocks_the_way",
        100_000_000,
        Best().cells,
    ),
    Elsewhere(
        "assembler.Report.text",
        "The table in at most `width` columns, but at least 60",
        "tests/assembler/test_cli_streams.py::test_a_report_is_no_wider_than_asked_and_loses_no_figure",
        60,
        terminal.NARROWEST,
    ),
    Elsewhere(
        "docs/frameworks/bills.md",
        "the adapter makes the call again, smaller, up to three times",
        "tests/integrations/test_fitting.py::test_another_error_teaches_nothing_and_endless_refusals_are_given_up",
        3,
        fitting.LESSONS,
    ),
    Elsewhere(
        "docs/frameworks/bills.md",
        "the call is made again, smaller, up to three times",
        "tests/integrations/test_fitting.py::test_another_error_teaches_nothing_and_endless_refusals_are_given_up",
        3,
        fitting.LESSONS,
    ),
    Elsewhere(
        "assembler.overflow_of",
        "O(characters), 100,000 at most",
        "tests/assembler/test_overflow_of.py::test_the_first_hundred_thousand_characters_of_a_refusal_are_read",
    ),
    Elsewhere(
        "assembler.regions.tools.plain.plain",
        "At most 100 levels",
        "tests/assembler/test_tools.py::test_a_hundred_levels_are_read_and_one_more_is_not",
        100,
        plain.MAX_DEPTH,
    ),
    Elsewhere(
        "budgets.memoised",
        "a memory of at most `max_entries` texts and `max_characters` characters",
        "tests/budgets/test_memo.py::test_the_memory_never_holds_more_than_its_bounds",
    ),
    Elsewhere(
        "budgets.models.names",
        "LONGEST_NAME = 512",
        "tests/hostile/test_small_doors.py::test_a_models_name_is_looked_up_up_to_its_longest_and_refused_beyond",
        512,
        names.LONGEST_NAME,
    ),
    Elsewhere(
        "assembler.testing.budgets",
        "without some old turns, within two tokens",
        "tests/assembler/testing/test_regions.py::test_budgets_for_an_assembler_lie_on_an_edge_only",
    ),
    Elsewhere(
        "assembler.testing.planted",
        "over all turns but the last, one a turn",
        "tests/assembler/testing/test_survival.py::test_every_fact_stands_once_in_the_turn_that_it_names",
    ),
    Elsewhere(
        "assembler.rag.SimilarVectors",
        "and at most 64 MB more",
        "tests/test_stated_bounds.py::test_products_of_vectors_take_no_more_than_was_said_however_many_were_kept",
    ),
    Elsewhere(
        "docs/errors.md",
        "a share is a float above 0 and at most 1",
        "tests/test_stated_bounds.py::test_a_share_is_above_nothing_and_at_most_the_whole",
    ),
]

NO_BOUNDS = [
    ("docs/extending/dialect.md", "at least one broken and one valid request"),
    ("docs/extending/policy.md", "budgets within two tokens of the size of some of their turns"),
    ("docs/frameworks/index.md", "In the first four rows a turn is two parallel tool calls"),
    ("docs/rag-in-a-conversation.md", "the first two are the default"),
    ("docs/what-a-build-remembers.md", "the next build compares the next 32"),
    ("docs/what-a-build-remembers.md", "up to 0.5 µs for one with tool calls"),
    ("assembler.rag.PrefixTree.of", "in groups of up to 32 requests at worst times the square of t"),
    ("assembler.rag.PromptComponents", "you can make one from the first eight fields"),
    ("assembler.testing.check_policy", "tokens left within two of the price of some of their turns"),
    ("assembler.testing.check_strategy", "tokens left within two of the price of a layout"),
    ("assembler.testing.requests", "up to three tools"),
    ("assembler.testing.requests", "steps of up to three parallel calls"),
    ("assembler.testing.tools", "with up to three arguments"),
    ("budgets.gemini_counter", "99 within 3"),
]
"""What reads like a bound: a figure that was measured, a complexity, what is drawn, or what another row holds."""

NUMBER = (
    r"(?:\d[\d,_.]*|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen|twenty|thirty|hundred|thousand|million)"
)
STATED = re.compile(
    r"(?:at most|up to|no more than|never more than|not more than|more than|fewer than|within|beyond|first|newest|next)"
    rf"\s+(?:the |a |about |one |first |newest )?{NUMBER}\b",
    re.IGNORECASE,
)
MEASURED = re.compile(
    "how-(exact|it-counts|openai-was|we-know|it-is-tested)|trimmers-compared|-measured|what-a-policy-forgets|"
    "what-is-carried|decisions/|vectors|contributing|reference/"
)
"""Pages of figures, of the sources of figures, or written by a tool."""


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def page(path: Path) -> str:
    return in_one_line(path.read_text(encoding="utf-8"))


def prose(path: Path) -> str:
    return in_one_line(re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE))


def source_of(name: str) -> str:
    """A page, the docstring of a name, or a module's source."""
    if name.endswith(".md"):
        return page(ROOT / name)
    package, rest = name, list[str]()
    while not (ROOT / package.replace(".", "/") / "__init__.py").exists():
        package, _, last = package.rpartition(".")
        rest.insert(0, last)
    found: Any = importlib.import_module(package)
    for number, part in enumerate(rest):
        if not hasattr(found, part):
            found = importlib.import_module(".".join([package, *rest[: number + 1]]))
        else:
            found = getattr(found, part)
    return page(Path(str(found.__file__))) if inspect.ismodule(found) else in_one_line(inspect.getdoc(found) or "")


@pytest.mark.parametrize("bound", AT_MOST, ids=lambda bound: bound.within.__name__)
def test_a_bound_is_within_itself_and_one_more_is_not(bound: Bound, tmp_path: Path) -> None:
    assert bound.within(bound.most, tmp_path)
    assert not bound.within(bound.most + 1, tmp_path)


@pytest.mark.parametrize("row", [*AT_MOST, *HELD_ELSEWHERE], ids=lambda row: row.says[:40])
def test_each_bound_is_still_stated_in_these_words(row: Bound | Elsewhere) -> None:
    assert in_one_line(row.says) in source_of(row.where)


@pytest.mark.parametrize("row", HELD_ELSEWHERE, ids=lambda row: row.says[:40])
def test_the_test_that_holds_a_bound_is_there_and_the_code_has_the_number_of_the_docs(row: Elsewhere) -> None:
    path, _, name = row.test.partition("::")
    assert f"\ndef {name}(" in (ROOT / path).read_text(encoding="utf-8")
    assert row.bound == row.stated


def stated() -> Iterator[tuple[str, str]]:
    """Every place of the pages and of the public docstrings that says a bound."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        if not MEASURED.search(name):
            yield name, prose(path)
    sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))
    try:
        public = importlib.import_module("public")
    finally:
        sys.path.remove(str(ROOT / "tests" / "benchmarks"))
    for name in public.public_names():
        package, _, short = name.rpartition(".")
        found = getattr(importlib.import_module(package), short)
        yield name, source_of(name)
        for member in vars(found) if inspect.isclass(found) else ():
            own = getattr(found, member)
            if (member == "__call__" or not member.startswith("_")) and callable(own) and inspect.getdoc(own):
                yield f"{name}.{member}", source_of(f"{name}.{member}")


def test_every_bound_that_is_stated_has_a_row() -> None:
    known = [(row.where, in_one_line(row.says)) for row in (*AT_MOST, *HELD_ELSEWHERE)] + NO_BOUNDS
    for where, text in stated():
        covered = [says for place, says in known if place == where]
        spans = [(text.find(says), text.find(says) + len(says)) for says in covered]
        for found in STATED.finditer(text):
            around = text[max(0, found.start() - 60) : found.end() + 40]
            assert any(start <= found.start() < stop for start, stop in spans), (
                f"{where} states a bound that no test holds: {around!r}; add a row to AT_MOST or HELD_ELSEWHERE, or to "
                "NO_BOUNDS if it is none"
            )


@pytest.mark.parametrize(
    ("share", "legal"),
    [(0.0, False), (math.nextafter(0, 1), True), (1.0, True), (math.nextafter(1, 2), False)],
)
def test_a_share_is_above_nothing_and_at_most_the_whole(share: float, legal: bool) -> None:
    for make in (
        lambda: Limit(cap=share),
        lambda: Limit(floor=share),
        lambda: TrimOldest(low_water=share),
        lambda: KeepRelevant(low_water=share),
    ):
        assert taken(make) == legal


@given(st.integers(0, 10**9))
def test_products_of_vectors_take_no_more_than_was_said_however_many_were_kept(kept: int) -> None:
    a_product = 4 + 1  # single precision, and whether it is above the threshold
    rows = vectors.rows_at_once(kept)
    assert rows == vectors.BLOCK or rows == 1 or rows * kept * a_product <= 60_000_000
    assert vectors.BLOCK**2 * (a_product + 9) <= 4_000_000  # among themselves, and the lower half of that


def test_a_number_to_draw_has_up_to_fifteen_digits() -> None:
    assert smoothed([1e15], 1) == [1e15]
    assert not taken(lambda: smoothed([math.nextafter(1e15, math.inf)], 1))


@pytest.mark.parametrize("more", [0, 1])
def test_a_configuration_is_read_up_to_its_largest_and_no_further(
    more: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "generator: {encoder_max_tokens: 9}  # né"
    monkeypatch.setattr(config, "LARGEST_FILE", len(text) - more)
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    assert taken(lambda: Config.read(tmp_path / "config.yaml")) == (not more)


def test_only_a_bounded_part_of_an_endless_configuration_is_read() -> None:
    if Path("/dev/zero").exists():
        assert not taken(lambda: Config.read("/dev/zero"))


def test_a_bare_number_from_a_thousand_on_is_a_year_unless_it_was_issued() -> None:
    assert [len(parse_citations(f"[{number}]")) for number in (999, 1_000)] == [1, 0]
    assert len(parse_citations("[1000]", issued={1_000})) == 1
