"""`assemble view`: a request file to a page that shows what is in the request, and what other windows would keep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from assembler import ConversationError
from assembler.cli.request_file.gather import assembler_of
from assembler.files.place import Place
from assembler.files.writing import same_file, write_text
from assembler.report.page import Texts


def view(
    file: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    texts: Literal["hidden", "shown"] = "hidden",
) -> int:
    """Write one self-contained HTML page about the request that FILE describes: every item, and every window.

    Parameters
    ----------
    file
        A YAML file, as `assemble build` reads it.
    output
        Where to write the page; not written when the request does not fit.
    texts
        Whether the page shows what instruction, tools, documents and messages say, or holds none of it.
    """
    place = Place(str(file))
    if same_file(output, file):
        raise Place("assemble view", "--output").error("expected another file than the one that is read")
    assembler = assembler_of(file)
    with place.answers_for(), place.key("messages").answers_for(ConversationError):
        page = assembler.plan().report.to_html(texts=Texts() if texts == "shown" else None)
    write_text(output, page)
    return 0
