"""Every way in which a request file can be wrong ends in one line that names file, key and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from assembler.cli import main

# Case name: the request file (`{tmp}` is not needed: files beside it are FILES), and what its one line must hold.
REFUSALS: dict[str, tuple[str, str]] = {
    # The whole file
    "empty": ("", "expected a mapping with model, budget, dialect, instruction"),
    "a list": ("- a\n- b\n", "expected a mapping with model"),
    "a text": ("just some words", "expected a mapping with model"),
    "two documents": ("model: gpt-4o\n---\nmodel: gpt-4o\n", "line 2, column 1: expected YAML"),
    "bad syntax": ("model: gpt-4o\nbudget: {context_window: 1\ntools: [\n", "line "),
    "a tab": ("model: gpt-4o\n\tdialect: plain\n", "line 2, column 1: expected YAML"),
    "a control character": ("model: gpt-4o\ninstruction: \x07\n", "line 2: expected YAML"),
    "a python object": ("model: !!python/object/apply:os.getcwd []\n", "line 1, column 8: expected YAML"),
    "a key twice": ("model: gpt-4o\ndialect: plain\nmodel: gpt-4\n", "line 3, column 1: key model given twice"),
    "a nested key twice": ("budget: {overhead: 1, overhead: 2}\n", "line 1, column 23: key overhead given twice"),
    "a number as key": ("1: x\n", "expected keys that are text, got 1"),
    "a list as key": ("? [a]\n: x\n", "expected YAML"),
    "too deep": ("instruction: " + "[" * 100 + "]" * 100, "expected at most 64 lists and mappings inside one another"),
    "an alias without anchor": ("instruction: *nobody\n", "alias nobody stands for nothing"),
    "an alias of itself": ("messages: &all [*all]\n", "alias all stands for nothing that is complete"),
    "a bomb of aliases": (
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
        "expected at most 32 MiB once aliases are written out",
    ),
    "a number without end": (f"budget: {{context_window: {'9' * 5000}}}\n", "expected YAML"),
    # Keys
    "an unknown key": ("modle: gpt-4o\n", "modle: unknown key, did you mean model? expected one of: model, budget"),
    "a strange key": ("temperature: 1\n", "temperature: unknown key; expected one of: model, budget, dialect"),
    "an unknown budget key": ("budget: {contxt_window: 9}\n", "budget.contxt_window: unknown key, did you mean context_window?"),
    "an unknown document key": (
        "knowledge:\n- {text: a, type: b, trustd: true}\n",
        "knowledge[0].trustd: unknown key, did you mean trusted?",
    ),
    "a key that is a document": (f"{'k' * 500}: 1\n", "kkkk…: unknown key"),
    # Types
    "a model that is a number": ("model: 4\n", "model: expected text, got 4 (put it in quotes)"),
    "a model that is a list": ("model: [gpt-4o]\n", "model: expected text, got a list"),
    "a budget that is a number": ("budget: 8000\n", "budget: expected a mapping with context_window"),
    "a window that is a text": ("budget: {context_window: 8k}\n", 'budget.context_window: expected a whole number, got "8k"'),
    "a window that is a share": ("budget: {context_window: 0.5}\n", "budget.context_window: expected a whole number, got 0.5"),
    "a window that is a truth": ("budget: {context_window: true}\n", "expected a whole number, got true"),
    "trusted in quotes": (
        'knowledge:\n- {text: a, type: b}\n- {text: a, type: b}\n- {text: a, type: b, trusted: "yes"}\n',
        'knowledge[2].trusted: expected true or false, got "yes"',
    ),
    "trusted as YAML 1.1 had it": (
        "knowledge:\n- {text: a, type: b, trusted: yes}\n",
        'knowledge[0].trusted: expected true or false, got "yes"',
    ),
    "trusted as a number": ("knowledge:\n- {text: a, type: b, trusted: 1}\n", "trusted: expected true or false, got 1"),
    "instruction as a number": ("instruction: 5\n", "instruction: expected text or {file: path}, got 5"),
    "knowledge as a text": ("knowledge: All of it.\n", "knowledge: expected a list of documents, got a text of 10 characters"),
    "a document as a text": ("knowledge: [All of it.]\n", "knowledge[0]: expected a mapping with type, text, file"),
    "a document without a type": ("knowledge: [{text: a}]\n", "knowledge[0].type: missing, and required"),
    "a document with nothing": ("knowledge: [{type: a}]\n", "knowledge[0]: expected either text or file, got neither"),
    "a document with both": ("knowledge: [{type: a, text: b, file: note.md}]\n", "expected either text or file, got both"),
    "messages as a text": ("messages: hello\n", "messages: expected a list of messages, got a text of 5 characters"),
    "messages as a number": ("messages: 5\n", "messages: expected a list of messages or {file: path}, got 5"),
    "tools as a mapping": ("tools: {name: f}\n", "tools.name: unknown key; expected one of: file"),
    "a date in a message": (
        "messages: [{role: user, content: !!timestamp 2026-01-31}]\n",
        "messages[0].content: expected a value that JSON can carry, got a date",
    ),
    "an infinity in a tool": (
        "tools: [{name: f, description: d, parameters: {maximum: 1e999}}]\n",
        "tools[0].parameters.maximum: expected a number, got inf",
    ),
    # Files
    "no such document": ("knowledge: [{type: a, file: gone.md}]\n", "knowledge[0].file: expected a file, found none at "),
    "a folder": ("instruction: {file: .}\n", "instruction.file: expected a file, found a folder at "),
    "a name with NUL": ('instruction: {file: "a\\0b"}\n', "instruction.file: expected a file that can be read"),
    "no such history": ("messages: {file: gone.jsonl}\n", "messages.file: expected a file, found none at "),
    "a file that is no UTF-8": ("instruction: {file: latin.txt}\n", "latin.txt has other bytes in line 2"),
    "bad JSON": ("messages: {file: bad.json}\n", "bad.json, line 3: Expecting"),
    "bad JSON lines": ("messages: {file: bad.jsonl}\n", "bad.jsonl, line 2: Expecting"),
    "NaN in JSON": ("messages: {file: nan.jsonl}\n", "nan.jsonl, line 1: NaN is no JSON number"),
    "a JSON key twice": ("messages: {file: twice.json}\n", "twice.json: key role given twice in one object"),
    "JSON too deep": ("messages: {file: deep.json}\n", "deep.json: nested too deeply"),
    "a history that is a mapping": ("messages: {file: mapping.json}\n", "mapping.json: expected a list of messages, got a mapping"),
    # What the library refuses
    "an unknown model": ("model: gpt-4oo\n", 'model: expected a model whose window is published, got "gpt-4oo"; nearest known: gpt-4o'),
    "a budget without a window": ("budget: {max_output_tokens: 5}\n", "budget.context_window: missing, and required where no model"),
    "a reserve above the window": ("budget: {context_window: 5, max_output_tokens: 6}\n", "budget: "),
    "a negative window": ("model: gpt-4o\nbudget: {context_window: -5}\n", "budget: "),
    "an unknown dialect": ("dialect: openai_chta\n", 'dialect: expected one of openai_chat, plain; got "openai_chta" (did you mean openai_chat?)'),
    "a region that is none": ("budget: {context_window: 9, limits: {knowlege: {cap: 5}}}\n", "budget: limits"),
    "a limit that is none": ("budget: {context_window: 9, limits: {knowledge: {cap: 2.5}}}\n", "budget.limits: "),
    "a tag that is none": ("knowledge: [{type: a, text: b, source: \"\\e\"}]\n", "knowledge[0]: "),
    "an illegal tool": ("tools: [{name: a b, description: d, parameters: {}}]\n", "tools: "),
    "a message without a role": ("messages: [{content: hi}]\n", "messages: message 0: "),
    "an orphan result": ("messages: [{role: tool, tool_call_id: c, content: x}]\n", "messages: message 0: "),
    "a call that nobody answers": (
        "model: gpt-4o\nmessages:\n- {role: user, content: a}\n- {role: assistant, tool_calls: "
        "[{id: c, type: function, function: {name: f, arguments: '{}'}}]}\n- {role: user, content: b}\n",
        "messages: message ",
    ),
    # Policies
    "an unknown policy": ("on_overflow: trim_oldset\n", 'on_overflow: expected one of refuse, trim_oldest; got "trim_oldset" (did you mean trim_oldest?)'),
    "a policy that is a number": ("on_overflow: 1\n", "on_overflow: expected one of refuse, trim_oldest; got 1"),
    "an empty ladder": ("on_overflow: []\n", "on_overflow: expected at least one of refuse, trim_oldest"),
    "a rung that is unknown": ("on_overflow: [refuse, drop]\n", 'on_overflow[1]: expected one of refuse, trim_oldest; got "drop"'),
    "two policies in one": ("on_overflow: {refuse: , trim_oldest: }\n", "on_overflow: expected one policy with its options, got 2 keys"),
    "an unknown option": ("on_overflow: {trim_oldest: {low_watr: 0.5}}\n", "on_overflow.trim_oldest.low_watr: unknown key, did you mean low_water?"),
    "an option of refuse": ("on_overflow: {refuse: {low_water: 0.5}}\n", "on_overflow.refuse.low_water: unknown key"),
    "options as a list": ("on_overflow: {trim_oldest: [1]}\n", "on_overflow.trim_oldest: expected a mapping of options, got a list"),
    "an option of a wrong type": ('on_overflow: {trim_oldest: {low_water: "50%"}}\n', 'on_overflow.trim_oldest.low_water: expected a number, got "50%"'),
    "an option out of range": ("on_overflow: {trim_oldest: {low_water: 1.5}}\n", "on_overflow.trim_oldest: TrimOldest: low_water"),
    "no turns to keep": ("on_overflow: [{trim_oldest: {keep_turns: 0}}]\n", "on_overflow[0].trim_oldest: TrimOldest: keep_turns"),
}  # fmt: skip

FILES: dict[str, bytes] = {
    "note.md": b"A note.",
    "latin.txt": b"one\ntwo \xe9\n",
    "bad.json": b'[\n{"role": "user",\n content: 1}]\n',
    "bad.jsonl": b'{"role": "user", "content": "a"}\n{"role": \n',
    "nan.jsonl": b'{"role": "user", "content": NaN}\n',
    "twice.json": b'[{"role": "user", "role": "system", "content": "a"}]',
    "deep.json": b"[" * 100_000,
    "mapping.json": b'{"messages": []}',
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_wrong_file_is_one_line_with_its_name_and_exit_code_2(
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
    assert err.startswith("bot.yaml: ") or err.startswith("mapping.json: ")
    assert "Traceback" not in err
    assert not Path("out.json").exists()
