"""The bundled vocabularies are the published ones, and reading them touches only the package."""

from __future__ import annotations

import hashlib
import json
import runpy
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import budgets.vocabularies.loading as loading
from budgets import TokenCountError, tiktoken_counter
from budgets.counters.tiktoken import BUNDLED
from budgets.vocabularies import PUBLISHED, mergeable_ranks
from budgets.vocabularies.loading import unpack
from tests.budgets.raw_engines import NAMES, published_parameters, published_text, tokens
from tools import published_vocabularies
from tools.published_vocabularies import main, pack, parse, published_sha256, recognise


def test_the_counter_offers_what_is_bundled() -> None:
    assert sorted(BUNDLED) == sorted(PUBLISHED) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_pattern_specials_and_hash_are_those_that_tiktoken_publishes(name: str) -> None:
    published = published_parameters(name)
    ours = PUBLISHED[name]
    assert (ours.pattern, ours.specials, ours.sha256) == (
        published["pat_str"],
        published["special_tokens"],
        published["sha256"],
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_published_file_can_be_written_out_again(name: str) -> None:
    assert hashlib.sha256(published_text(name)).hexdigest() == PUBLISHED[name].sha256
    assert mergeable_ranks(name) == {token: rank for rank, token in enumerate(tokens(name))}


@pytest.mark.parametrize("name", NAMES)
def test_the_packed_file_spells_the_published_one(name: str) -> None:
    assert published_sha256(list(mergeable_ranks(name))) == PUBLISHED[name].sha256


@pytest.mark.parametrize("damage", [lambda b: b[:-100], lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"x" + b])
def test_a_damaged_file_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, damage: object) -> None:
    whole = loading.read_packed("r50k_base.zlib")
    monkeypatch.setattr(loading, "read_packed", lambda _file: damage(whole))  # type: ignore[operator]
    with pytest.raises(
        TokenCountError, match=r"budgets/vocabularies/r50k_base\.zlib is not ours: sha256 \w{64}, not a2260e0b"
    ):
        mergeable_ranks("r50k_base")


def test_a_sound_file_with_one_other_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    other = list(tokens("r50k_base"))
    other[100], other[101] = other[101], other[100]
    monkeypatch.setattr(loading, "read_packed", lambda _file: pack(other))
    with pytest.raises(TokenCountError, match=r"r50k_base\.zlib is not ours: sha256 \w{64}, not a2260e0b"):
        mergeable_ranks("r50k_base")


def test_a_missing_file_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_file: str) -> bytes:
        raise FileNotFoundError

    monkeypatch.setattr(loading, "read_packed", absent)
    with pytest.raises(TokenCountError) as caught:
        mergeable_ranks("cl100k_base")
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    assert caught.value.counter == "tiktoken:cl100k_base"


def test_a_loader_that_holds_no_data_is_refused_by_the_files_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading.pkgutil, "get_data", lambda _package, _file: None)
    with pytest.raises(TokenCountError, match=r"r50k_base\.zlib cannot be read"):
        mergeable_ranks("r50k_base")


def test_unpacking_undoes_packing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published = tmp_path / "official.tiktoken"
    published.write_bytes(published_text("r50k_base"))
    main([str(published)], folder=tmp_path)
    packed = (tmp_path / "r50k_base.zlib").read_bytes()
    assert unpack(packed) == tokens("r50k_base") == parse(published.read_bytes())
    assert published_sha256(tokens("r50k_base")) == PUBLISHED["r50k_base"].sha256
    assert (
        f"r50k_base.zlib: 50256 tokens, {len(packed)} bytes, sha256 {hashlib.sha256(packed).hexdigest()}"
        in capsys.readouterr().out
    )


def test_tokens_that_contain_the_separator_are_refused() -> None:
    with pytest.raises(ValueError, match="a token holds the seam"):
        pack([b"a", b"\xfe\xff"])
    assert unpack(pack([b"\xfe", b"\xff", b"\xfe"])) == [b"\xfe", b"\xff", b"\xfe"]


def test_only_published_files_are_packed() -> None:
    with pytest.raises(ValueError, match="is not that of a published vocabulary"):
        recognise(published_text("r50k_base") + b"\n")
    with pytest.raises(ValueError, match="line 2 has rank 2"):
        parse(b"YQ== 0\nYg== 2\n")


def test_run_as_a_script_it_refuses_a_file_that_was_never_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.tiktoken").write_bytes(b"YQ== 0\n")
    script = Path(published_vocabularies.__file__)
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path / "mine.tiktoken")])
    with pytest.raises(ValueError, match="is not that of a published vocabulary"):
        runpy.run_path(str(script), run_name="__main__")


def test_packing_that_loses_a_token_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = tmp_path / "official.tiktoken"
    published.write_bytes(published_text("r50k_base"))
    monkeypatch.setattr("tools.published_vocabularies.pack", lambda _tokens: zlib.compress(b"a"))
    with pytest.raises(ValueError, match="does not unpack"):
        main([str(published)], folder=tmp_path)
    assert not (tmp_path / "r50k_base.zlib").exists()


def test_an_unknown_encoding_is_refused_with_the_known_ones() -> None:
    with pytest.raises(TokenCountError, match="tiktoken:p50k_base has no bundled vocabulary: choose cl100k_base"):
        tiktoken_counter("p50k_base")


_WATCHED = """
import json, os, sys
seen = []
def watch(event, args):
    if event.startswith(("socket.", "urllib.")):
        seen.append(event)
    if event == "open" and args[1] is not None and any(m in args[1] for m in "wax+"):
        seen.append(f"write {args[0]}")
class Environment(dict):
    def __getitem__(self, key): seen.append(f"environment {key}"); return super().__getitem__(key)
    def get(self, key, default=None): seen.append(f"environment {key}"); return super().get(key, default)
    def __contains__(self, key): seen.append(f"environment {key}"); return super().__contains__(key)
    def __setitem__(self, key, value): seen.append(f"environment {key}")
import tiktoken  # its own imports look at the environment; counting must not
import budgets, budgets.vocabularies
os.environ = Environment(os.environ)
sys.addaudithook(watch)
counts = [budgets.tiktoken_counter(name)("one two three") for name in ("o200k_base", "cl100k_base", "r50k_base")]
print(json.dumps([counts, seen]))
"""


def test_the_first_count_opens_no_socket_writes_no_file_and_reads_no_environment() -> None:
    run = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", _WATCHED], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(run.stdout) == [[3, 3, 3], []]
