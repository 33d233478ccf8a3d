"""What `read_prompt` and a `PromptLibrary` return, and what they refuse."""

import json
import os
import pickle
import traceback
from pathlib import Path

import pytest

from assembler.errors import PromptError
from assembler.prompts import Prompt, PromptLibrary, PromptNotFoundError, read_prompt
from budgets import AssemblyError

NAMES = json.loads((Path(__file__).parent / "hostile_prompts.json").read_text("utf-8"))["names"]
CANARY = "canary-5e3a"


@pytest.fixture
def tree(tmp_path):
    """A library `prompts`, and things around it that must stay out of reach."""
    root = tmp_path / "prompts"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("Grüße\r\n{question}\n", encoding="utf-8", newline="")
    (root / "sub" / "b.md").write_text("b", encoding="utf-8")
    (tmp_path / "secret.md").write_text(CANARY, encoding="utf-8")
    (tmp_path / "prompts-next-door").mkdir()
    (tmp_path / "prompts-next-door" / "secret.md").write_text(CANARY, encoding="utf-8")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "linkdir").symlink_to(tmp_path / "prompts-next-door")
    (root / "inside.md").symlink_to(root / "sub" / "b.md")
    (root / "loop.md").symlink_to(root / "loop.md")
    (root / "latin.md").write_bytes(CANARY.encode() + b"\xe9")
    os.mkfifo(root / "fifo.md")
    with (root / "big.md").open("wb") as big:
        big.truncate(5 * 2**30)  # sparse
    return root


def test_read_prompt_returns_the_files_contents_as_a_string(tree):
    prompt = read_prompt(str(tree / "a.md"))
    assert isinstance(prompt, str)
    assert prompt == "Grüße\r\n{question}\n"
    assert read_prompt(tree / "a.md") == prompt
    assert isinstance(prompt, Prompt)
    assert prompt.source == str(tree / "a.md")


def test_read_prompt_raises_file_not_found_for_a_path_that_is_not_there(tree, monkeypatch):
    monkeypatch.chdir(tree)  # an error shows the beginning of a long path, and a test's folder may lie deep
    with pytest.raises(FileNotFoundError) as caught:
        read_prompt("missing.md")
    assert isinstance(caught.value, PromptNotFoundError)
    assert isinstance(caught.value, AssemblyError)
    assert "missing.md" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.name == caught.value.name


@pytest.mark.parametrize("name", ["sub", "big.md", "latin.md", "fifo.md", "loop.md", "a\0b"])
def test_read_prompt_refuses_anything_but_a_small_text_file(tree, name):
    with pytest.raises(PromptError) as caught:
        read_prompt(os.path.join(tree, name))
    assert not isinstance(caught.value, FileNotFoundError)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


def test_the_size_limit_is_the_last_size_that_is_read(tree):
    size = (tree / "a.md").stat().st_size
    assert read_prompt(tree / "a.md", max_bytes=size)
    assert PromptLibrary(tree, max_bytes=size).read("a.md")
    with pytest.raises(PromptError, match=f"more than {size - 1} bytes"):
        read_prompt(tree / "a.md", max_bytes=size - 1)
    with pytest.raises(PromptError):
        PromptLibrary(tree, max_bytes=size - 1).read("a.md")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs a file that is longer than it says")
def test_a_file_that_is_longer_than_it_says_is_refused():
    with pytest.raises(PromptError, match="more than 10 bytes"):
        read_prompt("/proc/self/status", max_bytes=10)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_outside_the_library_is_refused_and_nothing_is_shown(tree, name):
    with pytest.raises(PromptError) as caught:
        PromptLibrary(tree).read(name)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    str(caught.value).encode("utf-8")
    assert isinstance(caught.value, FileNotFoundError) == (name in ("missing.md", "a.md/b"))


def test_an_absolute_name_is_refused_even_if_it_lies_in_the_library(tree):
    with pytest.raises(PromptError):
        PromptLibrary(tree).read(str(tree / "a.md"))


@pytest.mark.parametrize("name", ["a.md", "sub/b.md", "inside.md"])
def test_a_confined_name_is_read_and_remembered(tree, name):
    prompt = PromptLibrary(tree).read(name)
    assert prompt == (tree / name).read_bytes().decode()
    assert prompt.name == name
    assert Path(prompt.source) == (tree / name).resolve()


def test_a_missing_name_is_both_a_prompt_error_and_a_file_not_found_error(tree):
    with pytest.raises(PromptNotFoundError) as caught:
        PromptLibrary(tree).read("missing.md")
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.name == "missing.md"


def test_a_name_that_is_not_text_is_refused(tree):
    with pytest.raises(PromptError, match="a prompt's name is a str, got int"):
        PromptLibrary(tree).read(7)


def test_a_very_long_name_is_refused_and_shown_cut(tree):
    with pytest.raises(PromptError) as caught:
        PromptLibrary(tree).read("x" * 5000)
    assert len(str(caught.value)) < 300


def test_a_library_must_be_a_directory_that_is_there(tree):
    with pytest.raises(PromptNotFoundError):
        PromptLibrary(tree / "nowhere")
    with pytest.raises(PromptError, match="not a directory"):
        PromptLibrary(tree / "a.md")


def test_a_link_to_a_library_is_the_library(tree, tmp_path):
    (tmp_path / "alias").symlink_to(tree)
    assert PromptLibrary(tmp_path / "alias").read("a.md") == read_prompt(tree / "a.md")


def test_a_path_that_cannot_be_followed_is_a_prompt_error(tree):
    with pytest.raises(PromptError):
        read_prompt(tree / "a.md" / "b")
