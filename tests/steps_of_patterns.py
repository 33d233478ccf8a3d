"""Runs patterns in Python, so that tests can count the characters that a search looks at.

A matcher goes over the parsed pattern as any backtracking matcher does. It leaves out what `re` does better, such as to
find where a literal stands without a look at each place: what is linear here is linear there.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, TypeAlias, cast

import pytest

# The parser of `re` is nobody's API, and the only one that reads a pattern as `re` does.
_parser: Any = __import__("re._parser", fromlist=["parse"])
_compiler: Any = __import__("re._compiler", fromlist=["compile"])


_Pattern: TypeAlias = re.Pattern[str]


class Stepped:
    """A pattern that matches like the original, but searches one step per call."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._nodes = _parser.parse(pattern.pattern, pattern.flags)

    def match(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        next(self._ends(self._nodes, 0, text[:end], at), None)
        return self._pattern.match(text, at, end)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        any(end == len(text) for end in self._ends(self._nodes, 0, text, 0))
        return self._pattern.fullmatch(text)

    def search(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        next(self._found(text[:end], at), None)
        return self._pattern.search(text, at, end)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        for _ in self._found(text, 0):
            pass
        return self._pattern.finditer(text)

    def split(self, text: str) -> list[str | Any]:
        for _ in self._found(text, 0):
            pass
        return self._pattern.split(text)

    def sub(self, template: str, text: str) -> str:
        for _ in self._found(text, 0):
            pass
        return self._pattern.sub(template, text)

    def _found(self, text: str, at: int) -> Iterator[int]:
        while at <= len(text):
            end = next(self._ends(self._nodes, 0, text, at), None)
            if end is not None:
                yield end
            at = at + 1 if end is None else max(end, at + 1)

    def _ends(self, nodes: Any, place: int, text: str, at: int) -> Iterator[int]:
        """Where the nodes from `place` on may end, the first choice first."""
        if place == len(nodes):
            yield at
            return
        for end in self._ends_of(nodes, place, text, at):
            yield from self._ends(nodes, place + 1, text, end)

    def _ends_of(self, nodes: Any, place: int, text: str, at: int) -> Iterator[int]:
        kind, given = str(nodes[place][0]), nodes[place][1]
        if kind == "SUBPATTERN":
            yield from self._ends(given[-1], 0, text, at)
        elif kind == "BRANCH":
            for branch in given[1]:
                yield from self._ends(branch, 0, text, at)
        elif kind in ("ASSERT", "ASSERT_NOT") and given[0] > 0:
            if (next(self._ends(given[1], 0, text, at), None) is None) == (kind == "ASSERT_NOT"):
                yield at
        elif kind.endswith("_REPEAT"):
            yield from self._repeated(kind, given, text, at)
        else:
            found = self._one(nodes, place).match(text, at)
            if found is not None:
                yield found.end()

    def _repeated(self, kind: str, given: Any, text: str, at: int) -> Iterator[int]:
        """As often as `kind` says; each repetition takes its first choice, which is all that these patterns need."""
        least, most, inner = given
        ends = [at]
        while len(ends) <= most:
            if kind == "MIN_REPEAT" and len(ends) > least:
                yield ends[-1]
            end = next(self._ends(inner, 0, text, ends[-1]), None)
            if end is None or (end == ends[-1] and len(ends) > least):
                break
            ends.append(end)
        if kind == "MAX_REPEAT":
            yield from reversed(ends[least:])
        elif kind == "POSSESSIVE_REPEAT" and len(ends) > least:
            yield ends[-1]

    def _one(self, nodes: Any, place: int) -> re.Pattern[str]:
        return _compiled(nodes.state, _Node(nodes[place]), self._pattern.flags)


class _Node:
    """A node of a parsed pattern, which is the same for as long as its pattern is."""

    def __init__(self, node: Any) -> None:
        self.node = node

    def __hash__(self) -> int:
        return hash(str(self.node))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Node) and str(self.node) == str(other.node)


@functools.lru_cache(maxsize=1_000)
def _compiled(state: Any, node: _Node, flags: int) -> re.Pattern[str]:
    return _compiler.compile(_parser.SubPattern(state, [node.node]), flags)


def step_by_step(monkeypatch: pytest.MonkeyPatch, modules: Sequence[ModuleType]) -> None:
    """Match the patterns that stand in these modules a call at a time from now on."""
    for module in modules:
        names: dict[str, Any] = dict(vars(module))
        for name, held in names.items():
            if isinstance(held, re.Pattern):
                monkeypatch.setattr(module, name, Stepped(cast(_Pattern, held)))
            elif isinstance(held, tuple) and isinstance(next(iter(cast("tuple[object, ...]", held)), None), re.Pattern):
                monkeypatch.setattr(module, name, tuple(map(Stepped, cast("tuple[_Pattern, ...]", held))))
