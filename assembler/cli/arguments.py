"""Reads the arguments of a command. Its function's signature says what it takes, and the docstring explains it.

Positional parameters are arguments, and keywords are options: `as_text` is `--as-text`, unless its `Annotated` lists
other names. A type is a `Path`, a text, a number, a `Literal` of words, or bool for an option without a value.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from assembler.files.place import nearest

_METAVARS = {Path: "PATH", int: "INT", str: "TEXT"}


class UsageError(Exception):
    """A command line that is wrong. Its text has no line break."""


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse found wrong."""
        raise UsageError(message)


class Formatter(argparse.HelpFormatter):
    """Writes the help, with a capital letter first."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Write the first line. The types are argparse's own."""
        super().add_usage(usage, actions, groups, "Usage: " if prefix is None else prefix)


def read_arguments(
    command: Callable[..., Any], words: Sequence[str], *, usage: str | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and the keyword arguments in the words. Raises `UsageError`.

    `usage` is the first line of the help, by default as the signature has it. The help ends with `SystemExit`.
    """
    parameters = list(inspect.signature(command).parameters.values())
    types = get_type_hints(command, include_extras=True)
    parser = _parser(command, parameters, types, usage)
    several = any(one.kind is one.VAR_POSITIONAL for one in parameters)  # options may stand between them
    found, rest = (parser.parse_known_intermixed_args if several else parser.parse_known_args)(words)
    if rest:
        raise UsageError(_unknown(rest, [name for one in parameters for name in _spelled(one, types)[1]]))
    keywords = vars(found)
    positional: list[Any] = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += keywords.pop(parameter.name)
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(keywords.pop(parameter.name))
    return positional, keywords


def described(command: Callable[..., Any]) -> str:
    """Return the first line of the docstring."""
    return (inspect.getdoc(command) or "").partition("\n")[0]


def _parser(
    command: Callable[..., Any], parameters: Sequence[inspect.Parameter], types: Mapping[str, Any], usage: str | None
) -> Parser:
    about, _, explained = (inspect.getdoc(command) or "").partition("\n\nParameters\n----------\n")
    first, _, more = about.partition("\n\n")
    helps = _helps(explained)
    name = f"assemble {command.__name__}"
    shown = usage or f"{name} {_shown(parameters, types)}"
    parser = Parser(name, shown, first, more, formatter_class=Formatter, allow_abbrev=False)
    for parameter in parameters:
        _add(parser, parameter, types, helps.get(parameter.name, ""))
    return parser


def _helps(explained: str) -> dict[str, str]:
    """Return the texts of a docstring's parameters: each name is followed by its lines, indented."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in explained.splitlines():
        if line[:1].strip():
            lines = found.setdefault(line.strip(), [])
        else:
            lines.append(line.strip())
    return {name: " ".join(lines).replace("%", "%%") for name, lines in found.items()}


def _shown(parameters: Sequence[inspect.Parameter], types: Mapping[str, Any]) -> str:
    """Return the usage of a command: what it requires, and where its options go."""
    required, places = list[str](), list[str]()
    for one in parameters:
        if one.kind is one.VAR_POSITIONAL:
            places.append(f"[{one.name.removesuffix('s').upper()}...]")
        elif one.kind is one.POSITIONAL_ONLY:
            places.append(one.name.upper())
        elif one.default is one.empty:
            kind, names = _spelled(one, types)
            required.append(f"{names[0]} {_METAVARS[kind]}")
    return " ".join([*required, "[OPTIONS]", *places])


def _add(parser: Parser, parameter: inspect.Parameter, types: Mapping[str, Any], told: str) -> None:
    kind, names = _spelled(parameter, types)
    if parameter.kind is parameter.VAR_POSITIONAL:
        metavar = parameter.name.removesuffix("s").upper()
        parser.add_argument(parameter.name, nargs="*", type=kind, metavar=metavar, help=told)
    elif parameter.kind is parameter.POSITIONAL_ONLY:
        parser.add_argument(parameter.name, type=kind, metavar=parameter.name.upper(), help=told)
    elif kind is bool:
        parser.add_argument(*names, action="store_true", dest=parameter.name, help=told)
    else:
        required = parameter.default is parameter.empty
        plain = required or parameter.default is None
        form: dict[str, Any] = {"type": kind, "metavar": _METAVARS.get(kind)}
        if get_origin(kind) is Literal:
            form = {"choices": get_args(kind)}
        parser.add_argument(
            *names,
            dest=parameter.name,
            required=required,
            default=None if required else parameter.default,
            help=told if plain else f"{told} [default: {parameter.default}]",
            **form,
        )


def _spelled(parameter: inspect.Parameter, types: Mapping[str, Any]) -> tuple[Any, Sequence[str]]:
    """Return the type of a parameter, without None, and the names of its option, none for an argument."""
    annotation = types[parameter.name]
    keyword = parameter.kind is parameter.KEYWORD_ONLY
    names: Sequence[str] = [f"--{parameter.name.replace('_', '-')}"] if keyword else []
    if get_origin(annotation) is Annotated:
        annotation, *names = get_args(annotation)
    if get_origin(annotation) is UnionType:
        annotation = next(each for each in get_args(annotation) if each is not type(None))
    return annotation, names


def _unknown(rest: Sequence[str], known: Sequence[str]) -> str:
    option = next((word for word in rest if word.startswith("-") and word != "-"), None)
    if option is None:
        return f"expected no more arguments, got {' '.join(rest)}"
    return f"{option}: unknown option{nearest(option, known).rstrip(';')}"
