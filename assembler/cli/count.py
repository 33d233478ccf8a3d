"""`assemble count`: counts the tokens of a raw request."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from assembler import count_request
from assembler.cli.progress import working
from assembler.cli.request_file.model_and_dialect import CHAT_TEMPLATE, dialect_of, model_of, tokenizer_at
from assembler.cli.request_file.shapes import read_mapping
from assembler.cli.terminal import AsJson, show, show_json
from assembler.dialects import DIALECTS
from assembler.files.json_text import read_json
from assembler.files.place import Place
from budgets import Count

COMMAND = Place("assemble count")


def count(
    file: Path,
    /,
    *,
    model: str | None = None,
    dialect: str | None = None,
    tokenizer: Annotated[Path | None, Parameter(name="--tokenizer")] = None,
    held: int | None = None,
    as_json: AsJson = False,
) -> int:
    """Count the tokens of the request in FILE, and print how exact the count is and the most it can be.

    Parameters
    ----------
    file
        The body of an API call, as JSON. With - it is read from standard input.
    model
        The model that will read it. By default the one that the body names, or the newest family of --dialect.
    dialect
        The API that the body is written for. By default the model's.
    tokenizer
        The model's own tokenizer: a local folder or a tokenizer.json. chat_template needs it, and other dialects count
        texts exactly with it.
    held
        Tokens that the server adds, if the body names an earlier answer, a stored conversation, a prompt or a cache.
    as_json
        Print the tokens, the grade and the upper bound as JSON.
    """
    place = Place(str(file))
    body = read_mapping(place, read_json(file, place), what="request, a JSON object")
    named = model_of(COMMAND, place, model, body)
    dialect_name = CHAT_TEMPLATE
    if named is not None or dialect is not None or tokenizer is None:
        dialect_name = dialect_of(COMMAND, place, dialect, named, (*DIALECTS, CHAT_TEMPLATE))
    if named is not None and tokenizer is None:
        named.facts()
    with working("counting"), place.answers_for():
        priced = _price_request(body, dialect_name, None if named is None else named.name, tokenizer, held)
    if as_json:
        show_json({"tokens": priced.tokens, "grade": str(priced.grade), "upper": priced.upper})
        return 0
    show(f"tokens  {priced.tokens:,}\ngrade   {priced.grade}\nupper   {priced.upper:,}")
    return 0


def _price_request(
    body: Mapping[str, Any], dialect_name: str, model: str | None, path: Path | None, held: int | None
) -> Count:
    place = COMMAND.key("--tokenizer")
    if path is None:
        if dialect_name == CHAT_TEMPLATE:
            raise place.error(f"missing; {CHAT_TEMPLATE} renders the template of a local tokenizer")
        return count_request(body, dialect=DIALECTS[dialect_name], model=model, held=held)
    loaded = tokenizer_at(place, path)
    if dialect_name == CHAT_TEMPLATE:
        from assembler.dialects import chat_template

        with place.answers_for():
            template = chat_template(loaded)
        return count_request(body, dialect=template, held=held)
    from budgets import transformers_counter

    return count_request(
        body, dialect=DIALECTS[dialect_name], model=model, counter=transformers_counter(loaded), held=held
    )
