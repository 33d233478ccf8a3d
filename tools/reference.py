"""Writes the lists of code in the docs: `python -m tools.reference`. A test checks that they match the code.

Each page of docs/reference/ has a listing at its top: every name of the page, and the first line of its docstring. The
site shows the docstrings whole below it; read as a file, the page would be empty without the listing. For a listing
nothing is imported: the frameworks need not be installed. Other pages list policies and strategies: `tools/tables.py`.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "reference"
BEGIN, END = "<!-- listing: python -m tools.reference -->\n", "<!-- end of listing -->\n"
SAID = (
    "Every public name of these modules. The site shows their whole docstrings below, "
    "and `help(name)` shows them in Python.\n"
)
SHOWN = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
HEADING = re.compile(r"::: (?P<path>[\w.]+)\n    options:\n      heading: (?P<heading>[\w.]+)")


@cache
def module(path: str) -> ast.Module | None:
    """Parse a module, and append the lines of its stub. None if there is no such module."""
    file = ROOT.joinpath(*path.split("."))
    for found in (file.with_suffix(".py"), file / "__init__.py"):
        if found.exists():
            stub = found.with_suffix(".pyi")
            texts = [each.read_text(encoding="utf-8") for each in (found, stub) if each.exists()]
            return ast.parse("\n".join(texts))
    return None


def claim(path: str) -> str:
    """The first line of what a name's docstring says, wherever the name comes from."""
    if (found := module(path)) is not None:
        return _first(ast.get_docstring(found))
    package, _, name = path.rpartition(".")
    found = module(package)
    for node, following in _pairs(found):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return _first(ast.get_docstring(node))
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and name in exported(node.module or ""):
            return claim(f"{node.module}.{name}")
        if isinstance(node, ast.ImportFrom) and (source := _source(node, name)) is not None:
            return claim(f"{node.module}.{source}")
        if name in _assigned(node) and isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            return _first(str(following.value.value))
    return ""


def _pairs(found: ast.Module | None) -> Iterator[tuple[ast.stmt, ast.stmt | None]]:
    body = [] if found is None else [*found.body]
    inner = [line for node in body if isinstance(node, ast.If) for line in node.body]
    lines = [*body, *inner]
    yield from itertools.zip_longest(lines, lines[1:])


def exported(path: str) -> dict[str, str]:
    """Return the module of each name of a stub and of the tables that it imports with `*`, sorted by name."""
    homes: dict[str, str] = {}
    for node, _ in _pairs(module(path)):
        if isinstance(node, ast.ImportFrom) and node.module and node.names[0].name == "*":
            homes |= exported(node.module)
        elif isinstance(node, ast.ImportFrom) and node.module:
            homes |= {alias.name: node.module for alias in node.names if alias.asname == alias.name}
    return dict(sorted(homes.items()))


def _source(node: ast.ImportFrom, name: str) -> str | None:
    return next((alias.name for alias in node.names if (alias.asname or alias.name) == name), None)


def _assigned(node: ast.stmt) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _first(docstring: str | None) -> str:
    first = " ".join((docstring or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z`])", first)[0].rstrip(":")


def names(path: str) -> list[str]:
    """The path itself, or, of a module, every name that it gives out."""
    for node, _ in _pairs(module(path)):
        if "__all__" in _assigned(node) and isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            return [f"{path}.{name}" for name in ast.literal_eval(node.value)]
    return [f"{path}.{name}" for name in exported(path)] or [path]


def listing(text: str) -> str:
    """The table of a page."""
    headings = {found["path"]: found["heading"] for found in HEADING.finditer(text)}
    whole = {found[1]: None for found in SHOWN.finditer(text)}
    alone = {found["path"] for found in re.finditer(r"::: (?P<path>[\w.]+)\n    options:\n      members: false", text)}
    rows = {
        headings.get(path, path): claim(path)
        for shown in whole
        for path in ([shown] if shown in alone else names(shown))
    }
    lines = [f"| `{name}` | {said.replace('|', chr(92) + '|')} |" for name, said in rows.items()]
    return "\n".join([SAID, "| name | what it is |", "|---|---|", *lines]) + "\n"


def with_listing(text: str) -> str:
    """The page with its listing, below its first heading."""
    if BEGIN in text:
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
    else:
        heading, _, after = text.partition("\n\n")
        before, after = heading + "\n\n", "\n" + after
    return f"{before}{BEGIN}\n{listing(before + after)}\n{END}{after}"


def written(page: Path) -> str:
    """Return a page of the docs with its listing and the parts that are made from tables."""
    from tools.tables import with_parts

    text = with_parts(page.read_text(encoding="utf-8"))
    return with_listing(text) if page.parent == PAGES else text


if __name__ == "__main__":
    for page in sorted((ROOT / "docs").rglob("*.md")):
        page.write_text(written(page), encoding="utf-8")
