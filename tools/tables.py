"""Writes the parts of the docs that list policies, strategies, counters and dialects, each from its table.

`python -m tools.reference` replaces each part between the two comments that name it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from assembler.cli.request_file.options import NamedIn, takes_words_alone, types_of, words_of
from assembler.dialects import DIALECTS
from assembler.policies import built_in as policies
from assembler.strategies import built_in as strategies
from tools.reference import ROOT, claim, exported

PART = re.compile(
    r"<!-- (?P<name>[\w. ]+): python -m tools\.reference -->\n(?P<old>.*?)<!-- end of (?P=name) -->\n", re.DOTALL
)


def with_parts(page: str) -> str:
    """Return the page with each part written again. Raises `KeyError` for an unknown name of a part."""

    def part(found: re.Match[str]) -> str:
        name = found["name"]
        if name == "listing":
            return found[0]
        text = entries(name.removeprefix("entries of ")) if name.startswith("entries of ") else PARTS[name]()
        return f"<!-- {name}: python -m tools.reference -->\n\n{text}\n<!-- end of {name} -->\n"

    return PART.sub(part, page)


def entries(table: str) -> str:
    """Return an entry of the reference for each name of a table: its heading and docstring."""
    package = table.removesuffix(".built_in").removesuffix(".counters").partition(".")[0]
    return "\n".join(f"::: {package}.{name}\n" for name in exported(table))


def values_of_dialects() -> str:
    """Return an entry of the reference for the value of each dialect."""
    return "\n".join(f"::: assembler.dialects.{name}\n    options:\n      members: false\n" for name in DIALECTS)


def all_policies() -> str:
    """Return a table of all policies: how to make each, and what it does."""
    lines = [f"| `{_call(getattr(policies, name))}` | {_claim(policies.__name__, name)} |" for name in dir(policies)]
    return _table("| policy | what it does |", lines)


def in_files(table: Any, what: str) -> str:
    """Return a table of what a request file can name: the name, the options, and what it does."""
    rows = [
        f"| `{name}` | {', '.join(_options(one.make, one.options, one.required)) or 'none'} | {_claim_of(one.make)} |"
        for name, one in NamedIn(table).items()
    ]
    return _table(f"| {what} | options | what it does |", rows)


def _table(head: str, rows: list[str]) -> str:
    return "\n".join([head, "|---" * head.count(" | ") + "|---|", *rows]) + "\n"


def _call(made: Any) -> str:
    needed = [field.name for field in attrs.fields(made) if field.default is attrs.NOTHING]
    return f"{made.__name__}({', '.join(needed)})"


def _options(made: Any, readers: Mapping[str, object], required: Any) -> Iterator[str]:
    types = types_of(made)
    for name in readers:
        words = ", ".join(f"`{word}`" for word in words_of(types[name]))
        said = [
            f"or {words}" if words and not takes_words_alone(types[name]) else words,
            "required" * (name in required),
        ]
        yield f"`{name}`" + (f" ({', '.join(filter(None, said))})" if any(said) else "")


def _claim(table: str, name: str) -> str:
    return claim(f"{table}.{name}").replace("|", r"\|")


def _claim_of(made: type) -> str:
    return _claim(made.__module__, made.__name__)


def extras_of_frameworks() -> str:
    """Return a sentence with the extras that the pages of docs/frameworks/ install."""
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "frameworks").glob("*.md"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = ", ".join(f"`{extra}`" for extra in extras if f"context-assembler[{extra}]" in pages)
    return f"Each of these is for [one agent framework](frameworks/index.md): {named}.\n"


PARTS: Mapping[str, Callable[[], str]] = {
    "extras of frameworks": extras_of_frameworks,
    "dialects": values_of_dialects,
    "policies": all_policies,
    "policies in files": lambda: in_files(policies, "policy"),
    "strategies in files": lambda: in_files(strategies, "strategy"),
}
"""The functions that write the parts which do not just list the entries of a stub, by name."""
