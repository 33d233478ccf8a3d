"""`assemble build`: assembles a request file to a report and a request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from assembler.cli.request_file.gather import assembler_of, assembling
from assembler.cli.terminal import AsJson, show, show_json, width
from assembler.files.place import Place
from assembler.files.reading import STANDARD
from assembler.files.writing import same_file, write_json


def build(
    file: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    as_json: AsJson = False,
) -> int:
    """Assemble the request that FILE describes, and print what was kept, shortened and dropped.

    Parameters
    ----------
    file
        A YAML file: model, budget, dialect, instruction, tools, knowledge, messages, on_overflow. With - it is read
        from standard input.
    output
        Where to write the request as JSON. With - it is printed, and the report is not. A request that does not fit is
        not written.
    as_json
        Print the report as JSON.
    """
    if output is not None and same_file(output, file):
        raise Place("assemble build", "--output").error("expected a file other than the one that is read")
    with assembling(file):
        context = assembler_of(file).build()
        request = context.request()
        report = context.report
    if output is not None:
        write_json(output, request)
    if output == STANDARD:
        return 0
    if as_json:
        show_json(report.to_dict())
    else:
        show(report.text(width()))
    return 0
