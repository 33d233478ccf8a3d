"""Finds the model, the dialect and the tokenizer of a command from its options and the body."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from assembler.cli.request_file.shapes import one_of, read_any_text, unknown_model
from assembler.files.place import Place
from budgets import UnknownModelError
from budgets.errors import from_extra

if TYPE_CHECKING:
    from budgets.models import ModelFacts

CHAT_TEMPLATE = "chat_template"
"""The dialect of no provider, whose rules and prices come from a tokenizer's template."""

_MODEL_KEYS = ("model", "modelId")
"""The keys of the model in the body of a call; Bedrock's is `modelId`."""


@attrs.frozen
class NamedModel:
    """A model's name, and the place where it was read."""

    place: Place
    name: str

    def facts(self) -> ModelFacts:
        """The published facts. Raises `SpecError` at its place for an unknown name."""
        from budgets.models import facts

        try:
            return facts(self.name)
        except UnknownModelError as error:
            raise self.place.error(unknown_model(error)) from error


def model_of(command: Place, body: Place, given: str | None, request: Mapping[str, object]) -> NamedModel | None:
    """The model of the command line, or else the body's. Raises `SpecError` if it is not a text."""
    if given is not None:
        return NamedModel(command.key("--model"), given)
    for key in _MODEL_KEYS:
        if key in request:
            return NamedModel(body.key(key), read_any_text(body.key(key), request[key]))
    return None


def dialect_of(
    command: Place, body: Place, asked: str | None, model: NamedModel | None, choices: Collection[str]
) -> str:
    """The name of the requested dialect, or else the model's. Raises `SpecError` with neither."""
    place = command.key("--dialect")
    if asked is not None:
        return one_of({name: name for name in choices})(place, asked)
    if model is None:
        raise command.key("--model").error(f"missing, and {body.file} names no model; --dialect will do as well")
    own = model.facts().dialect
    if own is None or own not in choices:
        raise place.error(f"missing; {model.name} speaks {own}, expected one of {', '.join(choices)}")
    return own


def tokenizer_at(place: Place, path: Path) -> Any:
    """Load the fast tokenizer of a local folder or a `tokenizer.json`, without network and without running its code.

    Raises `SpecError` if there is none, and `MissingExtraError` without transformers.
    """
    if not path.exists():
        raise place.error(f"expected a folder or a tokenizer.json, found none at {path}")
    with from_extra("transformers", needed_for="a tokenizer of its own"):
        fast: Any = import_module("transformers").PreTrainedTokenizerFast
    folder = path if path.is_dir() else path.parent
    try:
        if (folder / "tokenizer_config.json").is_file():
            return fast.from_pretrained(folder, local_files_only=True)
        return fast(tokenizer_file=str(path / "tokenizer.json" if path.is_dir() else path))
    except Exception as error:
        raise place.error(f"expected a tokenizer that transformers reads, got {type(error).__name__}") from None
