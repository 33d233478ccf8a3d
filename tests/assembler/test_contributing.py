"""docs/contributing.md names files and checks that exist, and covers everything that can be added."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from assembler import testing
from tests.assembler.own_spelling import own_spelling
from tests.interpreter import ran

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
SPANS = re.findall(r"`([^`\n]+)`", PAGE)
PATHS = sorted({span for span in SPANS if "/" in span and re.fullmatch(r"[\w./-]+", span)})
ROWS = set(re.findall(r"^\| (an? .+?|the .+?) \|", PAGE, re.MULTILINE))


def test_the_page_names_paths() -> None:
    assert len(PATHS) > 40


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_the_page_names_exists(path: str) -> None:
    found = ROOT / path
    assert found.is_dir() if path.endswith("/") else found.is_file()


@pytest.mark.parametrize("check", sorted({span for span in SPANS if span.startswith("check_")}))
def test_a_check_that_the_page_names_exists(check: str) -> None:
    assert callable(getattr(testing, check))


def test_the_page_says_where_each_kind_of_thing_goes() -> None:
    assert {"a tokenizer", "a dialect", "a policy", "a strategy", "a framework", "a command"} <= ROWS


WHOLE = (ROOT / "docs" / "extending" / "dialect-whole.md").read_text(encoding="utf-8").partition("```python\n")[2]
ACME = re.sub(
    r"^from assembler(\.testing)? import .*\n",
    "",
    WHOLE.partition("budget = ")[0],
    flags=re.M,
)
FILES = {
    "assembler/policies/drop_none.py": """
import attrs
from assembler.policies.passage import Change
@attrs.frozen
class DropNone:
    \"\"\"Drops nothing.\"\"\"
    keep: int = 1
    def rewrites(self, passage):
        return iter(())
""",
    "assembler/strategies/no_words.py": """
import attrs
from assembler.strategies.strategy import Rendered
@attrs.frozen
class NoWords:
    \"\"\"Lays out nothing.\"\"\"
    reminder: str | None = None
    def render(self, regions):
        return Rendered()
""",
    "budgets/counters/ones.py": """
def ones_counter():
    \"\"\"Counts every text as one token.\"\"\"
    return lambda text: int(bool(text))
""",
    "assembler/dialects/acme/__init__.py": "",
    "assembler/dialects/acme/dialect.py": ACME,
    "assembler/regions/tools/jars.py": """
from assembler.regions.tools.reading import Reading
def read_jar(tool):
    return (Reading("jar", "Opens a jar.", {}),) if tool == "the jar" else None
""",
    "assembler/conversation/messages/bubbles.py": own_spelling("bubble"),
    "assembler/cli/hello.py": """
def hello():
    \"\"\"Say hello.\"\"\"
    print("hello")
""",
}
LINES = {
    "assembler/policies/built_in.pyi": ("", "from assembler.policies.drop_none import DropNone as DropNone\n"),
    "assembler/strategies/built_in.pyi": ("", "from assembler.strategies.no_words import NoWords as NoWords\n"),
    "budgets/counters/__init__.pyi": ("", "from budgets.counters.ones import ones_counter as ones_counter\n"),
    "assembler/dialects/__init__.py": ("anthropic: Dialect\n", "acme: Dialect\n"),
    "assembler/regions/tools/kinds.pyi": ("", "from assembler.regions.tools.jars import read_jar as read_jar\n"),
    "assembler/conversation/messages/spellings.pyi": (
        "",
        "from assembler.conversation.messages.bubbles import bubble as bubble\n",
    ),
    "assembler/cli/__init__.py": ('COMMANDS = ("batch"', ', "hello"'),
}
"""A line of each table: what it stands after, and what it says."""

FOLLOWS = """
from assembler import Assembler, DropNone, NoWords, Truncate, policies, strategies
from assembler.cli import main
from assembler.cli.request_file.policies import POLICIES, read_ladder
from assembler.cli.request_file.strategies import read_strategy
from assembler.dialects import DIALECTS, acme
from assembler.files.place import Place
from budgets import Budget, ones_counter
from tools.tables import all_policies, entries, in_files, values_of_dialects

place = Place("bot.yaml")
assert policies.DropNone is DropNone and strategies.NoWords is NoWords
assert read_ladder(place, {"drop_none": {"keep": 3}}) == [DropNone(keep=3)]
assert read_strategy(place, {"no_words": {"reminder": "x"}}) == NoWords("x")
context = Assembler(Budget(9, counter=ones_counter()), dialect="acme", on_overflow=DropNone(), strategy=NoWords())
assert context.add_message(("user", "q")).build().request() == {"turns": [{"by": "person", "says": "q"}]}
assert DIALECTS["acme"] is acme
assert "| `DropNone()` | Drops nothing. |" in all_policies()
assert "::: assembler.NoWords" in entries("assembler.strategies.built_in")
assert "::: budgets.ones_counter" in entries("budgets.counters")
assert "::: assembler.dialects.acme" in values_of_dialects()
assert [tool["name"] for tool in Assembler().set_tools("the jar").build().request()["tools"]] == ["jar"]
history = [{"says": "one " * 99}, {"role": "assistant", "content": "two"}, {"role": "user", "content": "three"}]
chat = Assembler(Budget(99, counter=len), dialect="openai_chat", on_overflow=Truncate(40))
short = chat.add_messages(history).build()
assert short.messages[0].keys() == {"says"} and len(short.messages[0]["says"]) <= 40
assert short.request()["messages"][0] == {"role": "user", "content": short.messages[0]["says"]}
assert main(["hello"]) == 0
"""


def test_one_file_and_one_line_in_the_table_of_its_kind_are_enough(tmp_path: Path) -> None:
    """In a copy of the sources. All that the library and the docs say of a kind follows from its table."""
    for package in ("assembler", "budgets", "tools"):
        shutil.copytree(ROOT / package, tmp_path / package, copy_function=os.symlink)
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).unlink(missing_ok=True)  # it may be a link to a file of the sources
        (tmp_path / path).write_text(text)
    for path, (after, line) in LINES.items():
        source = (tmp_path / path).read_text()
        (tmp_path / path).unlink()
        assert after in source
        (tmp_path / path).write_text(source.replace(after, after + line, 1) if after else source + line)
    assert "hello" in ran(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{FOLLOWS}")


def test_each_table_that_a_line_is_added_to_is_named_on_the_page() -> None:
    assert {*LINES} <= {*PATHS}


def test_each_command_of_make_that_the_page_names_is_a_target() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {span.removeprefix("make ") for span in SPANS if span.startswith("make ")}
    assert len(named) >= 5
    assert named <= targets


def test_the_page_lists_the_stages_in_the_order_of_the_pipeline() -> None:
    from assembler.pipeline.build import STAGES

    table = PAGE.partition("| stage |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| (\w+) \|", table, re.MULTILINE)) == STAGES
