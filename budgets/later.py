"""Names of a package that are loaded when they are first used (PEP 562)."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

_NOTHING: Mapping[str, str] = {}


def load_later(package: str, homes: Mapping[str, str], *, elsewhere: Mapping[str, str] = _NOTHING) -> None:
    """Let `package` find the names of `homes` in their modules, and its own modules too, at their first use.

    `homes` maps each module to the names that are taken from it, with blanks between them; they are the package's
    `__all__`, unless it writes its own. A name that a submodule has too stays the name's: the import system would bind
    it to the submodule. `elsewhere` maps other packages in the same
    way to names of theirs that people look for here. Asking for one is an `ImportError` that says the right import: of
    an `AttributeError` an import statement shows no text.
    """
    module = sys.modules[package]
    module.__dict__["_homes"] = found = _by_name(homes)
    module.__dict__["__all__"] = sorted(found)
    module.__dict__["_elsewhere"] = _by_name(elsewhere)
    module.__class__ = _Package


def _by_name(homes: Mapping[str, str]) -> Mapping[str, str]:
    return {name: home for home, names in homes.items() for name in names.split()}


class _Package(ModuleType):
    _homes: Mapping[str, str]
    _elsewhere: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__["_homes"].get(name)
        if home is None:
            return self._submodule(name)
        value = self.__dict__[name] = getattr(importlib.import_module(home), name)
        return value

    def _submodule(self, name: str) -> ModuleType:
        """The module `name` of this package, as if it had been imported: `assembler.dialects.openai_chat`."""
        full = f"{self.__name__}.{name}"
        if not name.startswith("_") and importlib.util.find_spec(full) is not None:
            return importlib.import_module(full)
        right = self.__dict__["_elsewhere"].get(name)
        if right is not None:
            raise ImportError(f"{self.__name__} has no {name}: from {right} import {name}", name=self.__name__)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__.get("__all__", ()), *self.__dict__["_homes"]})

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in self.__dict__["_homes"] and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


class FromFolders(Mapping[str, Any]):
    """One value out of each folder of a package that has the module for it, by the folder's name.

    A module is loaded when its value is taken; the folders are listed once, sorted.
    """

    def __init__(self, package: str, module: str, name: str) -> None:
        self._package, self._module, self._name = package, module, name
        self._listed: tuple[str, ...] | None = None

    @property
    def _folders(self) -> tuple[str, ...]:
        if self._listed is None:  # two threads that ask first list the same
            self._listed = self._list()
        return self._listed

    def _list(self) -> tuple[str, ...]:
        found = importlib.util.find_spec(self._package)
        if found is None:
            raise ImportError(f"no package {self._package}")
        listed = pkgutil.iter_modules(found.submodule_search_locations)
        return tuple(folder for _, folder, is_package in listed if is_package and self._spec(folder) is not None)

    def _spec(self, folder: str) -> object:
        return importlib.util.find_spec(f"{self._package}.{folder}.{self._module}")

    def __getitem__(self, folder: str) -> Any:
        if folder not in self._folders:
            raise KeyError(folder)
        return getattr(importlib.import_module(f"{self._package}.{folder}.{self._module}"), self._name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)
