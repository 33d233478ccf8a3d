"""`assemble check` reports what is wrong with a file; `assemble count` works with a tokenizer."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from assembler import Assembler, count_request
from assembler.cli import main
from assembler.dialects import DIALECTS, mistral
from assembler.verify import DIALECTS as CHECKERS
from budgets import transformers_counter

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))

HELLO: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello there"}]}


def smallest(dialect: str) -> dict[str, Any]:
    if dialect not in DIALECTS:
        return HELLO  # a chat template's
    return Assembler(dialect=dialect).add_messages(HELLO["messages"]).build().request()


@pytest.mark.parametrize("case", CASES)
def test_check_names_what_breaks_and_ends_1_only_then(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "body.json"
    file.write_text(json.dumps(CASES[case]["body"]), encoding="utf-8")
    expected = CASES[case]["lines"]
    assert main(["check", str(file), *CASES[case].get("arguments", ())]) == (not expected[0].startswith("no "))
    out, err = capsys.readouterr()
    assert not err
    lines = out.splitlines()
    assert len(lines) == len(expected)
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize("dialect", sorted(CHECKERS))
def test_check_speaks_every_dialect_that_has_rules(
    dialect: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "body.json"
    file.write_text(json.dumps({**smallest(dialect), "max_tokens": 1}), encoding="utf-8")
    assert main(["check", str(file), "--dialect", dialect]) == 0
    assert capsys.readouterr().out.endswith(f"rules of {dialect}\n")


def test_printed_text_cannot_control_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "body.json"
    file.write_text('{"messages": [{"role": "user", "content": "hi", "\\u001b[31m": "\\ud800"}]}', encoding="utf-8")
    assert main(["check", str(file), "--dialect", "plain"]) == 1
    assert "\x1b" not in capsys.readouterr().out


REFUSALS = {
    "no such file": ("check gone.json", "gone.json: expected a file, found none"),
    "a list": ("check list.json", "list.json: expected a request, a JSON object, got a list"),
    "no model and no dialect": ("check hello.json", "assemble check: --model: missing, and hello.json names no model"),
    "an unknown dialect": ("check hello.json --dialect openai", f"--dialect: expected one of {min(CHECKERS)}, "),
    "an unknown model": ("check hello.json --model gtp-4o", 'whose window is published, got "gtp-4o"'),
    "a model that is a number": ("check number.json", "number.json: model: expected text, got 5"),
    "a template without its tokenizer": (
        "count hello.json --dialect chat_template",
        "assemble count: --tokenizer: missing; chat_template renders the template of a local tokenizer",
    ),
    "no tokenizer there": ("count hello.json --tokenizer gone", "--tokenizer: expected a folder or a tokenizer.json"),
    "no tokenizer in it": ("count hello.json --tokenizer .", "expected a tokenizer that transformers reads, got "),
    "a tokenizer without a template": ("count hello.json --tokenizer bare/tokenizer.json", "--tokenizer: "),
}  # fmt: skip


def fast_tokenizer() -> Any:
    return import_module("transformers").PreTrainedTokenizerFast


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers

    monkeypatch.chdir(tmp_path)
    engine = Tokenizer(models.WordLevel({"Hello": 0, "there": 1, "[user]": 2, "[": 3, "]": 4, "?": 5}, unk_token="?"))
    engine.pre_tokenizer = pre_tokenizers.Whitespace()
    made = fast_tokenizer()(tokenizer_object=engine, unk_token="?")
    made.save_pretrained(tmp_path / "bare")
    made.chat_template = "{% for message in messages %}[ ] {{ message.content }} {% endfor %}]"
    made.save_pretrained(tmp_path / "own")
    for name, body in {"hello": HELLO, "list": [1], "number": {"model": 5}}.items():
        Path(f"{name}.json").write_text(json.dumps(body), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("case", REFUSALS)
def test_check_and_count_refuse_in_one_line(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line, expected = REFUSALS[case]
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert not out
    assert expected in err
    assert err.count("\n") == 1


def counted(capsys: pytest.CaptureFixture[str]) -> tuple[int, str, int]:
    tokens, grade, upper = (line.split()[1] for line in capsys.readouterr().out.splitlines())
    return int(tokens), grade, int(upper)


@pytest.mark.parametrize("path", ["own", "own/tokenizer.json"])
@pytest.mark.parametrize("arguments", [[], ["--dialect", "chat_template"]])
def test_count_renders_the_template_of_a_local_tokenizer(
    path: str, arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["count", "hello.json", "--tokenizer", path, *arguments]) == 0
    assert counted(capsys) == (5, "exact", 5)


def test_a_tokenizer_of_its_own_counts_the_texts_of_other_dialects(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["count", "hello.json", "--tokenizer", "bare", "--dialect", "mistral", "--model", "my-own"]) == 0
    own = transformers_counter(fast_tokenizer().from_pretrained("bare"))
    priced = count_request(HELLO, dialect=mistral, model="my-own", counter=own)
    assert counted(capsys) == (priced.tokens, str(priced.grade), priced.upper)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_count_speaks_every_dialect_without_a_model(
    dialect: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = smallest(dialect)
    Path("body.json").write_text(json.dumps(body), encoding="utf-8")
    assert main(["count", "body.json", "--dialect", dialect]) == 0
    priced = count_request(body, dialect=DIALECTS[dialect])
    assert counted(capsys) == (priced.tokens, str(priced.grade), priced.upper)
