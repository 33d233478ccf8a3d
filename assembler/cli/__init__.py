"""The command `assemble`: reads files, and prints reports and requests.

Exit codes: 0 done, 1 `check` found violations, 2 the files or the command line are wrong (one line says how), 3 the
request does not fit.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from assembler.files.place import one_line
from budgets import AssemblyError, ContextLengthError
from budgets.errors import from_extra

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError

__all__ = ["main", "run"]

COMMANDS = ("batch", "build", "calibrate", "check", "count", "view")
"""Every command: a function of this name, in a file of the same name next to this one."""

USAGE = {"view": "Usage: assemble view --output PATH [OPTIONS] [FILE...]"}
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
    signal.signal(signal.SIGTERM, _end_by_signal)  # the default would leave a batch's temporary copies of its rows
    code = main()
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]  # which `os._exit` skips
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, AttributeError):  # a closed one is None
            stream.flush()
    os._exit(code)


def _end_by_signal(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. `argv` are the arguments, by default the process's own."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _run_command(words)
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # as a closed one is
            sys.stdout.flush()
    except ContextLengthError as error:
        if "--json" in words:
            _show_overflow(error)
        return _print_failure(str(error), DOES_NOT_FIT)
    except AssemblyError as error:
        return _print_failure(one_line(str(error)), WRONG_INPUT)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except OSError as error:  # commands handle errors of their files, so this is the terminal
        _forget_stdout()
        return _print_failure(f"assemble: expected an output to write to: {error.strerror}", WRONG_INPUT)
    return code


def _run_command(argv: list[str]) -> int:
    with from_extra("cli", needed_for="the command assemble"):
        import cyclopts
    if any("\0" in word for word in argv):  # no shell passes one, but a caller of `main` may
        return _print_failure(
            "assemble: expected arguments without a null character, which no file's name holds", WRONG_INPUT
        )
    try:
        words = ["./-" if word == "-" else word for word in argv]  # cyclopts must read a lone hyphen as a file
        command, bound, _ = _make_app(words).parse_args(words, print_error=False, exit_on_error=False)
    except cyclopts.CycloptsError as error:
        named = ["assemble", *(word for word in argv[:1] if word in COMMANDS)]
        message = (
            f"{' '.join(named)}: {one_line(_describe_error(error))} ({' '.join(named)} --help lists what there is)"
        )
        return _print_failure(message, WRONG_INPUT)
    code = command(*bound.args, **bound.kwargs)
    return code if isinstance(code, int) else 0


def _show_overflow(error: ContextLengthError) -> None:
    """Print the numbers as JSON if asked. The text is on stderr."""
    from assembler.cli.terminal import show_json

    numbers = {name: getattr(error, name) for name in ("required", "available", "excess", "smallest_window")}
    show_json({"error": "does not fit", **numbers, "regions": error.costs.to_dict(), "advice": error.advice})


def _describe_error(error: CycloptsError) -> str:
    """Describe what is wrong with the arguments, in the style of other errors."""
    from cyclopts import MissingArgumentError, UnusedCliTokensError

    if isinstance(error, UnusedCliTokensError):
        return f"expected no more arguments, got {' '.join(error.unused_tokens or ())}"
    if isinstance(error, MissingArgumentError) and error.argument is not None and error.keyword is None:
        return f"{error.argument.name}: missing"
    return str(error)


def _make_app(words: Sequence[str]) -> App:
    """The app with all commands, or only the one in the first word, so that no other is loaded."""
    from cyclopts import App

    app = App(
        name="assemble",
        help="Build language-model requests that fit the context window and that the API accepts.",
        version=_read_version,
    )
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        command: Callable[..., Any] = getattr(import_module(f"assembler.cli.{name}"), name)
        app.command(command, usage=USAGE.get(name))
    return app


def _read_version() -> str:
    from assembler.report.manifest.writing import installed_version  # for `--version` alone

    return installed_version("context-assembler") or "not installed: run from its sources"


def _print_failure(text: str, code: int) -> int:
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]  # `print` would take stdout for it
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)
    return code


def _forget_stdout() -> None:
    """Discard buffered output, or the interpreter complains about the closed pipe at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
