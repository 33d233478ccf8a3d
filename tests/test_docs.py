"""Every fence of the README and the docs runs, in order, in one namespace a page."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import assembler
import budgets
from assembler.cli import COMMANDS
from assembler.cli.request_file.policies import POLICIES
from assembler.cli.request_file.strategies import STRATEGIES
from assembler.policies import built_in as policies
from assembler.strategies import built_in as strategies
from tests.integrations.frameworks import frameworks, is_installed, page_of
from tools.reference import exported, written
from tools.tables import PART

ROOT = Path(__file__).parents[1]
OF_FRAMEWORKS = {name: ROOT / page_of(name) for name in frameworks()}
"""Pages whose fences run where the framework is installed: `make test-integrations`."""
PAGES = [ROOT / "README.md", *sorted({*(ROOT / "docs").rglob("*.md")} - {*OF_FRAMEWORKS.values()})]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def fences(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in FENCE.finditer(page.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_fence_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # A reader that a page registers would be asked for every message of the tests that follow.
    monkeypatch.setattr("assembler.conversation.messages.registered._KNOWN", {})
    run_fences(page, capsys)


@pytest.mark.parametrize("framework", OF_FRAMEWORKS)
def test_every_fence_of_a_framework_runs(
    framework: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not is_installed(framework):
        pytest.skip(f"{framework} is not installed here: make test-integrations")
    monkeypatch.chdir(tmp_path)
    run_fences(OF_FRAMEWORKS[framework], capsys)


def run_fences(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {"__name__": "page"}
    printed = ""
    for fence in FENCE.finditer(page.read_text()):
        language, text = fence.groups()
        if language == "python":
            above = "\n" * fence.string.count("\n", 0, fence.start(2))  # so that its lines are those of the page
            exec(compile(above + text, str(page), "exec", dont_inherit=True), namespace)
            printed = capsys.readouterr().out
        elif language == "text" and printed:
            for line in text.splitlines():
                if line != "…":
                    assert line in printed.splitlines(), f"{page.name} shows a line that was not printed: {line!r}"


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_list_in_the_docs_matches_the_code(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert written(page) == text, "run python -m tools.reference"
    assert page.parent.name != "reference" or "|  |" not in text


def test_the_pages_that_list_policies_and_strategies_show_each() -> None:
    """Also if the comments around a generated list were removed from a page."""
    for name, rows in {
        "how-it-cuts.md": [f"`{name}(" for name in dir(policies)],
        "request-file.md": [f"| `{name}` | " for name in (*POLICIES, *STRATEGIES)],
        "reference/assembler.md": [f"::: assembler.{name}\n" for name in (*dir(policies), *dir(strategies))],
    }.items():
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert [row for row in rows if row not in text] == [], name


def test_the_page_of_the_command_has_a_row_for_each_command() -> None:
    rows = re.findall(r"^\| `assemble (\w+) ", (ROOT / "docs" / "command.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(COMMANDS)


def test_the_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for language, text in fences(ROOT / "README.md"):
        if language == "sh":
            assert set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)) <= targets


def test_the_assemble_lines_of_the_readme_run(tmp_path: Path) -> None:
    lines = [line.split("#")[0] for _, text in fences(ROOT / "README.md") for line in text.splitlines()]
    for line in lines:
        if line.startswith("assemble "):
            words = [str(ROOT / word) if word.startswith("examples/") else word for word in line.split()]
            done = subprocess.run(
                [sys.executable, "-m", "assembler.cli", *words[1:]],
                cwd=tmp_path,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
    assert (tmp_path / "request.json").exists()


def test_every_extra_that_a_page_or_an_error_names_can_be_asked_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    sources = [path for package in ("assembler", "budgets") for path in (ROOT / package).rglob("*.py")]
    for path in [*sources, ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]:
        named = re.findall(r'context-assembler\[([\w,-]+)\]|MissingExtraError\(\s*"([\w-]+)"', path.read_text())
        asked = {extra for listed in named for extra in ",".join(filter(None, listed)).split(",")}
        assert asked <= extras.keys(), f"{path.relative_to(ROOT)} names {sorted(asked - extras.keys())}"
    table = (ROOT / "docs" / "index.md").read_text()
    assert [extra for extra in extras.keys() - {"all", "dev"} if f"`{extra}`" not in table] == []


def anchors_of(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


def test_every_link_from_page_to_page_leads_to_a_heading_that_is_there() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for path, _, anchor in re.findall(r"\]\((?!\w+:)([^)#]*)(#([^)]*))?\)", FENCE.sub("", page.read_text())):
            target = page.parent / path if path else page
            assert target.exists(), f"{page.name} leads to {path}, which is not there"
            assert not anchor or anchor in anchors_of(target), f"{page.name} leads to {path}#{anchor}"


LONGEST = 950
"""Words of a page: what answers one question, and is read in five minutes."""


def words_of(page: Path) -> int:
    """Words, code among them. What is written from a table does not count: it is looked up, and grows with the library.

    Nor do tables of figures in the pages that only those look up who ask why.
    """
    internals = (ROOT / "mkdocs.yml").read_text().partition("  - Internals:")[2]
    lines = PART.sub("", page.read_text()).splitlines()
    if f": {page.relative_to(ROOT / 'docs').as_posix()}\n" in internals:
        lines = [line for line in lines if not line.startswith("|")]
    return len(" ".join(lines).split())


def test_every_page_answers_one_question() -> None:
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "reference"]
    too_long = {page.name: words for page in pages if (words := words_of(page)) > LONGEST}
    assert too_long == {}, "split the page by question"


COLUMNS = 98
"""Of code that a browser shows whole beside two menus, in a window of 1,280 pixels: docs/site.css."""


def test_no_line_of_python_is_cut_off_beside_the_menus() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        for code in re.findall(r"^```py(?:thon)?\b.*?\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            wide = [line for line in code.splitlines() if len(line) > COLUMNS]
            assert wide == [], f"{page.name}: {wide}"


def test_every_page_is_in_the_nav_and_the_index() -> None:
    nav, index = ((ROOT / name).read_text() for name in ("mkdocs.yml", "docs/index.md"))
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert f": {name}" in nav
        if "/" not in name and name != "index.md":
            assert f"({name})" in index, f"docs/index.md leads nobody to {name}"


def test_the_readme_is_read_in_a_minute_and_leads_on_by_six_lines() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(readme.split()) <= 500
    assert len(re.findall(r"^- ", readme.partition("## Read on")[2], re.MULTILINE)) == 6


REFERENCE = "\n".join(page.read_text() for page in sorted((ROOT / "docs" / "reference").glob("*.md")))


def test_every_public_name_can_be_looked_up() -> None:
    looked_up = set(re.findall(r"^::: [\w.]+\.(\w+)$", REFERENCE, re.MULTILINE))
    assert {*assembler.__all__, *budgets.__all__} <= looked_up


@pytest.mark.parametrize("path", sorted(set(re.findall(r"^::: ([\w.]+)$", REFERENCE, re.MULTILINE))))
def test_names_on_a_reference_page_are_visible_to_static_tools(path: str) -> None:
    """Like the builder of the site, this imports nothing, so no framework must be installed."""
    assert is_defined(path.split("."), ROOT), f"{path} is in docs/reference, and in no module"


def is_defined(names: list[str], folder: Path) -> bool:
    """Whether a package, a module, or a name that one defines or imports, is found under the folder."""
    first, *rest = names
    here = folder / first
    source = here / "__init__.py" if here.is_dir() else here.with_suffix(".py")
    if not source.exists():
        return False
    if not rest or (here.is_dir() and is_defined(rest, here)):
        return True
    return len(rest) == 1 and rest[0] in top_names(source)


def top_names(source: Path) -> set[str]:
    found: set[str] = set()
    body = [*ast.parse(source.read_text()).body]
    if source.with_suffix(".pyi").exists():
        package = ".".join(source.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found |= {*exported(package)}
    for node in body:
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.Assign():
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            case ast.AnnAssign():
                found |= {node.target.id} if isinstance(node.target, ast.Name) else set()
            case ast.ImportFrom():
                found |= {name.asname or name.name for name in node.names}
            case ast.If():  # what is imported for type checkers alone
                body += node.body
            case _:
                pass
    return found
