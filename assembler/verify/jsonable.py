"""Checks that JSON can carry a request."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from functools import partial

import attrs

from assembler.verify.place import is_list, is_object
from assembler.verify.shape import S2, name_of_value
from assembler.verify.violation import Violation

_SURROGATE = re.compile("[\ud800-\udfff]")
"""A lone surrogate: Python's strings can hold one, UTF-8 cannot."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}\Z")
"""A key that looks like a name. Any other key may be user text, so a path shows its position instead."""

_PATH_STEPS = 12
"""The most steps of a path that are shown."""


@attrs.frozen(slots=True)
class _Frame:
    """A list or an object during the walk, its remaining children, and the path step to it."""

    value: object
    step: str
    children: Iterator[tuple[str, object]]


def wrong_json(root: object, *, bytes_under: Collection[str]) -> Iterator[Violation]:
    """S2 for each value that JSON cannot carry. Bytes are allowed under the keys where the SDK takes them.

    Linear in the number of distinct values: a shared value is checked once. A cycle is reported where it closes.
    """
    stack = [_Frame(None, "", iter([("", root)]))]
    open_ids: set[int] = set()
    seen: set[int] = set()
    while stack:
        child = next(stack[-1].children, None)
        if child is None:
            open_ids.discard(id(stack.pop().value))
            continue
        step, value = child
        where = partial(_write_path, stack, step)
        if not (is_object(value) or is_list(value)):
            problem = None if isinstance(value, bytes) and step[1:] in bytes_under else _find_bad_leaf(value)
            if problem is not None:
                yield S2.broken(where(), problem)
        elif id(value) in open_ids:
            yield S2.broken(where(), "this value contains itself")
        elif id(value) not in seen:
            seen.add(id(value))
            open_ids.add(id(value))
            yield from (S2.broken(where(), problem) for problem in _find_bad_keys(value))
            stack.append(_Frame(value, step, _list_children(value)))


def _list_children(value: object) -> Iterator[tuple[str, object]]:
    if is_object(value):
        for position, (key, item) in enumerate(value.items()):
            plain = isinstance(key, str) and _PLAIN_KEY.match(key)
            yield (f".{key}" if plain else f"{{{position}}}"), item
    elif is_list(value):
        for position, item in enumerate(value):
            yield f"[{position}]", item


def _find_bad_keys(value: object) -> Iterator[str]:
    for position, key in enumerate(value if is_object(value) else ()):
        if not isinstance(key, str):
            yield f"key {position} is {name_of_value(key)}; JSON keys are strings"
        elif _SURROGATE.search(key):
            yield f"key {position} holds a lone surrogate, which UTF-8 cannot carry"


def _find_bad_leaf(value: object) -> str | None:
    if value is None or isinstance(value, bool | int):
        return None
    if isinstance(value, str):
        half = None if value.isascii() else _SURROGATE.search(value)
        return f"a lone surrogate at character {half.start()}, which UTF-8 cannot carry" if half else None
    if isinstance(value, float):
        return None if math.isfinite(value) else "NaN or infinity, which JSON cannot carry"
    return f"{name_of_value(value)}, which JSON cannot carry"


def _write_path(stack: list[_Frame], step: str) -> str:
    steps = [frame.step for frame in stack[1 : _PATH_STEPS + 1]]
    hidden = len(stack) - 1 - len(steps)
    middle = f"…({hidden} more)…" if hidden > 0 else ""
    return ("".join(steps) + middle + step).removeprefix(".")
