"""`assemble check`: lists the API's rules that a raw request breaks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs

from assembler.cli.progress import working
from assembler.cli.request_file.model_and_dialect import dialect_of, model_of
from assembler.cli.request_file.shapes import read_mapping
from assembler.cli.terminal import AsJson, show, show_json
from assembler.files.json_text import read_json
from assembler.files.place import Place, one_line
from assembler.verify import DIALECTS, Violation, rules, verify
from budgets.numbers import with_noun

COMMAND = Place("assemble check")

BROKEN = 1
"""Exit code for a request that the API would refuse."""


def check(file: Path, /, *, model: str | None = None, dialect: str | None = None, as_json: AsJson = False) -> int:
    """Check the request in FILE against the rules of its API, and print each rule that it breaks.

    Each has a line with the rule, the place and the problem, and below it the API's own error text and its source. The
    exit code is 1 if the request breaks any rule.

    Parameters
    ----------
    file
        The body of an API call, as JSON. With - it is read from standard input.
    model
        The model that will read it: some rules hold for some models only. By default the one that the body names.
    dialect
        The API that the body is written for. By default the model's.
    as_json
        Print the broken rules as JSON.
    """
    place = Place(str(file))
    body = read_mapping(place, read_json(file, place), what="request, a JSON object")
    named = model_of(COMMAND, place, model, body)
    dialect_name = dialect_of(COMMAND, place, dialect, named, DIALECTS)
    with working("checking"):
        found = verify(body, dialect=dialect_name, model=None if named is None else named.name)
    if as_json:
        show_json({"dialect": dialect_name, "violations": [attrs.asdict(breach) for breach in found]})
    else:
        show("\n".join(_write_lines(found, dialect_name)))
    return BROKEN if any(not breach.note for breach in found) else 0


def _write_lines(found: Sequence[Violation], dialect_name: str) -> list[str]:
    if not found:
        return [f"no violations of {len(rules(dialect_name))} rules of {dialect_name}"]
    ids = max(len(breach.rule) for breach in found)
    places = max(len(_write_place(breach)) for breach in found)
    lines = [_write_headline(found, dialect_name)]
    for breach in found:
        lines.append(f"{breach.rule:<{ids}}  {_write_place(breach):<{places}}  {one_line(breach.problem)}")
        if breach.provider_says is not None:
            lines.append(f"{'':<{ids}}  the API: {one_line(breach.provider_says)} ({breach.source})")
    return lines


def _write_headline(found: Sequence[Violation], dialect_name: str) -> str:
    """The number of violations and of notes."""
    notes = sum(breach.note for breach in found)
    faults = len(found) - notes
    verdict = f"{with_noun(faults, 'violation') if faults else 'no violations'} of the rules of {dialect_name}"
    return f"{verdict}, {with_noun(notes, 'note')}" if notes else verdict


def _write_place(breach: Violation) -> str:
    return one_line(breach.where) or "the request"
