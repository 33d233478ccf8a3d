"""Makes an `Assembler` from a request file and the files that it names."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from assembler import Assembler, ConversationError
from assembler.cli.progress import working
from assembler.cli.request_file.request import messages_value, read_request, schema_value, tools_value
from assembler.cli.request_file.shapes import Reader, unknown_model
from assembler.files.json_text import read_json
from assembler.files.place import Place
from assembler.files.reading import MEBIBYTE, file_text
from assembler.files.yaml_text import read_yaml
from budgets import AssemblyError, Budget, Limit, UnknownModelError

LONGEST_TEXT = 64 * MEBIBYTE
"""The most bytes of an instruction or document file, which bounds memory."""

_SETTINGS = ("dialect", "on_overflow", "strategy", "cache_marks")


@contextlib.contextmanager
def assembling(file: Path) -> Generator[None]:
    """Show progress while a request file is assembled, and turn the library's errors into errors of the file."""
    place = Place(str(file))
    with working("assembling"), place.answers_for(), place.key("messages").answers_for(ConversationError):
        yield


def assembler_of(path: Path) -> Assembler:
    """An assembler with the content of a request file and the files that it names. Raises `SpecError`."""
    root = Place(str(path))
    request = read_request(root, read_yaml(path, root))
    budget = _read_budget(root, request.get("model"), request.get("budget", {}))
    with root.answers_for():
        assembler: Assembler[Any] = Assembler(budget, **{name: request[name] for name in _SETTINGS if name in request})
    _add_fixed(assembler, request, root, path.parent)
    for index, document in enumerate(request.get("knowledge", ())):
        _add_document(assembler, document, root.key("knowledge").item(index), path.parent)
    return assembler


def _add_fixed(assembler: Assembler, request: Mapping[str, Any], root: Place, folder: Path) -> None:
    place, instruction = root.key("instruction"), request.get("instruction")
    if isinstance(instruction, Path):
        instruction = file_text(folder / instruction, place.key("file"), limit=LONGEST_TEXT)
    with place.answers_for():
        assembler.set_instruction(instruction)
    with root.key("held").answers_for():
        assembler.hold(request.get("held"))
    for name, reader, missing, add in (
        ("tools", tools_value, (), assembler.set_tools),
        ("output_schema", schema_value, None, assembler.set_output_schema),
        ("messages", messages_value, (), assembler.set_messages),
    ):
        place = root.key(name)
        value = _read_value(request.get(name, missing), reader, place, folder)
        with place.answers_for():
            add(value)


def _read_value(given: Any, reader: Reader[Any], place: Place, folder: Path) -> Any:
    """The value, or what the file that it names holds."""
    if not isinstance(given, Path):
        return given
    path = folder / given
    return reader(Place(str(path)), read_json(path, place.key("file")))


def _add_document(assembler: Assembler, document: Mapping[str, Any], place: Place, folder: Path) -> None:
    fields = dict(document)
    if (file := fields.pop("file", None)) is not None:
        fields["text"] = file_text(folder / file, place.key("file"), limit=LONGEST_TEXT)
    with place.answers_for():
        assembler.add_knowledge(**fields)


def _read_budget(root: Place, model: str | None, numbers: dict[str, Any]) -> Budget | None:
    if "limits" in numbers:
        with root.key("budget").key("limits").answers_for():
            limits = {region: Limit(**one) for region, one in numbers["limits"].items()}
        numbers = {**numbers, "limits": limits}
    if model is not None:
        return _read_budget_of_model(root, model, numbers)
    if not numbers:
        return None
    if "context_window" not in numbers:
        raise root.key("budget").key("context_window").error("missing, and required where no model is named")
    with root.key("budget").answers_for():
        return Budget(**numbers)


def _read_budget_of_model(root: Place, model: str, numbers: dict[str, Any]) -> Budget:
    try:
        return Budget.for_model(model, **numbers)
    except UnknownModelError as error:
        place = root.key("model")
        raise place.error(f"{unknown_model(error)}; or give budget.context_window too") from error
    except AssemblyError as error:
        raise root.key("budget").error(str(error)) from error
