"""The command `assemble`: reads files, and prints reports and requests.

Exit codes: 0 done, 1 `check` found violations, 2 the files or the command line are wrong (one line says how), 3 the
request does not fit.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from assembler.cli.arguments import Formatter, Parser, UsageError, described, read_arguments
from assembler.files.place import nearest, one_line
from budgets import AssemblyError, ContextLengthError

__all__ = ["main", "run"]

COMMANDS = ("batch", "build", "calibrate", "check", "count", "view")
"""Every command: a function of this name, in a file of the same name next to this one."""

ABOUT = "Build language-model requests that fit the context window and that the API accepts."

USAGE = {"view": "assemble view --output PATH [OPTIONS] [FILE...]"}
"""The first line of a command's help, if the generated one is not understandable."""

WRONG_INPUT = 2
DOES_NOT_FIT = 3
INTERRUPTED = 130
PIPE_CLOSED = 141
"""128 + the signal's number, as shells report SIGINT and SIGPIPE."""


def run() -> NoReturn:
    """Run one command, and end the process with its exit code.

    The exit handlers run, but memory is not freed piece by piece: to drop tiktoken's engine takes 0.05 seconds.
    """
    code = main()
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]  # which `os._exit` skips
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, AttributeError):  # a closed one is None
            stream.flush()
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. `argv` are the arguments, by default the process's own."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _run(words)
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # as a closed one is
            sys.stdout.flush()
    except ContextLengthError as error:
        if "--json" in words:
            _show_overflow(error)
        return _fail(str(error), DOES_NOT_FIT)
    except AssemblyError as error:
        return _fail(one_line(str(error)), WRONG_INPUT)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except OSError as error:  # commands handle errors of their files, so this is the terminal
        _forget_stdout()
        return _fail(f"assemble: expected an output to write to: {error.strerror}", WRONG_INPUT)
    return code


def _run(argv: list[str]) -> int:
    name = argv[0] if argv and argv[0] in COMMANDS else None
    try:
        if name is None:
            _read_general(argv)
        command = _command(name)
        positional, keywords = read_arguments(command, argv[1:], usage=USAGE.get(name))
    except UsageError as error:
        said = " ".join(["assemble", *([] if name is None else [name])])
        return _fail(f"{said}: {one_line(str(error))} ({said} --help lists what there is)", WRONG_INPUT)
    except SystemExit:  # help or the version was printed
        return 0
    code = command(*positional, **keywords)
    return code if isinstance(code, int) else 0


def _show_overflow(error: ContextLengthError) -> None:
    """Print the numbers as JSON if asked. The text is on stderr."""
    from assembler.cli.terminal import show_json

    numbers = {name: getattr(error, name) for name in ("required", "available", "excess", "smallest_window")}
    show_json({"error": "does not fit", **numbers, "regions": error.costs.to_dict(), "advice": error.advice})


def _command(name: str) -> Callable[..., Any]:
    """Load the function of a command."""
    command: Callable[..., Any] = getattr(import_module(f"assembler.cli.{name}"), name)
    return command


def _read_general(words: Sequence[str]) -> NoReturn:
    """Print the help or the version, and raise `SystemExit`. Raises `UsageError` for other words than these options."""
    if words and not words[0].startswith("-"):
        raise UsageError(f"{words[0]}: unknown command{nearest(words[0], COMMANDS).rstrip(';')}")
    parser = Parser("assemble", usage="assemble COMMAND", description=ABOUT, formatter_class=Formatter)
    parser.add_argument("--version", action="version", version=_version(), help="print the version")
    commands = parser.add_subparsers(title="commands", metavar="")
    for name in COMMANDS:
        commands.add_parser(name, help=described(_command(name)))
    parser.parse_args(words or ["--help"])
    raise UsageError("a command is missing")


def _version() -> str:
    from assembler.report.manifest.writing import installed_version  # for `--version` alone

    return installed_version("context-assembler") or "not installed: run from its sources"


def _fail(text: str, code: int) -> int:
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
    return code


def _forget_stdout() -> None:
    """Discard buffered output, or the interpreter complains about the closed pipe at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
