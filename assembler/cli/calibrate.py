"""`assemble calibrate`: fits a row of prices to recorded bills of a host's model."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import cast

from assembler.cli.progress import working
from assembler.cli.request_file.shapes import read_any_text, read_mapping
from assembler.cli.terminal import AsJson, show, show_json
from assembler.dialects import openai_chat, openai_responses
from assembler.dialects.hosts.fit_constants import LEAST, Recorded, count_parts, fit_constants, row
from assembler.dialects.reading.raw_request import RawRequest
from assembler.files.json_text import read_json, read_json_lines
from assembler.files.place import Place
from assembler.files.reading import STANDARD
from assembler.pricing.calibration import input_tokens
from budgets import Tokens
from budgets.counters.by_model import counter_for
from budgets.numbers import index_of

DIALECT_BY_API = {"chat": openai_chat, "responses": openai_responses}
VOCABULARY_OF = "gpt-4o"
"""The model whose vocabulary replaces the unknown one."""


def calibrate(recordings: Path, /, *, model: str | None = None, as_json: AsJson = False) -> int:
    """Fit the prices of a model to the bills in RECORDINGS, and print the row of the table that holds them.

    Parameters
    ----------
    recordings
        JSON lines (.jsonl): {"api": "chat" or "responses", "model", "request", "input_tokens"}, ten or more of a model.
        In place of "input_tokens" a line may have the "usage" of the answer. With - they are read from standard input.
    model
        The model to fit. Needed if the file holds several.
    as_json
        Print the row as a JSON text.
    """
    place = Place(str(recordings))
    named_lines = [
        (read_any_text(at.key("model"), line.get("model")), at, line) for at, line in _read_lines(recordings, place)
    ]
    names = sorted({name for name, _, _ in named_lines})
    if model is None and len(names) > 1:
        raise place.error(f"expected recordings of one model, got {len(names)}; choose with --model {names[0]}")
    kept = [_read_recording(at, line) for name, at, line in named_lines if model in (None, name)]
    if len(kept) < LEAST:
        of = f" of {model}" if model else ""
        raise place.error(f"expected at least {LEAST} recordings{of}, got {len(kept)}; record {LEAST - len(kept)} more")
    with working("fitting"):
        line = row(fit_constants(kept), model or names[0], f"{datetime.date.today():%Y-%m}")
    if as_json:
        show_json({"model": model or names[0], "recordings": len(kept), "row": line})
    else:
        show(line)
    return 0


def _read_lines(path: Path, place: Place) -> list[tuple[Place, dict[str, object]]]:
    lines: object = read_json_lines(path, place) if path == STANDARD else read_json(path, place)
    if not isinstance(lines, list):
        raise place.error("expected JSON lines, in a file whose name ends in .jsonl")
    places = enumerate(cast("list[object]", lines))
    return [(place.item(index), read_mapping(place.item(index), line, what="recording")) for index, line in places]


def _read_recording(place: Place, line: dict[str, object]) -> Recorded:
    api = read_any_text(place.key("api"), line.get("api"))
    if api not in DIALECT_BY_API:
        raise place.key("api").error(f"expected one of {', '.join(DIALECT_BY_API)}: rows of hosts are for these")
    billed = _read_bill(place, line, DIALECT_BY_API[api].name)
    request = read_mapping(place.key("request"), line.get("request"), what="request")
    with place.key("request").answers_for():
        layout = RawRequest.of(request, DIALECT_BY_API[api]).layout
        return count_parts(layout, billed, counter_for(VOCABULARY_OF))


def _read_bill(place: Place, line: dict[str, object], dialect: str) -> Tokens:
    if "input_tokens" not in line and "usage" in line:
        with place.key("usage").answers_for():
            return input_tokens(line["usage"], dialect)
    billed = index_of(line.get("input_tokens"))
    if billed is None or billed < 1:
        raise place.key("input_tokens").error("expected the number of input tokens that were billed, cached ones too")
    return billed
