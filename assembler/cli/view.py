"""`assemble view`: a request file to a page that shows what is in the request, and what other windows would keep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from assembler import ConversationError
from assembler.cli.progress import working
from assembler.cli.request_file.gather import assembler_of
from assembler.cli.terminal import AsJson, show_json
from assembler.files.place import Place
from assembler.files.reading import STANDARD
from assembler.files.writing import same_file, write_text
from assembler.report.page import Texts


def view(
    file: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    texts: Literal["hidden", "shown"] = "hidden",
    as_json: AsJson = False,
) -> int:
    """Write one self-contained HTML page about the request that FILE describes: every item, and every window.

    Parameters
    ----------
    file
        A YAML file, as `assemble build` reads it; - reads it from standard input.
    output
        Where to write the page, such as page.html; - prints it. Not written when the request does not fit.
    texts
        Whether the page shows what instruction, tools, documents and messages say, or holds none of it.
    as_json
        Print what was written as JSON: the path and its tokens.
    """
    place = Place(str(file))
    if output is None:
        raise Place("assemble view", "--output").error("missing: say where to write the page, such as -o page.html")
    if same_file(output, file):
        raise Place("assemble view", "--output").error("expected another file than the one that is read")
    with working("assembling"), place.answers_for(), place.key("messages").answers_for(ConversationError):
        report = assembler_of(file).plan().report
        page = report.to_html(texts=Texts() if texts == "shown" else None)
    write_text(output, page)
    if as_json and output != STANDARD:
        show_json({"output": str(output), "tokens": report.count.tokens, "upper": report.count.upper})
    return 0
