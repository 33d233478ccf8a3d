"""`assemble count`: what a raw provider request costs."""

from __future__ import annotations

from pathlib import Path

from assembler import count_request
from assembler.cli.files.json_text import read_json
from assembler.cli.files.terminal import show
from assembler.cli.spec.place import Place
from assembler.cli.spec.shapes import any_text, mapping, one_of, unknown_model
from assembler.dialects import DIALECTS, Dialect
from budgets import UnknownModelError

COMMAND_LINE = "assemble count"


def count(file: Path, /, *, model: str | None = None, dialect: str | None = None) -> int:
    """Price the provider request in FILE: its tokens, how sure that number is, and the most it can be.

    Parameters
    ----------
    file
        The body of an API call, as JSON.
    model
        The model that will read it; by default the one that the body names.
    dialect
        The API that the body is spelled for; by default the model's.
    """
    place = Place(str(file))
    body = mapping(place, read_json(file, place), what="request, a JSON object")
    if model is None and "model" not in body:
        raise Place(COMMAND_LINE, "--model").error(f"missing, and {file} names no model")
    at, name = (Place(COMMAND_LINE, "--model"), model) if model else (place.key("model"), body["model"])
    spoken = _dialect_of(at, any_text(at, name), dialect)
    with place.answers_for():
        priced = count_request(body, dialect=spoken, model=any_text(at, name))
    show(f"tokens  {priced.tokens}\ngrade   {priced.grade}\nupper   {priced.upper}")
    return 0


def _dialect_of(at: Place, model: str, asked: str | None) -> Dialect:
    """The dialect that was asked for, or else the model's own."""
    from budgets.models import facts

    try:
        known = facts(model)
    except UnknownModelError as error:
        raise at.error(unknown_model(error)) from error
    place = Place(COMMAND_LINE, "--dialect")
    if asked is not None:
        return one_of(DIALECTS)(place, asked)
    if known.dialect is None or known.dialect not in DIALECTS:
        raise place.error(f"missing; {model} speaks {known.dialect}, expected one of {', '.join(DIALECTS)}")
    return DIALECTS[known.dialect]
