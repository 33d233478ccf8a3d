"""Registers the library's strategies with Hypothesis, at the first moment when both are loaded. Imports neither."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

LIBRARY = "assembler"


def load() -> None:
    """Register now where the library is loaded, else when it will be. Called by Hypothesis when it is imported."""
    if LIBRARY in sys.modules:
        _register()
    elif not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())


def _register() -> None:
    from assembler.testing.registration import register

    register()


class _AfterImport(MetaPathFinder):
    """Waits for the library's import, once; finds nothing itself."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if fullname != LIBRARY:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            _run_after(spec)
        return spec


def _run_after(spec: ModuleSpec) -> None:
    """Let this one execution of the module be followed by the registration; the loader stays the module's own."""
    loader = spec.loader
    execute = loader.exec_module  # type: ignore[union-attr]

    def exec_module(module: ModuleType) -> None:
        del vars(loader)["exec_module"]
        execute(module)
        _register()

    vars(loader)["exec_module"] = exec_module
