"""Batch files of OpenAI, Anthropic and Gemini are read, fitted and written in the provider's documented form."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from assembler import count_request
from assembler.batch import BatchError
from assembler.batch.finish import finish, log_of
from assembler.batch.formats import FORMATS
from assembler.cli import main
from assembler.strategies.sources.shared_prefixes import PrefixTree
from assembler.verify import verify

LONG = [
    {"role": "user", "content": "word " * 300},
    {"role": "assistant", "content": "ok"},
    {"role": "user", "content": "And now?"},
]
GEMINI_LONG = [
    {"role": "user", "parts": [{"text": "word " * 300}]},
    {"role": "model", "parts": [{"text": "ok"}]},
    {"role": "user", "parts": [{"text": "And now?"}]},
]


def chat(name: str, messages: list[dict[str, Any]], **beside: Any) -> dict[str, Any]:
    body = {"model": "gpt-4o", "messages": messages, **beside}
    return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}


def written(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(spelling: str, model: str, lines: list[Any], *more: str, further: str = "") -> int:
    Path("spec.yaml").write_text(
        f"model: {model}\nbudget: {{context_window: 250, max_output_tokens: 50}}\non_overflow: trim_oldest\n{further}"
    )
    written(Path("in.jsonl"), lines)
    return main(["batch", "in.jsonl", "out.jsonl", "--spec", "spec.yaml", "--format", spelling, *more])


def test_openai_gets_its_lines_back_with_bodies_that_fit() -> None:
    responses = {"model": "gpt-4o", "instructions": "Be brief.", "input": LONG}
    second = {"custom_id": "b", "method": "POST", "url": "/v1/responses", "body": responses}
    assert ran("openai", "gpt-4o", [chat("a", LONG, temperature=0, max_completion_tokens=50), second]) == 0
    assert read(Path("out.jsonl")) == [
        chat("a", LONG[2:], temperature=0, max_completion_tokens=50),
        {**second, "body": {**responses, "input": LONG[2:]}},
    ]


def test_a_line_that_fits_is_returned_unchanged() -> None:
    line = {**chat("a", LONG[2:], logit_bias={"5": 1}), "note": "kept"}
    ran("openai", "gpt-4o", [line])
    assert read(Path("out.jsonl")) == [line]


def test_anthropic_gets_its_params_back() -> None:
    params = {"model": "claude-sonnet-4-5", "max_tokens": 50, "system": "Be brief.", "messages": LONG}
    assert ran("anthropic", "claude-sonnet-4-5", [{"custom_id": "a", "params": params}]) == 0
    (line,) = read(Path("out.jsonl"))
    assert line == {"custom_id": "a", "params": {**params, "messages": LONG[2:]}}
    assert verify(line["params"], dialect="anthropic") == []


@pytest.mark.parametrize("system", ["systemInstruction", "system_instruction"])
@pytest.mark.parametrize("generation", ["generationConfig", "generation_config"])
def test_gemini_gets_a_request_of_its_rest_api_back(system: str, generation: str) -> None:
    instruction = {"parts": [{"text": "Be brief."}]}
    request = {"contents": GEMINI_LONG, system: instruction, generation: {"temperature": 0.5}}
    assert ran("gemini", "gemini-2.5-flash", [{"key": "a", "request": request}]) == 0
    (line,) = read(Path("out.jsonl"))
    assert line == {"key": "a", "request": {**request, "contents": GEMINI_LONG[2:]}}


def test_lines_that_name_a_cache_are_fitted_beside_the_tokens_that_the_spec_says_it_has() -> None:
    line = {"key": "a", "request": {"contents": GEMINI_LONG[2:], "cachedContent": "cachedContents/1"}}
    assert ran("gemini", "gemini-2.5-flash", [line]) == 1
    assert "held in a request file" in read(Path("out.jsonl.rows.jsonl"))[0]["error"]["message"]
    alone = count_request(line["request"], dialect="gemini", model="gemini-2.5-flash", held=0)
    for path in Path().glob("out.jsonl*"):
        path.unlink()
    for held, code in ((200 - alone.upper, 0), (201 - alone.upper, 1)):
        assert ran("gemini", "gemini-2.5-flash", [line], further=f"held: {held}\n") == code
        (log,) = read(Path("out.jsonl.rows.jsonl"))
        if code == 0:
            assert read(Path("out.jsonl")) == [line]
            assert log["tokens"] == alone.tokens + held
        for path in Path().glob("out.jsonl*"):
            path.unlink()


def test_a_bad_line_is_in_the_log_and_not_in_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    embedding = {"custom_id": "b", "method": "POST", "url": "/v1/embeddings", "body": {}}
    assert ran("openai", "gpt-4o", [chat("a", LONG[2:]), embedding, {"id": "c"}]) == 0
    assert [line["custom_id"] for line in read(Path("out.jsonl"))] == ["a"]
    log = read(log_of(Path("out.jsonl")))
    assert [line.get("error", {}).get("message") for line in log] == [
        None,
        "url: expected one of /v1/chat/completions, /v1/responses, /chat/completions",
        "expected a line of a batch file of openai: custom_id, and body with the request",
    ]
    assert "log      out.jsonl.rows.jsonl" in capsys.readouterr().out


def test_a_line_of_azure_gets_its_url_back() -> None:
    line = {**chat("a", LONG), "url": "/chat/completions"}
    assert ran("openai", "gpt-4o", [line]) == 0
    assert read(Path("out.jsonl")) == [{**chat("a", LONG[2:]), "url": "/chat/completions"}]


@pytest.mark.parametrize(("name", "taken"), [("", False), ("a", True), ("é" * 64, True), ("a" * 65, False)])
def test_an_id_for_which_anthropic_refuses_all_lines_is_left_out(name: str, taken: bool) -> None:
    """Its API: "requests.0.custom_id: String should have at most 64 characters"."""
    params = {"model": "claude-sonnet-4-5", "max_tokens": 50, "messages": LONG[2:]}
    ran("anthropic", "claude-sonnet-4-5", [{"custom_id": one, "params": params} for one in ("first", name)])
    assert [line["custom_id"] for line in read(Path("out.jsonl"))] == (["first", name] if taken else ["first"])
    if not taken:
        error = read(log_of(Path("out.jsonl")))[1]["error"]
        assert error["kind"] == "RowError"
        assert f"custom_id: expected 1 to 64 characters, got {len(name)}" in error["message"]


def test_two_lines_with_one_id_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("openai", "gpt-4o", [chat("a", LONG[2:]), chat("a", LONG)]) == 2
    assert "rows 0 and 1 have the same custom_id" in capsys.readouterr().err
    assert not Path("out.jsonl").exists()


def test_a_lone_surrogate_in_a_copied_field_comes_back_as_the_escape_that_it_was() -> None:
    lines = [chat("\ud800", LONG[2:], metadata={"k": "\udc00é"}), chat("b", LONG[2:])]
    assert ran("openai", "gpt-4o", lines) == 0
    assert read(Path("out.jsonl")) == lines


@pytest.mark.parametrize("beside", [".run.json", ".rows.jsonl", ".rows.jsonl.run.json"])
def test_a_file_that_a_run_keeps_beside_its_output_is_not_taken_for_its_input(beside: str) -> None:
    rows = written(Path(f"out.jsonl{beside}"), [chat("a", LONG[2:])])
    content = rows.read_bytes()
    Path("spec.yaml").write_text("model: gpt-4o\n")
    assert main(["batch", str(rows), "out.jsonl", "--spec", "spec.yaml"]) == 2
    assert rows.read_bytes() == content


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_travels_to_a_worker(name: str) -> None:
    assert pickle.loads(pickle.dumps(FORMATS[name])) == FORMATS[name]


def test_a_run_of_one_format_is_not_continued_in_another(capsys: pytest.CaptureFixture[str]) -> None:
    ran("openai", "gpt-4o", [chat("a", LONG)])
    assert ran("anthropic", "gpt-4o", [chat("a", LONG)]) == 2
    assert "format" in capsys.readouterr().err


def test_a_run_begins_again_once_the_files_that_its_refusal_names_are_moved(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It named the log alone; with that moved, the output was taken for another program's."""
    assert ran("openai", "gpt-4o", [chat("a", LONG)]) == 0
    assert ran("openai", "gpt-4o", [chat("b", LONG)]) == 2
    printed = capsys.readouterr().err
    assert "or move out.jsonl and out.jsonl.rows.jsonl away to start again" in printed
    (folder / "old").mkdir()
    for name in ("out.jsonl", "out.jsonl.rows.jsonl"):
        Path(name).rename(Path("old", name))
    assert ran("openai", "gpt-4o", [chat("b", LONG)]) == 0
    assert [line["custom_id"] for line in read(Path("out.jsonl"))] == ["b"]


def test_a_file_of_another_program_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out.jsonl").write_text("mine\n")
    assert ran("openai", "gpt-4o", [chat("a", LONG)]) == 2
    assert Path("out.jsonl").read_text() == "mine\n"
    assert "no run wrote it" in capsys.readouterr().err


def test_a_finish_that_fails_leaves_the_file_as_it_was(folder: Path) -> None:
    output = folder / "out.jsonl"
    output.write_text("before\n")
    twice = '{"row":0,"custom_id":"a","request":{}}\n{"row":1,"custom_id":"a","request":{}}\n'
    log_of(output).write_text(twice)
    with pytest.raises(BatchError):
        finish(output, FORMATS["openai"])
    assert output.read_text() == "before\n"
    assert sorted(path.name for path in folder.iterdir()) == ["out.jsonl", "out.jsonl.rows.jsonl"]


SOURCES = """
model: gpt-4o
budget: {context_window: 400, max_output_tokens: 50}
strategy: cited_sources
"""


def with_documents(name: str) -> dict[str, Any]:
    documents = [{"text": f"About {one}. " * 5, "source": one, "score": 0.9 - n / 10} for n, one in enumerate(name)]
    return {"id": name, "knowledge": documents, "messages": [{"role": "user", "content": f"About {name}?"}]}


def test_neighbours_of_a_shared_order_begin_alike() -> None:
    Path("spec.yaml").write_text(SOURCES)
    written(Path("in.jsonl"), [with_documents(name) for name in ("ab", "cd", "ba", "dc")])
    command = ["batch", "in.jsonl", "out.jsonl", "--spec", "spec.yaml", "--order", "shared"]
    assert main(command) == 0
    lines = read(Path("out.jsonl"))
    assert sorted(line["row"] for line in lines) == [0, 1, 2, 3]
    systems = [line["request"]["messages"][0]["content"] for line in lines]
    assert systems[0] == systems[1] != systems[2] == systems[3]
    before = Path("out.jsonl").read_bytes()
    assert main(command) == 0  # a run that is done does nothing
    assert Path("out.jsonl").read_bytes() == before


def test_a_row_that_comes_while_the_rows_are_sorted_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its request was built and had no place in the order. The output lacked it, and all seemed done."""
    Path("spec.yaml").write_text(SOURCES)
    rows = [with_documents(name) for name in ("ab", "cd")]
    source = written(Path("in.jsonl"), rows)
    schedule = PrefixTree.schedule

    def add_a_row_meanwhile(tree: PrefixTree, batch: Any) -> list[int]:
        written(source, [*rows, with_documents("ba")])
        return schedule(tree, batch)

    command = ["batch", "in.jsonl", "out.jsonl", "--spec", "spec.yaml", "--order", "shared"]
    with monkeypatch.context() as patched:
        patched.setattr(PrefixTree, "schedule", add_a_row_meanwhile)
        assert main(command) == 2
    assert "changed while it was sorted; start again" in capsys.readouterr().err
    assert main(command) == 0
    assert sorted(line["row"] for line in read(Path("out.jsonl"))) == [0, 1, 2]


@pytest.mark.parametrize(
    ("spec", "more", "problem"),
    [
        ("model: gpt-4o", ["--order", "shared"], "the spec needs `strategy: cited_sources`"),
        (SOURCES, ["--order", "shared", "--format", "openai"], "a provider's own requests have no documents"),
    ],
)
def test_an_order_without_documents_is_refused(
    spec: str, more: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("spec.yaml").write_text(spec)
    written(Path("in.jsonl"), [chat("a", LONG)])
    assert main(["batch", "in.jsonl", "out.jsonl", "--spec", "spec.yaml", *more]) == 2
    assert problem in capsys.readouterr().err
