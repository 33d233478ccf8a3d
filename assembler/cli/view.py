"""`assemble view`: writes a page about a request file, with what other windows would keep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from assembler import Context
from assembler.cli.request_file.gather import assembler_of, assembling
from assembler.cli.terminal import AsJson, show, show_json
from assembler.files.place import Place
from assembler.files.reading import STANDARD
from assembler.files.writing import same_file, write_text
from assembler.pipeline.what_if import plan_least
from assembler.report.page import Texts
from assembler.report.page.html import page_html, tool_html
from assembler.report.report import report_of
from assembler.session import session_html
from budgets import ContextLengthError, Count


def view(
    *files: Path,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    texts: Literal["hidden", "shown"] = "hidden",
    as_json: AsJson = False,
) -> int:
    """Write an HTML page about the request that FILE describes, and show every item at every window.

    Given several files, the page compares their requests. Given none, it is a tool: drop manifests and reports onto it.

    Parameters
    ----------
    files
        YAML files, as for `assemble build`. With - one is read from standard input.
    output
        Where to write the page, such as page.html. With - it is printed. A request that does not fit also gets a page,
        which shows what is too large, and the exit code is 3. Several files are compared only if each fits.
    texts
        Whether the page shows the texts of the instruction, tools, documents and messages. With hidden, the page does
        not contain them.
    as_json
        Print the path and the tokens of each request as JSON.
    """
    if output is None:
        raise Place("assemble view", "--output").error("missing: say where to write the page, such as -o page.html")
    if any(same_file(output, file) for file in files):
        raise Place("assemble view", "--output").error("expected a file other than the one that is read")
    shown = Texts() if texts == "shown" else None
    refusal = None
    match files:
        case ():
            counts, page = list[Count](), tool_html()
        case (file,):
            counts, page, refusal = _write_page(file, shown)
        case _:
            contexts = [_build_context(file) for file in files]
            counts = [context.count for context in contexts]
            page = session_html(contexts, title=", ".join(file.name for file in files), texts=shown)
    write_text(output, page)
    if refusal is not None:
        raise refusal
    if output == STANDARD:
        return 0
    if as_json:
        show_json({"output": str(output), **_write_counts(counts)})
    else:
        tokens = ", ".join(f"{count.tokens:,}" for count in counts)
        show(f"page    {output}" + (f"\ntokens  {tokens}" if tokens else ""))
    return 0


def _write_page(file: Path, texts: Texts | None) -> tuple[list[Count], str, ContextLengthError | None]:
    """The page of one request. If it does not fit: that of the smallest plan, and the error."""
    with assembling(file):
        assembler = assembler_of(file)
        try:
            plan, refusal = assembler.plan().inside, None
        except ContextLengthError as error:
            plan, refusal = plan_least(*assembler.inside), error
        report = report_of(plan)
        return [report.count], page_html(report, plan, texts=texts, refusal=refusal), refusal


def _build_context(file: Path) -> Context[Any]:
    with assembling(file):
        return assembler_of(file).build()


def _write_counts(counts: Sequence[Count]) -> dict[str, Any]:
    if len(counts) == 1:
        return {"tokens": counts[0].tokens, "upper": counts[0].upper}
    return {"requests": [{"tokens": count.tokens, "upper": count.upper} for count in counts]}
