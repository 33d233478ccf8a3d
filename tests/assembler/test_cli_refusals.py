"""Every error in a request file is one line that names the file, the key and what was expected."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import yaml

from assembler.cli import main

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))

GROWN = {
    "too deep": ("instruction: " + "[" * 100 + "]" * 100, "expected at most 64 lists and mappings inside one another"),
    "so deep that a recursive reader dies": ("[" * 1_000_000, "expected at most 64 lists and mappings"),
    "a bomb of aliases": (
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in itertools.pairwise("abcdefghi")),
        "line 7, column 20: expected at most 32 MiB once aliases are written out",
    ),
    "a long text many times": (
        f"messages:\n- &text {'x' * 1_000_000}\n" + "- *text\n" * 40,
        "expected at most 32 MiB once aliases are written out",
    ),
    "a number without end": (f"budget: {{context_window: {'9' * 5000}}}\n", "expected YAML: Exceeds the limit"),
    "a file too large": ("#" * (4 * 1024 * 1024 + 1), "expected at most 4 MiB, found more"),
    "a key that is a document": (f"{'k' * 500}: 1\n", "bot.yaml: " + "k" * 40 + "…: unknown key"),
    "a setting that is a document": (f"budget: {{overhead: {'w' * 500}}}\n", "got a text of 500 characters"),
}
REFUSALS = {name: (case["request"], case["refusal"]) for name, case in CASES.items()} | GROWN

FILES: dict[str, bytes] = {
    "note.md": b"A note.",
    "latin.txt": b"one\ntwo \xe9\n",
    "bad.json": b'[\n{"role": "user",\n content: 1}]\n',
    "bad.jsonl": b'{"role": "user", "content": "a"}\n{"role": \n',
    "nan.jsonl": b'{"role": "user", "content": NaN}\n',
    "twice.json": b'[{"role": "user", "role": "system", "content": "a"}]',
    "deep.json": b"[" * 100_000,
    "nested.json": b'[{"role": "user", "content": ' + b"[" * 200 + b"]" * 200 + b"}]",
    "surrogate.jsonl": b'{"role": "user", "content": "\\ud800"}',
    "mapping.json": b'{"messages": []}',
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_wrong_file_prints_one_line_with_its_name_and_exits_with_2(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, expected = REFUSALS[case]
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "bot.yaml").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    code = main(["build", "bot.yaml", "-o", "out.json"])

    out, err = capsys.readouterr()
    assert (code, out) == (2, ""), err
    assert err.count("\n") == 1, err
    assert expected in err
    assert err.startswith(("bot.yaml: ", "mapping.json: "))
    assert "Traceback" not in err
    assert not Path("out.json").exists()
