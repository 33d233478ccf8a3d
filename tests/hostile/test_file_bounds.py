"""Files are read up to their published bounds, and one byte more raises an error that names the bound."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assembler.files import json_text, reading, yaml_text
from assembler.files.json_text import read_json
from assembler.files.place import Place, SpecError
from assembler.files.yaml_text import read_yaml

PAGE = (Path(__file__).parents[2] / "docs" / "command.md").read_text(encoding="utf-8")


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def aliases(weight: int) -> str:
    """A list of one text and its aliases that weighs so much once they are written out."""
    each, pointer = 1_000, yaml_text.PER_VALUE
    inside = weight - 2 * pointer  # of the file, and of the list in it
    lines, rest = divmod(inside, each + pointer)
    assert rest > pointer
    return f"- &a {'x' * each}\n" + "- *a\n" * (lines - 1) + f"- {'y' * (rest - pointer)}\n"


@pytest.mark.parametrize("beyond", [-1, 0, 1])
@pytest.mark.parametrize(
    ("read", "spelled", "bound", "expected"),
    [
        (read_yaml, nested, yaml_text.DEEPEST, "at most 64 lists and mappings inside one another"),
        (read_yaml, aliases, yaml_text.LARGEST, "at most 32 MiB once aliases are written out"),
        (read_yaml, "#".__mul__, yaml_text.LONGEST, "at most 4 MiB"),
        (read_json, nested, json_text.DEEPEST, "nested too deeply"),
    ],
    ids=["depth of YAML", "weight of aliases", "bytes of YAML", "depth of JSON"],
)
def test_a_file_is_read_up_to_its_bound_and_not_beyond(
    read: Callable[[Path, Place], Any],
    spelled: Callable[[int], str],
    bound: int,
    expected: str,
    beyond: int,
    tmp_path: Path,
) -> None:
    path = tmp_path / "file"
    path.write_text(spelled(bound + beyond), encoding="utf-8")
    if beyond <= 0:
        read(path, Place("file"))
        return
    with pytest.raises(SpecError, match=expected):
        read(path, Place("file"))


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_the_bytes_of_a_json_file_are_bounded(beyond: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "LONGEST", reading.MEBIBYTE)
    path = tmp_path / "file"
    path.write_text("1".rjust(reading.MEBIBYTE + beyond), encoding="utf-8")
    if beyond <= 0:
        assert read_json(path, Place("file")) == 1
        return
    with pytest.raises(SpecError, match="at most 1 MiB"):
        read_json(path, Place("file"))


@pytest.mark.parametrize(
    "expected",
    [
        f"{yaml_text.LONGEST // reading.MEBIBYTE} MiB",
        f"{yaml_text.LARGEST // reading.MEBIBYTE} MiB with its aliases expanded",
        f"{yaml_text.DEEPEST} levels of lists and mappings",
        f"{json_text.LONGEST // reading.MEBIBYTE} MiB",
        f"{json_text.DEEPEST} levels",
    ],
)
def test_the_page_of_the_command_names_each_bound(expected: str) -> None:
    assert expected in PAGE
