"""The vectors match the library and their schema, and cover enough for a port."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assembler.dialects import DIALECTS
from assembler.verify import verify
from tests.vectors.generate import FILES, HERE, VERSION, written

ROOT = HERE.parents[1]
SCHEMA: dict[str, Any] = json.loads((HERE / "schema.json").read_text(encoding="utf-8"))
NODE = shutil.which("node")


def on_disk(name: str) -> str:
    return (HERE / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_a_file_holds_what_the_library_does_now(name: str) -> None:
    now, then = written(name).splitlines(), on_disk(name).splitlines()
    for line, (made, kept) in enumerate(zip(now, then, strict=True), 1):
        assert made == kept, f"{name}.json:{line} is another now; python -m tests.vectors.generate writes it anew"


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is as a schema says, for the words of JSON Schema that ours uses."""
    if "$ref" in schema:
        return fits(value, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")])
    if "oneOf" in schema:
        return sum(fits(value, one) for one in schema["oneOf"]) == 1
    kinds = {"object": dict, "array": list, "string": str, "integer": int}
    if "type" in schema and (not isinstance(value, kinds[schema["type"]]) or isinstance(value, bool)):
        return False
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        return False
    if isinstance(value, int) and value < schema.get("minimum", value):
        return False
    if isinstance(value, list):
        return all(fits(item, schema.get("items", {})) for item in value)
    if isinstance(value, dict):
        named, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        return set(schema.get("required", ())) <= value.keys() and all(
            fits(held, named[key]) if key in named else others is not False and fits(held, others)
            for key, held in value.items()
        )
    return True


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_as_its_schema_says(name: str) -> None:
    held = json.loads(on_disk(name))
    assert held["version"] == VERSION
    assert fits(held, SCHEMA)
    assert not fits({**held, "version": VERSION + 1}, SCHEMA)
    assert not fits({**held, "cases": [{}]}, SCHEMA)


def test_all_files_together_are_small() -> None:
    assert sum(path.stat().st_size for path in HERE.glob("*.json")) < 1_000_000


def test_the_emitted_requests_of_the_vectors_are_valid_for_each_api() -> None:
    for case in json.loads(on_disk("emitted"))["cases"]:
        for name, request in case["requests"].items():
            assert not verify(json.loads(request), dialect=DIALECTS[name])


def port(texts: Path, counts: Path) -> subprocess.CompletedProcess[str]:
    vocabulary = ROOT / "budgets" / "vocabularies" / "o200k_base.zlib"
    command = [NODE or "node", str(HERE / "port" / "openai_chat.mjs"), str(vocabulary), str(texts), str(counts)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.skipif(NODE is None, reason="node is not installed here")
def test_a_port_to_javascript_counts_as_the_vectors_say() -> None:
    done = port(HERE / "texts.json", HERE / "counts.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "215 checked, 0 wrong\n"


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="node is not installed here")
def test_the_port_finds_a_count_that_is_another(tmp_path: Path) -> None:
    held = json.loads(on_disk("counts"))
    held["cases"][0]["tokens"] += 1
    (tmp_path / "counts.json").write_text(json.dumps(held), encoding="utf-8")
    done = port(HERE / "texts.json", tmp_path / "counts.json")
    assert done.returncode == 1
    assert done.stdout.startswith("215 checked, 1 wrong\n")
