"""Imports run in one direction, an import loads little, and the public names are those listed."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from pathlib import Path

import pytest

from tests.interpreter import ran
from tools import floors

ROOT = Path(__file__).parents[3]
HEAVY = ["tiktoken", "jinja2", "numpy", "transformers", "tokenizers", "rich", "pydantic", "griffe", "yaml"]


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The first names of everything that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(floors.parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


packages = functools.cache(floors.packages)


@pytest.mark.parametrize("package", ["assembler", "budgets"])
def test_an_import_loads_nothing_but_the_standard_library(package: str) -> None:
    code = (
        f"import sys; before = set(sys.modules); import {package}\n"
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))"
    )
    done = ran(code, "-W", "error")
    assert set(ast.literal_eval(done)) <= {"assembler", "budgets"}


def test_a_module_of_a_package_is_found_by_its_name() -> None:
    code = (
        "import assembler, budgets; print(assembler.dialects.openai_chat.name, budgets.models.dialect_of('gpt-4o'))\n"
        "print(callable(assembler.verify), hasattr(assembler, 'nothing'), hasattr(budgets, '_nothing'))"
    )
    done = ran(code, "-W", "error")
    assert done.split() == ["openai_chat", "openai_chat", "True", "False", "False"]


def test_a_simple_chat_loads_nothing_heavy() -> None:
    code = (
        "import sys; from assembler import Assembler, TrimOldest; from budgets import Budget\n"
        "chat = Assembler(Budget(50, counter=len), on_overflow=TrimOldest()).add_instruction('Be brief.')\n"
        "for text in ('What is the capital of France?', 'And of Spain?'):\n"
        "    chat.add_message({'role': 'user', 'content': text})\n"
        f"chat.build().request(); print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = ran(code, "-W", "error")
    assert done.strip() == "[]"


def test_budgets_never_imports_assembler() -> None:
    for path in modules("budgets"):
        assert "assembler" not in imported(path), path


def test_no_two_packages_import_each_other() -> None:
    assert floors.circles(packages()) == []


def test_the_house_has_at_most_eleven_floors_and_twelve_loose_modules() -> None:
    graph = packages()
    assert max(floors.floors(graph).values()) <= 11
    assert sum(path.parent == ROOT / "assembler" for path in floors.modules().values()) <= 12


@pytest.mark.parametrize(
    ("written", "circle"),
    [
        ({"a/__init__.py": "from assembler.b import x", "b/__init__.py": "import assembler.a"}, [["a", "b"]]),
        (
            {
                "a/__init__.py": "",
                "a/one.py": "def f():\n    from assembler.b import x",
                "b/x.py": "from assembler.a import one",
            },
            [["a", "b"]],
        ),
        ({"a/one.py": "from assembler.a import two", "a/two.py": "from assembler.a import one"}, []),
        ({"a/one.py": "if TYPE_CHECKING:\n    from assembler.b import x", "b/x.py": "from assembler.a import one"}, []),
        ({"door.py": "from assembler.a import one", "a/one.py": "import assembler.door"}, [["a", "assembler.door"]]),
    ],
)
def test_a_cycle_of_packages_is_found_and_one_of_neighbours_is_allowed(
    tmp_path: Path, written: dict[str, str], circle: list[list[str]]
) -> None:
    for name, text in {"__init__.py": "", "a/__init__.py": "", "b/__init__.py": "", **written}.items():
        path = tmp_path / "assembler" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert floors.circles(floors.packages(tmp_path)) == circle


def test_only_counters_and_vocabularies_import_a_tokenizer() -> None:
    for path in [*modules("assembler"), *modules("budgets")]:
        place = path.relative_to(ROOT).as_posix()
        if place.startswith(("budgets/counters/", "budgets/vocabularies/")):
            continue
        assert not imported(path) & {"tiktoken", "tokenizers"}, place


TABLES = sorted(path for top in ("assembler", "budgets") for path in (ROOT / top).rglob("*.pyi"))
"""The stubs: each line is a public name, read by type checkers and at run time."""


def written_in(table: Path) -> set[str]:
    """The public names that a stub holds, those of the tables that it takes whole with them."""
    names: set[str] = set()
    for node in ast.parse(table.read_text(encoding="utf-8")).body:
        assert isinstance(node, ast.ImportFrom), f"{table}: a table holds imports and nothing else"
        if node.names[0].name == "*":
            path = ROOT.joinpath(*(node.module or "").split("."))
            names |= written_in(path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi"))
        names |= {alias.asname or alias.name for alias in node.names if alias.name != "*"}
    return names


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_package_exports_the_names_of_its_table_and_no_other(table: Path) -> None:
    module = importlib.import_module(".".join(table.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    assert list(module.__all__) == sorted(written_in(table))
    assert not any(isinstance(getattr(module, name), type(sys)) for name in module.__all__)
    here = {
        name for name, value in vars(module).items() if not isinstance(value, type(sys)) and not name.startswith("_")
    }
    assert here <= set(module.__all__)


@pytest.mark.parametrize(
    "line", ["from budgets import Budget as Limit", "from budgets import Budget", "import budgets"]
)
def test_a_table_line_without_a_name_and_its_module_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "odd.py").write_text("from budgets.lazy_names import load_later as _later\n_later(__name__)\n")
    (tmp_path / "odd.pyi").write_text(f"{line}\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import odd\n"
        "try: odd.Limit\nexcept ImportError as error: print(error)"
    )
    assert "expected `from MODULE import NAME as NAME`" in ran(code, "-W", "error")


def test_no_package_has_too_many_modules() -> None:
    for path in [*modules("assembler"), *modules("budgets")]:
        assert path.read_text().count("\n") <= 400, path
        for node in ast.walk(floors.parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                documented = (ast.get_docstring(node) or "").count("\n") + 1
                assert (node.end_lineno or 0) - node.lineno + 1 - documented <= 60, f"{path}:{node.name}"
