"""How APIs spell a request: one file a dialect, three faces each (parse, price, emit).

Adding one is a file beside these, named like the value that it holds, and one line in the list below.
A dialect is loaded when it is first used: most programs speak one.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType

from assembler.dialects.dialect import Dialect, Opening

anthropic: Dialect
bedrock: Dialect
gemini: Dialect
mistral: Dialect
openai_chat: Dialect
openai_responses: Dialect
plain: Dialect

_NAMES = tuple(name for name, kind in __annotations__.items() if kind == "Dialect")
_HOMES = frozenset(__annotations__)


class _Shelf(Mapping[str, Dialect]):
    """Every dialect by the name that a model's facts and the command line use, loaded when it is taken."""

    def __getitem__(self, name: str) -> Dialect:
        if name not in _NAMES:
            raise KeyError(name)
        dialect: Dialect = getattr(sys.modules[__name__], name)
        return dialect

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{name}"), name)
    return value


class _Package(ModuleType):
    """Keeps the name of a dialect for its value: the import system would bind it to the submodule of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

DIALECTS: Mapping[str, Dialect] = _Shelf()

__all__ = ["DIALECTS", "Dialect", "Opening"]
