"""Copies plain JSON data and refuses anything else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

import attrs

from assembler.regions.tools.refusal import shown, tool_error
from budgets.errors import lone_surrogate, named_type

JSON: TypeAlias = dict[str, "JSON"] | list["JSON"] | str | int | float | bool | None
Container: TypeAlias = Mapping[object, object] | Sequence[object]
Path: TypeAlias = tuple[str | int, ...]

# Far above real schemas (OpenAI allows 10 levels of objects in strict mode), and far below the recursion limit.
MAX_DEPTH = 100
# Values in one definition. Shared objects are copied at each use: without a limit, 30 levels of two are 2**30 copies.
MAX_VALUES = 100_000
# `sys.int_info.str_digits_check_threshold`: every interpreter prints shorter numbers, however it is configured.
MAX_DIGITS = 640
_INTEGER_BOUND = 10**MAX_DIGITS


def plain(value: object, *, tool: str | None, path: Path = ()) -> JSON:
    """A copy of `value` that `json.dumps` can write, in the same key order. Tuples become lists.

    At most 100 levels and 100,000 values; `$ref`s stay as they are. O(values).
    Raises `ToolError`, with the path, for anything that JSON or UTF-8 cannot express.
    """
    return _SchemaCopy(tool).of(value, path)


@attrs.define
class _SchemaCopy:
    """One copy in progress: the tool's name, the containers around the current value, and the number of values."""

    tool: str | None
    around: set[int] = attrs.field(factory=set[int])
    values: int = 0

    def of(self, value: object, path: Path) -> JSON:
        """Copy one value. Subclasses of str, int and float, such as enums, become plain values."""
        self.values += 1
        if self.values > MAX_VALUES:
            raise tool_error(f"schema too large: more than {MAX_VALUES} values", tool=self.tool)
        match value:
            case None | bool():
                return value
            case str():
                return self._copy_text(value, path)
            case int():
                return self._copy_integer(int.__int__(value), path)
            case float():
                if not math.isfinite(value):
                    raise self._make_error(path, "NaN and infinity are not JSON")
                return float.__float__(value)
            case Mapping() | list() | tuple():
                return self._copy_container(cast("Container", value), path)
            case _:
                raise self._make_error(path, f"{named_type(value)} is not JSON")

    def _copy_container(self, value: Container, path: Path) -> JSON:
        if id(value) in self.around:
            raise self._make_error(path, "circular: the schema holds itself; use $ref for recursion")
        if len(self.around) >= MAX_DEPTH:
            raise tool_error(f"schema too deep: more than {MAX_DEPTH} levels; use $defs and $ref", tool=self.tool)
        self.around.add(id(value))
        try:
            return self._copy_object(value, path) if isinstance(value, Mapping) else self._copy_array(value, path)
        finally:
            self.around.discard(id(value))

    def _copy_object(self, value: Mapping[object, object], path: Path) -> JSON:
        result: dict[str, JSON] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise self._make_error(path, f"a key is {named_type(key)}; JSON keys are strings")
            result[self._copy_text(key, (*path, key))] = self.of(item, (*path, key))
        return result

    def _copy_array(self, value: Sequence[object], path: Path) -> JSON:
        return [self.of(item, (*path, index)) for index, item in enumerate(value)]

    def _copy_text(self, value: str, path: Path) -> str:
        text = str.__str__(value)
        if (start := lone_surrogate(text)) is not None:
            raise self._make_error(path, f"a lone surrogate at character {start} is not UTF-8")
        return text

    def _copy_integer(self, value: int, path: Path) -> int:
        if not -_INTEGER_BOUND < value < _INTEGER_BOUND:
            raise self._make_error(path, f"an integer of more than {MAX_DIGITS} digits is not portable JSON")
        return value

    def _make_error(self, path: Path, problem: str) -> Exception:
        return tool_error(f"{spell_path(path)}: {problem}" if path else problem, tool=self.tool)


def spell_path(path: Path) -> str:
    """A path in the form parameters.properties.city.enum[2]. The middle of a long one is left out."""
    steps = path if len(path) <= 12 else (*path[:6], "…", *path[-5:])
    return "".join(f"[{step}]" if isinstance(step, int) else f".{shown(step)}" for step in steps).removeprefix(".")
