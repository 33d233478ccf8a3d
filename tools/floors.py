"""Prints the packages of the library floor by floor, and any circle among them: `python -m tools.floors [ROOT]`.

A package is a folder right under `assembler/` with all that lies in it. `budgets` is one too. Each module that lies
loose in `assembler/` stands for itself and adds no floor. An import for types alone does not count: it loads nothing.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

Graph = Mapping[str, frozenset[str]]

ROOT = Path(__file__).parents[1]


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Every module of the library by its dotted name."""
    paths = [path for top in ("assembler", "budgets") for path in sorted((root / top).rglob("*.py"))]
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imported(path: Path, house: Mapping[str, Path]) -> set[str]:
    """The modules of the library that a file loads, at its top or in a function."""
    return set(_imported(parsed(path), house))


@functools.cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file, read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def _imported(tree: ast.AST, house: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in house)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from (name for name in (whole if whole in house else node.module,) if name in house)
        yield from _imported(node, house)


def package_of(name: str, house: Mapping[str, Path]) -> str:
    """The package that a module belongs to; a loose module is one of its own."""
    parts = name.split(".")
    if parts[0] == "budgets":
        return "budgets"
    loose = len(parts) == 2 and house[name].name != "__init__.py"
    return name if loose else parts[1] if len(parts) > 1 else parts[0]


def packages(root: Path = ROOT) -> Graph:
    """Which package loads which others."""
    house = modules(root)
    graph: dict[str, set[str]] = {package_of(name, house): set() for name in house}
    for name, path in house.items():
        here = package_of(name, house)
        graph[here] |= {package_of(other, house) for other in imported(path, house)} - {here, "assembler"}
    return {name: frozenset(others) for name, others in graph.items()}


def circles(graph: Graph) -> list[list[str]]:
    """Packages that load each other, by way of others or not."""
    reached = {name: _reached(name, graph) for name in graph}
    found = {frozenset(other for other in graph if other in reached[name] and name in reached[other]) for name in graph}
    return sorted(sorted(circle) for circle in found if len(circle) > 1)


def _reached(name: str, graph: Graph) -> set[str]:
    seen, left = set[str](), [name]
    while left:
        new = graph[left.pop()] - seen
        seen |= new
        left += new
    return seen


def floors(graph: Graph) -> dict[str, int]:
    """The floor of each package, 1 for one that loads no other. Asked of a graph without circles alone."""

    @functools.cache
    def floor(name: str) -> int:
        below = max(map(floor, graph[name]), default=0)
        return below if name.startswith("assembler.") else below + 1

    return {name: floor(name) for name in graph}


def main(root: str = "") -> None:
    """Print the floors from the top, and the circles."""
    graph = packages(Path(root) if root else ROOT)
    found = circles(graph)
    print(
        f"{sum(name.startswith('assembler.') for name in graph) + 1} modules lie loose in assembler/, with __init__.py"
    )
    for circle in found:
        print("circle:", ", ".join(circle))
    if found:
        sys.exit(1)
    level = floors(graph)
    for floor in sorted(set(level.values()), reverse=True):
        print(
            f"{floor:2}  {'  '.join(sorted(name.removeprefix('assembler.') for name in level if level[name] == floor))}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
