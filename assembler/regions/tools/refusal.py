"""The error for a tool that cannot be read. It names the tool and the place in it."""

from __future__ import annotations

from assembler.errors import ToolError

# The length of the longest legal name (OpenAI's rule). Longer names are cut in errors.
SHOWN = 64


def tool_error(problem: str, *, tool: object = None) -> ToolError:
    """The error for a problem with a tool. The tool is left out unless it is a name."""
    if not isinstance(tool, str):
        return ToolError(problem)
    return ToolError(f"tool '{shown(tool)}': {problem}", tool=str.__str__(tool))


def kind_of(value: object) -> str:
    """The type of a wrong value, for errors, which never show its text."""
    return f"<{type(value).__name__}>"


def shown(name: object) -> str:
    """A name or key as one printable line of at most 64 characters; the type of anything else."""
    if not isinstance(name, str):
        return f"<{type(name).__name__}>"
    cut = str.__str__(name)
    cut = cut if len(cut) <= SHOWN else f"{cut[: SHOWN - 1]}…"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in cut)
