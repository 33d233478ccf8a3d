"""Reads whatever a caller passes as a tool into a `Tool`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from typing import Any, TypeAlias, cast

import attrs

from assembler.conversation.messages.dicts import private_copy
from assembler.conversation.messages.sdk_objects import filled_dump, plain_data
from assembler.errors import ToolError
from assembler.regions.tools.objects import dump_model
from assembler.regions.tools.plain import plain
from assembler.regions.tools.reading import Reading, finish_tool
from assembler.regions.tools.refusal import shown, tool_error
from assembler.regions.tools.tool import Tool
from assembler.text.fields import fields_of
from assembler.validation import LONGEST_NAME
from budgets.errors import OfTheCaller
from budgets.lazy_names import in_order

Reader: TypeAlias = Callable[[object], tuple[Reading, ...] | None]


@functools.cache
def _load_readers() -> tuple[Reader, ...]:
    """Every kind of tool. The first reader that recognises the object reads it."""
    from assembler.regions.tools import kinds  # an assembler without tools loads none

    return (*in_order(kinds),)


def read_tools(tools: object) -> tuple[Tool, ...]:
    """The tools in the order given. A single tool needs no list; None and [] mean no tools.

    `raw` is the caller's own object: a Gemini object with several declarations gives several tools with one `raw`.
    Raises `ToolError`, with the place in the list, for anything that cannot be read, and for a name that is given
    twice, even by equal definitions, since that is a mistake. A cache point of Bedrock is kept with the tool before it.
    """
    if type(tools) in (list, tuple) and not tools:
        return ()
    if isinstance(tools, Iterator):  # what fails while it reads is not about the tools
        tools = [*cast("Iterator[object]", tools)]
    with OfTheCaller("tools", ToolError):
        return _read_all(tools)


def _read_all(tools: object) -> tuple[Tool, ...]:
    read: dict[str, tuple[int, Tool]] = {}
    for index, raw in enumerate(_as_list(tools)):
        if (point := _find_cache_point(raw)) is not None:
            _attach_cache_point(read, point, index)
            continue
        for tool in _read_at(raw, index):
            first, _ = read.setdefault(tool.name, (index, tool))
            if read[tool.name][1] is not tool:
                raise tool_error(
                    f"given twice, as tools[{first}] and tools[{index}]; rename or drop one", tool=tool.name
                )
    return tuple(tool for _, tool in read.values())


_POINT = "cachePoint"


def _find_cache_point(raw: object) -> object:
    fields = fields_of(raw)
    return None if fields is None or len(fields) != 1 else fields.get(_POINT)


def _attach_cache_point(read: dict[str, tuple[int, Tool]], point: object, place: int) -> None:
    """Attach a cache point to the last tool that was read."""
    if not read:
        cure = "put it after the tools that it covers"
        raise tool_error(f"tools[{place}]: a cache point comes before the first tool; {cure}")
    name, (first, tool) = read.popitem()
    marked = plain({_POINT: point}, tool=name)
    read[name] = (first, attrs.evolve(tool, extra={**tool.extra, **cast("dict[str, Any]", marked)}))


def checked_choice(choice: object, tools: Sequence[Tool]) -> str | None:
    """`choice` if it is a valid choice among these tools. Raises `ToolError` otherwise."""
    if not tools and isinstance(choice, str) and choice == "required":
        raise tool_error("choice is required, and there is no tool to call: pass tools, or leave choice out")
    known = (*_CHOICES, *(tool.name for tool in tools))
    if choice is None or (isinstance(choice, str) and choice in known):
        return choice
    expected = f"choice: expected {', '.join(_CHOICES)} or the name of one of the tools"
    raise tool_error(f"{expected}, got {shown(choice)!r}{_suggest_choice(choice, known)}")


def _suggest_choice(choice: object, known: Sequence[str]) -> str:
    """The choice that was probably meant, as a question; empty if none is near."""
    import difflib  # most choices are right

    if not isinstance(choice, str):
        return ""
    near = ["required"] if choice == "any" else difflib.get_close_matches(choice[:LONGEST_NAME], known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


_CHOICES = ("auto", "required", "none")


def read_tool(tool: object) -> Tool:
    """Read an object as one tool. Raises `ToolError` if it cannot be read or holds several."""
    tools = _read_by_kind(tool)
    if len(tools) != 1:
        raise tool_error(f"this {type(tool).__name__} holds {len(tools)} tools; use read_tools")
    return tools[0]


def _read_by_kind(raw: object) -> tuple[Tool, ...]:
    for reader in _load_readers():
        readings = reader(raw)
        if readings is not None:
            tools = tuple(finish_tool(reading, raw) for reading in readings)
            if not isinstance(raw, Mapping) and all(tool.api is None for tool in tools):
                return tools
            fields = cast("Mapping[str, object]", raw if isinstance(raw, Mapping) else dump_model(raw))
            if all(tool.api is None for tool in tools):
                # What holds n tools is copied once, not n times.
                whole = _copy_definition(fields, tools[0]) if tools else None
                return tuple(attrs.evolve(tool, seen=whole) for tool in tools)
            return tuple(attrs.evolve(tool, seen=_copy_definition(fields, tool)) for tool in tools)
    kind = (
        f"the class {shown(raw.__name__)}"
        if isinstance(raw, type)
        else f"an object of type {shown(type(raw).__name__)}"
    )
    raise tool_error(
        f"{kind} is not a tool; pass {'the function itself, not its name' if isinstance(raw, str) else 'a function'}, "
        "a pydantic model, a definition (a dict), "
        "or an object with name, description and parameters or args_schema ({} for no arguments)"
    )


def _copy_definition(raw: Mapping[str, object], tool: Tool) -> object:
    """A copy of the caller's definition. A provider's own tool must be plain JSON."""
    try:
        fields = plain_data(raw, filled_dump)
        return private_copy(fields) if tool.api is None else plain(fields, tool=tool.name)
    except RecursionError:
        pass
    raise tool_error("the definition is nested too deeply to be JSON")


def _read_at(raw: object, index: int) -> tuple[Tool, ...]:
    try:
        return _read_by_kind(raw)
    except ToolError as error:
        raise ToolError(f"tools[{index}]: {error}", tool=error.tool) from error.__cause__


def _as_list(tools: object) -> Iterable[object]:
    """The list, or a single tool in a list. An iterable object that is not a list is a tool, as pydantic models are."""
    if tools is None:
        return ()
    if isinstance(tools, Set):
        raise tool_error("a set of tools has no order, and another order is another prompt; pass a list")
    if isinstance(tools, Sequence | Iterator | ValuesView) and not isinstance(tools, str | bytes | bytearray):
        return cast("Iterable[object]", tools)
    return (tools,)
