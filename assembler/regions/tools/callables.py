"""Callable instances, and classes whose instances are callable: `__call__` is the tool. Creates no instance."""

from __future__ import annotations

import inspect
from typing import Any

from assembler.regions.tools.docstrings import own_docstring
from assembler.regions.tools.functions import call_reading
from assembler.regions.tools.reading import Reading


def read_callable(tool: object) -> tuple[Reading, ...] | None:
    """An object with `__call__`: the name is its `name`, `__name__` or class, the description that of `__call__`."""
    owner = tool if isinstance(tool, type) else type(tool)
    call: Any = next((vars(each)["__call__"] for each in owner.__mro__ if "__call__" in vars(each)), None)
    if not inspect.isfunction(call):
        return None
    named = getattr(tool, "name", None) or getattr(tool, "__name__", None) or owner.__name__
    bound = call.__get__(object() if isinstance(tool, type) else tool)
    docstring = inspect.getdoc(call) or own_docstring(owner)
    return (call_reading(bound, named, docstring),)
