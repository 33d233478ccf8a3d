"""Prompt files for another reader are converted: comments are removed, variables become tags."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembler.errors import PromptError
from assembler.prompts import (
    SUPPORTED_INPUT_VARIABLES,
    Prompt,
    PromptFormatter,
    ValidatedPromptTemplate,
    with_tags,
    without_comments,
)

ARCHI = """\
# Condenses a question. Variables:
# {full_history} and {todo: what it is for}
  # indented
Given the conversation, restate the question. # not a comment

{full_history}
Follow up: {question}
"""


class Chat:
    def __init__(self) -> None:
        self.special_tokens_map = {"additional_special_tokens": ["<|im_start|>"]}

    def apply_chat_template(self, messages: object, *, tokenize: bool, add_generation_prompt: bool) -> str:
        return json.dumps(messages)


def test_a_file_with_variables_in_its_comments_becomes_messages() -> None:
    with pytest.raises(PromptError, match="line 2"):
        ValidatedPromptTemplate("condense", ARCHI)
    template = ValidatedPromptTemplate("condense", with_tags(without_comments(ARCHI)))
    assert template.input_variables == ["full_history", "question"]
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    formatted, _ = PromptFormatter(Chat()).format_prompt(template.format(full_history=history, question="Why?"))
    assert [(one["role"], one["content"]) for one in json.loads(formatted)] == [
        ("system", "Given the conversation, restate the question. # not a comment"),
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("system", "Follow up:"),
        ("user", "Why?"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#a\n#b", ""),
        ("a\n#b", "a\n"),
        ("a\r\n#b\r\nc", "a\r\nc"),
        ("a # b", "a # b"),
        ("\t# a\n\n b", "\n b"),
        ("", ""),
    ],
)
def test_comments_are_whole_lines(text: str, expected: str) -> None:
    assert without_comments(text) == expected


@given(st.lists(st.sampled_from(["# c {x}", " #", "text", "{question}", "", "a # b"]), max_size=8))
def test_all_lines_but_comments_stay_as_they_are(lines: list[str]) -> None:
    kept = [line for line in lines if not line.lstrip().startswith("#")]
    assert without_comments("\n".join([*lines, "end"])) == "\n".join([*kept, "end"])
    assert without_comments(without_comments("\n".join(lines))) == without_comments("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{question}", "<question> {question} </question>"),
        ("<question>{question}</question>", "<question>{question}</question>"),
        ("<Question>\n {question}\n</Question>", "<Question>\n {question}\n</Question>"),
        ("{other} {{question}}", "{other} {{question}}"),
        ("{{question}} {context}", "{{question}} <context> {context} </context>"),
        ("{{ question }}{{ x|upper }}", "<question> {{ question }} </question>{{ x|upper }}"),
        ("{{ question|upper }}", "{{ question|upper }}"),
        (
            "{condensed_question}{question}",
            "<condensed_question> {condensed_question} </condensed_question><question> {question} </question>",
        ),
    ],
)
def test_each_supported_variable_gets_its_tag(text: str, expected: str) -> None:
    assert with_tags(text) == expected
    assert with_tags(with_tags(text)) == expected


@given(st.lists(st.sampled_from([*SUPPORTED_INPUT_VARIABLES, "other"]), min_size=1, max_size=6, unique=True))
def test_tags_do_not_change_the_variables(names: list[str]) -> None:
    text = " ".join(f"{{{name}}}" for name in names)
    template = ValidatedPromptTemplate("t", with_tags(text))
    assert template.input_variables == sorted(names)
    assert PromptFormatter(Plain()).format_prompt(template.format(**dict.fromkeys(names, "v")))[0].split() == [
        "v"
    ] * len(names)


class Plain:
    def __init__(self) -> None:
        self.special_tokens_map = {"eos_token": "<|endoftext|>"}


def test_a_prompt_keeps_its_name_and_one_with_values_is_refused() -> None:
    read = Prompt("# c\n{question}", name="a.md", source="/p/a.md")
    for prepared in (without_comments(read), with_tags(read)):
        assert (prepared.name, prepared.source) == ("a.md", "/p/a.md")
    rendered = ValidatedPromptTemplate("t", "{question}").format(question="# not a comment")
    for prepare in (without_comments, with_tags):
        with pytest.raises(PromptError, match="rendered already"):
            prepare(rendered)
        with pytest.raises(PromptError, match="text"):
            prepare(7)  # type: ignore[arg-type]


def test_a_long_file_is_read_in_one_pass() -> None:
    assert len(with_tags("{question}" * 50_000)) == len("<question> {question} </question>") * 50_000
    assert without_comments(" " * 500_000 + "\n#" * 300_000) == " " * 500_000 + "\n"
