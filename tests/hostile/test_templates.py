"""Templates that reach out, never end or are given templates, and prompt names that leave the folder (A2-A4, A7)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("transformers")

from assembler import Assembler, AssemblyError, PromptError, UnsupportedContentError, count_request
from assembler.dialects.chat_template.dialect import ControlText, chat_template
from assembler.prompts import PromptFormatter, PromptLibrary, ValidatedPromptTemplate
from tests.assembler.dialects.test_chat_template import CHATML, SPECIAL, tokenizer_of
from tests.hostile.case_file import Case, case, cases
from tests.hostile.test_secrets import spoken_by

CANARY = "sk-CANARY-123"


def prompted(template: str, **values: Any) -> str:
    return ValidatedPromptTemplate("named", template, template_format="jinja2").format(**values)


def rendered(template: str, text: str, control_text: ControlText = ControlText.REFUSE) -> Any:
    dialect = chat_template(tokenizer_of(template), control_text=control_text)
    return Assembler(dialect=dialect).add_message(("user", text)).build()


@cases("test_templates", having="template")
def test_a_template_that_reaches_out_or_never_ends_is_refused_by_name_and_line(case: Case) -> None:
    with pytest.raises(PromptError, match="template 'named', line 1") as refused:
        prompted(case["input"]["template"], messages=[("user", CANARY)])
    assert not any(CANARY in text for text in spoken_by(refused.value))


@cases("test_templates", having="template")
def test_a_chat_template_that_reaches_out_is_refused_or_shows_nothing_of_it(case: Case) -> None:
    if case["input"].get("only_time"):
        return  # a chat template is code that its user chose: nothing bounds its time
    try:
        shown = rendered(case["input"]["template"], CANARY).request()["prompt"]
    except AssemblyError as error:
        assert not any(CANARY in text for text in spoken_by(error))
    else:
        assert shown in ("", "[Undefined]")


def test_a_value_is_never_read_as_a_template() -> None:
    given = case("A3-11")["input"]
    assert prompted(given["plain"], v=given["value"]) == given["value"]
    named = ValidatedPromptTemplate("t", "{v}", template_format="f-string")
    assert named.format(v=given["value"]) == given["value"]
    assert given["value"] in rendered(CHATML, given["value"]).request()["prompt"]
    assert Assembler().add_instruction(given["value"]).build().system == given["value"]


def test_the_error_names_a_missing_variable() -> None:
    for style, spelled in (("jinja2", case("A3-13")["input"]["misspelled"]), ("f-string", "Hello {nmae}")):
        with pytest.raises(PromptError, match="nmae"):
            ValidatedPromptTemplate("t", spelled, template_format=style).format(name="x")  # type: ignore[arg-type]


def test_a_chat_template_is_never_fetched_and_the_page_says_that_it_is_code() -> None:
    with pytest.raises(AssemblyError):
        chat_template(case("A3-15")["input"]["tokenizer"])
    page = Path(__file__).parents[2] / "docs" / "prompts-for-a-tokenizer.md"
    assert "A chat template is code that comes with a tokenizer. Load it from a revision that you pinned." in (
        page.read_text("utf-8")
    )


def test_a_control_token_that_only_the_template_assembles_is_not_structure() -> None:
    given = case("A2-21")["input"]
    for control_text in (ControlText.REFUSE, ControlText.NEUTRALISE):
        with pytest.raises(UnsupportedContentError, match="control token"):
            rendered(given["joining"], given["content"], control_text).request()


def test_a_prompt_has_the_bos_once_however_it_is_tokenised() -> None:
    dialect = chat_template(tokenizer_of(case("A2-27")["input"]["begins"] + CHATML))
    context = Assembler(dialect=dialect).add_message(("user", "hi")).build()
    request: Any = context.request()
    bos = tokenizer_of(CHATML).convert_tokens_to_ids(SPECIAL[0])
    assert request["prompt_token_ids"].count(bos) == 1
    assert count_request(request, dialect=dialect) == context.count


@pytest.fixture
def library(tmp_path: Path) -> PromptLibrary:
    """A library, and around it what must stay out of reach."""
    root = tmp_path / "prompts"
    (root / "dir").mkdir(parents=True)
    (root / "a.md").write_text("a", encoding="utf-8")
    for outside in (tmp_path / "secret", tmp_path / "prompts-next-door"):
        outside.write_text(CANARY, encoding="utf-8")
    (root / "link.md").symlink_to(tmp_path / "secret")
    with (root / "x.md").open("wb") as sparse:
        os.truncate(sparse.fileno(), 5 * 2**30)
    return PromptLibrary(root)


@cases("test_templates", having="read")
def test_a_name_that_leads_out_of_a_library_reads_nothing(case: Case, library: PromptLibrary) -> None:
    assert library.read("a.md") == "a"
    with pytest.raises(PromptError) as refused:
        library.read(case["input"]["read"])
    assert not any(CANARY in text for text in spoken_by(refused.value))


def test_the_error_of_a_failing_template_names_the_line_and_no_value() -> None:
    for broken in case("A8-05")["input"]["broken"]:
        with pytest.raises(PromptError, match="template 'named', line 2") as refused:
            prompted("first line\n" + broken, v=CANARY, w=[CANARY])
        assert not any(CANARY in text for text in spoken_by(refused.value))


@pytest.mark.parametrize("tag", case("D-55")["input"]["tags"])
def test_a_tag_in_a_value_does_not_open_a_message(tag: str) -> None:
    class Chat:
        special_tokens_map: ClassVar[dict[str, Any]] = {"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]}

        def apply_chat_template(self, messages: Any, **_: Any) -> str:
            return json.dumps(messages)

    template = ValidatedPromptTemplate("t", "<documents>{documents}</documents><question>{question}</question>")
    prompt = template.format(documents=f"a {tag} b", question="q")
    if tag.startswith("<|"):
        with pytest.raises(PromptError, match="from a value"):
            PromptFormatter(Chat()).format_prompt(prompt)
        return
    read = json.loads(PromptFormatter(Chat()).format_prompt(prompt)[0])
    assert [(one["role"], one["content"]) for one in read] == [("assistant", f"a {tag} b"), ("user", "q")]
