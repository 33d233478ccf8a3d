"""Lets `st.from_type` draw the library's values. Imports neither the library nor Hypothesis before the program does.

A value is registered when the module of its class is loaded, which happens before anybody can use the class. The
strategies are loaded when one of them is drawn.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_DRAWN: Mapping[str, Mapping[str, str]] = {
    "assembler.assembler": {"Assembler": "assemblers"},
    "assembler.context": {"Context": "contexts"},
    "assembler.conversation.messages.message": {
        "Call": "calls",
        "Message": "messages",
        "Result": "results",
        "Thinking": "thoughts",
    },
    "assembler.pipeline.draft": {"Draft": "drafts"},
    "assembler.regions.knowledge": {"Document": "documents"},
    "assembler.regions.tools.tool": {"Tool": "tools"},
    "budgets.budget": {"Budget": "budgets"},
    "budgets.costs": {"RegionCosts": "region_costs"},
    "budgets.count": {"Count": "counts"},
    "budgets.limit": {"Limit": "limits"},
}
"""The values, by the module of their class, and the functions of `assembler.testing.values` that draw them."""


def load() -> None:
    """Register the loaded values now, and the others later. Hypothesis calls this at import; twice does no harm."""
    for home in _DRAWN.keys() & sys.modules.keys():
        _register_home(sys.modules[home])
    unloaded = _DRAWN.keys() - sys.modules.keys()
    if unloaded and not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport(unloaded))


def _register_home(home: ModuleType) -> None:
    from hypothesis import strategies as st

    for name, drawn_by in _DRAWN[home.__name__].items():
        st.register_type_strategy(getattr(home, name), _draw_later(drawn_by))


def _draw_later(name: str) -> Callable[[type[Any]], SearchStrategy[Any]]:
    def drawn(_kind: type[Any]) -> SearchStrategy[Any]:
        values = importlib.import_module("assembler.testing.values")
        strategy: SearchStrategy[Any] = getattr(values, name)()
        return strategy

    return drawn


class _AfterImport(MetaPathFinder):
    """Waits for the first import of some modules. It finds no module itself."""

    def __init__(self, unloaded: set[str]) -> None:
        self._unloaded = unloaded

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if fullname not in self._unloaded:
            return None
        self._unloaded.remove(fullname)
        if not self._unloaded:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            _run_after(spec.loader)
        return spec


def _run_after(loader: Loader) -> None:
    """Register the module's values after its execution. The module keeps its own loader."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del vars(loader)["exec_module"]
        execute(module)
        _register_home(module)

    vars(loader)["exec_module"] = exec_module
