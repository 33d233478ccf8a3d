"""Reads Python functions as tools: pydantic turns the signature into a JSON schema. No function is called."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

from assembler.errors import ToolError
from assembler.regions.tools.docstrings import own_docstring, read_docstring
from assembler.regions.tools.plain import plain
from assembler.regions.tools.reading import Reading
from assembler.regions.tools.refusal import tool_error
from assembler.regions.tools.schema import Schema, rewrite_schema, without_made_up

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_NONE: Any = inspect.Parameter.empty
Function: TypeAlias = Callable[..., object]


def read_function(tool: object) -> tuple[Reading, ...] | None:
    """Read a function, method or `functools.partial`, sync or async: its name, docstring and parameters.

    The model does not see arguments that a partial has filled in. A parameter without annotation accepts any value.
    """
    if not inspect.isroutine(tool) and not isinstance(tool, functools.partial):
        return None
    named: Any = tool.func if isinstance(tool, functools.partial) else tool
    return (call_reading(cast("Function", tool), getattr(named, "__name__", None), inspect.getdoc(named)),)


def read_callable(tool: object) -> tuple[Reading, ...] | None:
    """Read an object with `__call__`, named by its `name`, `__name__` or class, with the docstring of `__call__`."""
    owner = tool if isinstance(tool, type) else type(tool)
    call: Any = next((vars(each)["__call__"] for each in owner.__mro__ if "__call__" in vars(each)), None)
    if not inspect.isfunction(call):
        return None
    named = getattr(tool, "name", None) or getattr(tool, "__name__", None) or owner.__name__
    bound = call.__get__(object() if isinstance(tool, type) else tool)
    docstring = inspect.getdoc(call) or own_docstring(owner)
    return (call_reading(bound, named, docstring),)


def call_reading(function: Function, name: object, docstring: str | None) -> Reading:
    """A tool with this name and the parameters of `function`. Raises `ToolError`, which names the bad parameter."""
    label = name if isinstance(name, str) else None
    plain(docstring, tool=label, path=("description",))  # griffe does not check for lone surrogates
    parts = read_docstring(docstring)
    return Reading(name, parts.prose, arguments_schema(function, label, parts.parameters))


def arguments_schema(function: Function, tool: str | None, described: Mapping[str, str]) -> Schema:
    """The JSON schema of a call by keyword. Parameters with a default are optional; nested models are under `$defs`.

    A description in the annotation takes precedence over the docstring's.
    """
    from pydantic import TypeAdapter

    asked = _find_parameters(function, tool)
    annotations = {name: _resolve_annotation(function, each, tool) for name, each in asked.items()}
    adapters = {name: _make_adapter(name, each, tool) for name, each in annotations.items()}
    try:
        schemas, shared = TypeAdapter.json_schemas([(name, "validation", each) for name, each in adapters.items()])
    except Exception as cause:
        raise _make_schema_error(_find_culprit(adapters), cause, tool) from cause
    properties = {
        name: _find_description(annotations[name], described.get(name))
        | dict(schemas[name, "validation"])
        | _write_default(parameter.default, adapters[name])
        for name, parameter in asked.items()
    }
    schema: Schema = {"type": "object", "properties": properties}
    required = [name for name, each in asked.items() if each.default is _NONE and not _has_default(annotations[name])]
    if required:
        schema["required"] = required
    return rewrite_schema(cast("Schema", plain(schema | shared, tool=tool, path=("parameters",))), without_made_up)


def _find_parameters(function: Function, tool: str | None) -> dict[str, inspect.Parameter]:
    """The parameters that the model is to fill, in order."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError) as cause:
        raise tool_error("its signature cannot be read; pass a definition (a dict) instead", tool=tool) from cause
    filled: Mapping[str, object] = function.keywords if isinstance(function, functools.partial) else {}
    asked = {name: each for name, each in parameters.items() if name not in filled}
    for name, each in asked.items():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            star = "*" if each.kind is each.VAR_POSITIONAL else "**"
            raise tool_error(f"parameter {star}{name} has no schema; name each parameter", tool=tool)
        if name == "self":
            raise tool_error("an unbound method; pass the method of an instance", tool=tool)
        if each.kind is each.POSITIONAL_ONLY:
            raise tool_error(f"parameter {name} is positional-only, but a model gives arguments by name", tool=tool)
    return asked


def _resolve_annotation(function: Function, parameter: inspect.Parameter, tool: str | None) -> Any:
    """The annotation of a parameter, with names in quotes resolved in the function's module."""
    if parameter.annotation is _NONE:
        return Any
    scope: Any = inspect.unwrap(function.func if isinstance(function, functools.partial) else function)

    def holder() -> None: ...

    holder.__annotations__ = {"parameter": parameter.annotation}
    try:
        found = typing.get_type_hints(holder, getattr(scope, "__globals__", {}), include_extras=True)["parameter"]
    except Exception as cause:
        problem = f"parameter {parameter.name}: its annotation cannot be resolved ({type(cause).__name__})"
        raise tool_error(problem, tool=tool) from cause
    return Annotated[found, parameter.default] if _is_field(parameter.default) else found


def _make_adapter(name: str, annotation: Any, tool: str | None) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    try:
        return TypeAdapter(annotation)
    except Exception as cause:
        raise _make_schema_error(name, cause, tool) from cause


def _find_culprit(adapters: Mapping[str, TypeAdapter[Any]]) -> str:
    """The parameter whose schema cannot be written. Only for errors: writing schemas one by one is slower."""
    for name, adapter in adapters.items():
        try:
            adapter.json_schema()
        except Exception:
            return name
    return ", ".join(adapters)


def _make_schema_error(name: str, cause: Exception, tool: str | None) -> ToolError:
    return tool_error(f"parameter {name}: its annotation has no JSON schema ({type(cause).__name__})", tool=tool)


def _find_description(annotation: Any, docstring: str | None) -> Schema:
    """The description in the annotation, as in `Annotated[int, "how many"]`, else the docstring's."""
    texts = (each for each in getattr(annotation, "__metadata__", ()) if isinstance(each, str))
    text = next(texts, docstring)
    return {"description": text} if text else {}


def _write_default(default: object, adapter: TypeAdapter[Any]) -> Schema:
    """The default as JSON; nothing if JSON cannot express it, and the parameter is optional anyway."""
    if default is _NONE or _is_field(default):
        return {}
    try:
        return {"default": plain(adapter.dump_python(default, mode="json", warnings="none"), tool=None)}
    except Exception:  # a caller's serializer may raise anything
        return {}


def _is_field(value: object) -> bool:
    from pydantic.fields import FieldInfo

    return isinstance(value, FieldInfo)


def _has_default(annotation: Any) -> bool:
    """Whether a `Field` in the annotation makes the parameter optional. A default_factory is not in the schema."""
    return any(_is_field(each) and not each.is_required() for each in getattr(annotation, "__metadata__", ()))
