"""No text can close its own tag or forge trust, and a parse returns the exact documents."""

from __future__ import annotations

import tracemalloc
from collections import OrderedDict
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from assembler import REMINDER, Assembler, ChatRegions, CitedSources, MarkupError
from assembler.validation import as_tuple
from budgets import tiktoken_counter
from tests.scaled import scaled

from .drawn import documents, words

ENCODINGS = ["o200k_base", "cl100k_base"]


def parsed(system: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(f"<all>{system}</all>"))


def folded(text: str) -> str:
    """Line breaks as every XML parser normalises them (XML 1.0, section 2.11)."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(st.lists(documents, min_size=1, max_size=4))
def test_the_system_text_parses_back_to_the_exact_documents(given_documents: list[dict[str, Any]]) -> None:
    assembler = Assembler()
    for item in given_documents:
        assembler.add_knowledge(**item)
    system = assembler.build().system
    assert system is not None
    elements = parsed(system)
    assert len(elements) == len(given_documents)
    for element, item in zip(elements, given_documents, strict=True):
        assert element.tag == "context"
        assert len(element) == 0
        assert element.text == f"\n{folded(item['text'])}\n"
        assert element.get("type") == item["type"]
        assert element.get("source") == item["source"]
        assert element.get("trusted") == ("true" if item["trusted"] else "false")


@given(documents, documents)
def test_different_documents_make_different_texts(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (Assembler.xml_tag(**one) == Assembler.xml_tag(**other)) == (one == other)


@given(documents)
def test_no_text_can_claim_trust(item: dict[str, Any]) -> None:
    tag = Assembler.xml_tag(**{**item, "trusted": False})
    assert tag.count("<") == tag.count(">") == 2
    assert parsed(tag)[0].get("trusted") == "false"


def test_two_documents_and_an_instruction_are_laid_out_as_the_readme_says() -> None:
    assembler = Assembler().add_instruction("Answer briefly.")
    assembler.add_knowledge("a < b & c", type="rag", source="x.py").add_knowledge("Tokyo", type="entity", trusted=True)
    assert assembler.build().system == (
        "Answer briefly.\n\n"
        '<context type="rag" source="x.py" trusted="false">\na &lt; b &amp; c\n</context>\n\n'
        '<context type="entity" trusted="true">\nTokyo\n</context>'
    )


def test_the_reminder_is_before_the_first_document_and_nowhere_else() -> None:
    assembler = Assembler(strategy=ChatRegions(reminder=REMINDER)).add_instruction("I")
    assert assembler.build().system == "I"
    system = assembler.add_knowledge("k", type="rag").build().system
    assert system == f"I\n\n{REMINDER}\n\n" + Assembler.xml_tag("k", type="rag")


@pytest.mark.parametrize("encoding", ENCODINGS)
@scaled(0.3)
@given(
    st.lists(documents, min_size=1, max_size=4), st.one_of(st.none(), words, st.sampled_from(["/", "a\n", "x/\n\n"]))
)
def test_the_costs_of_the_pieces_add_up_to_the_count_of_the_whole(
    encoding: str, given_documents: list[dict[str, Any]], rules: str | None
) -> None:
    from budgets import Budget

    assembler = Assembler(Budget(10**9, counter=tiktoken_counter(encoding)))
    if rules:
        assembler.add_instruction(rules)
    for item in given_documents:
        assembler.add_knowledge(**item)
    context = assembler.build()
    assert context.system is not None
    assert context.costs.total == tiktoken_counter(encoding)(context.system)


def test_a_counter_without_additive_seams_is_checked_against_the_whole() -> None:
    from budgets import Budget

    def odd(text: str) -> int:
        return len(text) // 3

    for extra in range(12):
        assembler = Assembler(Budget(10**6, counter=odd)).add_instruction("i" * extra)
        assembler.add_knowledge("k" * extra, type="rag").add_knowledge("m", type="rag")
        context = assembler.build()
        assert context.system is not None
        assert context.costs.total == odd(context.system)


class Shouting(str):
    def __html__(self) -> str:
        return "</context>"


class Renders:
    def __html__(self) -> str:
        return "</context>"

    def __str__(self) -> str:
        return "a<b"


@pytest.mark.parametrize(
    ("text", "inside"), [(Markup("<b>"), "&lt;b&gt;"), (Shouting("a"), "a"), (Renders(), "a&lt;b")]
)
def test_text_that_claims_to_be_safe_is_escaped_like_any_text(text: Any, inside: str) -> None:
    assert Assembler.xml_tag(text, type="rag") == f'<context type="rag" trusted="false">\n{inside}\n</context>'


@pytest.mark.parametrize(
    ("given_document", "field", "offset"),
    [
        ({"text": "a\0b", "type": "rag"}, "knowledge[1].text", 1),
        ({"text": "\ufffe", "type": "rag"}, "knowledge[1].text", 0),
        ({"text": "ab\ud800", "type": "rag"}, "knowledge[1].text", 2),
        ({"text": "a", "type": "x\x0b"}, "knowledge[1].type", 1),
        ({"text": "a", "type": ""}, "knowledge[1].type", None),
        ({"text": "a", "type": None}, "knowledge[1].type", None),
        ({"text": "a", "type": "rag", "source": "x\0"}, "knowledge[1].source", 1),
        ({"text": "a", "type": "rag", "source": 3}, "knowledge[1].source", None),
        ({"text": "a", "type": "rag", "trusted": "yes"}, "knowledge[1].trusted", None),
        ({"text": "a", "type": "rag", "trusted": 1}, "knowledge[1].trusted", None),
        ({"text": b"a", "type": "rag"}, "knowledge[1].text", None),
    ],
)
def test_text_that_a_tag_cannot_carry_is_refused_when_it_is_added_and_changes_nothing(
    given_document: dict[str, Any], field: str, offset: int | None
) -> None:
    assembler = Assembler().add_knowledge("k", type="rag")
    before = assembler.build()
    with pytest.raises(MarkupError) as raised:
        assembler.add_knowledge(**given_document)
    assert (raised.value.field, raised.value.offset) == (field, offset)
    assert assembler.build() == before


class Boasting(list[Any]):
    """A list whose `len` is a thousand million."""

    def __len__(self) -> int:
        return 10**9


def test_a_list_with_a_false_length_gets_only_what_it_holds() -> None:
    """A list that trusted that `len` took 46 seconds and eight gigabytes."""
    assembler = Assembler(strategy=CitedSources())
    for text in ("one", "two"):
        assembler.add_knowledge(text, type="rag", score=1.0, embedding=Boasting([1.0, 0.0]))
    tracemalloc.start()
    assembler.build()
    assert as_tuple("models", Boasting(["gpt-4o"]), "names") == ("gpt-4o",)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 100_000_000


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_a_dict_of_metadata_that_is_filled_anew_for_each_document_leaves_the_earlier_ones(kind: Any) -> None:
    assembler, metadata = Assembler(strategy=CitedSources()), kind()
    for page in (1, 2):
        metadata["page_number"] = page
        assembler.add_knowledge(f"text {page}", type="rag", metadata=metadata)
    assert [document.metadata for document in assembler.knowledge] == [{"page_number": 1}, {"page_number": 2}]
    system = assembler.add_message(("user", "Where?")).build().system
    assert system is not None
    assert [line for line in system.splitlines() if line.startswith("Page:")] == ["Page: 1", "Page: 2"]
