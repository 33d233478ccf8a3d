"""Loads the names of a package when they are first used (PEP 562). Its stub lists them."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, cast

_NOTHING: Mapping[str, str] = {}
_ALL_FILES = (
    "assembler and budgets need all files of their packages, also in a program that is packed into one; "
    "for PyInstaller pass --collect-all assembler --collect-all budgets"
)


def load_later(
    package: str, homes: Mapping[str, str] | None = None, *, elsewhere: Mapping[str, str] = _NOTHING
) -> None:
    """Load the public names of `package`, and its submodules, when they are first used.

    The names are listed in the stub beside it (`__init__.pyi`), which type checkers read too. A line of a stub is
    `from MODULE import NAME as NAME`, or `from TABLE import *` for all names of a module that has its own stub. A
    package without a stub passes `homes`, which maps each name to its module. The names become the package's `__all__`,
    unless it defines one. If a submodule has the same name, the public name wins over the import system's binding.

    `elsewhere` maps other packages to names that people look for here, separated by blanks, or to `*` for all their
    names. Using one raises an `ImportError` with the right import. (An import statement would hide the text of an
    `AttributeError`.)
    """
    module = sys.modules[package]
    module.__dict__["_table"] = None if homes is None else (dict(homes), ())
    module.__dict__["_elsewhere"] = elsewhere
    module.__class__ = _Package


def in_order(table: ModuleType) -> list[Any]:
    """What a module gives out, in the order of the lines of its stub."""
    named, _ = _read_stub(table)
    return [getattr(table, name) for name in named]


def homes_in(table: ModuleType) -> dict[str, str]:
    """The modules of what a module gives out, by name. Loads none of them."""
    return _read_stub(table)[0]


def _read_stub(module: ModuleType) -> tuple[dict[str, str], tuple[str, ...]]:
    """Read the stub of a module: the module of each name, and the tables whose names it includes."""
    spec = module.__spec__
    assert spec is not None
    assert spec.origin is not None
    path = f"{os.path.splitext(spec.origin)[0]}.pyi"
    loader: Any = spec.loader  # loaders of folders and archives both read the files beside their modules
    named: dict[str, str] = {}
    tables: list[str] = []
    try:
        stub = loader.get_data(path).decode()
    except OSError as missing:
        raise ImportError(f"{path} is missing: {_ALL_FILES}", path=path) from missing
    for line in stub.splitlines():
        match line.split("#")[0].split():
            case ["from", table, "import", "*"]:
                tables.append(table)
            case ["from", home, "import", name, "as", same] if name == same:
                named[name] = home
            case []:
                pass
            case _:
                raise ImportError(f"{path}: expected `from MODULE import NAME as NAME`, got {line!r}", path=path)
    return named, tuple(tables)


class _Package(ModuleType):
    _table: tuple[dict[str, str], tuple[str, ...]] | None
    _elsewhere: Mapping[str, str]

    def _read_table(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """The table, read once. Two threads may both read it and get the same."""
        table = self.__dict__["_table"]
        if table is None:
            table = self.__dict__["_table"] = _read_stub(self)
        return cast("tuple[dict[str, str], tuple[str, ...]]", table)

    def _find_module(self, name: str) -> str | None:
        """The module of a public name of this package, or None."""
        named, tables = self._read_table()
        if name in named:
            return named[name]
        homes = (cast(_Package, importlib.import_module(table))._find_module(name) for table in tables)
        return next((home for home in homes if home is not None), None)

    def _list_names(self) -> set[str]:
        named, tables = self._read_table()
        return {
            *named,
            *(name for table in tables for name in cast(_Package, importlib.import_module(table))._list_names()),
        }

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            value: Any = sorted(self._list_names())
        elif name.startswith("_"):
            raise self._make_missing_error(name)
        elif name not in self._read_table()[0] and self._is_submodule(name):  # checked first, since it loads no table
            return importlib.import_module(f"{self.__name__}.{name}")
        elif (home := self._find_module(name)) is not None:
            value = getattr(importlib.import_module(home), name)
        else:
            raise self._make_missing_error(name)
        self.__dict__[name] = value
        return value

    def _is_submodule(self, name: str) -> bool:
        """Whether this is a submodule, which can be used without an import: `assembler.dialects.openai_chat`."""
        return "__path__" in self.__dict__ and importlib.util.find_spec(f"{self.__name__}.{name}") is not None

    def _make_missing_error(self, name: str) -> Exception:
        right = None if name.startswith("_") else _find_package(self.__dict__["_elsewhere"], name)
        if right is not None:
            return ImportError(f"{self.__name__} has no {name}: from {right} import {name}", name=self.__name__)
        return AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__.get("__all__", ()), *self._list_names()})

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self._read_table()[0]):
            super().__setattr__(name, value)


def _find_package(elsewhere: Mapping[str, str], name: str) -> str | None:
    """The package that has a name, of those in `elsewhere`."""
    for package, names in elsewhere.items():
        listed = names.split() if names != "*" else dir(importlib.import_module(package))
        if name in listed:
            return package
    return None


class FromFolders(Mapping[str, Any]):
    """A mapping from the folders of a package that have a certain module to one value in that module.

    A module is loaded when its value is read. The folders are listed once, sorted.
    """

    def __init__(self, package: str, module: str, name: str) -> None:
        self._package, self._module, self._name = package, module, name
        self._listed: tuple[str, ...] | None = None

    @property
    def _folders(self) -> tuple[str, ...]:
        if self._listed is None:  # two threads may both list them and get the same
            self._listed = self._list_folders()
        return self._listed

    def _list_folders(self) -> tuple[str, ...]:
        found = importlib.util.find_spec(self._package)
        if found is None:
            raise ImportError(f"no package {self._package}")
        listed = pkgutil.iter_modules(found.submodule_search_locations)
        return tuple(folder for _, folder, is_package in listed if is_package and self._find_spec(folder) is not None)

    def _find_spec(self, folder: str) -> object:
        return importlib.util.find_spec(f"{self._package}.{folder}.{self._module}")

    def __getitem__(self, folder: str) -> Any:
        if folder not in self._folders:
            raise KeyError(folder)
        return getattr(importlib.import_module(f"{self._package}.{folder}.{self._module}"), self._name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)
