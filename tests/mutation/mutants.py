"""Makes mutants of the library: mutmut says what may be changed, and each change becomes the code of one function.

Only the bodies of functions are changed, and only of functions without a decorator other than `staticmethod` and
`classmethod`: so mutmut has it. The text of an error is left alone, and so is the type that a `cast` names: nothing
reads it when the library runs. Nor is `strict=True` taken from a `zip`: it only tells of a fault elsewhere.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from types import CodeType
from typing import cast

import attrs
import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider
from mutmut.mutation.file_mutation import Mutation, create_mutations

ROOT = Path(__file__).parents[2]

ROOMS = {
    "pipeline": ("assembler/pipeline/*.py",),
    "pricing": ("assembler/pricing/**/*.py", "budgets/count.py", "budgets/allotment.py"),
    "policies": ("assembler/policies/*.py",),
    "repair": ("assembler/conversation/repair.py", "assembler/conversation/pairs.py"),
}


@attrs.frozen
class Mutant:
    """One change of one function."""

    name: str
    room: str
    path: Path
    lines: tuple[int, ...]
    """The lines of the statement that is changed, up to the end of the change."""
    code: tuple[CodeType, CodeType]
    """The function's code before and after."""


def changeable(*rooms: str) -> list[Path]:
    """The modules of some rooms, or of all."""
    patterns = (pattern for room in rooms or ROOMS for pattern in ROOMS[room])
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def drawn(room: str, count: int | None, seed: int) -> list[Mutant]:
    """As many mutants of a room as asked for, each as likely as any other; all of them for None."""
    files = [_File(room, path) for path in changeable(room)]
    every = [(file, mutation) for file in files for mutation in file.mutations]
    random.Random(f"{seed} {room}").shuffle(every)
    made = (file.mutant(mutation) for file, mutation in every)
    return list(itertools.islice((mutant for mutant in made if mutant is not None), count))


class _File:
    """The mutations of one module; making a mutant of one costs a compilation."""

    def __init__(self, room: str, path: Path) -> None:
        self._room, self._path, source = room, path, path.read_text()
        self._module, mutations, _, _ = create_mutations(str(path), source)
        wrapper = MetadataWrapper(self._module, unsafe_skip_copy=True)
        self._places = cast("dict[cst.CSTNode, CodeRange]", wrapper.resolve(PositionProvider))
        self._above = cast("dict[cst.CSTNode, cst.CSTNode]", wrapper.resolve(ParentNodeProvider))
        self._before = _functions(compile(source, str(path), "exec"))
        self.mutations = [
            each for each in mutations if each.contained_by_top_level_function and not self._is_left_alone(each)
        ]

    def mutant(self, mutation: Mutation) -> Mutant | None:
        """None for a change outside of the bodies of functions: of a default, say."""
        changed = cast(cst.Module, self._module.deep_replace(mutation.original_node, mutation.mutated_node)).code
        after = _functions(compile(changed, str(self._path), "exec"))
        pairs = ((old, after[key]) for key, old in self._before.items() if key in after and old != after[key])
        code = next(pairs, None)
        if code is None or code[0].co_freevars != code[1].co_freevars:
            return None
        place = self._places[mutation.original_node].start
        text = " → ".join(self._code_of(node) for node in (mutation.original_node, mutation.mutated_node))
        name = f"{self._path.relative_to(ROOT)}:{code[0].co_qualname}: {text}"
        return Mutant(f"{name} (line {place.line})", self._room, self._path, self._lines(mutation.original_node), code)

    def _code_of(self, node: cst.CSTNode) -> str:
        return " ".join(self._module.code_for_node(node).split())

    def _is_left_alone(self, mutation: Mutation) -> bool:
        return self._is_told(mutation) or self._is_for_types(mutation) or self._is_asserted(mutation)

    def _is_told(self, mutation: Mutation) -> bool:
        """True if it changes the text of an error."""
        node: cst.CSTNode | None = mutation.original_node
        if not isinstance(node, cst.BaseString):
            return False
        while node is not None and not isinstance(node, cst.Raise | cst.BaseCompoundStatement):
            if isinstance(node, cst.Call) and self._code_of(node.func).endswith(("Error", "must_be")):
                return True
            node = self._above.get(node)
        return isinstance(node, cst.Raise)

    def _is_for_types(self, mutation: Mutation) -> bool:
        """Whether it changes the type that a `cast` names, and nothing else."""
        old, new = mutation.original_node, mutation.mutated_node
        if isinstance(old, cst.Call) and isinstance(new, cst.Call) and len(old.args) == len(new.args) == 2:
            return self._code_of(old.func) == "cast" and self._code_of(old.args[1]) == self._code_of(new.args[1])
        argument = self._above.get(old)
        call = None if argument is None else self._above.get(argument)
        return isinstance(call, cst.Call) and self._code_of(call.func) == "cast" and call.args[0] is argument

    def _is_asserted(self, mutation: Mutation) -> bool:
        """Whether it takes `strict=True` from a `zip`, or says `strict=False` otherwise, and changes nothing else."""
        old, new = mutation.original_node, mutation.mutated_node
        if isinstance(old, cst.Call) and isinstance(new, cst.Call):
            return self._code_of(old.func) == "zip" and "strict=" in self._code_of(old) and self._alike(old, new)
        argument = self._above.get(old)
        strict = isinstance(argument, cst.Arg) and self._code_of(argument).startswith("strict=True")
        return strict and self._code_of(cast(cst.Call, self._above[argument]).func) == "zip"

    def _alike(self, one: cst.Call, other: cst.Call) -> bool:
        """Whether two calls have the same arguments but for `strict`."""
        ones, others = (
            [self._code_of(arg.value) for arg in call.args if arg.keyword is None or arg.keyword.value != "strict"]
            for call in (one, other)
        )
        return ones == others

    def _lines(self, node: cst.CSTNode) -> tuple[int, ...]:
        statement = node
        while not isinstance(statement, cst.BaseCompoundStatement | cst.SimpleStatementLine):
            statement = self._above[statement]
        return tuple(range(self._places[statement].start.line, self._places[node].end.line + 1))


def _functions(module: CodeType) -> dict[str, CodeType]:
    """Every function of a module and every method of its classes, by qualified name."""
    found: dict[str, CodeType] = {}
    for code in (each for each in module.co_consts if isinstance(each, CodeType)):
        is_class = code.co_varnames == () and "__module__" in code.co_names and "__qualname__" in code.co_names
        found.update(_functions(code) if is_class else {f"{code.co_qualname}:{code.co_firstlineno}": code})
    return found
